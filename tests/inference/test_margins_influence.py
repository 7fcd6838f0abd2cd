"""The influence of subjects by way of Copula-Graphic margins, on what is imputed given nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocensor as cc
from cocensor.adjustments.gradient import Functionals
from cocensor.data import Predictions
from cocensor.inference.influence import batched_rows, influence
from cocensor.metrics.proper import IntegratedBrierScore, IntegratedLogScore
from tests.strategies import ARCHIMEDEAN, archimedean, member_id, members, outcomes

TIMES = np.array([0.4, 0.75, 1.0, 1.55])
METRICS = (IntegratedBrierScore(), IntegratedLogScore(0.01))
COPULAS = [cc.Independence(), *members(ARCHIMEDEAN, taus=(-0.8, 1e-6, 0.3, 0.6, 0.9))]


def sample(seed, n=40, *, ties=False, administrative=False):
    rng = np.random.default_rng(seed)
    time, event = rng.exponential(size=n), rng.random(n) < 0.5
    if ties:
        time = np.ceil(time * 4) / 4
    ended = ~event & (rng.random(n) < 0.4)
    return cc.Survival(time, event, ended if administrative else None)


def models_of(n, times=TIMES):
    rates = np.random.default_rng(n).gamma(4.0, 0.25, size=(2, n, 1))
    return [Predictions(times, np.exp(-rate * times)) for rate in rates]


def functionals(metric, status, models):
    """The integrated score, and those at single times."""
    weights = np.column_stack((metric.time_weights(status.grid), np.eye(status.times.size)))
    return metric.functionals_by_time(status, dict(enumerate(models)), weights)


def pulled_back(status, wanted):
    total = np.zeros((len(status.sample), wanted.size))
    for rows, values in status.pull_back(wanted.parts(status), wanted.size):
        np.add.at(total, rows, values)
    return total


class MeanWeight:
    """The gradient of the mean of the weights a, whole or in part."""

    def __init__(self, n, n_times, n_rows=0):
        self.n, self.n_times, self.n_rows = n, n_times, n_rows

    def of_subjects(self, rows):
        return MeanWeight(self.n, self.n_times, rows.size)

    def part(self, columns, mask=None):
        part = MeanWeight(self.n, columns.stop - columns.start, self.n_rows)
        part.mask = mask
        return part

    mask = None

    @property
    def event_free(self):
        whole = np.full((self.n_rows, self.n_times), 1.0 / self.n)
        return whole if self.mask is None else whole * self.mask

    @property
    def event(self):
        return np.zeros((self.n_rows, self.n_times))


def assert_is_the_jackknife(fitted, train, test, times=TIMES):
    """Give a small share of the training sample to one subject after the other, and refit the margins."""
    n, step, models = len(train), 5e-5, models_of(len(test), times)
    status = fitted.weights(test, times)
    wanted = [functionals(metric, status, models) for metric in METRICS]

    def values(weight):
        margin = cc.CopulaGraphic(fitted.adjustment.copula).fit(train, sample_weight=weight)
        moved = replace(fitted, margin=margin).weights(test, times)
        return np.concatenate(
            [
                each.curve @ f.time_weights
                for metric, f in zip(METRICS, wanted, strict=True)
                for each in metric.evaluate(moved, named).values()
            ]
        )

    named = {str(i): each for i, each in enumerate(models)}
    shares = np.full((n, n), -step) + n * step * np.eye(n)
    near, far = (
        np.array([values(1.0 + k * share) - values(1.0 - k * share) for share in shares]) for k in (1, 2)
    )
    expected = (8 * near - far) / (12 * step)
    found = np.concatenate([pulled_back(status, each) for each in wanted], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12 * np.abs(found).max())


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", COPULAS, ids=member_id)
@pytest.mark.parametrize("conditioning", ["dropout", "event_free"])
@pytest.mark.parametrize(("ties", "administrative"), [(False, False), (True, True)])
def test_influence_is_the_infinitesimal_jackknife(copula, conditioning, ties, administrative):
    train, other = (sample(seed, n=12, ties=ties, administrative=administrative) for seed in (3, 4))
    # Test subjects that are censored at the steps of the training curves, and between them.
    parts = [(each.time, each.event, each.dropout) for each in (train, other)]
    time, event, dropout = (np.concatenate(each) for each in zip(*parts, strict=True))
    test = cc.Survival(time, event, ~event & ~dropout)
    fitted = cc.Imputation((), copula, conditioning, tail="last").fit(train)
    assert_is_the_jackknife(fitted, train, test)


EDGES = {
    # Censored before all training times, before the first dropout, beyond the last time; ends of study likewise.
    "outside": (
        ([1.0, 2.0, 2.5, 3.0, 4.0, 5.0], [1, 1, 0, 1, 0, 1]),
        ([0.5, 1.5, 2.2, 0.5, 2.2, 3.5], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1]),
        [0.7, 2.0, 2.75, 4.5],
    ),
    # The training curve of the event reaches 0.
    "no one left": (
        ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1]),
        ([0.5, 2.0, 3.5, 4.0], [0, 0, 0, 1]),
        [1.0, 3.7, 4.0, 9.0],
    ),
    # Everybody has dropped out by the last time, and curves are held there.
    "everyone dropped out": (
        ([1.0, 2.0, 3.0, 4.0, 4.0], [1, 0, 1, 0, 0]),
        ([2.0, 4.0, 4.5, 4.0, 4.5], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]),
        [2.5, 4.0, 4.2, 5.0],
    ),
    # The first step of the dropout is the only one.
    "one dropout": (
        ([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1]),
        ([0.5, 1.0, 2.0, 3.0, 3.5], [0, 0, 0, 0, 0]),
        [1.0, 2.5, 3.0, 3.75],
    ),
    "first dropout after the times": (
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 1, 1, 0, 1, 1]),
        ([0.5, 1.0, 2.5, 3.0], [0, 0, 0, 0], [0, 0, 1, 0]),
        [0.75, 1.5, 2.75, 3.5],
    ),
    "one kind after the other": (
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0]),
        ([1.0, 3.0, 5.0], [0, 0, 0], [0, 1, 0]),
        [1.5, 3.5, 5.5, 5.75],
    ),
}


@pytest.mark.parametrize("copula", COPULAS, ids=member_id)
@pytest.mark.parametrize("edge", EDGES)
def test_influence_at_the_edges_of_the_curves(copula, edge):
    train, test, times = EDGES[edge]
    train, test = cc.Survival(*train), cc.Survival(*test)
    fitted = cc.Imputation((), copula, tail="last").fit(train)
    assert_is_the_jackknife(fitted, train, test, np.array(times))


def test_at_independence_it_is_that_of_kaplan_meier():
    train, test = sample(5, ties=True), sample(6, n=25, ties=True)
    status = cc.Imputation(()).fit(train).weights(test, TIMES)
    models = models_of(len(test))
    wanted = functionals(METRICS[0], status, models)

    def log_survival(t):
        """The influence of every training subject on log S(t), by the martingale of the event."""
        total = np.zeros((len(train), np.size(t)))
        table = train.risk_table
        for u, n, d in zip(table.times, table.at_risk, table.events, strict=True):
            jump = ((train.time == u) & train.event) - (train.time >= u) * (d / n)
            total -= len(train) * np.outer(jump / max(n - d, 1), u <= np.atleast_1d(t))
        return total

    asked = ~test.event[:, None] & (test.time[:, None] <= TIMES)
    at_t, at_c = log_survival(TIMES), log_survival(test.time)
    for m, model in enumerate(models):
        gain = ((1 - model(TIMES)) ** 2 - model(TIMES) ** 2) / len(test) * asked * status.a
        by_time = at_t * gain.sum(axis=0) - at_c @ gain
        size = wanted.time_weights.shape[1]
        found = pulled_back(status, wanted)[:, m * size : (m + 1) * size]
        np.testing.assert_allclose(found, by_time @ wanted.time_weights, rtol=1e-9, atol=1e-12)


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", [*COPULAS, *members(ARCHIMEDEAN, taus=(0.99,))], ids=member_id)
@pytest.mark.parametrize("digits", [None, 2])
def test_the_mean_imputed_status_is_the_margin_with_its_variance(copula, digits):
    """Also where chances span hundreds of orders of magnitude, and steps are too small for differences."""
    n = 5000
    e, c = np.random.default_rng(0).exponential(size=(2, n))
    if digits is not None:
        e, c = np.ceil(e * 10**digits) / 10**digits, np.ceil(c * 10**digits) / 10**digits
    y = cc.Survival.from_latent(e, 1.3 * c)
    times = np.quantile(y.time, [0.05, 0.5, 0.9, 0.999])
    margin = cc.CopulaGraphic(copula).fit(y)
    status = cc.Imputation((), copula).fit(y).weights(y, times)
    wanted = Functionals((MeanWeight(n, times.size),), np.eye(times.size))
    found = influence(status, wanted, y)
    assert found.fitted is None
    np.testing.assert_allclose((found.test**2).sum(axis=0) / n**2, margin.variance(times), rtol=1e-7)
    np.testing.assert_allclose((found.rows**2).sum(axis=0), margin.variance(times) * n / (n - 1), rtol=1e-7)


@settings(max_examples=60)
@given(outcomes(min_size=2, administrative=True), archimedean(), st.sampled_from(["dropout", "event_free"]))
def test_the_mean_influence_is_0(y, copula, conditioning):
    times = np.array([0.5, 1.25, 2.0, 3.5])
    status = cc.Imputation((), copula, conditioning, tail="last").fit(y).weights(y, times)
    if status.sample is None:
        assert not (~y.event & (y.time < 3.5)).any()
        return
    found = pulled_back(status, functionals(METRICS[0], status, models_of(len(y), times)))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-10 * max(1.0, np.abs(found).max()))


def test_blocks_and_batches_add_up():
    """Many blocks of rows, with more columns than fit one block of all, are one sum."""
    n = 6000
    y, times = sample(1, n=n), np.linspace(0.1, 2.0, 60)
    status = cc.Imputation((), cc.Clayton(2.0)).fit(y).weights(y, times)
    wanted = Functionals((MeanWeight(n, 60),), np.eye(60))
    one_by_one = [
        pulled_back(status, Functionals((MeanWeight(n, 60),), np.eye(60)[:, [k]]))[:, 0] for k in (0, 31, 59)
    ]
    np.testing.assert_allclose(pulled_back(status, wanted)[:, [0, 31, 59]].T, one_by_one, atol=1e-12)
    np.testing.assert_allclose(
        (batched_rows(status, wanted, y)).sum(axis=0),
        influence(status, wanted, y).rows.sum(axis=0),
        atol=1e-12,
    )
