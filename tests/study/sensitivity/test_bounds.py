import json
from dataclasses import replace
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import Oracle
from cocensor.adjustments.samples import Samples
from cocensor.data.border import as_predictions
from cocensor.data.times import TimeGrid
from cocensor.metrics.kernel import time_weights
from cocensor.simulate import SyntheticDesign
from cocensor.study.sensitivity.extremes import Dropouts, extremes_of_auc, extremes_of_mean
from tests.refusals import refuses

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
        found = metric.evaluate(Oracle(np.array(times)).fit(y).weights(y, grid), predictions)
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


@pytest.mark.parametrize("seed", range(3))
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
@pytest.mark.parametrize("seed", range(4))
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


def test_dropouts_with_one_marker_are_cases_and_controls_where_that_is_extreme():
    # Two of four: each pair of them counts one half, which is more than the 0 of all others.
    y = cc.Survival([1.0, 7.0, 2.0, 2.0, 2.0, 2.0], [1, 1, 0, 0, 0, 0])
    risk = np.array([0.0, 1.0, 0.5, 0.5, 0.5, 0.5])
    bounds = evaluated({"m": risk, "turned": -risk}, y, "auc").bounds("auc", at=3.0)
    assert (bounds["m"].low, bounds["m"].high) == pytest.approx((0.0, 2 / 9))
    assert (bounds["turned"].low, bounds["turned"].high) == pytest.approx((7 / 9, 1.0))


@pytest.mark.parametrize("seed", range(3))
def test_auc_bounds_are_extreme_with_unequal_weights(seed):
    y, _ = marked(seed, 14)
    y = cc.Survival(np.append(y.time, 9.0), np.append(y.event, True), np.append(y.administrative, False))
    risk = np.random.default_rng(seed).permutation(15) * 1.0
    open_ = Dropouts.of(Samples.of(y), TimeGrid.of([4.0]))
    known = {"m": as_predictions(risk, 15, risk=True)}
    found = extremes_of_auc(cc.metric("auc", at=4.0), open_, known, False).values[:, 0]
    a, b = open_.status.a[:, 0], open_.status.b[:, 0]
    above = risk[:, None] > risk
    scores = []
    for case in product([False, True], repeat=open_.rows.size):
        controls, cases = a.copy(), b.copy()
        turned = open_.rows[~np.array(case, dtype=bool)]
        controls[turned], cases[turned] = b[turned], 0.0
        if cases.any() and controls.any():
            scores.append(cases @ above @ controls / (cases.sum() * controls.sum()))
    assert np.ptp(b[b > 0]) > 0
    assert found == pytest.approx([min(scores), max(scores)], abs=1e-14)


# --- sampling errors -------------------------------------------------------------------------------------


