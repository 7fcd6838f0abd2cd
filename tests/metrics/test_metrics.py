"""What every metric says of itself, and how its value answers to the weights."""

import re

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import EventWeights, Modelled
from cocensor.data import Predictions
from cocensor.data.times import TimeGrid
from cocensor.metrics.base import Metric
from tests.refusals import refuses

METRICS = [
    cc.metric("ibs"),
    cc.metric("ils", floor=0.01),
    cc.metric("brier"),
    cc.metric("auc"),
    cc.metric("auc", at=1.0),
    cc.metric("concordance"),
    cc.metric("concordance", time_dependent=True),
    cc.metric("ici"),
    cc.metric("miscalibration"),
    cc.metric("discrimination", at=1.0),
    cc.metric("d_calibration", n_cells=4),
    cc.metric("net_benefit", threshold=0.4, at=1.0),
    cc.metric("absolute_error"),
    cc.metric("absolute_error", predicted="mean"),
]
# Weights are drawn here, and scores of them may leave their range.
pytestmark = pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")
every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
RNG = np.random.default_rng(3)
N = 7
TIMES = np.array([2.0, 0.5, 1.0, 0.5, 3.5])  # in no order, one of them twice
SORTED = np.unique(TIMES)
PREDICTED = Predictions(
    [0.3, 1.2, 4.0], np.exp(-np.array([0.3, 1.2, 4.0]) * RNG.gamma(2.0, 0.4, size=(N, 1)))
)


def status_with(a, b, normaliser=N, metric=None):
    """Any weights, at the times of a metric."""
    grid = TimeGrid.of(TIMES) if metric is None else metric.grid(TimeGrid.of(TIMES))
    rows, none = np.arange(N), np.zeros(N, dtype=int)
    modelled = (
        Modelled(rows, none, lambda some, columns: (a + b)[some, columns], observed=True),
        Modelled(rows, none, lambda some, columns: -b[some, columns]),
    )
    return EventWeights(
        grid, none, event_free=(), event=(), modelled=modelled, mass=np.full(N, normaliser / N)
    )


def value(metric, status):
    return metric.evaluate(status, {"m": PREDICTED})["m"].value


def derivatives(metric, status):
    """α and β of the value by the weights at all times, (subjects, sorted times) each."""
    alpha, beta = np.zeros((2, status.n, status.grid.sorted.size))
    for at, functionals, _ in metric.functionals(status, {"m": PREDICTED}).parts(status):
        columns = np.searchsorted(status.grid.sorted, at.grid.sorted)
        block = functionals.gradients[0].of_subjects(np.arange(status.n))
        alpha[:, columns] += functionals.time_weights[:, 0] * block.event_free
        beta[:, columns] += functionals.time_weights[:, 0] * block.event
    return alpha, beta


@every_metric
def test_the_gradient_is_that_of_finite_differences_in_the_weights(metric):
    n_times = metric.grid(TimeGrid.of(TIMES)).sorted.size
    a, b = RNG.uniform(0.1, 1.5, size=(2, N, n_times))

    def status():
        return status_with(a, b, 4.2, metric)

    alpha, beta = derivatives(metric, status())
    step = 1e-5
    for weights, found in ((a, alpha), (b, beta)):
        for place in np.ndindex(weights.shape):
            before = weights[place]
            weights[place] = before + step
            up = value(metric, status())
            weights[place] = before - step
            down = value(metric, status())
            weights[place] = before
            assert found[place] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_until_weights_of_events_prevail_over_those_below_zero_nobody_had_the_event():
    a, b = RNG.uniform(0.1, 1.0, (2, N, SORTED.size))
    b[:, 0] = -0.001
    status = status_with(a, np.cumsum(b, axis=1))
    found = cc.metric("auc").evaluate(status, {"m": PREDICTED})["m"]
    early = SORTED[0] == TIMES
    np.testing.assert_array_equal(np.isnan(found.curve), early)
    # the times without an event have no part in the mean
    events = np.diff(np.cumsum(b.sum(axis=0))[1:], prepend=0.0)
    aucs = [found.curve[list(TIMES).index(t)] for t in SORTED[1:]]
    assert found.value == pytest.approx(events @ aucs / events.sum(), rel=1e-12)


