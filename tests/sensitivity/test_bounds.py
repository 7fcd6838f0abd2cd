from itertools import combinations, product

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import Oracle
from cocensor.adjustments.samples import Samples
from cocensor.curves import TimeGrid
from cocensor.sensitivity.bound_auc import extremes_of_auc
from cocensor.sensitivity.bound_means import extremes_of_mean
from cocensor.sensitivity.dropouts import Dropouts

TIMES = np.array([1.0, 2.0, 3.0, 4.0, 5.5])


def tiny(seed, n=6, share=0.5):
    """Outcomes with ties among themselves and with the times, and curves of three models."""
    rng = np.random.default_rng(seed)
    y = cc.Survival(np.append(rng.integers(0, 7, n - 1) * 1.0, 7.0), rng.random(n) > share)
    curves = {name: np.sort(rng.random((n, TIMES.size)))[:, ::-1] for name in "abc"}
    return y, curves


def evaluated(curves, y, metrics=("ibs", "auc"), **options):
    asked = {"times": TIMES, "adjustments": {"oracle": Oracle(y.time)}, "confidence_level": None}
    return cc.evaluate(curves, y, metrics=metrics, **(asked | options))


def event_times(y, times):
    """All event times that the dropouts can have had, as far as scores at some times can tell."""
    after = [
        [*times[times > t], times[-1] + 1 + t] if out else [t]
        for t, out in zip(y.time, y.dropout, strict=True)
    ]
    return product(*after)


def all_scores(metric, result, y, curves):
    """The scores of each model by a metric under all event times, a row for each."""
    grid = metric.grid(TimeGrid.of(TIMES))
    predictions = {name: result.data.predictions[name] for name in curves}
    rows = []
    for times in event_times(y, grid.sorted):
        found = metric.evaluate(Oracle(np.array(times)).fit(y).status(y, grid), predictions)
        rows.append([found[name].value for name in curves])
    return np.array(rows)


METRICS = {
    "ibs": (cc.metric("ibs"), None),
    "one time": (cc.metric("brier", at=3.5), 3.5),
    "at a dropout": (cc.metric("brier", at=3.0), 3.0),
    "logarithm": (cc.metric("ils", floor=0.02), None),
    "benefit": (cc.metric("net_benefit", threshold=0.3, at=4.0), 4.0),
    "time": (cc.metric("absolute_error"), None),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", METRICS)
def test_bounds_are_the_extremes_over_all_event_times(name, seed):
    metric, at = METRICS[name]
    y, curves = tiny(seed)
    result = evaluated(curves, y, metric)
    bounds, scores = result.bounds(at=at), all_scores(metric, result, y, curves)
    for k, model in enumerate(curves):
        expected = scores[:, k].min(), scores[:, k].max()
        assert (bounds[model].low, bounds[model].high) == pytest.approx(expected, abs=4e-16, rel=4e-15)
    for (j, a), (k, b) in combinations(enumerate(curves), 2):
        gaps = scores[:, j] - scores[:, k]
        assert (bounds[a, b].low, bounds[a, b].high) == pytest.approx((gaps.min(), gaps.max()), abs=2e-15)
        assert bounds[b, a].low == -bounds[a, b].high


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_auc_bounds_are_the_extremes_over_all_assignments(seed, ties):
    rng = np.random.default_rng(seed)
    y = cc.Survival(np.append(rng.integers(0, 7, 8) * 1.0, 7.0), rng.random(9) > 0.6)
    risk = rng.integers(0, 3, 9) * 1.0 if ties else rng.random(9)
    result = evaluated({"m": risk}, y, "auc", adjustments={"oracle": Oracle(y.time)})
    found = result.bounds("auc", at=3.0)["m"]
    scores = []
    unknown = np.flatnonzero(y.dropout & (y.time < 3.0))
    for late in product([False, True], repeat=unknown.size):
        times = np.where(y.dropout, 9.0, y.time)
        times[unknown] = np.where(late, 9.0, 2.9)
        case = times <= 3.0
        gaps = risk[case][:, None] - risk[~case]
        if gaps.size:
            scores.append((np.sign(gaps) * 0.5 + 0.5).mean())
    assert (found.low, found.high) == pytest.approx((min(scores), max(scores)), abs=1e-14)


# --- sampling errors -------------------------------------------------------------------------------------


def marked(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    latent = rng.exponential([[4.0], [6.0], [7.0]], (3, n))
    if ties:
        latent = np.ceil(latent)
    y = cc.Survival.from_latent(*latent)
    curves = {name: np.exp(-TIMES * rng.gamma(4.0, 0.05, (n, 1))) for name in "ab"}
    return y, curves


@pytest.mark.parametrize(("metric", "ties"), [("ibs", True), ("ibs", False), ("auc", True), ("auc", False)])
@pytest.mark.parametrize("trained", [False, True])
def test_errors_are_those_of_case_weights(metric, ties, trained):
    y, curves = marked(13, 40, ties)
    y_train = marked(4, 30, ties)[0] if trained else None
    by = cc.metric(metric) if metric == "ibs" else cc.metric("auc", at=4.0)
    extremes = extremes_of_mean if metric == "ibs" else extremes_of_auc
    copies = 100

    def at_case_weights(more=(), more_train=(), with_errors=False):
        """With every subject so many times over, and some once more."""

        def rows(n, more):
            return np.concatenate((np.tile(np.arange(n), copies if not with_errors else 1), more)).astype(int)

        test = rows(len(y), more)
        train = None if y_train is None else y_train[rows(len(y_train), more_train)]
        known = {name: cc.Predictions(TIMES, each[test]) for name, each in curves.items()}
        open_ = Dropouts.of(Samples(y[test], y_train=train), by.grid(TimeGrid.of(TIMES)))
        return extremes(by, open_, known, with_errors)

    base, variance = at_case_weights().values, 0.0
    for sample, name in ((y, "more"), (y_train, "more_train")):
        if sample is not None:
            n = len(sample)
            moved = np.array([at_case_weights(**{name: [i]}).values - base for i in range(n)])
            variance += np.sum((moved * (copies * n + 1)) ** 2, axis=0) / (n * (n - 1))
    found = at_case_weights(with_errors=True)
    known = np.isfinite(base)
    assert known[:, :2].all()
    assert found.errors[known] == pytest.approx(np.sqrt(variance[known]), rel=0.01)
