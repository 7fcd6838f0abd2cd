"""Results for a notebook: state, conclusion, and the table of all models."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocensor.study.evaluation import Evaluation
from cocensor.study.report import Report
from cocensor.views.text.face import face
from cocensor.views.text.verdict import KAPLAN_MEIER


def evaluation_as_html(evaluation: Evaluation) -> str:
    """An evaluation for a notebook: state, conclusion, and the table of all models."""
    return face_as_html(Report(evaluation))


def face_as_html(report: Report, figure: str = "") -> str:
    """State, conclusion, a figure and the table of all models, for a notebook."""
    shown = face(report)
    warning = f"<p><strong>Check this first:</strong> {escape(shown.warning)}</p>" if shown.warning else ""
    heads = [
        "",
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
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in [" ".join(shown.sentences)])
    facts = escape(" · ".join(shown.facts))
    return (
        f"<p><small>{facts}</small><br><strong>{escape(shown.state)}: {escape(shown.conclusion)}</strong></p>{said}"
        f"{figure}{_html_table(f'{shown.metric} ({shown.direction} is better)', heads[1:], rows)}{warning}"
    )


def _html_table(title: str, columns: Sequence[str], rows: dict[str, list[str]]) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)

    head = cells("th", ["", *columns])
    body = "".join(f"<tr>{cells('th', [name])}{cells('td', row)}</tr>" for name, row in rows.items())
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
