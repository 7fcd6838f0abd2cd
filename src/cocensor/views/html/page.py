"""The page: what results hold, put into its template and written as one file. It computes nothing."""

from __future__ import annotations

import platform
import re
from base64 import b64encode
from datetime import date
from functools import partial
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cocensor._checks import escaped
from cocensor._files import check_path, write_whole
from cocensor.copulas import Copula
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import rankable
from cocensor.study.report import Report
from cocensor.views.html import dependence, tables
from cocensor.views.html.code import code
from cocensor.views.html.numbers import embedded, page_numbers
from cocensor.views.plots.style import line_styles
from cocensor.views.text.checks import CHECK_FIRST, checks_in_words
from cocensor.views.text.digits import level_in_words
from cocensor.views.text.evaluation import truth_in_words, uncounted_in_words, winners_in_words
from cocensor.views.text.fits import TAU_MEANS
from cocensor.views.text.headline import headline, joint_fit, why_no_sensitivity
from cocensor.views.text.names import ISOLATE, ON_PAGE, copula_name, meanings, quoted, shortened
from cocensor.views.text.sensitivity import why_no_bounds

# One after the other they are one script, in which each may use what those before it define.
_FIGURES = ("figure", "chart", "grid", "after_dropout", "over_time", "single_times", "forests", "dependence")
_SCRIPTS = ("numbers", "values", *_FIGURES, "tables", "downloads", "start")
_N_STYLES = 6
_DASHES = {"-": "none", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}
# Spaces at which no line may end.
_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)|(?<=[τρ]) (?== )|(?<=[τρ] =) (?=-?\d)")
_TITLE = "Survival models when dropout may depend on the outcome"


def write_report(report: Report, path: Path, title: str | None = None) -> Path:
    """Write the page of a report to ``path``, whole or not at all, and return the path."""
    check_path(path)
    write_whole(path, escaped(_page(report, title or _TITLE)))
    return path


def _page(report: Report, title: str) -> str:
    evaluation, sensitivity, drawn = report.evaluation, report.sensitivity, series(report.evaluation)
    loader = PackageLoader("cocensor.views.html")
    pages = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    pages.filters |= {"named": _named, "shortened": shortened}
    fit, level, axis = joint_fit(evaluation), evaluation.data.confidence_level, evaluation.data.time_axis
    style, script = pages.get_template("report.css.jinja").render(palette()), _script()
    numbers, after = report.to_dict(), None if sensitivity is None else sensitivity.over_ratio
    letters = {model["name"]: model["letter"] for model in drawn}
    specs: list[dict[str, Any]] = []
    return pages.get_template("report.html.jinja").render(
        title=title,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        numbers=numbers,
        on_demand=partial(_on_demand, specs),
        embedded=lambda: embedded({"numbers": page_numbers(numbers), "models": drawn, "tables": specs}),
        headline=headline(report),
        ranking=winners_in_words(evaluation, names=ON_PAGE),
        truth=truth_in_words(evaluation, ON_PAGE),
        uncounted=uncounted_in_words(evaluation),
        tau_means=TAU_MEANS,
        series=drawn,
        looks={model["name"]: model for model in drawn},
        n_scored=len(evaluation.data.predictions),
        n_contenders=len(rankable(evaluation)),
        alarms=checks_in_words(evaluation, ON_PAGE),
        check_first=CHECK_FIRST,
        maps=[] if sensitivity is None else dependence.winner_maps(sensitivity, drawn),
        summary=tables.summary_table(numbers),
        ranges=sensitivity and tables.range_table(sensitivity, letters),
        scores=tables.score_tables(numbers, evaluation),
        differences=tables.difference_tables(evaluation),
        level="" if level is None else level_in_words(level),
        grids=[] if sensitivity is None else dependence.grid_tables(sensitivity.over_tau),
        tips=[] if sensitivity is None else dependence.tipping_tables(sensitivity),
        after_grids=[] if after is None else dependence.grid_tables(after),
        bounds=[dependence.bound_tables(evaluation, bounds) for bounds in report.bounds],
        benchmarks=report.benchmarks and dependence.benchmark_tables(report.benchmarks, sensitivity),
        curves=tables.curve_tables(numbers, axis),
        single_times=tables.single_time_sections(numbers),
        meanings=meanings(evaluation.data.metrics),
        survival_table=report.survival and tables.survival_table(numbers["survival"], axis),
        said=axis.said,
        likelihood_table=report.profile and tables.likelihood_table(numbers["profile"]),
        fit_maps=fit and tables.fit_maps(fit, drawn),
        fit_copula=fit and copula_name(fit.copula),
        has_bands=bool(report.curves),
        why_no={"sensitivity": why_no_sensitivity(evaluation), "bounds": why_no_bounds(evaluation)},
        quoted=partial(quoted, evaluation),
        choices=_choices(report),
        start=_start(report),
        settings=_settings(evaluation),
        code=code(report),
        python=platform.python_version(),
        today=date.today().isoformat(),
        models_listed=ON_PAGE.models,
    )


def _on_demand(specs: list[dict[str, Any]], table: tables.NumberTable | dict[str, Any], kind: str) -> Markup:
    """The place of a table that the script makes when it is unfolded; written out, they would fill megabytes."""
    specs.append({"kind": kind, **(table if isinstance(table, dict) else table.spec())})
    return Markup('<div data-table="{}"></div>').format(len(specs) - 1)


