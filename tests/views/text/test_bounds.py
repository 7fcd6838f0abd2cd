"""The templates of bounds and of benchmarks by measured covariates."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.report import Report
from cocensor.study.sensitivity import Bound, Bounds
from cocensor.views.text.names import ISOLATE, ON_PAGE
from cocensor.views.text.sensitivity import bounds_in_words, plausible_tau_in_words
from cocensor.views.text.terminal import details
from tests.views.text.made_up import made, says

ERROR = 0.01
A_FIRST = {"a": 0.1, "b": 0.2}
FLAT = {"frank": ((0.0, 0.4), {"a": [0.1] * 2, "b": [0.2] * 2})}


def bounds(three, level=0.95, **pairs):
    """Bounds of differences, by names such as a_b."""
    models = tuple(sorted({name for pair in pairs for name in pair.split("_")}))
    found = {tuple(pair.split("_")): bound for pair, bound in pairs.items()}
    found |= {(name,): Bound(0.1, 0.3, 0.01, 0.01) for name in models}
    return Bounds(three.data.metrics[0], models, level, found)


@pytest.mark.parametrize(
    ("bound", "facts", "never"),
    [
        (
            Bound(-0.04, -0.02, 0.001, 0.001),
            ["Whatever the dependence, a beats b", "lower by 0.020 to 0.040"],
            "any",
        ),
        (
            Bound(0.02, 0.04, 0.001, 0.001),
            ["Whatever the dependence, b beats a", "lower by 0.020 to 0.040"],
            "any",
        ),
        (Bound(-0.04, 0.02, 0.001, 0.001), ["Without any assumption", "−0.040 to 0.020"], "Whatever"),
        (Bound(-0.04, -0.02, 0.1, 0.1), ["a has a better score", "this sample", "chance", "−0.17"], "beats"),
        (Bound(-0.04, -0.02), ["Whatever the dependence, a has a better score than b"], "beats"),
        (Bound(0.0, 0.0, 0.0, 0.0), ["nothing open"], "dependence"),
    ],
)
def test_what_holds_whatever_the_dependence(three, bound, facts, never):
    said = bounds_in_words(bounds(three, None if np.isnan(bound.low_error) else 0.95, a_b=bound))
    assert says(said, *facts)
    assert never not in said


def test_a_metric_without_bounds_says_so(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate({"a": cox(0, 1), "b": cox(0)}, test.y, metrics="concordance", adjustments="ipcw")
    assert any(
        says(said, "concordance", "sharp bounds cannot be computed") for said in details(Report(found))
    )


def test_many_pairs_are_told_in_short(three):
    wide, clear = Bound(-0.04, 0.02, 0.001, 0.001), Bound(-0.04, -0.02, 0.001, 0.001)
    said = bounds_in_words(bounds(three, a_b=clear, a_c=clear, b_c=wide))
    assert says(said, "a beats b and c", "b minus that of c")
    pairs = {f"{x}_{y}": wide for k, x in enumerate("abcd") for y in "abcd"[k + 1 :]}
    assert says(bounds_in_words(bounds(three, **pairs)), "5 more pairs may have either sign")


def test_details_have_the_bounds_of_the_first_metric(three):
    evaluation, grid = made(three, FLAT, A_FIRST, error=ERROR)
    other = replace(bounds(three, a_b=Bound(-0.04, -0.02, 0.001, 0.001)), metric=cc.metric("ils", floor=0.1))
    assert not any("a beats b" in said for said in details(Report(evaluation, grid, other)))
    certain = bounds(three, a_b=Bound(-0.04, -0.02, 0.001, 0.001))
    assert any("a beats b" in said for said in details(Report(evaluation, grid, (other, certain))))


def test_bounds_of_one_model_are_those_of_its_score(three):
    one = {"a": three.data.predictions["a"]}
    found = cc.evaluate(one, three.data.samples.y_test, metrics="ibs", adjustments="ipcw")
    said = details(Report(found, bounds=found.bounds()))
    assert any(says(text, "Without any assumption", "of a") for text in said)


def test_benchmarks_are_told_with_their_limit_and_names_are_isolated(three):
    found = three.benchmarks()
    said = plausible_tau_in_words(found, ON_PAGE)
    assert says(said, "3.0 per SD", found.strongest.name.join(ISOLATE), "not a bound")
    assert f"{found.strongest.hazard_ratio_event:.2f} on the event" in said
    tiny = replace(found, benchmarks=(replace(found.strongest, shrunken_tau=-0.004),), together=-0.034)
    assert says(plausible_tau_in_words(tiny), "induces |τ| below 0.005")
    noisy = replace(found, benchmarks=(replace(found.strongest, tau=0.05, shrunken_tau=0.01),))
    assert says(plausible_tau_in_words(noisy), "induces τ = 0.01 (0.05 before")
    assert "together" not in plausible_tau_in_words(tiny)  # of one covariate
    evaluation, grid = made(three, FLAT, A_FIRST, error=ERROR)
    assert plausible_tau_in_words(found) in details(Report(evaluation, grid))
    few = cc.study.Note("warned", values={"why": "There are few dropouts."})
    doubtful = replace(found, notes=(few,))
    assert few.text in details(Report(evaluation, grid, benchmarks=doubtful))
