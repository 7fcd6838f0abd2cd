"""What is computed once and used again is what would be computed anew."""

import gc
import weakref

import numpy as np
import pytest

import cocensor as cc
from cocensor._numerics import put_rows
from cocensor.adjustments import weights as event_weights
from cocensor.data import Predictions
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from cocensor.metrics import ranks
from cocensor.metrics.ranks import Order, Orders, orders_of
from cocensor.simulate import SyntheticDesign

N = 60
TIMES = np.array([1.1, 0.2, 0.7, 0.4, 0.9])
ADJUSTMENTS = {
    "ipcw": cc.IPCW(tail="last"),
    "imputed from margins": cc.Imputation((), cc.Clayton.from_tau(0.5)),
    "CG-Q": cc.Imputation((), cc.Frank.from_tau(0.3), "event_free"),
}
METRICS = [
    cc.metric("ibs"),
    cc.metric("brier", at=0.7),
    cc.metric("auc"),
    cc.metric("auc", at=0.7),
    cc.metric("concordance"),
    cc.metric("concordance", time_dependent=True),
    cc.metric("ici", at=0.7),
    cc.metric("absolute_error"),
]


def drawn(seed):
    """Outcomes, and three models: curves that cross, curves with ties, and one curve for all."""
    rng = np.random.default_rng(seed)
    x, shape = rng.normal(size=(N, 1)), np.exp(0.4 * rng.normal(size=(N, 1)))
    y = cc.Survival.from_latent(rng.exponential(np.exp(-x[:, 0])), rng.exponential(1.3, size=N))
    at = np.sort(TIMES)
    tables = (
        np.exp(-(at**shape) * np.exp(x)),
        np.exp(-at * np.exp(np.round(x))),
        np.exp(-at * np.ones((N, 1))),
    )
    return y, {
        name: Predictions(at, table)
        for name, table in zip(("crossing", "tied", "alike"), tables, strict=True)
    }


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("how", ADJUSTMENTS)
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_value_and_its_derivatives_at_once_are_those_one_after_the_other(metric, how, narrow, monkeypatch):
    y, predictions = drawn(1)
    status = ADJUSTMENTS[how].fit(y).weights(y, metric.grid(TimeGrid.of(TIMES)).times)
    values, apart = metric.evaluate(status, predictions), metric.functionals(status, predictions)
    expected = influence(status, apart, y)
    if narrow:
        monkeypatch.setattr(event_weights, "_TILE_ELEMENTS", 20 * N)
    found, at_once = metric.evaluate_linearised(status, predictions)
    assert found.keys() == values.keys()
    for name, value in values.items():
        assert found[name].value == pytest.approx(value.value, rel=1e-13)
        if value.curve is not None:
            np.testing.assert_allclose(found[name].curve, value.curve, rtol=1e-13)
    moved = influence(status, at_once, y)
    np.testing.assert_allclose(moved.test, expected.test, atol=1e-11)


def test_weights_that_are_kept_are_those_that_are_not(monkeypatch):
    y, _ = drawn(2)
    fitted = ADJUSTMENTS["imputed from margins"].fit(y)
    kept, anew = (fitted.weights(y, TIMES) for _ in range(2))
    first = [(tile.event_free.copy(), tile.by_time[1].copy()) for tile in kept.tiles()]
    again = list(kept.tiles())
    monkeypatch.setattr(event_weights, "_KEPT_ELEMENTS", 0)
    for (a, b), second, other in zip(first, again, anew.tiles(), strict=True):
        for tile in (second, other):
            np.testing.assert_array_equal(tile.event_free, a)
            np.testing.assert_array_equal(tile.by_time[1], b)
            np.testing.assert_array_equal(tile.event.T, b)


