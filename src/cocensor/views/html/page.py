"""The page: what results hold, put into its template and written as one file. It computes nothing."""

from __future__ import annotations

import platform
import re
from base64 import b64encode
from datetime import date
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cocensor._checks import escaped
from cocensor._files import check_path, write_whole
from cocensor.copulas import Copula
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import imputation_among
from cocensor.study.report import Report
from cocensor.views.html import sections
from cocensor.views.html.code import code
from cocensor.views.plots.style import line_styles
from cocensor.views.text.face import face, in_other_metrics, paragraph
from cocensor.views.text.fits import TAU_MEANS, copula_in_words, imputation_fit_in_words, joint_fit
from cocensor.views.text.names import ISOLATE, ON_PAGE, copula_name, meanings, shortened
from cocensor.views.text.sensitivity import plausible_tau_in_words
from cocensor.views.text.terminal import all_notes
from cocensor.views.text.truth import truth_in_words
from cocensor.views.text.verdict import against_others, plausible_in_words

_N_STYLES = 6
_DASHES = {"-": "none", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}
# Spaces at which no line may end.
_BEFORE_SIGN = re.compile(
    r"(?<=\d) (?=%)|(?<=τ) (?=[−\d])|(?<=[τρ]) (?== )|(?<=[τρ] =) (?=[−-]?\d)|(?<=\d) (?=times)"
)
_TITLE = "Survival models when dropout may depend on the outcome"


def write_report(report: Report, path: Path, title: str | None = None) -> Path:
    """Write the page of a report to ``path``, whole or not at all, and return the path."""
    check_path(path)
    write_whole(path, escaped(_page(report, title)))
    return path


def _page(report: Report, title: str | None) -> str:
    evaluation, verdict, sensitivity = report.evaluation, report.verdict, report.sensitivity
    pages = Environment(
        loader=PackageLoader("cocensor.views.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"named": named, "shortened": shortened}
    looks, fit = series(evaluation), joint_fit(evaluation)
    style = pages.get_template("report.css.jinja").render(palette())
    script = (files("cocensor.views.html") / "templates" / "report.js").read_text(encoding="utf-8")
    shown = face(report, ON_PAGE)
    return pages.get_template("report.html.jinja").render(
        title=title or _TITLE,
        has_title=title is not None,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        version=version("cocensor"),
        face=shown,
        state=verdict.state,
        looks=looks,
        main=sections.main_figure(report, looks, shown),
        families=[] if sensitivity is None else sections.family_figures(sensitivity, looks),
        others=against_others(verdict, ON_PAGE),
        paragraph=paragraph(report),
        minimal=report.minimal_table(),
        survival=sections.survival_figure(report),
        benchmarks=sections.benchmark_figure(report),
        plausible=plausible_in_words(verdict),
        hidden="" if report.benchmarks is None else plausible_tau_in_words(report.benchmarks, ON_PAGE),
        metrics=in_other_metrics(evaluation),
        meanings=meanings(evaluation.data.metrics),
        figures=sections.metric_figures(report, looks, [row.model for row in shown.rows]),
        truth=truth_in_words(evaluation, ON_PAGE),
        assumptions=[(scores.label, scores.adjustment.assumption) for scores in evaluation.results.values()],
        assumed=copula_in_words(evaluation),
        tau_means=TAU_MEANS,
        fit="" if fit is None else imputation_fit_in_words(fit, ON_PAGE),
        by_adjustment=sections.adjustment_table(evaluation),
        bounds=sections.bound_tables(report),
        map=None if sensitivity is None else sections.family_map(sensitivity),
        likelihood=sections.likelihood_figure(report),
        hint="" if report.hint is None else report.hint.statement,
        settings=_settings(evaluation),
        notes=all_notes(evaluation),
        data=sections.data_rows(report),
        provenance=_provenance(report),
        code=code(report),
    )


def named(text: str) -> Markup:
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


def series(evaluation: Evaluation) -> dict[str, str]:
    """For each model the classes of its colour and dashes in :func:`palette`."""
    colours, dashes = palette().values()
    return {
        name: f"k{colours.index(style['color'])} d{dashes.index(_dashes(style['linestyle']))}"
        for name, style in zip(evaluation.models, line_styles(), strict=False)
    }


def _dashes(style: Any) -> str:
    """A line style of matplotlib as SVG's ``stroke-dasharray``."""
    return _DASHES[style] if isinstance(style, str) else " ".join(f"{2 * length:g}" for length in style[1])


def _settings(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The settings of every adjustment, with its copula by τ, and of every metric."""
    settings = []
    for scores in evaluation.results.values():
        copula, text = getattr(scores.adjustment, "copula", None), repr(scores.adjustment)
        if isinstance(copula, Copula):
            text = text.replace(repr(copula), copula_name(copula))
        settings.append((scores.label, text))
    settings += [(metric.label, repr(metric)) for metric in evaluation.data.metrics]
    if evaluation.data.covariates:
        settings.append(("Covariates", ", ".join(evaluation.data.covariates)))
    shared = imputation_among(
        [scores.fitted for scores in evaluation.results.values() if scores.fitted is not None]
    )
    if shared is not None and shared.design is not None:
        settings.append(("The imputation model conditions on", ", ".join(shared.design.names_of_effects)))
    return settings


def _provenance(report: Report) -> list[tuple[str, str]]:
    """Versions, seed, margin, and a fingerprint of what was scored."""
    evaluation = report.evaluation
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    drawn = [scores.resampling for scores in evaluation.results.values() if scores.resampling is not None]
    seed = (
        f"{drawn[0].n_resamples} bootstrap samples, seed {drawn[0].seed}"
        if drawn
        else "none: nothing was drawn"
    )
    margin = report.verdict.margin
    return [
        (
            "Written",
            f"{date.today().isoformat()} by cocensor {version('cocensor')}, Python {platform.python_version()}",
        ),
        ("Libraries", libraries),
        ("Random numbers", seed),
        ("Margin of relevance", f"{margin:.3g}" if margin and isfinite(margin) else "none"),
        ("Fingerprint of the inputs", report.fingerprint),
    ]
