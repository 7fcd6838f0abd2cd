"""Concordance: its definition over pairs, the textbook's, other packages' values, and how subjects move it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import status as statuses
from cocensor.curves import TimeGrid
from cocensor.inference import influence
from cocensor.metrics import ranks
from cocensor.simulate import SyntheticDesign
from tests.inference import case_weights
from tests.refusals import refuses

PLAIN, BY_TIME = cc.metric("concordance"), cc.metric("concordance", time_dependent=True)


def of_pairs(a, b, marker, weights=None):
    """The definition, with weights a and b by sorted time, a marker (subjects, times), and weights of subjects."""
    n = len(a)
    weights = np.ones(n) if weights is None else weights
    pair = np.outer(weights, weights) * ~np.eye(n, dtype=bool)
    a = np.column_stack((a[:, 0] + b[:, 0], a))
    b = np.column_stack((np.zeros(n), b))
    above = below = 0.0
    for k in range(1, a.shape[1]):
        m = marker[:, k - 1]
        ahead = (m[:, None] > m) + 0.5 * (m[:, None] == m)
        both = pair * np.outer(b[:, k] - b[:, k - 1], 0.5 * (a[:, k - 1] + a[:, k]))
        above, below = above + (both * ahead).sum(), below + both.sum()
    return above / below


def textbook(time, marker, horizon=np.inf):
    """Of all pairs whose first event comes by the horizon, the share in which it has the greater marker."""
    first = (time[:, None] < time) & (time <= horizon)[:, None]
    return (first * ((marker[:, None] > marker) + 0.5 * (marker[:, None] == marker))).sum() / first.sum()


def around(times):
    """Just before, and at, each of some times."""
    return np.union1d(times, np.nextafter(times, 0.0))


def drawn(seed, n, tied=False):
    """Outcomes, a risk score that has to do with them, and curves that cross."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    if tied:
        x = np.round(x)
    event, dropout = rng.exponential(np.exp(-x)), rng.exponential(2.0, size=n)
    times = np.linspace(0.05, 1.5, 7)
    curves = cc.Predictions(
        times, np.exp(-np.exp(0.5 * x)[:, None] * times ** rng.choice([0.7, 1.6], (n, 1)))
    )
    return cc.Survival.from_latent(event, dropout), event, x, curves


@pytest.fixture
def narrow(monkeypatch):
    """Few times in a tile, and few subjects at a time."""
    monkeypatch.setattr(statuses, "_TILE_ELEMENTS", 400)
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
        cc.MarginTime(cc.Frank.from_tau(0.4), weighting="uncertainty"),
        cc.Imputation((), cc.Clayton.from_tau(0.5), "event_free"),
    ],
    ids=["ipcw", "imputed", "IBS-Dep", "CG-Q"],
)
def test_the_definition_over_pairs(adjustment, tied):
    y, _, x, curves = drawn(1, 60, tied)
    times = np.array([1.2, 0.1, 0.4, 0.7, 0.1, 0.9])
    status = adjustment.fit(y).status(y, times)
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
    status = cc.Imputation((), cc.Frank.from_tau(0.3)).fit(y).status(y, times)
    a = np.column_stack((np.ones(40), status.a))
    every = sum(-np.diff(a).sum(axis=0)[k] * 0.5 * (a[:, k] + a[:, k + 1]).sum() for k in range(3))
    expected = every - 0.5 * (1.0 - status.a[:, -1] ** 2).sum()
    [steps] = list(cc.metrics.concordance._steps(status, 1))
    assert ranks.Order(x).pair_sums(steps.of, 3)[1] == pytest.approx(2 * expected, rel=1e-12)


def test_tiles_make_no_difference(narrow, monkeypatch):
    y, _, x, curves = drawn(3, 90, tied=True)
    times = np.linspace(0.05, 1.4, 14)
    for how, copula in (("ipcw", None), ("imputed_margins", cc.Clayton(2.0))):
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
                wide.setattr(statuses, "_TILE_ELEMENTS", 2**21)
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
        imputed = cc.concordance_index(None, seen, x, grid, adjustment="imputed_margins", copula=cc.Joe(2.0))
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
def test_a_prediction_that_tells_nobody_apart_is_chance_exactly(metric):
    n, times = 9001, np.linspace(0.1, 1.3, 37)  # several blocks of rows, the last of them short
    y, *_ = drawn(6, n)
    curve = np.exp(-times * np.pi)
    for layout in (np.tile(curve, (n, 1)), np.asfortranarray(np.tile(curve, (n, 1)))):
        for adjustment in (cc.IPCW(), cc.Imputation((), cc.Clayton(2.0))):
            status = adjustment.fit(y).status(y, times)
            found = metric.evaluate(status, {"m": cc.Predictions(times, layout)})
            assert found["m"].value == pytest.approx(0.5, abs=1e-14)


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


