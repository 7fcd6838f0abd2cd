"""Concordance: its definition over pairs, the textbook's, and other packages' values."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import EventWeights, Modelled
from cocensor.adjustments import weights as event_weights
from cocensor.data.times import TimeGrid
from cocensor.metrics import ranks
from cocensor.metrics.concordance import _steps
from tests.metrics.ranked import data_set, drawn, of_pairs
from tests.refusals import refuses

PLAIN, BY_TIME = cc.metric("concordance"), cc.metric("concordance", time_dependent=True)


def textbook(time, marker, horizon=np.inf):
    """Of all pairs whose first event comes by the horizon, the share in which it has the greater marker."""
    first = (time[:, None] < time) & (time <= horizon)[:, None]
    return (first * ((marker[:, None] > marker) + 0.5 * (marker[:, None] == marker))).sum() / first.sum()


def around(times):
    """Just before, and at, each of some times."""
    return np.union1d(times, np.nextafter(times, 0.0))


@pytest.fixture
def narrow(monkeypatch):
    """Few times in a tile, and few subjects at a time."""
    monkeypatch.setattr(event_weights, "_TILE_ELEMENTS", 400)
    monkeypatch.setattr(ranks, "_TAKEN_ELEMENTS", 16)


# --- the definition -------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [2**14, 1, 7, 40])
@pytest.mark.parametrize("levels", [3, 1000, 1])
def test_a_sum_over_pairs_by_sorting(monkeypatch, taken, levels):
    monkeypatch.setattr(ranks, "_TAKEN_ELEMENTS", taken)
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 25):
        m, (x, y) = rng.integers(0, levels, size=n), rng.normal(size=(2, n, 3))
        pair = ((m[:, None] > m) + 0.5 * (m[:, None] == m)) * ~np.eye(n, dtype=bool)
        direct = sum(x[:, k] @ pair @ y[:, k] for k in range(3))
        everyone = sum(x[:, k] @ (1 - np.eye(n)) @ y[:, k] for k in range(3))
        by_column = ranks.OrdersByColumn(np.column_stack((m, m, m)))
        for order in (ranks.Order(m), by_column):
            found = order.pair_sums(lambda rows, x=x, y=y: (x[rows], y[rows]), 3)
            np.testing.assert_allclose(found, (direct, everyone), atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    "adjustment",
    [
        cc.IPCW(tail="last"),
        cc.Imputation((), cc.Clayton.from_tau(0.5)),
        cc.adjustments.MarginTime(cc.Frank.from_tau(0.4), weighting="uncertainty"),
        cc.Imputation((), cc.Clayton.from_tau(0.5), "event_free"),
    ],
    ids=["ipcw", "imputation", "IBS-Dep", "CG-Q"],
)
def test_the_definition_over_pairs(adjustment, tied):
    y, _, x, curves = drawn(1, 60, tied)
    times = np.array([1.2, 0.1, 0.4, 0.7, 0.1, 0.9])
    status = adjustment.fit(y).weights(y, times)
    at = np.searchsorted(times, status.grid.sorted, sorter=np.argsort(times, kind="stable"))
    a, b = (weights[:, np.argsort(times, kind="stable")[at]] for weights in (status.a, status.b))
    risk = np.repeat(x[:, None], status.grid.sorted.size, axis=1)
    found = cc.concordance_index(y, y, {"risk": x, "curves": curves}, times, adjustment=adjustment)
    assert found["risk"] == pytest.approx(of_pairs(a, b, risk), abs=1e-12)
    knots = np.concatenate(([0.0], status.grid.sorted))
    mean = np.trapezoid(curves(knots), knots, axis=1)
    assert found["curves"] == pytest.approx(of_pairs(a, b, np.repeat(-mean[:, None], 5, axis=1)), abs=1e-12)
    by_time = cc.concordance_index(y, y, curves, times, adjustment=adjustment, time_dependent=True)
    assert by_time == pytest.approx(of_pairs(a, b, -curves(status.grid.sorted)), abs=1e-12)
    assert by_time != pytest.approx(found["curves"], abs=1e-3)


def test_self_pairs_have_a_closed_form_where_a_status_is_sure_or_imputed():
    """Σ_k Δb ā = ½(1 − a(h)²): with everybody's pairs, less these, the denominator of the definition."""
    y, _, x, _ = drawn(2, 40)
    times = np.array([0.2, 0.5, 1.0])
    status = cc.Imputation((), cc.Frank.from_tau(0.3)).fit(y).weights(y, times)
    a = np.column_stack((np.ones(40), status.a))
    every = sum(-np.diff(a).sum(axis=0)[k] * 0.5 * (a[:, k] + a[:, k + 1]).sum() for k in range(3))
    expected = every - 0.5 * (1.0 - status.a[:, -1] ** 2).sum()
    [steps] = _steps(status, 1)
    assert ranks.Order(x).pair_sums(steps.of, 3)[1] == pytest.approx(2 * expected, rel=1e-12)


