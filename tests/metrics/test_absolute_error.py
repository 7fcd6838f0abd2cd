"""The restricted absolute error: the textbook's where times are known, and the integral of its definition."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.absolute_error import predicted_times
from tests.refusals import refuses


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    event, dropout = rng.exponential(1.0 / np.exp(x)), rng.exponential(2.0, size=n)
    return x, cc.Survival.from_latent(event, dropout), event


def curves(x, times):
    return cc.Predictions(times, np.exp(-times * np.exp(0.8 * x)[:, None]))


@pytest.mark.parametrize("predicted", ["median", "mean"])
def test_without_censoring_it_is_the_mean_distance_of_restricted_times(predicted):
    x, y, event = drawn(0, 500)
    times, h = np.linspace(0.0, 1.5, 2001), 1.5
    rate = np.exp(0.8 * x)
    guess = np.log(2.0) / rate if predicted == "median" else (1.0 - np.exp(-h * rate)) / rate
    expected = np.abs(np.minimum(event, h) - np.minimum(guess, h)).mean()
    whole = cc.Survival(event, np.ones(500))
    found = cc.restricted_absolute_error(whole, whole, curves(x, times), times, predicted=predicted)
    assert found == pytest.approx(expected, abs=1e-4)
    known = cc.restricted_absolute_error(
        None, y, curves(x, times), times, predicted=predicted, adjustment=cc.Oracle(event)
    )
    assert known == pytest.approx(found, rel=1e-12)
    coarse = np.linspace(0.0, 1.5, 31)
    rough = cc.restricted_absolute_error(whole, whole, curves(x, times), coarse, predicted=predicted)
    assert rough == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "times", [np.array([0.9, 0.2, 0.5, 0.2, 1.3]), np.array([0.0, 1.3, 0.4]), np.array([0.8])]
)
def test_it_is_the_integral_over_lines_between_the_times(times):
    x, y, _ = drawn(1, 60)
    fine = np.linspace(0.0, times.max(), 20001)
    knots = np.unique(np.append(0.0, times))
    predictions = curves(x, np.linspace(0.0, 2.0, 400))
    status = cc.IPCW().fit(y).weights(y, knots)
    p = np.minimum(predictions.median(), times.max())
    total = 0.0
    for a, b, own in zip(status.a, status.b, p, strict=True):
        lost = np.where(fine < own, np.interp(fine, knots, b), np.interp(fine, knots, a))
        total += np.trapezoid(lost, fine) / 60
    assert cc.restricted_absolute_error(y, y, predictions, times) == pytest.approx(total, abs=2e-4)


def test_the_best_guess_is_the_true_median():
    rng = np.random.default_rng(2)
    y = cc.Survival.from_latent(rng.exponential(size=20_000), rng.exponential(2.0, size=20_000))
    times = np.linspace(0.0, 2.0, 200)
    guesses = {rate: np.tile(np.exp(-times * rate), (20_000, 1)) for rate in (0.5, 0.8, 1.0, 1.25, 2.0)}
    found = cc.restricted_absolute_error(y, y, guesses, times)
    assert min(found, key=found.get) == 1.0


def test_predicted_times_end_at_the_horizon():
    predictions = cc.Predictions([1.0, 2.0], [[0.8, 0.6], [0.9, 0.1], [0.2, 0.0]])
    np.testing.assert_allclose(predicted_times(predictions, 1.5, "median"), [1.5, 1.5, 0.625])
    np.testing.assert_allclose(predicted_times(predictions, 2.0, "mean"), [1.6, 1.45, 0.7])
    assert (predicted_times(predictions[[0, 2]], 2.0, "median") == [2.0, 0.625]).all()


@pytest.mark.parametrize("predicted", ["median", "mean"])
def test_standard_errors_are_those_of_resamples(predicted):
    x, y, _ = drawn(3, 150)
    times, rng = np.linspace(0.1, 1.2, 25), np.random.default_rng(0)
    given = {"predicted": predicted}
    _, moved = cc.restricted_absolute_error(y, y, curves(x, times), times, return_influence=True, **given)
    again = []
    for _ in range(300):
        rows = rng.integers(150, size=150)
        again.append(cc.restricted_absolute_error(None, y[rows], curves(x[rows], times), times, **given))
    assert float(moved.standard_errors) == pytest.approx(np.std(again, ddof=1), rel=0.15)


def test_median_and_mean_are_scored_side_by_side():
    rng = np.random.default_rng(0)
    rate = rng.uniform(0.5, 2.0, size=(60, 1))
    y = cc.Survival(rng.exponential(1.0 / rate[:, 0]), np.ones(60, bool))
    times = np.linspace(0.0, 2.0, 21)
    metrics = [cc.metric("absolute_error", predicted=each) for each in ("median", "mean")]
    result = cc.evaluate({"m": np.exp(-rate * times)}, y, times=times, metrics=metrics, adjustments="ipcw")
    found = [result.score("m", name).value for name in result.metrics]
    known = [
        cc.restricted_absolute_error(y, y, np.exp(-rate * times), times, predicted=each)
        for each in ("median", "mean")
    ]
    np.testing.assert_allclose(found, known, rtol=1e-12)


def test_refusals():
    y, predicted = ([1.0, 2.0], [1, 1]), [[0.5], [0.5]]
    refuses(lambda: cc.restricted_absolute_error(y, y, predicted, [0.0]), "times", "time 0 alone")
    refuses(lambda: cc.restricted_absolute_error(y, y, predicted, [2.0]), "times", "time 2 alone")
    refuses(lambda: cc.metric("absolute_error", predicted="mode"), "predicted", "'mode'")
    late = ([1.0, 2.0, 4.0], [1, 1, 1])
    refuses(
        lambda: cc.restricted_absolute_error(([1.0, 3.0], [1, 0]), late, np.full((3, 2), 0.5), [1.0, 3.5]),
        "3",
    )
    status = cc.IPCW().fit(y).weights(y, [1.0])
    refuses(
        lambda: cc.metric("absolute_error").evaluate(
            status, {"m": cc.Predictions([1.0], predicted, tail="last")}
        ),
        "times",
        "0",
    )
