"""Results for a notebook: state, conclusion, and the table of all models."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocensor.study.evaluation import Evaluation
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.views.html.page import palette, series
from cocensor.views.html.sections import main_figure
from cocensor.views.text.face import face
from cocensor.views.text.verdict import KAPLAN_MEIER

# A notebook may be light or dark: what is not a model's is drawn in the colour of its text.
_LOOK = (
    ".cocensor svg{display:block;max-width:39rem;width:100%}.cocensor svg.narrow{display:none}"
    ".cocensor text{font:12px system-ui,sans-serif;fill:currentColor;stroke:none}"
    ".cocensor .grid,.cocensor .mark{stroke:currentColor;opacity:.25}.cocensor .zero,.cocensor .start,"
    ".cocensor line.benchmark{stroke:currentColor}.cocensor .start{stroke-dasharray:2 3}"
    ".cocensor .plausible{fill:currentColor;opacity:.07}.cocensor .band{fill:currentColor;opacity:.17}"
    ".cocensor .line{fill:none;stroke:currentColor;stroke-width:2}.cocensor .zone{fill:var(--k,#b0b4ba)}"
    ".cocensor .turn{fill:#fff;stroke:#222;stroke-width:2}.cocensor td,.cocensor th{text-align:right}"
)


def evaluation_as_html(evaluation: Evaluation) -> str:
    """An evaluation for a notebook: state, conclusion, and the table of all models."""
    return face_as_html(Report(evaluation))


def sensitivity_as_html(sensitivity: Sensitivity) -> str:
    """A sensitivity analysis for a notebook, with the difference of the two models that matter."""
    report = Report(sensitivity.evaluation, sensitivity)
    figure = main_figure(report, series(sensitivity.evaluation), face(report))
    return face_as_html(report, "" if figure is None else f"{_style()}{figure}")


def _style() -> str:
    """The look of the figure, in the colours of the page."""
    colours = palette()["colours"]
    own = "".join(f".cocensor .k{k}{{--k:{colour}}}" for k, colour in enumerate(colours))
    return f"<style>{own}{_LOOK}</style>"


def face_as_html(report: Report, figure: str = "") -> str:
    """State, conclusion, a figure and the table of all models, for a notebook."""
    shown = face(report)
    warning = f"<p><strong>Check this first:</strong> {escape(shown.warning)}</p>" if shown.warning else ""
    heads = [
        shown.metric,
        shown.level and f"{shown.level} CI",
        "minus best",
        "",
        f"better than {KAPLAN_MEIER}",
    ]
    rows = {
        row.model: [
            row.score,
            row.interval,
            row.difference,
            row.difference_interval,
            row.better_than_reference,
        ]
        for row in shown.rows
    }
    if shown.reference:
        rows[KAPLAN_MEIER] = [shown.reference, "", "", "", ""]
    facts, said = escape(" · ".join(shown.facts)), escape(" ".join(shown.sentences))
    conclusion = f"<strong>{escape(shown.state)}: {escape(shown.conclusion)}</strong>"
    table = _html_table(f"{shown.metric} ({shown.direction} is better)", heads, rows)
    start = f'<div class="cocensor"><p><small>{facts}</small><br>{conclusion}</p><p>{said}</p>'
    return f"{start}{figure}{table}{warning}</div>"


def _html_table(title: str, columns: Sequence[str], rows: dict[str, list[str]]) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)

    head = cells("th", ["", *columns])
    body = "".join(f"<tr>{cells('th', [name])}{cells('td', row)}</tr>" for name, row in rows.items())
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
