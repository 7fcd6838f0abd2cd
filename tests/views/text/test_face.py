"""What every view shows first, and its lines for a terminal."""

from dataclasses import replace

import pytest

import cocensor as cc
from cocensor.study.report import Report
from cocensor.views.text.face import face, unmarked_in_words
from cocensor.views.text.terminal import report_lines
from tests.views.text.made_up import made, says

ERROR = 0.003
TAUS, RATIOS = (-0.2, 0.0, 0.2), (0.5, 1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def report(three):
    """Three models, of which b passes a where dropouts fare worse."""
    scores = {"a": 0.1, "b": 0.11, "c": 0.13}
    grid = {"frank": (TAUS, {"a": [0.1] * 3, "b": [0.11, 0.11, 0.09], "c": [0.13] * 3})}
    ratios = {"all": (RATIOS, {"a": [0.1] * 4, "b": [0.12, 0.11, 0.1, 0.09], "c": [0.13] * 4})}
    return Report(*made(three, grid, scores, error=ERROR, ratios=ratios, reference=0.14))


def test_the_facts(report):
    data = report.evaluation.data
    models, subjects, events, dropouts, until = face(report).facts
    assert (models, subjects) == ("3 models", f"{data.whole.n:,} test subjects")
    assert (events, dropouts) == (f"{data.whole.n_events} events", f"{data.whole.n_dropouts} dropouts")
    assert until == f"up to time {float(f'{data.horizon.time:.3g}'):g}"


def test_all_models_have_score_interval_difference_and_kaplan_meier(report):
    a, b, c = face(report).rows
    assert (a.model, a.score, a.interval, a.difference) == ("a", "0.100", "0.094 to 0.106", "")
    assert (b.difference, b.difference_interval) == ("+0.0100", "0.0017 to 0.0183")
    assert [row.is_best for row in (a, b, c)] == [True, False, False]
    assert [row.better_than_reference for row in (a, b, c)] == ["yes", "yes", "yes"]


def test_a_terminal_needs_twenty_lines_of_eighty_columns_in_this_order(report):
    lines = report_lines(report, "--administrative COLUMN", ["The report is in report.html."])
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    parts = [
        "3 models",
        "SETTLED ONLY IF",
        "95% CI",
        "* a",
        "Kaplan–Meier  ",
        "If dropouts had",
        "! Nobody is marked",
    ]
    places = [text.index(part) for part in [*parts, "report.html"]]
    assert places == sorted(places)
    assert "--administrative COLUMN" in text


def test_five_models_with_long_names_fit_too(three):
    names = [f"{letter}{'x' * 30}" for letter in "abcde"]
    rows = dict(zip(names, (0.1, 0.11, 0.12, 0.13, 0.14), strict=True))
    import tests.views.text.made_up as made_up

    made_up.ROWS.update({name: k for k, name in enumerate(names)})
    grid = {"frank": (TAUS, {name: [score] * 3 for name, score in rows.items()})}
    along = {"all": (RATIOS, {name: [score] * 4 for name, score in rows.items()})}
    report = Report(*made(three, grid, rows, error=ERROR, ratios=along, reference=0.2))
    lines = report_lines(report, end=["The report is in report.html."])
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    for name in names:
        del made_up.ROWS[name]


def test_the_unmarked_end_of_the_study_comes_before_any_other_warning(report, split):
    evaluation = report.evaluation
    said = unmarked_in_words(evaluation, "HOW")
    n = evaluation.data.whole.n_dropouts
    assert says(said, f"all {n} censorings count as dropouts", "Mark them: HOW")
    assert face(report, how="HOW").warning == said
    y = evaluation.data.samples.y_test
    marked = cc.Survival(y.time, y.event, 0 * y.event)
    samples = replace(evaluation.data.samples, test=replace(evaluation.data.samples.test, y=marked))
    known = replace(evaluation, data=replace(evaluation.data, samples=samples))
    assert unmarked_in_words(known, "HOW") == ""


def test_what_to_ask_names_the_rate_that_would_have_to_be_ruled_out(report):
    assert says(
        face(report).question,
        "getting worse",
        "If a 1.1-fold rate can be ruled out, report a",
        "both a and b",
    )
    settled = replace(report, sensitivity=None)
    assert face(settled).question == ""


def test_the_paragraph_has_methods_and_result_with_the_numbers(report):
    said = report.paragraph
    assert said.count(". ") >= 4
    for part in (
        "We compared a, b and c by the integrated Brier score",
        "0.100 (95% CI 0.094 to 0.106) for a",
    ):
        assert part in said
    assert says(
        said,
        "delta-adjusted sensitivity analysis",
        "hazard ratio",
        "from 0.5 to 4",
        "tipping point",
        "a over b",
    )


def test_the_minimal_table_in_markdown_and_latex(report):
    table = report.minimal_table()
    assert [row[0] for row in table.rows] == ["a", "b", "c"]
    head, rule, first, *_ = table.to_markdown().splitlines()
    assert head.startswith("| Model | Integrated Brier score (95% CI) | Difference to best (95% CI) |")
    assert set(rule) == set("| -")
    assert first.startswith("| a | 0.100 (0.094 to 0.106) |")
    latex = table.to_latex()
    assert latex.startswith(r"\begin{tabular}{lllll}")
    assert r"(95\% CI)" in latex
    assert "−" not in latex


def test_scores_and_differences_read_as_in_a_paper(report):
    result = report.evaluation
    assert repr(result.compare("a", "c")) == "a − c = −0.0300 (95% CI −0.0383 to −0.0217), p < 0.001"
    assert repr(result.score("a")).startswith("a: ibs = 0.1000 (95% CI 0.0941 to 0.1059), by imputation")
    assert round(result.score("a"), 2) == 0.1
    assert "state" not in result._repr_html_()
    assert "<table" in result._repr_html_()
    shown = report.sensitivity._repr_html_()
    assert "<svg" in shown
    assert face(report).conclusion in shown