def test_tiles_make_no_difference(narrow, monkeypatch):
    y, _, x, curves = drawn(3, 90, tied=True)
    times = np.linspace(0.05, 1.4, 14)
    for how, copula in (("ipcw", None), ("imputation_margins", cc.Clayton(2.0))):
        for estimate, time_dependent in ((x, False), (curves, False), (curves, True)):

            def found(estimate=estimate, time_dependent=time_dependent, how=how, copula=copula):
                return cc.concordance_index(
                    y,
                    y,
                    {"m": estimate, "other": estimate[::-1]},
                    times,
                    adjustment=how,
                    copula=copula,
                    time_dependent=time_dependent,
                    return_influence=True,
                )

            values, moved = found()
            with monkeypatch.context() as wide:
                wide.setattr(event_weights, "_TILE_ELEMENTS", 2**21)
                expected, whole = found()
            for name in values:
                assert values[name] == pytest.approx(expected[name], abs=1e-13)
                np.testing.assert_allclose(moved[name].test, whole[name].test, atol=1e-12)


# --- the textbook ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [False, True])
def test_without_censoring_and_with_the_truth_known_it_is_the_textbooks(tied):
    y, event, x, _ = drawn(4, 150, tied)
    for horizon in (np.median(event), event.max()):
        expected = textbook(event, x, horizon)
        grid = around(event[event <= horizon])
        seen = (event, np.ones(150))
        assert cc.concordance_index(None, seen, x, grid) == pytest.approx(expected, abs=1e-12)
        oracle = cc.Oracle(event)
        assert cc.concordance_index(None, y, x, grid, adjustment=oracle) == pytest.approx(expected, abs=1e-12)
        imputed = cc.concordance_index(
            None, seen, x, grid, adjustment="imputation_margins", copula=cc.Joe(2.0)
        )
        assert imputed == pytest.approx(expected, abs=1e-12)