def marked(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    latent = rng.exponential([[4.0], [6.0], [7.0]], (3, n))
    if ties:
        latent = np.ceil(latent)
    y = cc.Survival.from_latent(*latent)
    curves = {name: np.exp(-TIMES * rng.gamma(4.0, 0.05, (n, 1))) for name in "ab"}
    return y, curves


@pytest.mark.parametrize(("metric", "ties"), [("ibs", True), ("auc", False)])
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
        open_ = Dropouts.of(Samples.of(y[test], y_train=train), by.grid(TimeGrid.of(TIMES)))
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


# --- what bounds hold ------------------------------------------------------------------------------------


def study(copula, seed=1, n=300, **design):
    data = SyntheticDesign(n=n, n_features=2, copula=copula, **design).draw(seed)
    train, test = data[: n // 2], data[n // 2 :]
    curves = {
        f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for k in (1, 2)
    }
    options = {"y_train": train.y, "x_train": train.X, "x_test": test.X, "metrics": "ibs"}
    return test, lambda **more: cc.evaluate(curves, test.y, **(options | more))


LAWS = [("clayton", 0.95), ("gumbel", 0.95), ("joe", 0.95), ("frank", -0.9), ("gaussian", -0.9)]


@pytest.mark.parametrize(("family", "tau"), LAWS)
def test_the_truth_and_every_imputation_lie_within(family, tau):
    test, evaluate = study(cc.copula(family, tau=tau))
    ratios = {f"{ratio}": replace(cc.adjustment("imputation"), hazard_ratio=ratio) for ratio in (0.02, 50.0)}
    adjustments = {"oracle": cc.Oracle(test.event_time), "imputation": "imputation", **ratios}
    result = evaluate(adjustments=adjustments, confidence_level=None)
    bounds = result.bounds()
    at = {name: {model: result.score(model, adjustment=name).value for model in "12"} for name in adjustments}
    family = LAWS[0][0] if tau > 0 else "frank"
    grid = result.sensitivity(family, [min(tau, 0.0), 0.95], "imputation").over_tau
    at |= {tau: grid.values(grid.lines[0], tau) for tau in grid.points}
    for name, scores in at.items():
        assert all(bounds[model].holds(scores[model]) for model in "12"), name
        assert bounds["1", "2"].holds(scores["1"] - scores["2"]), name
    curve = bounds.over_time("1", "2")
    truth = [result.results["oracle"].values["ibs"][model].curve for model in "12"]
    difference = truth[0] - truth[1]
    assert (curve.low - 1e-12 <= difference).all()
    assert (difference <= curve.high + 1e-12).all()
    # Both models face the same event times.
    assert bounds["1", "2"].width < 0.5 * (bounds["1"].width + bounds["2"].width)


def test_ipcw_can_lie_outside():
    # The one event stands for two who left: under no event times of theirs is the score that bad.
    y = cc.Survival([1.0, 2.0, 3.0, 9.0], [0, 0, 1, 1])
    curves = np.array([[0.5], [0.5], [1.0], [0.9]]) * np.ones((4, 2))
    result = cc.evaluate(
        {"m": curves}, y, times=[0.5, 3.5], metrics=cc.metric("brier", at=3.5), adjustments="ipcw"
    )
    found = result.bounds()["m"]
    assert found.high < result.score("m").value
    assert not found.holds(result.score("m").value)


def test_curves_are_sharp_at_each_time_alone():
    y, curves = tiny(2)
    result = evaluated(curves, y, ("ibs", "brier"), at=list(TIMES))
    bounds = result.bounds("ibs")
    for model in ("a", ("c", "a")):
        curve = bounds.over_time(*model)
        for k, t in enumerate(TIMES):
            alone = result.bounds("brier", at=t)[model]
            assert (curve.low[k], curve.high[k]) == pytest.approx((alone.low, alone.high), abs=1e-15)
    mean = time_weights(TIMES) @ bounds.over_time("a").high
    assert mean >= bounds["a"].high


def test_bounds_are_attained():
    _, evaluate = study(cc.Clayton(2.0))
    result = evaluate(adjustments="ipcw")
    y, grid = result.data.samples.y_test, result.data.grid
    curves = {name: each(grid.sorted) for name, each in result.data.predictions.items()}
    widths = np.diff(grid.sorted) / np.ptp(grid.sorted)
    weights = 0.5 * (np.append(widths, 0.0) + np.append(0.0, widths))
    steps = weights * ((1 - curves["1"]) ** 2 - curves["1"] ** 2 - (1 - curves["2"]) ** 2 + curves["2"] ** 2)
    steps = np.where(grid.sorted > y.time[:, None], steps, 0.0)
    gained = np.concatenate((np.zeros((len(y), 1)), np.cumsum(steps, axis=1)), axis=1)
    ends = np.append(grid.sorted, grid.last + 1.0)
    for extreme, end in ((np.argmax, "high"), (np.argmin, "low")):
        times = np.where(
            y.dropout, np.maximum(ends[extreme(gained, axis=1)], np.nextafter(y.time, np.inf)), y.time
        )
        scored = evaluate(adjustments={"oracle": cc.Oracle(times)}, times=grid.times, confidence_level=None)
        difference = scored.compare("1", "2").difference
        assert difference == pytest.approx(getattr(result.bounds()["1", "2"], end), abs=1e-15)


def test_an_end_of_study_is_weighted_so_that_bounds_are_right_on_average():
    rng = np.random.default_rng(0)
    n, times = 20_000, np.linspace(0.5, 5.0, 10)
    event, dropout, end = rng.exponential(4.0, n), rng.exponential(5.0, n), rng.uniform(1.0, 9.0, n)
    curves = {name: np.exp(-times * rng.gamma(4.0, 0.06, (n, 1))) for name in "ab"}
    asked = {"times": times, "metrics": "ibs", "adjustments": "ipcw"}
    whole = cc.evaluate(curves, cc.Survival.from_latent(event, dropout), **asked).bounds()
    ended = cc.evaluate(curves, cc.Survival.from_latent(event, dropout, end), **asked).bounds()
    for models in ("a", ("a", "b")):
        expected, found = whole[models], ended[models]
        for side in ("low", "high"):
            error = getattr(found, f"{side}_error")
            assert abs(getattr(found, side) - getattr(expected, side)) < 3 * error
        assert found.width == pytest.approx(expected.width, rel=0.05)


def test_a_training_sample_that_marks_nobody_does_not_tell_the_end_of_study():
    y, curves = marked(3, 60)
    train = marked(4, 60)[0].time
    expected = evaluated(curves, y, "ibs").bounds()["a"]
    for marks in (None, np.zeros(60, dtype=bool)):
        y_train = cc.Survival(train, np.ones(60, dtype=bool), marks)
        found = evaluated(curves, y, "ibs", y_train=y_train).bounds()["a"]
        assert (found.low, found.high) == (expected.low, expected.high)


# --- edges -----------------------------------------------------------------------------------------------


def test_without_dropout_bounds_are_the_score():
    y, curves = tiny(0, share=0.0)
    result = evaluated(curves, y, ("ibs", "auc"), confidence_level=0.95)
    for found, score in (
        (result.bounds()["a"], result.score("a")),
        (result.bounds("auc", at=3.0)["a"], result.score("a", "auc", at=3.0)),
    ):
        assert found.low == found.high == pytest.approx(score.value, abs=1e-15)
        assert found.low_error == found.high_error == pytest.approx(score.standard_error)
        assert found.confidence_interval() == pytest.approx(score.confidence_interval(), abs=1e-9)
    difference = result.compare("a", "b")
    assert result.bounds()["a", "b"].low_error == pytest.approx(difference.standard_error)


def test_all_may_drop_out_at_the_start():
    y = cc.Survival([0.0, 0.0, 0.0], [0, 0, 0])
    known = {"m": cc.Predictions([0.0, 1.0, 2.0], [[1.0, 0.6, 0.5]] * 3)}
    open_ = Dropouts.of(Samples.of(y), TimeGrid.of([0.0, 1.0, 2.0]))
    low, high = extremes_of_mean(cc.metric("ibs"), open_, known, True).values[:, 0]
    assert (low, high) == pytest.approx((0.5 * 0.16 + 0.25 * 0.25, 0.5 * 0.36 + 0.25 * 0.25))
    at_one = Dropouts.of(Samples.of(y), TimeGrid.of([1.0]))
    assert extremes_of_auc(cc.metric("auc", at=1.0), at_one, known, True).values[:, 0].tolist() == [0.5, 0.5]


def test_who_leaves_at_or_after_the_horizon_is_known():
    y = cc.Survival([1.0, 5.5, 6.0, 7.0], [1, 0, 0, 0])
    found = evaluated({"m": np.full((4, 5), 0.5)}, y).bounds()["m"]
    assert found.low == found.high == pytest.approx(0.25)


def test_one_subject_has_bounds_and_no_errors():
    y = cc.Survival([6.0], [False])
    bounds = evaluated(
        {"a": np.full((1, 5), 0.7), "b": np.full((1, 5), 0.4)}, y, confidence_level=0.95
    ).bounds()
    assert bounds["a"].low == bounds["a"].high == pytest.approx(0.09)
    assert np.isnan(bounds["a"].confidence_interval()).all()
    assert bounds["a"].missing is not None
    assert bounds["a", "b"].high == pytest.approx(-0.27)
    assert bounds.certain("a", "b") is None  # nobody has the event: no model is called best


def test_the_order_of_memory_and_of_times_does_not_matter():
    y, curves = tiny(5)
    expected = evaluated(curves, y).bounds()
    turned = {name: np.asfortranarray(each[:, ::-1]) for name, each in curves.items()}
    found = evaluated(turned, y, times=TIMES[::-1]).bounds()
    assert found["a", "b"].high == pytest.approx(expected["a", "b"].high, abs=1e-15)
    assert found.over_time("a").high == pytest.approx(expected.over_time("a").high[::-1], abs=1e-15)


def test_many_pairs_in_several_passes_have_the_same_bounds(monkeypatch):
    y, curves = tiny(6)
    expected = evaluated(curves, y, confidence_level=0.95).bounds().to_dict()
    monkeypatch.setattr("cocensor.study.sensitivity.extremes._GAINS_AT_ONCE", 1)
    assert evaluated(curves, y, confidence_level=0.95).bounds().to_dict() == expected


def test_nothing_is_said_after_the_last_end_of_study():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], [0, 0, 0, 1])
    with pytest.warns(cc.warnings.HorizonWarning):
        refuses(lambda: Dropouts.of(Samples.of(y), TimeGrid.of([1.0, 5.0])), "5")


