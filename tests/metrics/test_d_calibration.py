"""D-calibration: shares by hand, textbook counts, and a test that holds its level."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

import cocensor as cc
from cocensor.metrics.d_calibration import d_calibration_of
from tests.refusals import refuses

CLAYTON = cc.Clayton.from_tau(0.5)


def drawn(rng, n, copula, dropout=0.6):
    """A covariate, outcomes with an exponential law given it, and the event times."""
    x = rng.normal(size=n)
    u = copula.sample(n, rng)
    event = -np.log(u[:, 0]) / np.exp(0.7 * x)
    return x, cc.Survival.from_latent(event, -np.log(u[:, 1]) / dropout), event


def curves(x, times, factor=1.0):
    return cc.Predictions(times, np.exp(-factor * times * np.exp(0.7 * x)[:, None]))


def textbook(levels, n_cells=10):
    """The share of subjects whose predicted level at the event lies in each cell."""
    return np.histogram(levels, np.linspace(0.0, 1.0, n_cells + 1))[0] / levels.size


def test_shares_are_those_of_every_subject_by_hand():
    rng = np.random.default_rng(0)
    x, y, _ = drawn(rng, 40, cc.Independence())
    times = np.linspace(0.0, 1.2, 9)
    predicted = curves(x, times)
    status = cc.IPCW().fit(y).weights(y, times)
    found = cc.d_calibration(y, y, predicted, times[1:], n_cells=4)
    observed, expected = np.zeros((2, 5))
    for a, s in zip(status.a, predicted(times), strict=True):

        def event_free(p, a=a, s=s):
            return np.interp(p, s[::-1], a[::-1])

        for c, (low, high) in enumerate([(0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)]):
            observed[c] += event_free(max(high, s[-1])) - event_free(max(low, s[-1]))
            expected[c] += max(high - max(low, s[-1]), 0.0)
        observed[4] += a[-1]
        expected[4] += s[-1]
    np.testing.assert_allclose(found.observed, observed / 40, atol=1e-14)
    np.testing.assert_allclose(found.expected, expected / 40, atol=1e-14)
    np.testing.assert_allclose(found.levels, [0.25, 0.5, 0.75, 1.0])
    value = cc.metric("d_calibration", n_cells=4).evaluate(status, {"m": predicted})["m"]
    assert value.value == pytest.approx(0.5 * np.abs(observed - expected).sum() / 40, abs=1e-14)
    np.testing.assert_allclose(value.profile.x, [0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(value.profile.y, (observed - expected)[[4, 0, 1, 2, 3]] / 40, atol=1e-14)


@pytest.mark.parametrize("n", [60, 400])
def test_without_censoring_it_is_pearson_s_test_of_the_counts(n):
    event = np.random.default_rng(0).exponential(size=n)
    times = np.append(-np.log(np.linspace(1.0, 0.1, 10)), 50.0)
    y = cc.Survival(event, np.ones(n))
    found = cc.d_calibration(y, y, np.tile(np.exp(-times), (n, 1)), times)
    counts = n * textbook(np.exp(-event))
    peer = chisquare(counts)
    np.testing.assert_allclose(n * found.observed, np.append(counts, 0.0), atol=1e-9)
    assert found.df == 9
    assert found.statistic == pytest.approx(peer.statistic, rel=1e-6)
    assert found.pvalue == pytest.approx(peer.pvalue, rel=1e-5)
    error = np.sqrt(found.observed * (1.0 - found.observed) / (n - 1))
    np.testing.assert_allclose(found.standard_error, error, atol=1e-9)
    np.testing.assert_allclose(found.high - found.observed, 1.959964 * error, atol=1e-8)


def test_an_empty_cell_counts_as_in_pearson_s_test():
    counts = np.array([6, 7, 5, 0, 6, 9, 6, 8, 7, 6])
    event = -np.log(np.repeat((np.arange(10) + 0.5) / 10, counts))
    times = np.append(-np.log(np.linspace(1.0, 0.1, 10)), 50.0)
    found = cc.d_calibration(None, (event, np.ones(60)), np.tile(np.exp(-times), (60, 1)), times)
    peer = chisquare(counts)
    assert found.observed[3] == pytest.approx(0.0, abs=1e-12)
    assert (found.statistic, found.pvalue) == pytest.approx(peer, rel=1e-5)


def test_a_finer_grid_comes_closer_to_the_textbook():
    rng = np.random.default_rng(4)
    x, _, event = drawn(rng, 3000, cc.Independence())
    y = cc.Survival(event, np.ones(3000))
    exact = textbook(np.exp(-1.3 * event * np.exp(0.7 * x)))
    off = []
    for n_times in (10, 100, 1000):
        times = np.linspace(0.0, event.max(), n_times)
        found = cc.d_calibration(y, y, curves(x, times, 1.3), times)
        off.append(np.abs(found.observed[:10] - exact).sum())
    assert off[0] > off[1] > off[2]
    assert off[1] < 0.06
    assert off[2] < 0.01


@pytest.mark.parametrize("n_times", [4, 100])
def test_a_model_that_is_right_has_what_it_expects_on_any_grid(n_times):
    rng = np.random.default_rng(5)
    x, _, event = drawn(rng, 20_000, cc.Independence())
    times = np.linspace(0.0, 2.0, n_times)
    found = cc.d_calibration(None, (event, np.ones(event.size)), curves(x, times), times)
    gap = found.observed - found.expected
    assert (np.abs(gap) < 4.0 * found.standard_error).all()
    assert gap.sum() == pytest.approx(0.0, abs=1e-12)
    assert found.observed.sum() == pytest.approx(1.0)
    assert found.pvalue > 0.01


def test_steps_that_are_right_have_what_they_expect():
    rng = np.random.default_rng(6)
    risk = rng.uniform(0.1, 0.6, size=20_000)
    event = rng.geometric(risk).astype(float)
    times = np.arange(0.0, 13.0, 0.5)
    predicted = (1.0 - risk[:, None]) ** np.floor(times)
    found = cc.d_calibration(None, (event, np.ones(event.size)), predicted, times)
    assert (np.abs(found.observed - found.expected) < 4.0 * found.standard_error).all()
    assert found.pvalue > 0.01


def test_flat_curves_put_events_where_they_stand():
    n = 20
    y = cc.Survival(np.full(n, 1.0), np.ones(n))
    times = [0.5, 2.0, 3.0]
    never, at_once, half = (np.tile(row, (n, 1)) for row in ([1.0, 1.0, 1.0], [0.0] * 3, [0.5, 0.5, 0.5]))
    found = cc.d_calibration(y, y, {"never": never, "at once": at_once, "half": half}, times, n_cells=4)
    np.testing.assert_allclose(found["never"].observed, [0.0, 0.0, 0.0, 1.0, 0.0])
    np.testing.assert_allclose(found["never"].expected, [0.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(found["at once"].observed, [1.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(found["half"].observed, [0.0, 1.0, 0.0, 0.0, 0.0])
    assert "expected" in found["never"].missing  # all in one cell
    assert found["half"].pvalue < 1e-4


def test_true_event_times_are_as_good_as_no_censoring():
    rng = np.random.default_rng(7)
    x, y, event = drawn(rng, 300, CLAYTON)
    times = np.linspace(0.0, 2.0, 50)
    known = cc.d_calibration(None, y, curves(x, times), times, adjustment=cc.Oracle(event))
    whole = cc.d_calibration(None, (event, np.ones(300)), curves(x, times), times)
    np.testing.assert_allclose(known.observed, whole.observed, atol=1e-14)
    assert known.statistic == pytest.approx(whole.statistic, rel=1e-9)


def p_values(adjustment, copula, n, repeats, seed, factor=1.0):
    rng, found = np.random.default_rng(seed), []
    for _ in range(repeats):
        x, y, _ = drawn(rng, n, copula)
        times = np.linspace(0.0, 1.5, 60)
        how = adjustment(x) if callable(adjustment) else adjustment
        given = {} if isinstance(how, cc.IPCW | cc.adjustments.TrueLaw) else {"x_test": x[:, None]}
        found.append(
            cc.d_calibration(None, y, curves(x, times, factor), times, adjustment=how, **given).pvalue
        )
    return np.array(found)


def true_law(x):
    rate = np.exp(0.7 * x)
    return cc.adjustments.TrueLaw(
        CLAYTON, lambda t: np.exp(-t * rate[:, None]), lambda t: np.exp(-t * rate), lambda t: np.exp(-0.6 * t)
    )


@pytest.mark.parametrize(
    ("adjustment", "copula", "repeats"),
    [
        (cc.IPCW(), cc.Independence(), 300),
        (true_law, CLAYTON, 150),
        (cc.Imputation("covariates", CLAYTON, margins="weibull"), CLAYTON, 100),
    ],
    ids=["ipcw", "true law", "imputation"],
)
def test_p_is_uniform_where_the_model_is_right(adjustment, copula, repeats):
    found = p_values(adjustment, copula, 500, repeats, 1)
    assert kstest(found, "uniform").pvalue > 0.01


def test_it_rejects_what_is_wrong():
    imputation = cc.Imputation("covariates", CLAYTON, margins="weibull")
    assert np.median(p_values(imputation, CLAYTON, 500, 10, 2, factor=1.5)) < 0.01
    # Independence is wrong of the censoring, and so what it says of a model that is right.
    assert np.median(p_values(cc.IPCW(), CLAYTON, 500, 10, 2)) < 0.05


def test_without_an_influence_function_the_shares_remain():
    rng = np.random.default_rng(8)
    x, y, _ = drawn(rng, 100, CLAYTON)
    times = np.linspace(0.0, 1.0, 20)
    for how in (cc.adjustments.MarginTime(CLAYTON), cc.adjustments.MarginTime(CLAYTON, weighting="none")):
        found = cc.d_calibration(y, y, curves(x, times), times, adjustment=how)
        assert found.observed.sum() == pytest.approx(1.0)
        assert found.expected.sum() == pytest.approx(1.0)
        assert "influence" in found.missing
        assert found.df == 0
        assert np.isnan([found.statistic, found.pvalue, *found.standard_error]).all()


def test_one_subject_and_few_have_no_test():
    times = np.array([0.0, 1.0, 2.0])
    one = cc.d_calibration(None, ([1.0], [1]), [[1.0, 0.6, 0.2]], times)
    assert one.observed.sum() == pytest.approx(1.0)
    assert "single" in one.missing
    few = cc.d_calibration(None, ([1.0, 1.5, 0.4], [1, 1, 1]), np.tile([1.0, 0.6, 0.2], (3, 1)), times)
    assert "expected" in few.missing
    assert np.isfinite(few.standard_error).all()


def test_all_censored_are_where_the_imputation_puts_them():
    x = np.zeros(50)
    y = cc.Survival(np.full(50, 1e-9), np.zeros(50))
    times = np.linspace(0.0, 3.0, 40)
    law = cc.adjustments.TrueLaw(
        cc.Independence(),
        lambda t: np.exp(-np.tile(t, (50, 1))),
        lambda t: np.exp(-t),
        lambda t: np.exp(-t),
    )
    found = d_calibration_of(law.fit(y).weights(y, times), {"m": curves(x, times)}, y)["m"]
    # Nothing is known but the law of the model itself.
    np.testing.assert_allclose(found.observed, found.expected, atol=1e-8)


def test_it_goes_through_an_evaluation():
    rng = np.random.default_rng(9)
    x, y, _ = drawn(rng, 150, CLAYTON)
    times = np.linspace(0.1, 1.0, 20)  # 0 is put before them
    models = {"right": curves(x, times), "wrong": curves(x, times, 2.0)}
    metrics = ["d_calibration", "absolute_error", cc.metric("net_benefit", threshold=0.3)]
    result = cc.evaluate(models, y, x[:, None], times=times, metrics=metrics, copula=CLAYTON)
    for metric in ("d_calibration", "absolute_error", "net_benefit"):
        scores = [result.score(name, metric=metric) for name in models]
        assert all(np.isfinite([each.value, each.standard_error]).all() for each in scores)
        assert (scores[0].value < scores[1].value) == (metric != "net_benefit")


def test_refusals():
    y, predicted = ([1.0, 2.0], [1, 1]), [[0.5], [0.5]]
    refuses(lambda: cc.d_calibration(y, y, predicted, [1.0], n_cells=1), "n_cells", "1")
    refuses(lambda: cc.metric("d_calibration", n_cells=2.5), "n_cells", "2.5")
    refuses(lambda: cc.d_calibration(y, y, predicted, [1.0], confidence_level=1.5), "confidence_level", "1.5")
    status = cc.IPCW().fit(y).weights(y, [1.0])
    refuses(
        lambda: cc.metric("d_calibration").evaluate(
            status, {"m": cc.data.predictions.PredictionsAt(1.0, predicted)}
        ),
        "times",
        "0",
        "1",
    )
    late = ([1.0, 2.0, 4.0], [1, 1, 1])
    refuses(lambda: cc.d_calibration(([1.0, 3.0], [1, 0]), late, np.full((3, 1), 0.5), [3.5]), "3")
