"""Standard errors of streamed evaluations against the spread of their values."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.whole import WholeSample
from cocensor.inference.influence import Subsample, batched_rows, influence, own_parts
from tests.scale.studies import study


def simulated(adjustment, repetitions, *, n, n_fit, n_kept, train=None):
    """Values and standard errors of two models and of their difference over samples."""
    values, errors = [], []
    for seed in range(repetitions):
        given = {} if train is None else {"y_train": study(train, 10_000 + seed).y}
        found = (
            study(n, seed)
            .scan(2)
            .evaluate(
                adjustments=adjustment,
                metrics=["ibs", "brier"],
                times=np.linspace(0.1, 0.9, 9),
                at=0.9,
                n_fit=n_fit,
                n_kept=n_kept,
                **given,
            )
        )
        scores = [
            found.score(model, metric) for model in ("full", "part") for metric in ("ibs", "brier at 0.9")
        ]
        pair = found.compare("full", "part", "ibs")
        values.append([*(each.value for each in scores), pair.difference])
        errors.append([*(each.standard_error for each in scores), pair.standard_error])
    return np.array(values), np.array(errors)


def check_spread(values, errors):
    """The mean reported variance is that of the values, whose estimate has a relative error of about √(2/R)."""
    ratio = np.square(errors).mean(axis=0) / values.var(axis=0, ddof=1)
    assert np.abs(np.log(ratio)).max() < 4 * np.sqrt(2 / len(values))


@pytest.mark.no_cover
@pytest.mark.parametrize(("n_fit", "n_kept"), [(150, 150), (300, 120)])
def test_with_few_subjects_to_fit_to_the_standard_error_is_the_spread(n_fit, n_kept):
    values, errors = simulated("ipcw", 150, n=900, n_fit=n_fit, n_kept=n_kept)
    check_spread(values, errors)
    # Without what the fit to a part adds, it would be far off: the values vary more than those of a fit to all.
    whole = np.array(
        [
            study(900, seed).evaluate(adjustments="ipcw", metrics="brier", at=0.9).score("full").value
            for seed in range(150)
        ]
    )
    assert values[:, 1].var() > 1.15 * whole.var()


@pytest.mark.no_cover
def test_a_training_sample_of_its_own_adds_its_own_error():
    check_spread(*simulated("ipcw", 150, n=900, n_fit=900, n_kept=120, train=200))


@pytest.mark.slow
@pytest.mark.parametrize("adjustment", [cc.Imputation("predictions"), "imputation"])
def test_imputation_fitted_to_few_subjects_has_the_spread_of_its_values(adjustment):
    check_spread(*simulated(adjustment, 150, n=900, n_fit=300, n_kept=200))


@pytest.fixture(scope="module")
def judged():
    """An answer for 80 subjects by a fit to 200 of 500, the 80 among them, and what the answer for all 200 says."""
    data = study(200, 3)
    curves = {name: cc.Predictions(*each) for name, each in data.models.items()}
    fitted = cc.IPCW().fit(data.y)
    return data, curves, fitted, np.sort(np.random.default_rng(0).choice(200, 80, replace=False))


def rows_of(judged, kept, n, gather):
    data, curves, fitted, _ = judged
    times = np.linspace(0.1, 0.9, 5)
    y = data.y[kept]
    status = fitted.weights(y, times, whole=WholeSample.of(data.y))
    metric = cc.metrics.IntegratedBrierScore()
    read = {name: each[kept] for name, each in curves.items()}
    return gather(status, metric.functionals(status, read), y, Subsample(n, data.y, kept))


def test_all_subjects_as_a_subsample_of_themselves_have_the_errors_that_they_have(judged):
    everybody = np.arange(200)
    found = rows_of(judged, everybody, 200, influence)
    held = rows_of(judged, everybody, 200, lambda status, values, y, _: influence(status, values, y))
    np.testing.assert_allclose(found.standard_errors, held.standard_errors, rtol=1e-12)


@pytest.mark.parametrize("n", [80, 200, 500])
def test_batches_and_single_subjects_tell_the_same(judged, n):
    kept = judged[3]
    single = rows_of(judged, kept, n, influence).rows
    batched = rows_of(judged, kept, n, batched_rows)
    np.testing.assert_allclose(batched.T @ batched, single.T @ single, rtol=1e-10)


@pytest.mark.parametrize("n", [80, 200, 500])
def test_the_variance_is_made_of_own_parts_and_pulled_parts(judged, n):
    r"""The error is the mean of d over n subjects plus that of ψ over the N, of whom some are the same."""
    kept, parts = judged[3], {}
    found = rows_of(judged, kept, n, influence).rows

    def take_apart(status, values, y, subsample):
        parts["d"], parts["psi"] = own_parts(status, values), np.zeros((200, values.size))
        for rows, each in status.pull_back(values.parts(status), values.size):
            parts["psi"][rows] += each

    rows_of(judged, kept, n, take_apart)
    d, psi, m = parts["d"] - parts["d"].mean(axis=0), parts["psi"], len(kept)
    if n > m:  # the moments are those of the 80, for all of the N and of the n
        own, pulled, cross = (
            one.T @ other / (m - 1) for one, other in ((d, d), (psi[kept],) * 2, (d, psi[kept]))
        )
        expected = own / n + pulled / 200 + (cross + cross.T) / n
    else:  # all are there: 80 in both means, 120 in that of ψ alone
        both, rest = d / m + psi[kept] / 200, np.delete(psi, kept, axis=0) / 200
        expected = both.T @ both * m / (m - 1) + rest.T @ rest
    np.testing.assert_allclose(found.T @ found, expected, rtol=1e-10)


def test_what_is_pulled_back_comes_in_small_blocks(judged, monkeypatch):
    """However many values there are: those of a curve by all subjects fitted to would not fit into memory."""
    monkeypatch.setattr("cocensor._checks._BLOCK_ELEMENTS", 100)
    kept, sizes = judged[3], []

    def measure(status, values, y, subsample):
        sizes.extend(each.size for _, each in status.pull_back(values.parts(status), values.size))

    rows_of(judged, kept, 500, measure)
    assert len(sizes) > 1
    assert max(sizes) <= 100