def test_marks_of_the_test_sample_are_used_where_training_has_none():
    y, curves = marked(5, 60)
    train = cc.Survival(y.time, y.event)
    known = {name: cc.Predictions(TIMES, each) for name, each in curves.items()}
    values = [
        extremes_of_mean(
            cc.metric("ibs"), Dropouts.of(Samples.of(y, y_train=each), TimeGrid.of(TIMES)), known, False
        ).values
        for each in (train, None)
    ]
    assert np.array_equal(*values)


# --- views -----------------------------------------------------------------------------------------------


def test_who_is_better_for_certain_follows_the_direction():
    y = cc.Survival([1.0, 2.0, 3.0, 7.0] * 20, [1, 1, 0, 1] * 20)
    good = np.tile([[0.1] * 5, [0.9] + [0.1] * 4, [0.9] * 3 + [0.5] * 2, [0.9] * 5], (20, 1))
    benefit = cc.metric("net_benefit", threshold=0.2, at=4.0)
    result = evaluated(
        {"good": good, "bad": good[np.arange(80) ^ 3]}, y, ("ibs", benefit), confidence_level=0.95
    )
    for bounds in (result.bounds(), result.bounds("net_benefit", at=4.0)):
        assert bounds.certain("good", "bad") == bounds.certain("bad", "good", 0.95) == "good"
        assert "Whatever the dependence, good beats bad" in bounds.statement
        assert bounds.table()["better"].tolist()[-1] == "good"
        assert "good minus bad" in repr(bounds)


