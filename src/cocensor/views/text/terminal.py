"""A report in the lines of a terminal: a summary on one screen, and all the rest on demand."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from cocensor._checks import escaped
from cocensor._notes import Note
from cocensor.study.evaluation import Evaluation
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.zones import Course
from cocensor.views.text.digits import ratio_in_words
from cocensor.views.text.face import Face, Row, face
from cocensor.views.text.fits import joint_fit
from cocensor.views.text.names import BARE, shortened
from cocensor.views.text.sensitivity import bounds_in_words, silent_in_words, why_no_bounds
from cocensor.views.text.truth import truth_in_words
from cocensor.views.text.verdict import KAPLAN_MEIER, against_others, hangs_on, zones_in_words

# A line of a terminal, the lines of a screen, and the longest name of a model there.
_WIDTH, _MOST_LINES, _LONGEST = 80, 20, 22


def evaluation_as_text(evaluation: Evaluation) -> str:
    """An evaluation alone."""
    return escaped("\n".join(report_lines(Report(evaluation))))


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """A sensitivity analysis for a terminal."""
    report = Report(sensitivity.evaluation, sensitivity)
    return "\n".join([*report_lines(report), *silent_in_words(sensitivity)])


def report_lines(
    report: Report, how: str = "Survival(…, administrative=…)", end: Sequence[str] = ()
) -> list[str]:
    """A report for a terminal, in 20 lines of 80 columns for up to five models; ``end`` are lines to close with.

    Facts; state and conclusion; scores; how that changes with the dependence; the one warning that matters most.
    """
    shown, verdict = face(report, how=how), report.verdict
    lines = [*_wrapped(", ".join(shown.facts)), ""]
    lines += [*_wrapped(f"{shown.state.upper()}: {shown.conclusion}"), ""]
    lines += score_lines(shown)
    course = verdict.courses[0] if verdict.courses and verdict.assumption.anybody_left else None
    others = list[list[str]]()
    if course is not None:
        lines += ["", _axis_in_words(course)]
        zones = zones_in_words(course)
        width = max(len(where) for where, _ in zones)
        lines += [f"  {where:<{width}}  {said}" for where, said in zones]
        others = [_wrapped(text, "  ") for text in against_others(verdict)]
    truth = truth_in_words(report.evaluation, BARE, in_short=True)
    close = [
        *([""] if shown.warning else []),
        *(_wrapped(f"! {shown.warning}", "  ") if shown.warning else []),
    ]
    close += [line for text in filter(None, [truth, *end]) for line in _wrapped(text)]
    for text in others:
        filled = [line for line in (*lines, *text, *close) if line]
        lines += text if len(filled) <= _MOST_LINES else []
    for check in shown.checks:
        text = _wrapped(f"! {check}", "  ")
        filled = [line for line in (*lines, *close, *text) if line]
        close += text if len(filled) <= _MOST_LINES else []
    # What is empty goes first.
    empty = [k for k, line in enumerate([*lines, *close]) if not line]
    spare = set(empty[::-1][: max(len(lines) + len(close) - _MOST_LINES, 0)])
    return [line for k, line in enumerate([*lines, *close]) if k not in spare]


def _axis_in_words(course: Course) -> str:
    if not course.is_ratio:
        return f"Over Kendall’s τ, {course.line.capitalize()} copula:"
    plausible = ""
    if course.plausible is not None:
        plausible = f" (plausible: {' to '.join(map(ratio_in_words, course.plausible))} times)"
    return f"If dropouts had the event … as those who stayed{plausible}:"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False) or [
        ""
    ]


def score_lines(shown: Face) -> list[str]:
    """The table of all models for a terminal."""
    head = (
        f"{shown.metric} ({shown.direction} is better)",
        shown.level and f"{shown.level} CI",
        "minus best",
    )
    wide = max(len(row.better_than_reference) for row in shown.rows) > len("cannot tell")
    heads = ["", "score", head[1], head[2], f"{'>' if wide else 'better than'} {KAPLAN_MEIER}"]
    cells = [
        [_mark(row), row.score, row.interval, row.difference, row.better_than_reference] for row in shown.rows
    ]
    if shown.reference:
        cells.append([f"  {KAPLAN_MEIER}", shown.reference, "", "", ""])
    kept = [k for k in range(len(heads)) if k in (0, 1) or any(row[k] for row in cells)]
    if any(row.truth for row in shown.rows):
        heads.append("truth")
        cells = [
            [*row, true] for row, true in zip(cells, [*(row.truth for row in shown.rows), ""], strict=False)
        ]
        kept.append(len(heads) - 1)
    rows = [[row[k] for k in kept] for row in (heads, *cells)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [
        "  ".join(
            text.ljust(width) if k in (0, len(kept) - 1) else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    condition = f" {shown.assumption}" if shown.assumption else ""
    return [*_wrapped(f"{head[0]}{condition}"), *aligned]


def _mark(row: Row) -> str:
    return f"{'*' if row.is_best else ' '} {shortened(BARE.model(row.model), _LONGEST)}"


def details(report: Report) -> list[str]:
    """All that is not in the summary: sentences of the verdict, other checks, bounds, fits, benchmarks and notes."""
    evaluation, bounds, fit = report.evaluation, report.bounds_by(), joint_fit(report.evaluation)
    texts = [" ".join(hangs_on(report.verdict)), *face(report).checks]
    texts.append(why_no_bounds(evaluation) if bounds is None else bounds_in_words(bounds))
    texts += [] if fit is None or fit.failed else [fit.statement]
    texts += (
        [] if report.benchmarks is None else [report.benchmarks.statement, *map(str, report.benchmarks.notes)]
    )
    texts += [] if report.hint is None else [report.hint.statement]
    return [escaped(text) for text in (*texts, *all_notes(evaluation)) if text]


def all_notes(evaluation: Evaluation) -> list[str]:
    """Cautions, missing scores and decisions, with what each is about."""
    notes = [note for scores in evaluation.results.values() for note in scores.notes]
    notes += [note for note in evaluation.notes if note.about.model in (None, *evaluation.data.predictions)]
    order = ("caution", "missing", "decision")
    return [
        *(
            _note_with_subject(evaluation, note)
            for note in sorted(notes, key=lambda note: order.index(note.kind))
        ),
    ]


def _note_with_subject(evaluation: Evaluation, note: Note) -> str:
    adjustment, model = note.about
    label = "" if adjustment is None else evaluation.results[adjustment].label
    subject = ", ".join(part for part in (label, model or "") if part)
    text = f"no score: {note.text}" if note.kind == "missing" else note.text
    return f"{subject}: {text}" if subject else text