@pytest.mark.parametrize("most", [2**24, 0, 100])
def test_orders_that_are_kept_are_those_of_the_markers(most, monkeypatch):
    monkeypatch.setattr(ranks, "_KEPT_BYTES", most)
    rng = np.random.default_rng(0)
    markers = [rng.normal(size=40), rng.integers(0, 4, size=40) * 1.0, np.zeros(40), rng.normal(size=40)]
    markers[3:] = [markers[0] ** 3, rng.normal(size=40)]
    orders, weights = Orders(), rng.normal(size=(40, 2))
    for _ in range(2):
        for key, marker in enumerate(markers):
            found = orders.of(key, lambda marker=marker: marker)
            below, expected = (
                each.by_subject(each.others_below(weights[each.rows])) for each in (found, Order(marker))
            )
            np.testing.assert_allclose(below, expected, atol=1e-12)
            assert found.constant == (np.ptp(marker) == 0)


def test_an_order_that_is_kept_is_not_asked_for_again():
    orders, asked = Orders(), []

    def marker():
        asked.append(None)
        return np.array([0.3, 0.1, 0.3])

    first, second = (orders.of(1.0, marker) for _ in range(2))
    assert len(asked) == 1
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.ends, [1, 3])
    np.testing.assert_array_equal(second.ends, [1, 3])


def test_orders_are_gone_with_the_predictions():
    predictions = Predictions([1.0, 2.0], [[0.2, 0.1], [0.4, 0.3]])
    orders = weakref.ref(orders_of(predictions))
    assert orders() is orders_of(predictions)
    del predictions
    gc.collect()
    assert orders() is None


@pytest.mark.parametrize("shape", [(5, 3), (5, 1), (5, 0), (1, 2)])
def test_rows_are_put_as_by_assignment(shape):
    rng = np.random.default_rng(1)
    found, rows = rng.normal(size=shape), rng.permutation(shape[0])[:3]
    expected, values = found.copy(), rng.normal(size=(shape[1], rows.size)).T
    expected[rows] = values
    put_rows(found, rows, values)
    np.testing.assert_array_equal(found, expected)


def test_a_curve_for_all_has_an_auc_of_one_half_that_nothing_moves():
    y, predictions = drawn(3)
    status = ADJUSTMENTS["imputed from margins"].fit(y).weights(y, TIMES)
    found, moves = cc.metric("auc").evaluate_linearised(status, {"alike": predictions["alike"]})
    assert found["alike"].value == 0.5
    np.testing.assert_allclose(influence(status, moves, y).test, 0.0, atol=1e-14)


@pytest.mark.parametrize("name", ["auc", "concordance"])
def test_errors_at_every_fourth_time_are_nearly_those_at_all(name, monkeypatch):
    """Of crossing curves too; values stay as they are."""
    data = SyntheticDesign(n=1200, n_features=3, copula=cc.Clayton.from_tau(0.3)).draw(1)
    times = np.linspace(0.0, np.quantile(data.y.time, 0.95), 101)[1:]
    curves = cc.CoxPH().fit(data.X, data.y).survival(times, data.X)
    shape = np.exp(0.4 * np.random.default_rng(0).normal(size=(len(data), 1)))
    models = {"cox": curves, "crossing": np.exp(-((-np.log(curves)) ** shape))}

    def scores():
        result = cc.evaluate(models, data.y, data.X, times=times, metrics=name)
        return [result.results[adjustment].errors[name] for adjustment in ("ipcw", "imputation")]

    whole = scores()
    monkeypatch.setattr(cc.adjustments.EventWeights, "fit_in_one", lambda *_: False)
    for few, every in zip(scores(), whole, strict=True):
        np.testing.assert_allclose(few.values, every.values, rtol=1e-12)
        np.testing.assert_allclose(few.standard_errors[:2], every.standard_errors[:2], rtol=0.015)
        apart = [errors.apart.standard_errors[0, 1] for errors in (few, every)]
        assert apart[0] == pytest.approx(apart[1], rel=0.04)
        assert not np.array_equal(few.standard_errors, every.standard_errors)
