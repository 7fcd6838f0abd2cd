"""Nonsense is said first, and nobody that is disqualified is called best: in the terminal, on the page, in JSON."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.checks import Check
from cocensor.study.ranking import rankable
from cocensor.study.report import Report
from cocensor.views.text.checks import checks_in_words
from cocensor.views.text.face import face
from cocensor.views.text.names import ISOLATE, ON_PAGE
from tests.study.mistakes import TIMES, quickly, right


def evaluated(shuffle):
    """Three models of which some, shuffled, are nonsense, with all further analyses."""
    study = right(250, 4)
    rng = np.random.default_rng(0)
    models = {
        "Alpha": study.curves,
        "Beta": cc.Predictions(TIMES, study.probabilities**1.3),
        "Gamma": cc.Predictions(TIMES, study.probabilities**0.7),
    }
    for name in shuffle:
        models[name] = models[name][rng.permutation(250)]
    result = quickly(
        models,
        study.y,
        x_test=study.risk[:, None],
        adjustments=["ipcw", "imputation"],
        metrics=["ibs", "concordance"],
    )
    assert set(models) - set(rankable(result)) == set(shuffle)
    grids = result.sensitivity(("clayton", "hazard_ratio"), (0.0, 0.3))
    return Report(result, sensitivity=grids, bounds=result.bounds())


@pytest.fixture(scope="module")
def one_off():
    return evaluated(["Gamma"])


@pytest.fixture(scope="module")
def one_left():
    return evaluated(["Alpha", "Gamma"])


@pytest.fixture(scope="module")
def all_off():
    return evaluated(["Alpha", "Beta", "Gamma"])


def winners(value, names):
    """All texts in JSON that call one of the ``names`` best, and lists of the best that have one."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("best", "leaders"):
                yield from (name for name in names if json.dumps(name) in json.dumps(each))
            elif key in ("certain", "certain_by_interval", "winner_beyond", "winner"):
                yield from (name for name in names if each == name)
            elif key == "ranks":
                yield from (name for name in names for by in each.values() if name in by)
            else:
                yield from winners(each, names)
    elif isinstance(value, list):
        for each in value:
            yield from winners(each, names)


def calls_best(text, name):
    verbs = ("has the best", "beats", "is best", "is ahead", "share the best", "alone")
    bare = text.translate(dict.fromkeys(map(ord, ISOLATE)))
    return [verb for verb in verbs if f"{name} {verb}" in bare]


def test_alarms_come_first(one_off):
    result = one_off.evaluation
    # Nobody is marked as censored by the end of the study: that comes before all else.
    assert "! Nobody is marked as censored" in repr(result)
    assert repr(result).index("! Nobody") < repr(result).index("! Gamma: ")
    [said] = checks_in_words(result)
    assert said.startswith("Gamma: ")
    assert "order of the test sample" in said


def test_without_an_alarm_nothing_is_said(one_off):
    quiet = replace(one_off.evaluation, checks=())
    assert checks_in_words(quiet) == []
    assert "Gamma:" not in repr(quiet)


def test_two_findings_of_one_cause_are_one_line(one_off):
    cause = {"cause": "risks"}
    checks = (
        Check("negative_skill", "Beta", {"skill": -0.5, **cause}),
        Check("against_outcome", "Beta", {"concordance": 0.2, "upper_limit": 0.3, **cause}),
    )
    [said] = checks_in_words(replace(one_off.evaluation, checks=checks))
    assert said.count("Are these risks?") == 1
    assert "curve for everybody does better. It runs against the outcome" in said


@pytest.mark.parametrize("which", ["one_off", "one_left", "all_off"])
def test_who_is_disqualified_is_called_best_nowhere(which, request, tmp_path):
    report = request.getfixturevalue(which)
    result, sensitivity, [bounds] = report.evaluation, report.sensitivity, report.bounds
    off = [model for model in result.models if model not in rankable(result)]
    texts = [repr(result), repr(sensitivity), repr(bounds), *face(report).sentences]
    texts += [face(report).conclusion, sensitivity.statement, report.paragraph]
    texts += [str(result.verdict), str(sensitivity.verdict)]
    for text in texts:
        assert {model: calls_best(text, model) for model in off} == {model: [] for model in off}
    numbers = report.to_dict()
    assert list(winners(numbers, off)) == []
    assert len({each["model"] for each in numbers["checks"]}) == len(off)
    page = report.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('class="warning"') < page.index('id="conclusion"')
    best = re.findall(r'<tr class="best">\s*<th.*?title="([^"]*)"', page, flags=re.DOTALL)
    assert len(best) > 0 or not rankable(result)
    assert set(best).isdisjoint(off)


def test_who_is_disqualified_leads_nowhere_over_the_grid(one_off):
    result, sensitivity = one_off.evaluation, one_off.sensitivity
    for grid in sensitivity.grids:
        for metric in result.metrics:
            assert all(
                "Gamma" not in each for line in grid.leaders(metric).values() for each in line.values()
            )
            assert all("Gamma" not in each for line in grid.best(metric).values() for each in line.values())
            assert grid.reference(metric) != "Gamma"
    table = sensitivity.table()
    assert table.loc[table["model"] == "Gamma", "rank"].isna().all()
    assert table.loc[table["model"] == "Gamma", "score"].notna().all()
    assert sensitivity.over_tau.pair("Alpha", "Gamma").lead() is not None
    off = replace(result, checks=(Check("negative_skill", "Alpha", {"skill": -0.5, "cause": "rows"}),))
    over_tau, over_ratio = (replace(grid, evaluation=off) for grid in sensitivity.grids)
    turned = replace(sensitivity, evaluation=off, over_tau=over_tau, over_ratio=over_ratio)
    assert over_tau.pair("Alpha", "Gamma").lead() is None
    assert turned.tipping_points("Alpha", "Gamma") == ()


def test_without_a_contender_there_is_no_winner(all_off, tmp_path):
    result, grid, [bounds] = all_off.evaluation, all_off.sensitivity.over_tau, all_off.bounds
    verdict = result.verdict
    for text in (repr(result), repr(all_off.sensitivity), face(all_off).conclusion, str(verdict)):
        assert "No model is better than one Kaplan–Meier curve" in " ".join(text.split())
    assert verdict.state == all_off.verdict.state == "no_usable_model"
    assert all(each == () for line in grid.leaders().values() for each in line.values())
    assert grid.changes() == []
    assert {bounds.certain(*pair) for pair in bounds.pairs} == {None}
    page = all_off.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'class="best"' not in page
    assert "★" not in page.partition("<tbody>")[2].partition("</tbody>")[0]
    assert "*" not in repr(result)


def test_one_that_is_left_has_nothing_to_be_ranked_with(one_left):
    """It is held against Kaplan–Meier."""
    assert face(one_left).conclusion.startswith(
        ("Beta is better than Kaplan–Meier", "Whether Beta is better")
    )
    assert [(course.first, course.second) for course in one_left.verdict.courses] == [("Beta", "")]


def test_names_on_the_page_are_marked(one_off):
    [said] = checks_in_words(one_off.evaluation, ON_PAGE)
    assert ON_PAGE.model("Gamma") in said


def test_models_that_a_terminal_names_alike_are_two(one_off):
    off = [check for check in one_off.evaluation.checks if check.disqualifies][:1]
    alike = [replace(check, model=name) for check in off for name in ("x\ny", "x y")]
    said = " ".join(checks_in_words(replace(one_off.evaluation, checks=tuple(alike))))
    assert said.count("x y: ") == 2
    assert "They get no rank" in said