def _script() -> str:
    folder = files("cocensor.views.html") / "templates"
    paths = "vendor/plot.min.js", *(f"scripts/{name}.js" for name in _SCRIPTS)
    library, *scripts = ((folder / path).read_text(encoding="utf-8") for path in paths)
    return "\n".join((library, "(async () => {", '"use strict";', *scripts, "})();"))


def _named(text: str) -> Markup:
    """Escaped text in which the names that users gave stand out, and no line ends between a number and its sign."""
    start, end = ISOLATE
    parts = []
    for k, part in enumerate(re.split(f"{start}(.*?){end}", text, flags=re.DOTALL)):
        if k % 2:
            short = shortened(part)
            title = Markup(' title="{}"').format(part) if short != part else ""
            parts.append(Markup("<bdi{}>{}</bdi>").format(title, short))
        else:
            parts.append(Markup(_BEFORE_SIGN.sub("\u00a0", str(escape(part)))))
    return Markup("").join(parts)


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or asked for; this style and this script alone may run."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def palette() -> dict[str, list[str]]:
    """The colours of all plots, and their line styles as dashes of SVG."""
    styles = list(islice(line_styles(), _N_STYLES))
    dashes = [_dashes(style["linestyle"]) for style in styles]
    return {"colours": [style["color"] for style in styles], "dashes": dashes}


def series(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each model the letter that stands for it, and the places of its colour and dashes in :func:`palette`."""
    colours, dashes = palette().values()
    drawn = []
    for k, (name, style) in enumerate(zip(evaluation.models, line_styles(), strict=False)):
        colour, dash = colours.index(style["color"]), dashes.index(_dashes(style["linestyle"]))
        drawn.append({"name": name, "letter": _letter(k), "colour": colour, "dash": dash})
    return drawn


def _letter(k: int) -> str:
    """A to Z, then AA, AB, ..."""
    return ("" if k < 26 else _letter(k // 26 - 1)) + chr(ord("A") + k % 26)


def _dashes(style: Any) -> str:
    """A line style of matplotlib as SVG's ``stroke-dasharray``."""
    return _DASHES[style] if isinstance(style, str) else " ".join(f"{2 * length:g}" for length in style[1])


def _choices(report: Report) -> dict[str, list[tuple[str, str]]]:
    """For every control its values, and what they are called."""
    evaluation, sensitivity, curves = report.evaluation, report.sensitivity, report.survival
    labels = {name: scores.label for name, scores in evaluation.results.items()}
    after = None if sensitivity is None else sensitivity.over_ratio
    answers = {} if sensitivity is None else sensitivity.over_tau.answers
    lines = () if sensitivity is None else sensitivity.over_tau.lines
    families = [(name, name.capitalize()) for name in lines]
    return {
        "metric": [(metric.name, metric.label) for metric in evaluation.data.metrics],
        "adjustment": [(name, labels[name]) for name in answers],
        "family": families,
        "whose": [] if after is None else [(line, dependence.line_label(line)) for line in after.lines],
        "curves": [(name, labels[name]) for name in _answered(evaluation)],
        "at": tables.single_times(evaluation),
        "dependence": [("", "as in the table"), *families],
        "survival": [] if curves is None else [(name, name.capitalize()) for name in curves.copula_graphic],
    }


def _start(report: Report) -> dict[str, Any]:
    """The first state of the controls: the copula of the table, the hint, or the middle of the plausible range."""
    evaluation, hint = report.evaluation, report.hint
    copula = evaluation.data.assumed.copula
    if hint is not None and hint.choice is not None and copula.is_independence:
        copula = hint.choice.copula
    start: dict[str, Any] = {"curves": evaluation.primary, "survival": copula.name}
    if report.sensitivity is not None:
        grid = report.sensitivity.over_tau
        answers, taus = grid.answers[grid.primary], grid.points
        family = copula.name if copula.name in answers else next(iter(answers))
        tau, plausible = float(copula.tau), report.sensitivity.plausible
        if copula.is_independence:  # the middle of the range above 0, or of all of it where none of it is
            tau = ((max(plausible.low, 0.0) if plausible.high > 0 else plausible.low) + plausible.high) / 2
        nearest = min(answers[family], key=lambda point: abs(point - tau), default=taus[0])
        start |= {
            "adjustment": grid.primary,
            "curves": grid.primary if grid.primary in _answered(evaluation) else evaluation.primary,
            "family": family,
            "tau": taus.index(nearest),
            "independence": taus.index(0.0) if 0.0 in taus else None,
        }
    return start


def _settings(evaluation: Evaluation) -> dict[str, str]:
    """The settings of every adjustment, with its copula by τ."""
    settings = {}
    for name, scores in evaluation.results.items():
        copula, text = getattr(scores.adjustment, "copula", None), repr(scores.adjustment)
        if isinstance(copula, Copula):
            text = text.replace(repr(copula), copula_name(copula))
        settings[name] = text
    return settings


def _answered(evaluation: Evaluation) -> list[str]:
    """The adjustments that score something."""
    return [name for name, scores in evaluation.results.items() if scores.answered]
