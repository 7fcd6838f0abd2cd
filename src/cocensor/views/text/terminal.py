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
from cocensor.views.text.names import BARE, Names, in_a_line, shortened
from cocensor.views.text.sensitivity import bounds_in_words, silent_in_words, why_no_bounds
from cocensor.views.text.truth import truth_in_words
from cocensor.views.text.verdict import KAPLAN_MEIER, against_others, hangs_on, zones_in_words

# A line of a terminal, the lines of a screen, and the longest name of a model there.
_WIDTH, _MOST_LINES, _LONGEST = 80, 20, 22
_SHORT = Names(lambda name: shortened(in_a_line(name), _LONGEST))


def evaluation_as_text(evaluation: Evaluation) -> str:
    """An evaluation alone."""
    return escaped("\n".join(report_lines(Report(evaluation))))


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """A sensitivity analysis for a terminal."""
    report = Report(sensitivity.evaluation, sensitivity)
    return "\n".join([*report_lines(report), *silent_in_words(sensitivity)])


def report_lines(
    report: Report,
    how: str = "Survival(…, administrative=…)",
    end: Sequence[str] = (),
    cautions: bool = True,
) -> list[str]:
    """A report for a terminal, in 20 lines of 80 columns for up to five models; ``end`` are lines to close with.

    Facts; state and conclusion; scores; how that changes with the dependence; the one warning that matters most, and
    others, ``cautions`` too, where there is room.
    """
    shown, verdict = face(report, how=how), report.verdict
    lines = [*_wrapped(", ".join(shown.facts)), ""]
    lines += [*_wrapped(f"{shown.state.upper()}: {shown.conclusion}"), ""]
    lines += score_lines(shown)
    course = verdict.courses[0] if verdict.courses and verdict.assumption.anybody_left else None
    others = list[list[str]]()
    if course is not None:
        lines += ["", _axis_in_words(course)]
        zones = zones_in_words(course, _SHORT)
        width = max(len(where) for where, _ in zones)
        lines += [f"  {where:<{width}}  {said}" for where, said in zones]
        others = [_wrapped(text, "  ") for text in against_others(verdict, _SHORT)]
    truth = truth_in_words(report.evaluation, BARE, in_short=True)
    close = [
        *([""] if shown.warning else []),
        *(_wrapped(f"! {shown.warning}", "  ") if shown.warning else []),
    ]
    close += [line for text in filter(None, [truth, *end]) for line in _wrapped(text)]
    for text in others:
        filled = [line for line in (*lines, *text, *close) if line]
        lines += text if len(filled) <= _MOST_LINES else []
    for check in (*shown.checks, *(_cautions(report.evaluation) if cautions else ())):
        text = _wrapped(f"! {check}", "  ")
        filled = [line for line in (*lines, *close, *text) if line]
        close += text if len(filled) <= _MOST_LINES else []
    # What is empty goes first.
    empty = [k for k, line in enumerate([*lines, *close]) if not line]
    spare = set(empty[::-1][: max(len(lines) + len(close) - _MOST_LINES, 0)])
    return [line for k, line in enumerate([*lines, *close]) if k not in spare]


def _cautions(evaluation: Evaluation) -> list[str]:
    """What makes a result doubtful; an end of study that looks unmarked has its own warning."""
    notes = [note for scores in evaluation.results.values() for note in scores.notes]
    notes += [note for note in evaluation.notes if note.about.model in (None, *evaluation.data.predictions)]
    return [
        _note_with_subject(evaluation, note)
        for note in notes
        if note.kind in ("caution", "missing") and note.code != "unmarked_end"
    ]


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
    condition = f" {shown.assumption}" if shown.assumption else ""
    columns: dict[str, list[str]] = {
        "": [_mark(row) for row in shown.rows],
        "score": [row.score for row in shown.rows],
        f"{shown.level} CI": [row.interval for row in shown.rows],
        "minus best": [row.difference for row in shown.rows],
        f"better than {KAPLAN_MEIER}": [row.better_than_reference for row in shown.rows],
        "truth": [row.truth for row in shown.rows],
    }
    if shown.reference:
        for head, cells in columns.items():
            cells.append({"": f"  {KAPLAN_MEIER}", "score": shown.reference}.get(head, ""))
    table = {head: cells for head, cells in columns.items() if any(cells)}
    lines = _aligned(table)
    if max(map(len, lines)) > _WIDTH:
        lines = _aligned({head.replace("better than", ">"): cells for head, cells in table.items()})
    return [*_wrapped(f"{shown.metric} ({shown.direction} is better){condition}"), *lines]


def _aligned(table: dict[str, list[str]]) -> list[str]:
    """Columns below their heads: names and words on the left, numbers on the right."""
    aligned = []
    for head, cells in table.items():
        width = max(map(len, (head, *cells)))
        left = not head or KAPLAN_MEIER in head
        aligned.append([text.ljust(width) if left else text.rjust(width) for text in (head, *cells)])
    return ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]


def _mark(row: Row) -> str:
    return f"{'*' if row.is_best else ' '} {_SHORT.model(row.model)}"


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
