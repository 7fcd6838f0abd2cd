"""Covariates of every kind become numbers in one way, with the levels of the sample that is fitted to."""

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from tests.data.doors import COVARIATES, TIMES, by_files, by_frames, notes, only_in, scores
from tests.refusals import refuses


def test_indicators_are_those_of_the_sample_that_is_fitted_to():
    """Scores under a model of x_train are those of indicators made by hand from its levels."""
    study = only_in("train")
    y_test, y_train = (cc.Survival(each["months"], each["died"]) for each in (study.test, study.train))
    by_hand = [
        np.column_stack([each["age"], *(each["stage"] == level for level in ("II", "III", "IV"))]).astype(
            float
        )
        for each in (study.train, study.test)
    ]
    frames = [each[["age", "stage"]] for each in (study.train, study.test)]
    for adjustment in (cc.IPCW("cox"), cc.AIPCW("cox", "cox"), cc.Imputation("covariates")):
        found, expected = (
            cc.brier_score(
                y_train, y_test, study.curves, TIMES, adjustment=adjustment, x_train=x_train, x_test=x_test
            )
            for x_train, x_test in (frames, by_hand)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_joint_models_encode_too(tmp_path):
    study = only_in("test")
    y = cc.Survival(study.train["months"], study.train["died"])
    x, new = (each[["age", "stage"]] for each in (study.train, study.test))
    by_hand = np.column_stack([x["age"], x["stage"] == "II", x["stage"] == "III"]).astype(float)
    model = cc.fit_joint(x, y, cc.Clayton(1.0))
    assert model.columns_ == ("age", "stage=II", "stage=III")
    expected = cc.fit_joint(by_hand, y, cc.Clayton(1.0)).survival(TIMES, by_hand)
    model.save(tmp_path / "model.json")
    for each in (model, cc.joint.JointModel.load(tmp_path / "model.json")):
        np.testing.assert_allclose(each.survival(TIMES, x), expected, rtol=1e-12)
        refuses(lambda each=each: each.survival(TIMES, new), "X", "'stage'", "'IV'", "another level")
        refuses(lambda each=each: each.survival(TIMES, new.assign(stage=1.0)), "X", "'stage'", "numbers")
    choice = cc.select_copula(x, y, families=["clayton"])
    assert choice.best.columns_ == model.columns_
    refuses(lambda: cc.fit_joint(x.assign(stage="I"), y, cc.Clayton(1.0)), "X", "'stage'", "constant")


def test_what_does_not_vary_in_the_sample_fitted_to_is_left_out_and_noted(tmp_path):
    study = only_in(None)
    study.train = study.train.assign(stage="I", smokes=True)
    study.test = study.test.assign(stage="I")
    found = by_frames(study, COVARIATES)
    assert scores(by_files(study, COVARIATES, tmp_path, "parquet")) == pytest.approx(scores(found), rel=1e-12)
    kept = by_frames(study, ["age", "grade", "site"])
    for name in ("ipcw_cox", "imputation_covariates"):
        assert scores(found)[name] == pytest.approx(scores(kept)[name], rel=1e-12)
        said = " ".join(note["text"] for note in notes(found, name))
        assert "constant in x_train: stage, smokes" in said
    nothing = study.train[["stage", "smokes"]]
    y = cc.Survival(study.train["months"], study.train["died"])
    refuses(lambda: cc.IPCW("cox").fit(y, nothing), "x_train", "vary")


def test_a_level_of_a_stream_that_is_not_fitted_to_is_told(tmp_path):
    """A rare level that is not among the subjects drawn costs the adjustment that would need it, and no other."""
    study = only_in(None)
    study.test.loc[7, "stage"] = "IV"
    frames = [(study.test[:100], study.curves[:100]), (study.test[100:], study.curves[100:])]
    scan = cc.scale.scan_chunks(
        [
            ({"m": (TIMES, curves)}, cc.Survival(part["months"], part["died"]), part[["age", "stage"]])
            for part, curves in frames
        ]
    )
    drawn = next(k for k in range(20, 160) if 7 not in _drawn(scan, k))
    found = scan.evaluate(adjustments=["ipcw", "imputation"], metrics="ibs", n_fit=drawn, n_kept=drawn)
    assert np.isfinite(found.score("m", adjustment="ipcw").value)
    [note] = found.results["imputation"].notes_of("missing")
    assert "'stage'" in note.text
    assert "'IV'" in note.text


def _drawn(scan, k):
    keys = np.concatenate([batch.key for part in scan.parts for batch in scan.batches(part, {})])
    return np.argsort(keys)[:k]


# --- borders ---------------------------------------------------------------------------------------------------


def test_more_columns_than_can_be_held_are_refused_in_one_sentence():
    """A square of 100,000 columns would take 75 GiB."""
    rng = np.random.default_rng(0)
    y = cc.Survival(rng.exponential(size=30), np.arange(30) % 2)
    wide = np.tile(np.arange(30.0)[:, None], 100_000)
    calls = [
        lambda: cc.CoxPH().fit(wide, y),
        lambda: cc.fit_joint(wide, y, cc.Clayton(1.0)),
        lambda: cc.select_copula(wide, y),
        lambda: cc.plausible_tau(wide, y),
        lambda: cc.AIPCW("cox", "cox").fit(y, wide),
        lambda: cc.IPCW("cox").fit(y, wide),
    ]
    for call in calls:
        refuses(call, "5000 columns", "100000")
    curves = (TIMES, np.exp(-rng.random((30, 1)) * TIMES))
    found = cc.evaluate({"m": curves}, y, wide, metrics="ibs")
    assert np.isfinite(found.score("m", adjustment="ipcw").value)
    [note] = found.results["imputation"].notes_of("missing")
    assert "5000 columns" in note.text
    levels = pd.DataFrame({"id": [f"p{k}" for k in range(6000)]})
    many = cc.Survival(rng.exponential(size=6000), np.arange(6000) % 2)
    refuses(lambda: cc.IPCW("cox").fit(many, levels), "x_train", "5000 columns", "5999")


@pytest.mark.parametrize("size", [1e51, 1e100, 1e150, 1e300])
def test_covariates_beyond_double_precision_are_refused_in_one_sentence(size):
    """Before the first dropout nobody's weight depends on them, and their products reached the errors."""
    study = only_in(None)
    y_test, y_train = (cc.Survival(each["months"], each["died"]) for each in (study.test, study.train))
    x_test, x_train = (each[["age"]].to_numpy() for each in (study.test, study.train))
    for far in (size * x_test, np.where(np.arange(len(x_test))[:, None] == 3, -size, x_test)):
        found = cc.evaluate(
            {"m": (TIMES / 10, study.curves)},
            y_test,
            far,
            y_train=y_train,
            x_train=x_train,
            adjustments=["ipcw", "ipcw_cox", "aipcw", "imputation", "imputation_covariates"],
            metrics="ibs",
        )
        assert np.isfinite(found.score("m", adjustment="ipcw").value)
        for name in ("ipcw_cox", "aipcw", "imputation", "imputation_covariates"):
            [note] = found.results[name].notes_of("missing")
            assert "x_test must have values of moderate size" in note.text
            assert "'x0'" in note.text