def data_set(name):
    from sksurv import datasets

    frame, y = getattr(datasets, f"load_{name}")()
    event, time = (y[field] for field in y.dtype.names)
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    return event.astype(bool), time, numbers


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


@pytest.mark.filterwarnings("ignore::cocensor.CensoringWarning")
@pytest.mark.parametrize("tied", [False, True])
def test_harrells_of_scikit_survival_and_lifelines(tied):
    from lifelines.utils import concordance_index
    from sksurv.metrics import concordance_index_censored

    rng = np.random.default_rng(10)
    for n in (2, 3, 10, 37, 200):
        for _ in range(10):
            y, _, x, _ = drawn(rng, n, tied)
            time = np.ceil(4 * y.time) if tied else y.time
            later = (time[:, None] < time) | ((time[:, None] == time) & ~y.event)
            if not (y.event[:, None] & later).any():
                refuses(lambda y=y, time=time, x=x: cc.harrell_concordance((time, y.event), x), "y", "pair")
                continue
            found = cc.harrell_concordance((time, y.event), x)
            expected = concordance_index_censored(y.event, time, x)[0]
            assert found == pytest.approx(expected, abs=1e-14)
            assert found == pytest.approx(concordance_index(time, -x, y.event), abs=1e-14)


@pytest.mark.filterwarnings("ignore::cocensor.CensoringWarning")
@pytest.mark.parametrize("name", ["whas500", "gbsg2", "veterans_lung_cancer"])
def test_harrells_on_real_data(name):
    from sksurv.metrics import concordance_index_censored

    event, time, numbers = data_set(name)
    for risk in numbers.T:
        expected = concordance_index_censored(event, time, risk)[0]
        assert cc.harrell_concordance((time, event), risk) == pytest.approx(expected, abs=1e-14)


def test_harrells_warns_of_censoring_and_says_what_it_needs():
    with pytest.warns(cc.CensoringWarning, match="1 of 3"):
        cc.harrell_concordance(([1.0, 2.0, 3.0], [1, 0, 1]), [3.0, 2.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        assert cc.harrell_concordance(([1.0, 2.0, 3.0], [1, 1, 1]), [3.0, 2.0, 1.0]) == 1.0
    assert not caught
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), [1.0]), "estimate", "1")
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), np.ones((2, 3))), "estimate", "(2, 3)")
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), [np.nan, 1.0]), "estimate", "nan")


# --- how subjects move it -------------------------------------------------------------------------------


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("time_dependent", [False, True])
def test_the_influence_under_ipcw_is_the_derivative_by_case_weights(grouped, time_dependent):
    y, _, x, curves = drawn(11, 40, grouped)
    time = np.ceil(8 * y.time) / 8 if grouped else y.time
    y, times = cc.Survival(time, y.event), np.array([0.1, 0.3, 0.5, 0.6, 0.9])
    marker = -curves(times) if time_dependent else np.repeat(x[:, None], times.size, axis=1)

    def value(weights):
        def inverse(s, side):
            return 1.0 / case_weights.kaplan_meier(y.time, y.event, weights, s, side)

        at_times = np.array([inverse(t, "right") for t in times])
        at_events = np.array([inverse(t, "left") for t in y.time])
        a = (y.time[:, None] > times) * at_times
        b = ((y.time[:, None] <= times) & y.event[:, None]) * at_events[:, None]
        return np.atleast_1d(of_pairs(a, b, marker, weights))

    expected = case_weights.derivatives(value, 40)[:, 0]
    found, moved = cc.concordance_index(
        None, y, curves if time_dependent else x, times, time_dependent=time_dependent, return_influence=True
    )
    assert found == pytest.approx(np.real(value(np.ones(40, dtype=complex)))[0], abs=1e-12)
    np.testing.assert_allclose(moved.test, expected, atol=1e-9)


