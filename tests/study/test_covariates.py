"""Which covariates adjustments are given, and how they become numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from cocensor.study.report import Report
from tests.refusals import refuses
from tests.study.noted import noted


def frames(study, **columns):
    """The covariates as frames, with more columns, which are given by a function of the number of subjects."""
    return [
        pd.DataFrame(part.X, columns=list("abc")).assign(
            **{name: make(len(part)) for name, make in columns.items()}
        )
        for part in (study.train, study.test)
    ]


def evaluated(study, x_train, x_test, **options):
    return study.evaluate(x_train=x_train, x_test=x_test, **({"copula": None} | options))


def site(n):
    return np.array(["west", "east", "north"])[np.arange(n) % 3]


def test_categories_are_coded_by_indicators_and_noted(study):
    x_train, x_test = frames(study, site=site)
    by_hand = [x.drop(columns="site") for x in (x_train, x_test)]
    for x in by_hand:
        # Sorted levels without the first.
        x["north"], x["west"] = (1.0 * (site(len(x)) == level) for level in ("north", "west"))
    expected = evaluated(study, *by_hand).score("one").value
    libraries = (
        lambda x: x,
        lambda x: x.astype({"site": "category"}),
        pl.from_pandas,
        lambda x: pl.from_pandas(x.astype({"site": "category"})),
        pa.Table.from_pandas,
    )
    for made in libraries:
        found = evaluated(study, made(x_train), made(x_test))
        # Trees of learned scores take categories as such.
        assert found.score("one").value == pytest.approx(expected, rel=1e-4)
        [note] = noted(found)
        assert note.kind == "decision"
        assert "'site'" in note.text
        assert "3" in note.text
        names = Report(found).to_dict()["data"]["covariates"]
        assert names == ["a", "b", "c", "site"]
        assert {"site=north", "site=west"} <= set(found.results["imputation"].fitted.design.columns)


def test_a_flag_is_a_number(study):
    x_train, x_test = frames(study, flag=lambda n: np.arange(n) % 2 == 0)
    numbers = [x.astype({"flag": float}) for x in (x_train, x_test)]
    found = evaluated(study, x_train, x_test)
    assert found.score("one").value == evaluated(study, *numbers).score("one").value
    assert noted(found) == ()


def test_levels_are_those_of_the_sample_that_an_adjustment_is_fitted_to(study):
    x_train, x_test = frames(study, site=site)
    x_train.loc[x_train["site"] == "north", "site"] = "east"
    found = evaluated(study, x_train, x_test, adjustments=["imputation", "ipcw_cox"])
    assert "site=north" in found.results["imputation"].fitted.design.columns
    told = {note.text for note in noted(found)}
    assert {"3 levels; 'east' is the reference (in x_test)." in text for text in told} == {True, False}
    assert {"2 levels; 'east' is the reference (in x_train)." in text for text in told} == {True, False}
    # One adjustment cannot be applied to the test sample; the other has its score.
    [note] = found.results["ipcw_cox"].notes_of("missing")
    assert "'north'" in note.text
    assert np.isfinite(found.score("one").value)


@pytest.mark.parametrize("kind", ["frame", "polars", "array", "text"])
def test_a_missing_value_is_refused_by_column_and_row_with_the_way_on(study, kind):
    x_train, x_test = frames(study, site=site)
    column = "site" if kind == "text" else "b"
    x_test.loc[7, column] = None
    if kind == "array":
        x_train, x_test = (x[["a", "b", "c"]].to_numpy() for x in (x_train, x_test))
        column = 1
    if kind == "polars":
        x_train, x_test = map(pl.from_pandas, (x_train, x_test))
    given = evaluated(study, x_train, x_test).results["imputation"]
    assert [note.values["n"] for note in given.fitted.notes if note.code == "incomplete"] == [1]
    for adjustments in ("imputation_covariates", "ipcw_cox", ["imputation", "ipcw_cox"]):
        refuses(
            lambda adjustments=adjustments: evaluated(study, x_train, x_test, adjustments=adjustments),
            "x_test",
            f"column {column!r}",
            "row 7",
            "covariates=None",
        )
    # Where they are not used, nobody misses them.
    without = evaluated(study, x_train, x_test, covariates=None)
    assert without.data.samples.x_test is None
    assert np.isfinite(without.score("one").value)
    assert noted(evaluated(study, x_train, x_test, adjustments="ipcw")) == ()


def test_some_columns_may_be_chosen(study):
    x_train, x_test = frames(study, site=site)
    x_test.loc[7, "b"] = np.nan
    for asked in (["c", "a"], [2, 0]):
        found = evaluated(study, x_train, x_test, covariates=asked)
        assert Report(found).to_dict()["data"]["covariates"] == ["c", "a"]
        assert noted(found) == ()
    only = evaluated(study, x_train[["a"]], x_test[["a"]]).score("one").value
    assert evaluated(study, x_train, x_test, covariates="a").score("one").value == only
    arrays = evaluated(study, study.train.X, study.test.X, covariates=[0])
    assert arrays.score("one").value == only
    assert Report(arrays).to_dict()["data"]["covariates"] == ["x0"]


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("d", ("x_test", "'d'", "'a'")),
        (["a", "d"], ("x_test", "'d'")),
        ([3], ("covariates", "3")),
        (["a", "a"], ("covariates", "'a', 'a'")),
        ([], ("covariates", "empty")),
        (2.5, ("covariates", "2.5")),
    ],
)
def test_columns_that_are_not_there_are_refused(study, asked, parts):
    refuses(lambda: evaluated(study, *frames(study), covariates=asked), *parts)


def test_names_are_refused_where_no_adjustment_would_read_them_too(study):
    x_train, x_test = frames(study)
    refuses(lambda: evaluated(study, x_train, x_test, covariates=["nope"], adjustments=["ipcw"]), "'nope'")
    assert evaluated(study, x_train, x_test.assign(a=np.nan), adjustments=["ipcw"]).models


def test_dates_are_refused(study):
    x_train, x_test = frames(study, day=lambda n: pd.Timestamp("2020-01-01"))
    refuses(lambda: evaluated(study, x_train, x_test), "x_test", "'day'", "covariates")


def test_estimators_predict_from_all_columns(study):
    class Reads:
        def predict_survival_function(self, X):
            assert list(X.columns) == ["a", "b", "c", "site"]
            return study.models["one"]

    x_train, x_test = frames(study, site=site)
    for asked in ("all", ["a"], None):
        assert np.isfinite(evaluated(study, x_train, x_test, covariates=asked).score("one").value)
        found = study.evaluate(
            {"m": Reads()}, x_train=x_train, x_test=x_test, copula=None, covariates=asked, adjustments="ipcw"
        )
        assert np.isfinite(found.score("m").value)


def test_covariates_of_the_test_sample_serve_the_imputation_model_without_those_of_training(study):
    plain = {"imputation": cc.Imputation("everything", learned=False)}  # what is learned is so from both
    found = study.evaluate(x_train=None, copula=None, adjustments=plain)
    same = study.evaluate(copula=None, adjustments=plain)
    assert found.score("one").value == same.score("one").value
    refuses(
        lambda: study.evaluate(x_train=None, adjustments="imputation_covariates"),
        "'imputation_covariates'",
        "x_train",
    )


def test_a_scorer_codes_categories_too(study):
    x_train, _ = frames(study, site=site)

    class Reads:
        def predict_survival_function(self, X):
            return (
                cc.CoxPH()
                .fit(study.train.X[:, :1], study.train.y)
                .predict_survival_function(X[["a"]].to_numpy())
            )

    assert np.isfinite(cc.survival_scorer(horizon=10.0)(Reads(), x_train, study.train.y))


# --- folds ------------------------------------------------------------------------------------------------


def test_scores_of_out_of_fold_predictions_are_centred_per_fold(study):
    """A shift of the risk scores of one fold, as another baseline makes, does not reach the imputation model."""
    grid = np.linspace(0.0, 20.0, 21)
    folds = np.arange(300) % 3
    curves = study.models["three"](grid)
    shifted = np.where((folds == 1)[:, None], curves**2.0, curves)  # log(-log S) + log 2
    designs = [
        study.evaluate(
            {"m": cc.Predictions(grid, each, interpolation="step")},
            copula=None,
            covariates=None,
            folds=labels,
        )
        .results["imputation"]
        .fitted.design.matrix
        for each in (curves, shifted)
        for labels in (np.array(["a", "b", "c"])[folds], None)
    ]
    centred, plain, centred_shifted, plain_shifted = (np.sort(z - z.mean(axis=0), axis=0) for z in designs)
    np.testing.assert_allclose(centred[:, 0], centred_shifted[:, 0], atol=1e-9)
    assert np.abs(plain[:, 0] - plain_shifted[:, 0]).max() > 0.1


@pytest.mark.parametrize(
    ("folds", "parts"),
    [
        (np.zeros(299), ("folds", "299", "300")),
        (np.zeros((300, 2)), ("folds", "(300, 2)")),
        (np.where(np.arange(300) == 4, np.nan, 1.0), ("folds", "row 4")),
        (3, ("folds", "3")),
    ],
)
def test_folds_need_a_label_for_each_subject(study, folds, parts):
    refuses(lambda: study.evaluate(folds=folds), *parts)
