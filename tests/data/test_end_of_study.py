import numpy as np
import pytest

import cocensor as cc
from cocensor import Survival
from cocensor.data.survival import ended_by_reason, unmarked_end
from cocensor.paper import datasets


def observed(rng, n, event, dropout, end=np.inf):
    """What is seen of exponential event times and steady dropout up to ``end``, which nobody marks."""
    e = rng.exponential(size=n) / event
    c = np.minimum(rng.exponential(size=n) / dropout, end)
    return Survival(np.minimum(e, c), e <= c)


@pytest.mark.parametrize("n", [20, 60, 400])
def test_steady_dropout_is_taken_for_an_end_of_study_less_than_once_in_a_hundred(n):
    rng = np.random.default_rng(n)
    alarms = [
        bool(unmarked_end({"sample": observed(rng, n, 1.0, rate)}))
        for rate in (0.3, 1.0, 30.0)
        for _ in range(200)
    ]
    assert np.mean(alarms) < 0.01


@pytest.mark.parametrize("accrual", [0.0, 0.08])
def test_an_end_of_study_is_found_where_it_is_not_marked(accrual):
    rng = np.random.default_rng(3)
    found = [
        unmarked_end({"sample": observed(rng, 200, 1.0, 0.3, 1 - accrual * rng.random(200))})
        for _ in range(50)
    ]
    assert np.mean([bool(notes) for notes in found]) > 0.95
    assert {note.kind for notes in found for note in notes} == {"caution"}


def test_the_share_is_told():
    time = np.concatenate((np.arange(1.0, 31.0), np.full(70, 100.0), np.arange(1.0, 101.0)))
    y = Survival(time, np.arange(200) >= 100)
    (note,) = unmarked_end({"test sample": y})
    assert "70 % of the censored times in the test sample" in note.text
    for word in (
        "administrative",
        "data lock",
        "follow-up",
    ):  # what to say it with, in Python as in the terminal
        assert word in note.text


def test_marks_say_it_all():
    y = observed(np.random.default_rng(1), 200, 0.5, 0.1, 1.0)
    assert unmarked_end({"sample": y})
    assert not unmarked_end({"sample": Survival(y.time, y.event, ~y.event)})
    assert not unmarked_end({"sample": Survival(y.time, y.event, np.zeros(200, dtype=bool))})
    assert not unmarked_end({"sample": Survival.from_follow_up(y.time, y.event, 1.0)})


def test_nobody_censored_and_nobody_followed():
    assert not unmarked_end({"sample": Survival([1.0] * 50, [1] * 50)})
    assert not unmarked_end({"sample": Survival([1.0] * 9, [0] * 9)})
    assert unmarked_end({"sample": Survival([1.0] * 10, [0] * 10)})  # nobody left before the end


def test_evaluate_cautions():
    rng = np.random.default_rng(5)
    y = observed(rng, 150, 1.0, 0.2, 1.0)
    curves = (np.array([0.5, 1.0]), np.tile([0.6, 0.4], (150, 1)))
    how = {"adjustments": "ipcw", "metrics": "ibs", "confidence_level": None}

    def cautions(**samples):
        found = cc.evaluate({"flat": curves}, **samples, **how)
        return [
            note.text for note in found.notes if note.kind == "caution" and "the study ended" in note.text
        ]

    (of_test,) = cautions(y_test=y)
    assert "training sample" not in of_test
    assert cautions(y_test=y, y_train=y) == [of_test]
    (of_both,) = cautions(y_test=y, y_train=observed(rng, 150, 1.0, 0.2, 1.0))
    assert "test sample" in of_both
    assert "training sample" in of_both
    assert not cautions(y_test=Survival.from_follow_up(y.time, y.event, 1.0))


@pytest.mark.parametrize(("load", "found"), [("flchain", True), ("gbsg", False), ("whas", False)])
def test_data_sets(load, found):
    y = getattr(datasets, f"load_{load}")().y
    assert bool(unmarked_end({"sample": y})) == found


def test_a_reason_that_reads_like_the_end_of_the_study_is_noted():
    y = Survival([1.0, 2.0, 3.0], [True, False, False], reason=["", "moved", "End of study"])
    (note,) = ended_by_reason({"test sample": y})
    assert note.values == {"reason": "End of study", "sample": "test sample"}