@pytest.mark.parametrize("metric", [PLAIN, BY_TIME], ids=lambda metric: metric.name)
@pytest.mark.parametrize("tiled", [False, True])
def test_the_influence_of_imputation_by_a_joint_model_is_the_derivative_by_case_weights(
    metric, tiled, monkeypatch
):
    n, step = 100, 1e-5
    data = SyntheticDesign(n=2 * n, n_features=2, copula=cc.Clayton.from_tau(0.4)).draw(5)
    y, x = data.y[n:], data.X[n:]
    times = np.linspace(0.0, np.quantile(y.time, 0.85), 9)
    cox = cc.CoxPH().fit(data.X[:n], data.y[:n])
    curves = cox.survival(times, x) ** np.random.default_rng(0).uniform(0.5, 2.0, size=(n, 9)).cumsum(axis=1)
    predictions = {"m": cc.Predictions(times, np.minimum.accumulate(curves, axis=1))}
    fitted = cc.Imputation("everything", cc.Clayton.from_tau(0.4)).fit(y, x, predictions)
    status = fitted.status(y, times, x)
    if tiled:
        monkeypatch.setattr(statuses, "_TILE_ELEMENTS", 900)
    moved = influence(status, metric.functionals(status, predictions), y).test[:, 0]
    assert moved.mean() == pytest.approx(0.0, abs=1e-13)
    read = predictions["m"](times)
    marker = -read if metric is BY_TIME else np.repeat(-np.trapezoid(read, times, axis=1)[:, None], 9, axis=1)

    def value(weights):
        problem = fitted.joint.problem.weighted(weights)
        optimum, model = problem.optimum(cc.Clayton, fitted.joint.model.copula.theta)
        joint = replace(fitted.joint, model=model, optimum=optimum)
        again = replace(fitted, joint=joint).status(y, times, x)
        return of_pairs(again.a, again.b, marker, weights)

    for j in (0, 41, 77):
        up, down = (np.full(n, 1.0 - sign * step) for sign in (1, -1))
        up[j] += n * step
        down[j] -= n * step
        numeric = (value(up) - value(down)) / (2 * step)
        assert moved[j] == pytest.approx(numeric, abs=1e-5 * np.abs(moved).max())


@pytest.mark.parametrize("adjustment", ["ipcw", "imputed"])
def test_the_bootstrap_agrees(adjustment):
    """An error from 100 resamples has a relative error of 1/√200: four of them are allowed."""
    data = SyntheticDesign(n=300, n_features=2, copula=cc.Clayton.from_tau(0.3)).draw(2)
    train, test = data[:100], data[100:]
    times = np.linspace(0.0, np.quantile(test.y.time, 0.8), 13)[1:]
    model = cc.CoxPH().fit(train.X, train.y)
    predicted = {"cox": cc.Predictions(times, model.survival(times, test.X))}
    asked = {"times": times, "adjustments": adjustment, "metrics": [PLAIN, BY_TIME]}
    analytic = cc.evaluate(predicted, test.y, **asked)
    resampled = cc.evaluate(predicted, test.y, **asked, n_resamples=100, seed=1)
    for metric in (PLAIN, BY_TIME):
        one, other = (each.score("cox", metric=metric.name) for each in (analytic, resampled))
        assert one.value == other.value
        assert one.standard_error == pytest.approx(other.standard_error, rel=4 / np.sqrt(200))


# --- edges ----------------------------------------------------------------------------------------------


def test_where_no_two_subjects_can_be_compared_there_is_none():
    assert np.isnan(cc.concordance_index(None, ([1.0], [1]), [0.3], [0.5, 1.0]))
    assert np.isnan(cc.concordance_index(None, ([1.0, 2.0], [0, 1]), [0.3, 0.1], [0.5, 0.9]))
    value, moved = cc.concordance_index(
        None, ([1.0, 2.0], [1, 1]), [0.3, 0.1], [0.5, 0.9], return_influence=True
    )
    assert np.isnan(value)
    assert np.isnan(moved.standard_errors)
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
    status = cc.Status(TimeGrid.of([1.0, 2.0]), 3, (), until=1.5)
    refuses(lambda: PLAIN.evaluate(status, {"m": cc.Predictions([1.0, 2.0], curves)}), "times", "1.5")


def test_what_it_says_of_itself():
    assert (PLAIN.name, PLAIN.needs_curves) == ("concordance", False)
    assert (BY_TIME.name, BY_TIME.needs_curves) == ("concordance (time-dependent)", True)
    assert PLAIN.direction == BY_TIME.direction == "greater"
    assert PLAIN.best == 1.0
    assert eval(repr(BY_TIME), {"Concordance": cc.Concordance}) == BY_TIME != PLAIN
