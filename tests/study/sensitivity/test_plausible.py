"""The plausible range, and tipping points on all scales."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference.estimates import Estimates
from cocensor.simulate import SyntheticDesign
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.sensitivity.run import default_ratios, default_taus, multiple, tau_of_ratio
from cocensor.views.numbers import sensitivity_numbers


@pytest.fixture(scope="module")
def result():
    data = SyntheticDesign(n=200, n_features=2).draw(0)
    cox = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    return cc.evaluate({"a": cox, "b": cox}, data.y, data.X, metrics="ibs")


def made(result, grid, ratios=None, error=0.01, asked=None):
    """A grid with the difference of "a" and "b" by line and point, and its standard error."""
    base = result.results["imputation"]

    def answer(difference, at):
        values = {"ibs": {"a": cc.metrics.MetricValue(0.2 + difference), "b": cc.metrics.MetricValue(0.2)}}
        rows = np.array([[error, 0.0]])
        errors = {"ibs": Estimates(("a", "b"), np.array([0.2 + difference, 0.2]), rows)}
        ratio = (1 + at) / (1 - at) if -1 < at < 1 else None
        return replace(
            base, served=(), values=values, errors=errors, batches={"ibs": rows}, hazard_ratio=ratio
        )

    def answered(by_line):
        points = tuple(sorted({point for line in by_line.values() for point in line}))
        answers = {
            name: {point: answer(value, point) for point, value in line.items()}
            for name, line in by_line.items()
        }
        return tuple(by_line), points, {"imputation": answers}, {}

    after = None if ratios is None else Grid(result, "hazard_ratio", *answered(ratios))
    benchmarks = result.benchmarks()
    held = PlausibleRange.of(result, benchmarks, asked)
    return Sensitivity(result, Grid(result, "tau", *answered(grid)), after, held, benchmarks)


def test_tips_of_both_kinds_on_every_scale(result):
    line = {-0.4: 0.03, 0.0: -0.06, 0.4: -0.02, 0.8: 0.02}
    found = made(result, {"frank": line}, {"all": {0.5: -0.06, 1.0: -0.06, 4.0: 0.06}}).tipping_points(
        "a", "b"
    )
    estimates = [tip for tip in found if tip.kind == "estimate"]
    # a is better at independence by a smaller score; beyond, b is.
    assert [tip.tau for tip in estimates[:2]] == pytest.approx([-0.4 * 2 / 3, 0.6])
    assert {tip.winner_beyond for tip in estimates} == {"b"}
    assert estimates[1].hazard_ratio == pytest.approx(np.sqrt(1.4 / 0.6 * 1.8 / 0.2))
    benchmarks = result.benchmarks()
    assert estimates[1].multiple == pytest.approx(benchmarks.multiple_for(estimates[1].tau))
    assert (estimates[2].family, estimates[2].reason) == ("hazard_ratio", None)
    assert estimates[2].hazard_ratio == pytest.approx(2.0)  # in the middle of log 1 and log 4
    assert np.isnan([estimates[2].tau, estimates[2].multiple]).all()
    intervals = [tip for tip in found if tip.kind == "interval"]
    reach = 1.959964 * 0.01
    lost = (0.06 - reach) / 0.04 * 0.4, -(0.06 - reach) / 0.09 * 0.4
    assert [tip.tau for tip in intervals[:2]] == pytest.approx(sorted(lost, key=abs), rel=1e-5)
    assert intervals[2].hazard_ratio == pytest.approx(4.0 ** ((0.06 - reach) / 0.12), rel=1e-5)
    assert {tip.winner_beyond for tip in intervals} == {None}
    order = [abs(tip.tau) for tip in found if tip.family == "frank"]
    assert order == sorted(order)


def test_tips_are_in_the_table_and_in_numbers(result):
    found = made(result, {"frank": {0.0: -0.06, 0.8: 0.02}}, {"all": {1.0: -0.06, 4.0: -0.06}})
    table, tips = found.tipping_table(), found.tipping_points("a", "b")
    assert list(table["kind"]) == [tip.kind for tip in tips] == ["interval", "estimate"]
    [pair] = sensitivity_numbers(found)["pairs"]["ibs"]["imputation"]
    assert [tip["tau"] for tip in pair["tips"]] == [tip.tau for tip in tips]


def test_models_that_are_not_told_apart_at_the_start_have_no_lead_to_lose(result):
    found = made(result, {"frank": {0.0: -0.01, 0.8: 0.01}})
    assert [tip.kind for tip in found.tipping_points("a", "b")] == ["estimate"]
    assert made(result, {"frank": {0.0: -0.06, 0.8: -0.05}}).tipping_points("a", "b") == ()


def test_what_is_lost_on_the_way_to_independence_is_no_tip(result):
    """The grid starts at a ratio of 8, and a τ of 0.6: nothing is known of what holds at independence."""
    found = made(result, {"frank": {-0.8: 0.1, 0.6: -0.06}}, {"all": {0.1: 0.06, 8.0: -0.06}})
    assert found.over_tau.pair("a", "b").lead().lost_below > 0
    assert found.over_ratio.pair("a", "b").lead().lost_below > 1
    assert {tip.kind for tip in found.tipping_points("a", "b")} == {"estimate"}


def test_the_plausible_range_is_two_tenths_whatever_covariates_induce(result):
    benchmarks = result.benchmarks()
    weak, strong = (replace(benchmarks, together=tau) for tau in (0.02, -0.15))
    assert PlausibleRange.of(result, weak, None) == PlausibleRange(-0.2, 0.2, "default", together=0.02)
    found = PlausibleRange.of(result, strong, None)
    assert found == PlausibleRange(-0.2, 0.2, "default", together=-0.15)
    asked = PlausibleRange.of(result, strong, (0.1, 0.3))
    assert (asked.low, asked.high, asked.origin) == (0.1, 0.3, "asked")
    bare = cc.evaluate({"a": result.data.predictions["a"]}, result.data.samples.y_test, metrics="ibs")
    unknown = bare.sensitivity("clayton", [0.0])
    assert (unknown.plausible.origin, unknown.plausible.high) == ("default", 0.2)
    assert "x_test" in unknown.plausible.why
    assert unknown.plausible.lacking == "covariates"
    assert np.isnan(multiple(unknown.benchmarks, 0.3))


def test_a_difference_over_a_range_of_tau_keeps_its_sign_where_it_does_at_every_tau(result):
    grid = {"frank": {-0.2: -0.03, 0.0: -0.04, 0.2: -0.03, 0.4: -0.01}, "joe": {0.0: -0.04, 0.4: -0.03}}
    over_tau = made(result, grid, asked=(-0.1, 0.25)).over_tau
    found, turned = over_tau.uncertainty(-0.1, 0.25, "a", "b"), over_tau.uncertainty(-0.1, 0.25, "b", "a")
    assert found.strong.high < 0 < turned.strong.low
    assert not found.missing
    assert found.ignorance == pytest.approx((-0.04, -0.025))
    assert over_tau.uncertainty(-0.2, 0.4, "a", "b").strong.high > 0
    # Where independence is held implausible, it need not be told there.
    beyond = made(result, {"frank": {0.0: 0.0, 0.2: -0.05, 0.4: -0.05}}, asked=(0.2, 0.4)).over_tau
    assert beyond.uncertainty(0.2, 0.4, "a", "b").strong.high < 0
    assert beyond.uncertainty(0.0, 0.4, "a", "b").strong.high > 0


@pytest.mark.parametrize(
    ("ends", "first"), [(None, -0.3), ((0.0, 0.3), -0.3), ((-0.6, 0.0), -0.6), ((-0.44, 0.37), -0.5)]
)
def test_by_default_the_grid_has_both_ends_of_what_is_plausible(result, ends, first):
    plausible = PlausibleRange.of(result, result.benchmarks(), ends)
    taus = default_taus(plausible)
    assert (taus[0], taus[-1]) == (first, 0.9)
    assert {0.0, plausible.low, plausible.high} <= set(taus)


def test_by_default_the_hazard_ratios_have_both_ends_of_what_is_plausible(result):
    plausible = PlausibleRange.of(result, result.benchmarks(), (-0.05, 0.1))
    taus = {ratio: tau(result, ratio) for ratio in default_ratios(result, plausible)}
    low, high = (min(taus.values(), key=lambda at, end=end: abs(at - end)) for end in (-0.05, 0.1))
    assert -0.05 <= low < -0.045
    assert 0.095 < high <= 0.1
    far = default_ratios(result, PlausibleRange.of(result, result.benchmarks(), (-0.9, 0.9)))
    assert (far[0], far[-1]) == (0.1, 10.0)


def tau(result, ratio):
    return tau_of_ratio(result, result.primary, ratio)
