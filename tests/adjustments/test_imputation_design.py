"""What the imputation model is given of covariates and predictions."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.models.design import Recipe, imputation_design
from cocensor.data import Sample
from cocensor.data.border import as_predictions
from cocensor.simulate import SyntheticDesign
from cocensor.study.imputation_fit import imputation_fit_under
from tests.refusals import refuses

FULL = Recipe(score_times="auto", score_df=3, time_varying=True, shrink=True)


def sample(n=600, p=4, seed=0, copula=None):
    data = SyntheticDesign(n=n, n_features=p, copula=copula or cc.Clayton(2.0)).draw(seed)
    times = np.linspace(0.0, float(np.quantile(data.y.time, 0.9)), 30)
    return data, times


def curves(data, times, columns):
    """A Cox model of some covariates."""
    return cc.CoxPH().fit(data.X[:, columns], data.y).survival(times, data.X[:, columns])


def read(models, times):
    return {name: as_predictions(each, len(each), times=times) for name, each in models.items()}


def test_what_the_rest_explains_leaves_and_is_named():
    pd = pytest.importorskip("pandas")
    data, times = sample()
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(total=data.X[:, :2].sum(axis=1), flat=1.0)
    models = read({"cox": curves(data, times, [0, 1, 2, 3])}, times)
    design, notes = imputation_design(Sample(data.y, frame), models, FULL)
    assert design.columns is not None
    # Of a Cox score, four covariates and a sum of two there are four different columns.
    kept = [name for name in design.columns if name in frame]
    assert 3 <= len(kept) <= 4
    assert "flat" not in design.columns
    [left_out] = [note.text for note in notes if note.about.model is None]
    assert "flat" in left_out
    assert any(name in left_out for name in ("a", "b", "total"))
    assert np.linalg.cond(np.corrcoef(design.matrix.T)) < 1e8
    assert design.ridges[0] == ""
    assert set(design.ridges[1:]) == {"covariates", "curvature"}
    assert design.varying == tuple(range(1 + len(kept)))


def test_copies_of_a_model_add_nothing():
    data, times = sample()
    one = curves(data, times, [0, 1])
    alone, _ = imputation_design(Sample(data.y), read({"a": one}, times), FULL)
    copies, _ = imputation_design(Sample(data.y), read({"a": one, "b": one, "c": one**1.3}, times), FULL)
    assert copies.n_columns == alone.n_columns


def test_a_recalibrated_copy_moves_nothing():
    """P² between its times is nearly the shift of a score that it is at them."""
    data, times = sample()
    one, other = curves(data, times, [0, 1]), curves(data, times, [1])
    fitted = [
        cc.Imputation("everything").fit(data.y, data.X, read(models, times))
        for models in ({"a": one, "b": other}, {"a": one, "b": other, "c": one**2, "d": np.sqrt(one)})
    ]
    expected, found = (own.weights(data.y, times[:5]).a for own in fitted)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [600, 40], ids=["all scores free", "some shrunk"])
def test_rounding_decides_neither_which_columns_stay_nor_their_order(n):
    """Columns that add as much as each other are taken as they are given, those that stay keep their order."""
    data, times = sample(n)
    x = np.column_stack((data.X, data.X[:, 0] + data.X[:, 1], data.X[:, 2] - data.X[:, 3]))
    models = {
        "few": curves(data, times, [0]),
        "many": curves(data, times, [0, 1, 2, 3]),
        "two": curves(data, times, [1, 2]),
    }
    designs = []
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def rounded(values, rng=rng):
            return values * (1.0 + 1e-14 * rng.uniform(-1.0, 1.0, values.shape))

        predicted = read({name: np.minimum(rounded(each), 1.0) for name, each in models.items()}, times)
        designs.append(imputation_design(Sample(data.y, rounded(x)), predicted, FULL)[0])
    assert len({(each.columns, each.ridges) for each in designs}) == 1
    [*scores, first] = [name.split(" at ")[0] for name in designs[0].columns][:4]
    assert scores == [f"score of {name}" for name in models]
    assert first == "x2"


def test_crossing_curves_are_read_at_the_quartiles():
    data, times = sample()
    rng = np.random.default_rng(0)
    shape, scale = rng.uniform(0.5, 4, len(data)), rng.uniform(8, 16, len(data))
    crossing = np.exp(-((times / scale[:, None]) ** shape[:, None]))
    design, notes = imputation_design(Sample(data.y), read({"m": crossing}, times), FULL)
    quartiles = np.quantile(data.y.time, (0.25, 0.5, 0.75), method="inverted_cdf")
    [text] = [note.text for note in notes if note.about.model == "m"]
    assert all(f"{t:.4g}" in text for t in quartiles)
    # log(−log S) has two numbers per subject, so that the third time adds nothing but rounding between the grid's.
    assert len(design.varying) in (2, 3)
    proportional, _ = imputation_design(Sample(data.y), read({"m": curves(data, times, [0, 1])}, times), FULL)
    assert len(proportional.varying) == 1


def test_out_of_fold_scores_are_centred_within_folds():
    data, times = sample()
    fold = np.arange(len(data)) % 3
    risk = data.X[:, 0] + 2.0 * fold
    predicted = read({"m": np.exp(-np.outer(np.exp(risk), times / 10))}, times)
    design, _ = imputation_design(Sample(data.y, folds=fold), predicted, Recipe())
    means = [design.matrix[fold == k, 0].mean() for k in range(3)]
    np.testing.assert_allclose(means, means[0], atol=1e-9)
    spread = design.matrix[:, 0] - design.matrix[:, 0].mean()
    expected = data.X[:, 0] - np.array([data.X[fold == k, 0].mean() for k in range(3)])[fold]
    np.testing.assert_allclose(spread, expected, atol=0.1)  # straight lines between the times of the grid
    fitted = cc.Imputation("everything").fit(data.y, None, predicted, fold)
    assert fitted.weights(data.y, times).model is not None


def test_predictions_of_0_and_1_float32_and_constant_ones():
    data, times = sample()
    sure = np.repeat((data.X[:, :1] > 0).astype(float), times.size, axis=1)
    sure[:, 0] = 1.0
    models = {
        "cox": curves(data, times, [0, 1]).astype(np.float32),
        "sure": sure,
        "same": np.broadcast_to(np.exp(-times / 10), sure.shape),
    }
    predicted = read(models, times)
    fitted = cc.Imputation("everything", cc.Clayton(2.0)).fit(data.y, data.X, predicted)
    assert {note.about.model for note in fitted.notes} >= set(models)
    assert np.isfinite(fitted.weights(data.y, times).a).all()


def test_many_models_and_covariates_with_a_hundred_events():
    """Scores beyond one for ten events or dropouts are shrunk too, and a note says so."""
    rng = np.random.default_rng(1)
    data, times = sample(n=210, p=50, seed=1)
    models = {
        f"m{k}": curves(data, times, np.sort(rng.choice(50, 3, replace=False)).tolist()) for k in range(12)
    }
    predicted = read(models, times)
    fitted = cc.Imputation("everything", cc.Frank(3.0)).fit(data.y, data.X, predicted)
    rarer = min(data.y.n_events, int(data.y.dropout.sum()))
    assert 60 <= rarer <= 110
    assert fitted.design.ridges.count("") == rarer // 10
    assert any(str(rarer) in note.text for note in fitted.notes)
    assert fitted.joint.model.converged_
    a = fitted.weights(data.y, times).a
    assert np.isfinite(a).all()
    assert (np.diff(a, axis=1) <= 1e-12).all()


@pytest.mark.parametrize("n_dropouts", [1, 2, 4])
def test_a_few_dropouts_are_taken_for_ends_of_study(n_dropouts):
    data, times = sample()
    left = np.arange(len(data)) % (len(data) // n_dropouts) == 0
    y = cc.Survival(np.where(left, 0.5 * data.event_time, data.event_time), ~left)
    predicted = read({"cox": curves(data, times, [0, 1])}, times)
    found = {}
    for outcomes in (y, cc.Survival(y.time, y.event, left)):
        fitted = cc.Imputation("everything", cc.Clayton(2.0)).fit(outcomes, data.X, predicted)
        found[outcomes.administrative is None] = fitted.weights(outcomes, times).a
        noted = any(f"({left.sum()})" in note.text for note in fitted.notes)
        assert noted == (outcomes.administrative is None)
    np.testing.assert_allclose(found[True], found[False], atol=1e-9)


def test_three_subjects():
    y = cc.Survival([1.0, 2.0, 3.0], [1, 0, 1])
    predicted = read({"m": np.array([[0.9, 0.5], [0.8, 0.4], [0.7, 0.3]])}, np.array([1.0, 2.5]))
    design, _ = imputation_design(Sample(y), predicted, FULL)
    assert design.n_columns == 1
    refuses(lambda: cc.Imputation("everything").fit(y, None, predicted), "y_test")


@pytest.mark.parametrize(
    "leak", [lambda y: y.event.astype(float), lambda y: np.log(y.time)], ids=["event", "time"]
)
def test_a_covariate_that_tells_the_outcome_is_named(leak):
    data, times = sample()
    predicted = read({"cox": curves(data, times, [0, 1])}, times)
    with pytest.warns(cc.warnings.FitWarning, match="'x4'"):
        fitted = cc.Imputation("everything").fit(data.y, np.column_stack((data.X, leak(data.y))), predicted)
    assert fitted.joint.model.converged_
    assert np.isfinite(fitted.weights(data.y, times).a).all()


def test_times_of_zero_do_not_remove_the_imputation_model():
    data, times = sample()
    time = data.y.time.copy()
    happened, left = np.flatnonzero(data.y.event)[0], np.flatnonzero(~data.y.event)[0]
    time[[happened, left]] = 0.0
    y = cc.Survival(time, data.y.event)
    predicted = read({"cox": curves(data, times, [0, 1])}, times)
    with pytest.warns(cc.warnings.FitWarning, match="^2 subjects"):
        fitted = cc.Imputation("everything", cc.Clayton(2.0)).fit(y, data.X, predicted)
    status = fitted.weights(y, times)
    np.testing.assert_array_equal(status.a[happened], 0.0)
    margin = status.model.survival(times, fitted.design.matrix[[left]])[0]
    np.testing.assert_allclose(status.a[left], margin, atol=1e-12)


def test_a_score_that_tells_apart_only_those_at_time_zero_leaves():
    data, times = sample()
    time = data.y.time.copy()
    time[:2] = 0.0
    y = cc.Survival(time, data.y.event)
    good = curves(data, times, [0, 1])
    flat = np.vstack((good[:2], np.tile(good[2], (len(good) - 2, 1))))
    design, notes = imputation_design(Sample(y), read({"good": good, "flat": flat}, times), FULL)
    assert all("good" in name for name in design.columns)
    assert any("flat" in note.text for note in notes if note.about.model is None)


def test_other_subjects_are_refused():
    data, times = sample()
    predicted = read({"cox": curves(data, times, [0, 1])}, times)
    fitted = cc.Imputation("everything").fit(data.y, data.X, predicted)
    refuses(lambda: fitted.weights(data.y[:-1], times), "y_test", str(len(data.y)), str(len(data.y) - 1))
    refuses(lambda: fitted.weights(data.y[::-1], times), "y_test", str(len(data.y)), "outcomes")


def test_a_common_end_of_observation_leaves_nothing_to_impute():
    data, times = sample()
    end = float(np.median(data.event_time))
    y = cc.Survival(np.minimum(data.event_time, end), data.event_time <= end)
    result = cc.evaluate(
        {"cox": (times, curves(data, times, [0, 1]))}, y, data.X, horizon=0.9 * end, metrics="ibs"
    )
    # Without a censoring before the horizon IPCW is the truth.
    assert result.score("cox").adjustment == "imputation"
    assert result.score("cox").value == pytest.approx(result.score("cox", adjustment="ipcw").value, rel=1e-12)
    assert result.results["imputation"].imputation_fit is None
    refuses(lambda: imputation_fit_under(result, cc.Clayton(1.0)), "no adjustment has a joint model")


def test_one_status_for_all_models_and_no_training_sample():
    data, times = sample()
    models = {"a": curves(data, times, [0, 1]), "b": curves(data, times, [2, 3])}
    found = cc.brier_score(None, data.y, models, times, adjustment=cc.Imputation("everything"), x_test=data.X)
    assert set(found) == {"a", "b"}
    without = cc.brier_score(None, data.y, models, times, adjustment=cc.Imputation("everything"))
    assert not np.array_equal(found["a"], without["a"])


def test_the_imputation_model_does_not_favour_models_like_itself():
    """Squares in the truth: a linear model overstates the loss of who knows them; one that is given scores does not."""
    rng = np.random.default_rng(2)
    n = 3_000
    x = rng.normal(size=(n, 3))
    risk = 0.9 * (x[:, 0] ** 2 - 1.0) + 0.4 * x[:, 1]
    event = (rng.exponential(size=n) * np.exp(-risk)) ** (1 / 1.5)
    dropout = (1.2 * rng.exponential(size=n) * np.exp(-0.5 * (x[:, 0] ** 2 - 1.0))) ** (1 / 1.2)
    y = cc.Survival.from_latent(event, dropout)
    times = np.linspace(0.0, float(np.quantile(y.time, 0.9)), 30)
    knows = np.exp(-np.outer(np.exp(risk), times**1.5))
    linear = cc.CoxPH().fit(x, y).survival(times, x)

    def difference(adjustment, train=None):
        given = {"x_test": x} if train is None else {"x_train": x, "x_test": x}
        models = {"cox": linear, "knows": knows}
        found = cc.integrated_brier_score(train, y, models, times, adjustment=adjustment, **given)
        return found["cox"] - found["knows"]

    truth = difference(cc.Oracle(event))
    assert abs(difference(cc.Imputation("covariates"), y) - truth) > 0.008
    assert abs(difference(cc.Imputation("everything")) - truth) < 0.002


def test_refusals():
    refuses(lambda: cc.Imputation(("everything", "covariates")), "given", "everything")
    refuses(lambda: cc.Imputation("everything", score_df=0), "score_df", "0")
    refuses(lambda: cc.Imputation("everything", score_times="never"), "score_times", "never")
    data, times = sample()
    refuses(lambda: cc.Imputation("everything").fit(data.y, data.X), "predictions")
    huge = data.X.copy()
    huge[0, 1] = 1e308
    predicted = read({"cox": curves(data, times, [0, 1])}, times)
    refuses(lambda: cc.Imputation("everything").fit(data.y, huge, predicted), "x_test", "'x1'", "1e+308")