@every_metric
def test_a_block_of_the_gradient_is_a_part_of_the_whole(metric):
    n_times = metric.grid(TimeGrid.of(TIMES)).sorted.size
    status = status_with(*RNG.uniform(size=(2, N, n_times)), N, metric)
    [part] = metric.functionals(status, {"m": PREDICTED}).parts(status)
    gradient = part.functionals.gradients[0]
    whole = gradient.of_subjects(np.arange(N))
    rows, columns = np.array([5, 0, 3]), slice(n_times // 2, n_times)
    some = gradient.of_subjects(rows).part(columns)
    np.testing.assert_allclose(some.event_free, whole.event_free[rows, columns], atol=1e-15)
    np.testing.assert_allclose(some.event, whole.event[rows, columns], atol=1e-15)


@pytest.mark.parametrize(
    "metric", [cc.metric("ibs"), cc.metric("ils", floor=0.02)], ids=lambda each: each.name
)
def test_a_mean_loss_is_its_gradient_times_the_weights(metric):
    y = cc.Survival.from_latent(*RNG.exponential(2.0, size=(2, N)))
    status = cc.IPCW(min_probability=0.01, tail="last").fit(y).weights(y, SORTED)
    alpha, beta = derivatives(metric, status)
    assert value(metric, status) == pytest.approx(
        float((alpha * status.a + beta * status.b).sum()), rel=1e-12
    )


def test_kinds_of_weights_sum_what_they_show():
    q = RNG.uniform(size=(N, SORTED.size))
    rows, cut = np.arange(N), np.arange(N) % (SORTED.size + 1)
    for modelled in (
        Modelled(rows, cut, lambda some, columns: q[some, columns]),
        Modelled(rows, cut, lambda some, columns: 3 * q[some, columns], before=True, observed=True),
        Modelled(rows[1::2], cut[1::2], lambda some, columns: q[some, columns], before=True),
    ):
        event_free = ((q[:, 0], None), (None, SORTED))
        status = EventWeights(TimeGrid.of(SORTED), cut[::-1], event_free=event_free, modelled=(modelled,))
        p = PREDICTED(SORTED)
        direct = (status.a * (1 - p) ** 2 + status.b * p**2).mean(axis=0)
        found = cc.metric("ibs").evaluate(status, {"m": PREDICTED})["m"]
        np.testing.assert_allclose(found.curve, direct, atol=1e-14)


# --- direction ----------------------------------------------------------------------------------------


class Share(Metric):
    """A score of which more is better."""

    name, label, direction, range = "share", "share", "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        return {name: cc.metrics.MetricValue(0.5) for name in predictions}


def test_skill_and_ranks_follow_the_direction():
    brier, share = METRICS[0], Share()
    assert (brier.best, share.best) == (0.0, 1.0)
    assert brier.skill(0.1, 0.2) == pytest.approx(0.5)
    assert brier.skill(0.3, 0.2) == pytest.approx(-0.5)
    assert share.skill(0.9, 0.8) == pytest.approx(0.5)
    assert share.skill(0.7, 0.8) == pytest.approx(-0.5)
    values = {"a": 0.2, "b": 0.1, "c": 0.2, "d": np.nan}
    assert brier.ranks(values) == {"a": 2, "b": 1, "c": 2}
    assert share.ranks(values) == {"a": 1, "b": 3, "c": 1}
    assert np.isnan(brier.skill(0.0, 0.0))
    # A curve that is alike for all is calibrated; nobody reaches a net benefit of 1.
    for each in (cc.metric("ici"), cc.metric("d_calibration"), cc.metric("net_benefit", threshold=0.2)):
        assert np.isnan(each.skill(0.1, 0.2))


def test_a_metric_without_a_gradient_and_a_status_without_one_say_so():
    status = status_with(*np.ones((2, N, SORTED.size)))
    refuses(lambda: Share().functionals(status, {"m": PREDICTED}), "'share'", "gradient")
    refuses(lambda: Share().functionals_over_time(status, {"m": PREDICTED}), "'share'", "gradient")
    refuses(lambda: status.sample, "influence")
    refuses(lambda: status.pull_back(iter(()), 1), "influence")


@every_metric
def test_values_have_a_curve_and_lie_in_their_range(metric):
    y = cc.Survival(np.linspace(0.4, 3.9, N), np.ones(N))
    status = cc.IPCW().fit(y).weights(y, metric.grid(TimeGrid.of(TIMES)))
    found = metric.evaluate(status, {"m": PREDICTED, "other": PREDICTED})
    assert list(found) == ["m", "other"]
    low, high = metric.range
    assert low <= found["m"].value <= high
    assert metric.label != metric.curve_label
    if status.grid.sorted.size == 1 or metric.curve_label is None:
        assert found["m"].curve is None
        return
    assert found["m"].curve.shape == TIMES.shape
    assert found["m"].curve[1] == found["m"].curve[3]  # the time that is asked for twice


@pytest.mark.parametrize("metric", METRICS[:2], ids=lambda metric: metric.name)
def test_integrated_scores_are_means_over_time(metric):
    y = cc.Survival(np.linspace(0.4, 3.9, N), np.ones(N))
    found = metric.evaluate(cc.IPCW().fit(y).weights(y, TIMES), {"m": PREDICTED})["m"]
    order = np.argsort(TIMES, kind="stable")
    mean = np.trapezoid(found.curve[order], TIMES[order]) / 3.0
    assert found.value == pytest.approx(mean, rel=1e-12)
    assert metric.direction == "lower"


def test_metrics_by_name():
    assert cc.metric("ils", floor=0.01) == cc.metric("ils", floor=0.01) != cc.metric("ils", floor=0.02)
    assert {re.split(r" at | \(", metric.name)[0] for metric in METRICS} <= set(cc.metrics.metric_names())
    refuses(lambda: cc.metric("gini"), "metric", "'gini'", "'ibs'")
    refuses(lambda: cc.metric("ils"), "'ils'", "floor")
    refuses(lambda: cc.metric("ibs", floor=0.1), "'ibs'", "floor")
    refuses(lambda: cc.metric("ils", floor=0.7), "floor", "0.7")
    refuses(lambda: cc.metrics.register_metric(type(METRICS[0])), "name", "'ibs'")
    refuses(lambda: cc.metrics.register_metric(3), "kind", "3", kind=TypeError)
