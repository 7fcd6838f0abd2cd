"""The page: what it holds, put into its template and written as one file."""

from __future__ import annotations

import json
import platform
import re
from base64 import b64encode
from datetime import date
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cocensor._files import write_whole
from cocensor._validation import escaped
from cocensor.adjustments import adjustments
from cocensor.adjustments.registry import label
from cocensor.evaluation import Evaluation
from cocensor.report.figures import likelihood, palette, series, survival
from cocensor.report.headline import headline
from cocensor.report.reach import told_by
from cocensor.report.tables import (
    curve_tables,
    grid_tables,
    likelihood_table,
    score_tables,
    survival_table,
    winner_maps,
)
from cocensor.report.words import ISOLATE, family_name, model_name, models_listed
from cocensor.sensitivity import Sensitivity

_TITLE = "Survival models when dropout may depend on the outcome"
# What could end a script element, or a line of a script, in text that only ever stands inside strings.
_UNSAFE = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def write_report(evaluation: Evaluation, path: Path, sensitivity: Sensitivity, title: str | None) -> Path:
    """Write the report to ``path``, whole or not at all, and return the path."""
    write_whole(path, escaped(_page(evaluation, sensitivity, title or _TITLE)))
    return path


def _page(evaluation: Evaluation, sensitivity: Sensitivity, title: str) -> str:
    pages = Environment(
        loader=PackageLoader("cocensor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["named"] = _named
    numbers = evaluation.to_dict(sensitivity)
    drawn = series(evaluation)
    profile = likelihood(evaluation)
    margins = survival(evaluation)
    style = pages.get_template("report.css.jinja").render(palette())
    script = (files("cocensor.report") / "templates" / "report.js").read_text(encoding="utf-8")
    return pages.get_template("report.html.jinja").render(
        title=title,
        policy=_policy(style, script),
        style=Markup(style),
        script=Markup(script),
        numbers=numbers,
        numbers_json=_inline(evaluation.to_json(sensitivity=sensitivity)),
        figures_json=_inline(
            json.dumps({"series": drawn, "survival": margins, "likelihood": profile.curves}, allow_nan=False)
        ),
        headline=headline(evaluation, sensitivity),
        ranking=evaluation.winners_in_words(called=model_name),
        series=drawn,
        maps=winner_maps(sensitivity, drawn),
        scores=score_tables(evaluation),
        grids=grid_tables(sensitivity),
        curves=curve_tables(evaluation),
        margin_table=survival_table(margins),
        likelihood=profile,
        likelihood_table=likelihood_table(profile.curves),
        choices=_choices(evaluation, sensitivity, margins),
        start=_start(evaluation, sensitivity) | {"survival": margins["family"]},
        code=_code(evaluation, sensitivity),
        python=platform.python_version(),
        today=date.today().isoformat(),
        models_listed=models_listed,
    )


def _named(text: str) -> Markup:
    """Escaped text in which the names that users gave stand out."""
    start, end = ISOLATE
    return Markup(re.sub(f"{start}(.*?){end}", r"<bdi>\1</bdi>", str(escape(text)), flags=re.DOTALL))


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded or asked for; this style and this script alone may run."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _inline(text: str) -> Markup:
    """JSON that is safe inside a script element, and still the same JSON."""
    return Markup(text.translate(_UNSAFE))


def _choices(
    evaluation: Evaluation, sensitivity: Sensitivity, margins: dict[str, Any]
) -> dict[str, list[tuple[str, str]]]:
    """For every control its values, and what they are called."""
    labels = {name: each.label for name, each in evaluation.scored.items()}
    return {
        "metric": [(metric.name, metric.label) for metric in evaluation.question.metrics],
        "adjustment": [(name, labels[name]) for name in sensitivity.answers],
        "family": [(name, family_name(name)) for name in sensitivity.families],
        "curves": [(name, labels[name]) for name in _scored(evaluation)],
        "survival": [(name, family_name(name)) for name in margins["copula_graphic"]],
    }


def _start(evaluation: Evaluation, sensitivity: Sensitivity) -> dict[str, Any]:
    """Where the controls stand at first: independence, or the τ nearest to it, under the family at hand."""
    taus, family = sensitivity.taus, evaluation.copula.name
    adjustment = told_by(sensitivity)
    answered = sensitivity.answers[adjustment]
    return {
        "adjustment": adjustment,
        "curves": adjustment if adjustment in _scored(evaluation) else _scored(evaluation)[0],
        "family": family if family in answered else next(iter(answered)),
        "tau": min(range(len(taus)), key=lambda k: abs(taus[k])),
    }


def _scored(evaluation: Evaluation) -> list[str]:
    """The adjustments that score something."""
    return [name for name, each in evaluation.scored.items() if any(each.scores.values())]


def _code(evaluation: Evaluation, sensitivity: Sensitivity) -> str:
    """The calls that gave the numbers; models and outcomes are the user's."""
    with_covariates = ", x_train, x_test" if evaluation.question.x_train is not None else ""
    end = f"horizon={evaluation.horizon!r}"
    if evaluation.horizon_reason == "the times were given":
        end = "times=times"
    copula = '"select"' if evaluation.choice is not None else f"cc.{evaluation.copula!r}"
    metrics = ", ".join(
        repr(each.name) if each.floor is None else f"cc.metric({each.name!r}, floor={each.floor!r})"
        for each in evaluation.question.metrics
    )
    asked, own = _adjustments(evaluation)
    return "\n".join(
        (
            *own,
            "import cocensor as cc",
            "",
            f"result = cc.evaluate(models, y_train, y_test{with_covariates},",
            f"                     adjustments={asked},",
            f"                     metrics=[{metrics}], {end}, copula={copula})",
            f"grid = result.sensitivity(families={list(sensitivity.families)!r},",
            f"                          taus={list(sensitivity.taus)!r},",
            f"                          adjustments={list(sensitivity.answers)!r})",
            'result.to_html("report.html", grid)',
        )
    )


def _adjustments(evaluation: Evaluation) -> tuple[str, list[str]]:
    """The adjustments as code; objects are shown by their settings, which may not be all there is to them."""
    scored = evaluation.scored
    own = [name for name, each in scored.items() if name not in adjustments() or each.label != label(name)]
    if not own:
        return repr(list(scored)), []
    shown = ", ".join(
        f"{name!r}: {each.adjustment!r}" if name in own else f"{name!r}: {name!r}"
        for name, each in scored.items()
    )
    objects = "is an object" if len(own) == 1 else "are objects"
    return f"{{{shown}}}", [
        f"# {', '.join(map(repr, own))} {objects} of your own code: this text alone does not make the numbers again."
    ]
