"""Nonsense is said first, and nobody that is disqualified is called best: in the terminal, on the page, in JSON."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.evaluation.alarms import Alarm
from cocensor.words import headline
from cocensor.words.alarms import CHECK_FIRST, alarms_in_words
from cocensor.words.names import ISOLATE, ON_PAGE
from tests.evaluation.mistakes import TIMES, quickly, right


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
        adjustments=["ipcw", "imputed"],
        metrics=["ibs", "concordance"],
    )
    assert set(models) - set(result.contenders) == set(shuffle)
    result.sensitivity(("clayton", "hazard_ratio"), (0.0, 0.3))
    result.bounds()
    return result


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
    assert repr(one_off).startswith(CHECK_FIRST)
    assert one_off._repr_html_().index(CHECK_FIRST) < one_off._repr_html_().index("<table>")
    [said] = alarms_in_words(one_off)
    assert said.startswith("Gamma: ")
    assert "order of the test sample" in said


def test_without_an_alarm_nothing_is_said(one_off):
    quiet = replace(one_off, alarms=())
    assert alarms_in_words(quiet) == []
    assert CHECK_FIRST not in repr(quiet)
    assert CHECK_FIRST not in quiet._repr_html_()


def test_two_findings_of_one_cause_are_one_line(one_off):
    alarms = [
        Alarm(kind, f"{kind} found.", "The cause.", "Beta") for kind in ("time_scale", "negative_skill")
    ]
    [said] = alarms_in_words(replace(one_off, alarms=tuple(alarms)))
    assert said.count("The cause.") == 1
    assert "time_scale found. negative_skill found." in said


@pytest.mark.parametrize("which", ["one_off", "one_left", "all_off"])
def test_who_is_disqualified_is_called_best_nowhere(which, request, tmp_path):
    result = request.getfixturevalue(which)
    off = [model for model in result.models if model not in result.contenders]
    sensitivity, bounds = result.computed("sensitivity"), result.computed("bounds")
    found = headline(result, sensitivity)
    texts = [repr(result), repr(sensitivity), repr(bounds), *map(str, vars(found).values())]
    texts += [result.ranking().statement, sensitivity.statement]
    for text in texts:
        assert {model: calls_best(text, model) for model in off} == {model: [] for model in off}
    numbers = result.to_dict()
    assert list(winners(numbers, off)) == []
    assert len({each["model"] for each in numbers["alarms"]}) == len(off)
    page = result.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('id="alarms"') < page.index('id="answer"')
    marked = re.findall(r'<td class="k\d[^>]*title="([^"]*)"', page)
    assert len(marked) > 0 or len(result.contenders) < 2
    assert [title for title in marked for model in off if model in title] == []
    assert page.count('class="best"') == page.count('class="star"')


def test_who_is_disqualified_leads_nowhere_over_the_grid(one_off):
    sensitivity = one_off.computed("sensitivity")
    for grid in (sensitivity, sensitivity.after_dropout):
        for metric in one_off.metrics:
            assert all(
                "Gamma" not in each for line in grid.leaders(metric).values() for each in line.values()
            )
            assert all("Gamma" not in each for line in grid.best(metric).values() for each in line.values())
            assert grid.reference(metric) != "Gamma"
        table = grid.table()
        assert table.loc[table["model"] == "Gamma", "rank"].isna().all()
        assert table.loc[table["model"] == "Gamma", "score"].notna().all()
    assert sensitivity.lead("Alpha", "Gamma") is not None
    off = replace(one_off, alarms=(Alarm("negative_skill", "F.", "C.", "Alpha"),))
    turned = replace(sensitivity, evaluation=off)
    assert turned.lead("Alpha", "Gamma") is None
    assert turned.tips("Alpha", "Gamma") == ()
    assert turned.within_plausible("Alpha", "Gamma").winner is None


def test_without_a_contender_there_is_no_winner(all_off, tmp_path):
    sensitivity = all_off.computed("sensitivity")
    found = headline(all_off, sensitivity)
    for text in (repr(all_off), repr(sensitivity), found.lead):
        assert "No model can be called best" in text
    assert all(each == () for line in sensitivity.leaders().values() for each in line.values())
    assert sensitivity.changes() == []
    assert sensitivity.stretches() == []
    bounds = all_off.computed("bounds")
    assert {bounds.certain(*pair) for pair in bounds.pairs} == {None}
    page = all_off.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'class="star"' not in page
    assert "data-map " not in page.partition("<script")[0]
    assert "*" not in repr(all_off).partition("± half")[0].partition("integrated")[2]


def test_one_that_is_left_has_nothing_to_be_ranked_with(one_left):
    assert "alone has no alarm" in headline(one_left, one_left.computed("sensitivity")).lead
    assert "alone has no alarm" in repr(one_left)
    assert "Beta" in repr(one_left.computed("sensitivity"))


def test_names_on_the_page_are_marked(one_off):
    [said] = alarms_in_words(one_off, ON_PAGE)
    assert ON_PAGE.model("Gamma") in said