def test_bounds_that_are_handed_over_go_into_the_numbers():
    y, curves = tiny(1)
    result = evaluated(curves, y)
    first, auc = result.bounds(), result.bounds("auc", at=3.0)
    assert "bounds" not in json.loads(result.to_json())
    assert "interval" not in first.statement
    assert first["a", "a"].width == 0
    assert result.bounds("ibs").to_dict() == first.to_dict()
    assert list(json.loads(result.to_json(bounds=auc))["bounds"]) == ["auc at 3"]
    numbers = json.loads(result.to_json(bounds=[first, auc]))["bounds"]
    assert list(numbers) == ["ibs", "auc at 3"]
    assert numbers["ibs"]["models"]["a"]["high"] == first["a"].high
    assert numbers["ibs"]["models"]["a"]["curve"]["low"] == first.over_time("a").low.tolist()
    assert [(pair["a"], pair["b"]) for pair in numbers["ibs"]["pairs"]] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert numbers["auc at 3"]["pairs"][0]["low"] is None
    assert numbers["auc at 3"]["pairs"][0]["missing"]


def test_risk_scores_have_bounds_where_they_have_scores():
    y, curves = tiny(1)
    result = evaluated({"a": curves["a"], "risk": np.arange(6.0)}, y)
    assert np.isnan(result.bounds()["risk"].low)
    assert result.bounds()["a", "risk"].missing is not None
    assert result.bounds()["a"].low > 0
    assert result.bounds("auc", at=3.0)["risk"].width >= 0


def test_what_has_no_bounds_says_so():
    y, curves = tiny(1)
    result = evaluated(curves, y, ("ibs", "auc", "concordance", "ici"))
    for metric, at in (("auc", None), ("concordance", None), ("ici", 3.0)):
        refuses(partial(result.bounds, metric, at), "metric", metric)
    refuses(lambda: result.bounds()["a", "d"], "model", "d")
    refuses(lambda: result.bounds()["a", "b", "c"], "models", "3")
    refuses(lambda: result.bounds("auc", at=9.0), "at", "9")
    refuses(lambda: result.bounds("auc", at=3.0).over_time("a"), "metric", "auc at 3")
    assert result.bounds("auc", at=3.0).certain("a", "b") is None
    refuses(lambda: result.bounds().over_time("a", "a"), "models", "a and a")
    nobody = evaluated(curves, cc.Survival([4.0] * 5 + [7.0], [1] * 6)).bounds("auc", at=3.0)
    assert np.isnan(nobody["a"].width)
    assert nobody["a"].missing in nobody.statement
