"""What the true event times say, in words."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.checks import Check
from cocensor.views.text.names import BARE, ON_PAGE
from cocensor.views.text.truth import truth_in_words
from tests.views.text.made_up import plain, scored


@pytest.fixture(scope="module")
def known():
    """Two twins, whose scores are replaced by others."""
    rng = np.random.default_rng(0)
    true, dropout = rng.exponential(size=(2, 60))
    y = cc.Survival(np.minimum(true, dropout), true <= dropout)
    curves = np.exp(-np.array([0.2, 0.5, 1.0]))[None].repeat(60, axis=0)
    models = dict.fromkeys("ab", ([0.2, 0.5, 1.0], curves))
    return cc.evaluate(models, y, metrics="ibs", true_times=true)


def made(evaluation, truth, error=0.001, **by_adjustment):
    """An evaluation with these scores, true and by adjustment, each with this standard error."""
    results = {
        name: scored(each, by_adjustment.get(name, truth), error) for name, each in evaluation.results.items()
    }
    level = None if error is None else 0.95
    predictions = dict.fromkeys(truth, evaluation.data.predictions["a"])
    data = replace(evaluation.data, predictions=predictions, models=tuple(truth), confidence_level=level)
    return replace(evaluation, results=results, data=data, truth=scored(evaluation.truth, truth, error))


def test_the_best_model_and_who_misses_it(known):
    wrong = {"a": 0.11, "b": 0.1, "c": 0.2}
    found = made(known, {"a": 0.1032, "b": 0.12, "c": 0.2}, ipcw=wrong, imputation=wrong)
    said = truth_in_words(found, BARE)
    best = "a has the best integrated Brier score, 0.1032."
    assert said.startswith(f"The data are simulated, so the truth is known: {best}")
    assert said.endswith("IPCW and imputation pick b.")
    on_page = plain(truth_in_words(found, ON_PAGE))
    assert on_page == said
    assert truth_in_words(found, BARE, in_short=True) == "Truth (simulated): a is best."


def test_whoever_picks_it_is_said_too(known):
    truth = {"a": 0.1, "b": 0.2}
    assert truth_in_words(made(known, truth), BARE).endswith("IPCW and imputation pick a.")
    one = truth_in_words(made(known, truth, ipcw={"a": 0.2, "b": 0.1}), BARE)
    assert one.endswith("IPCW picks b; imputation picks a.")


def test_a_model_that_the_sample_cannot_tell_from_the_best(known):
    truth = {"a": 0.1, "b": 0.1004, "c": 0.3}
    assert (
        "a has the best integrated Brier score, 0.1000, but cannot be distinguished from b."
        in truth_in_words(made(known, truth), BARE)
    )
    assert "distinguished" not in truth_in_words(made(known, truth, error=None), BARE)


def test_equal_scores(known):
    said = truth_in_words(known, BARE)
    assert "a and b share the best integrated Brier score" in said
    assert said.endswith("pick a and b.")


def test_one_model_is_not_best(known):
    said = truth_in_words(made(known, {"a": 0.1}), BARE)
    assert said.endswith("the integrated Brier score of a is 0.1000.")
    assert "best" not in said


def test_a_disqualified_model_is_not_best(known):
    off = Check("negative_skill", "a", {"skill": -0.5, "cause": "rows"})
    found = replace(made(known, {"a": 0.1, "b": 0.2, "c": 0.3}), checks=(off,))
    assert "b has the best integrated Brier score, 0.2000." in truth_in_words(found, BARE)
    nobody = replace(found, checks=(off, replace(off, model="b"), replace(off, model="c")))
    assert "best" not in truth_in_words(nobody, BARE)


def test_no_score(known):
    metric = replace(known, truth=replace(known.truth, values={"ibs": {}}))
    assert "no model has a true integrated Brier score" in truth_in_words(metric, BARE)


def test_data_of_a_study_say_nothing(known):
    study = replace(known, truth=None)
    assert truth_in_words(study, BARE) == ""
    assert "ruth" not in repr(study)
    assert truth_in_words(known, BARE, in_short=True) in repr(known)


def test_the_table_shows_true_scores_without_a_star(known):
    found = made(
        known, {"a": 0.1032, "b": 0.12}, ipcw={"a": 0.11, "b": 0.1}, imputation={"a": 0.11, "b": 0.1}
    )
    head, b, a = next(
        lines[k : k + 3]
        for lines in [repr(found).splitlines()]
        for k, line in enumerate(lines)
        if "truth" in line
    )
    assert head.split()[-1] == "truth"
    assert (b[0], b.split()[-1]) == ("*", "0.120")
    assert (a[0], a.split()[-1]) == (" ", "0.103")