def test_events_at_time_zero_count():
    """The first two have their event before the others; of the two neither is first."""
    y = ([0.0, 0.0, 1.0, 2.0], [1, 1, 1, 1])
    pairs = {(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    for risk in ([4.0, 3.0, 2.0, 1.0], [1.0, 4.0, 2.0, 3.0]):
        right = sum(risk[i] > risk[j] for i, j in pairs) + 0.5
        found = cc.concordance_index(None, y, risk, [0.0, 0.5, 1.0])
        assert found == pytest.approx(right / 6, abs=1e-14)


def test_antolinis_concordance_holds_predictions_for_the_time_of_the_event_against_each_other():
    _, event, _, curves = drawn(5, 80)
    event = np.minimum(event, 1.5 - 1e-9 * np.arange(80))
    first = event[:, None] < event
    predicted = np.array([curves([t])[:, 0] for t in event])  # (time of i, j)
    ahead = np.diag(predicted)[:, None] < predicted
    expected = (first * ahead).sum() / first.sum()
    grid = around(event)
    found = cc.concordance_index(None, (event, np.ones(80)), curves, grid, time_dependent=True)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", [PLAIN, BY_TIME], ids=lambda metric: metric.name)
def test_a_prediction_that_tells_nobody_apart_is_chance(metric):
    n, times = 9001, np.linspace(0.1, 1.3, 37)  # several blocks of rows, the last of them short
    y, *_ = drawn(6, n)
    curve = np.exp(-times * np.pi)
    for layout in (np.tile(curve, (n, 1)), np.asfortranarray(np.tile(curve, (n, 1)))):
        for adjustment in (cc.IPCW(), cc.Imputation((), cc.Clayton(2.0))):
            status = adjustment.fit(y).weights(y, times)
            found = metric.evaluate(status, {"m": cc.Predictions(times, layout)})
            assert found["m"].value == pytest.approx(0.5, abs=1e-12)


def test_proportional_curves_are_ordered_as_their_risk():
    y, _, x, _ = drawn(7, 200)
    times = np.linspace(0.02, 1.4, 40)
    curves = np.exp(-np.exp(x)[:, None] * times)
    found = cc.concordance_index(y, y, {"risk": x, "curves": curves}, times)
    assert found["risk"] == found["curves"]
    by_time = cc.concordance_index(y, y, curves, times, time_dependent=True)
    assert by_time == pytest.approx(found["risk"], abs=1e-13)


def test_few_times_are_halved_between_and_not_too_large():
    """20 steps of as many events: pairs within a step count as chance; with the end of a step alone they would not."""
    _, event, x, _ = drawn(8, 4000)
    times = np.quantile(event, np.linspace(0.0, 0.9, 21)[1:])
    found = cc.concordance_index(None, (event, np.ones(4000)), x, times)
    step = np.searchsorted(times, event)
    pairs = (event[:, None] < event) & (step[:, None] < 20)
    within = pairs & (step[:, None] == step)
    ahead = np.where(within, 0.5, x[:, None] > x)
    assert found == pytest.approx((pairs * ahead).sum() / pairs.sum(), abs=1e-12)
    assert abs(found - textbook(event, x, times[-1])) < 0.01


# --- other packages -------------------------------------------------------------------------------------


def untied(time, event, rng):
    """The same, in an order that keeps an event before a censoring at the same time."""
    order = np.lexsort((rng.uniform(size=len(time)), ~event, time))
    shifted = time.astype(float).copy()
    shifted[order] += 1e-6 * np.arange(len(time))
    return shifted


@pytest.mark.parametrize("name", ["whas500", "gbsg2", "veterans_lung_cancer", "drawn"])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_unos_of_scikit_survival(name, share):
    from sksurv.metrics import concordance_index_ipcw
    from sksurv.util import Surv

    rng = np.random.default_rng(9)
    if name == "drawn":
        y, _, x, _ = drawn(9, 400)
        event, time, risk = np.array(y.event), np.array(y.time), np.round(x, 1)
    else:
        event, time, numbers = data_set(name)
        time, risk = untied(time, event, rng), numbers[:, 0]
    half = rng.uniform(size=len(time)) < 0.5
    half[np.argmax(time)] = True
    horizon = np.quantile(time, share)
    train, test = ((time[rows], event[rows]) for rows in (half, ~half))
    expected = concordance_index_ipcw(
        Surv.from_arrays(*train[::-1]), Surv.from_arrays(*test[::-1]), risk[~half], tau=horizon
    )[0]
    cuts = around(test[0][test[1] & (test[0] < horizon)])
    assert cc.concordance_index(train, test, risk[~half], cuts) == pytest.approx(expected, abs=1e-10)


# --- edges ----------------------------------------------------------------------------------------------


def test_where_no_two_subjects_can_be_compared_there_is_none():
    assert np.isnan(cc.concordance_index(None, ([1.0], [1]), [0.3], [0.5, 1.0]))
    assert np.isnan(cc.concordance_index(None, ([1.0, 2.0], [0, 1]), [0.3, 0.1], [0.5, 0.9]))
    value, moved = cc.concordance_index(
        None, ([1.0, 2.0], [1, 1]), [0.3, 0.1], [0.5, 0.9], return_influence=True
    )
    assert np.isnan(value)
    assert np.isnan(moved.standard_errors)
    # One of two subjects alone has weights: no rounding makes a pair of it.
    times = np.arange(1.0, 8.0)
    q = np.exp(-times / 3.0)
    alone = Modelled(
        np.array([1]), np.zeros(1, dtype=int), lambda rows, columns: np.tile(q[columns], (rows.size, 1))
    )
    status = EventWeights(
        TimeGrid.of(times),
        np.zeros(2, dtype=int),
        event_free=(),
        event=((np.array([0.0, 1.0]), None),),
        modelled=(alone,),
    )
    for metric in (PLAIN, BY_TIME):
        curves = cc.Predictions(times, q ** np.array([[1.0], [0.7]]))
        assert np.isnan(metric.evaluate(status, {"m": curves})["m"].value)
    times = np.array([0.5, 0.9])
    result = cc.evaluate(
        {"m": (times, np.array([[0.9, 0.8], [0.9, 0.7]]))},
        ([1.0, 2.0], [1, 1]),
        times=times,
        metrics=["ibs", "concordance"],
        adjustments="ipcw",
    )
    assert np.isnan(result.score("m", metric="concordance").value)
    notes = result.score("m", metric="concordance").notes
    assert any("concordance" in note.text for note in notes if note.kind == "missing")


def test_two_subjects_and_one_time():
    y = ([1.0, 2.0], [1, 1])
    assert cc.concordance_index(None, y, [0.3, 0.1], [1.0]) == 1.0
    assert cc.concordance_index(None, y, [0.1, 0.3], [1.0]) == 0.0
    assert cc.concordance_index(None, y, [0.1, 0.1], [1.0]) == 0.5
    # Who came first of two by one time is not known.
    assert cc.concordance_index(None, y, [0.3, 0.1], [2.0]) == 0.5


def test_what_is_refused():
    y = ([1.0, 2.0, 3.0], [1, 0, 1])
    curves = np.array([[0.9, 0.5], [0.8, 0.6], [0.9, 0.7]])
    refuses(lambda: cc.metric("concordance", time_dependent="yes"), "time_dependent", "'yes'")
    refuses(
        lambda: cc.concordance_index(y, y, [0.1, 0.2, 0.3], [1.0, 2.0], time_dependent=True),
        "estimate",
        "(3,)",
    )
    refuses(lambda: cc.concordance_index(y, y, [0.1, 0.2], [1.0, 2.0]), "estimate", "2")
    refuses(lambda: cc.concordance_index(y, y, curves[:, :1], [1.0, 2.0]), "estimate", "(3, 1)")
    status = cc.adjustments.EventWeights(TimeGrid.of([1.0, 2.0]), np.zeros(3, dtype=int), valid_until=1.5)
    refuses(lambda: PLAIN.evaluate(status, {"m": cc.Predictions([1.0, 2.0], curves)}), "times", "1.5")


def test_what_it_says_of_itself():
    assert (PLAIN.name, PLAIN.needs_curves) == ("concordance", False)
    assert (BY_TIME.name, BY_TIME.needs_curves) == ("concordance (time-dependent)", True)
    assert PLAIN.direction == BY_TIME.direction == "higher"
    assert PLAIN.best == 1.0
    assert eval(repr(BY_TIME), {"Concordance": cc.metrics.Concordance}) == BY_TIME != PLAIN
