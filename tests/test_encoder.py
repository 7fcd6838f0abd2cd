"""Covariates of every kind give the same scores by every door: frames, command line, and stream."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from tests.cli.study import run
from tests.refusals import refuses

COVARIATES = ["age", "stage", "smokes", "grade", "site"]
ADJUSTMENTS = ["ipcw_cox", "imputed", "imputed_covariates"]
TIMES = np.array([0.25, 0.5, 0.75, 1.0])


def sample(n, seed):
    rng = np.random.default_rng(seed)
    age, grade = rng.normal(size=n), rng.choice([2, 3, 10], size=n)
    event, dropout = rng.exponential(np.exp(-0.5 * age)), rng.exponential(np.exp(-0.1 * grade), size=n)
    return pd.DataFrame(
        {
            "months": np.minimum(event, 3 * dropout) + 0.01,
            "died": event <= 3 * dropout,
            "age": age,
            "stage": rng.choice(["I", "II", "III"], size=n),
            "smokes": rng.random(n) < 0.5,
            "grade": pd.Categorical(grade),
            "site": pd.Categorical(
                rng.choice(["east", "west"], size=n), categories=["north", "west", "east"]
            ),
        }
    )


def only_in(name):
    """A study in which one sample alone has the stage IV."""
    train, test = sample(240, 1), sample(160, 2)
    if name is not None:
        {"train": train, "test": test}[name].loc[[3, 8, 21, 30, 44], "stage"] = "IV"
    rate = np.exp(0.4 * test["age"].to_numpy())
    return SimpleNamespace(train=train, test=test, curves=np.exp(-rate[:, None] * TIMES))


def by_frames(study, covariates, made=lambda x: x):
    outcome = [cc.Survival(each["months"], each["died"]) for each in (study.test, study.train)]
    x_test, x_train = (made(each[covariates]) for each in (study.test, study.train))
    found = cc.evaluate(
        {"m": (TIMES, study.curves)},
        outcome[0],
        x_test,
        y_train=outcome[1],
        x_train=x_train,
        adjustments=ADJUSTMENTS,
        metrics="ibs",
    )
    return json.loads(json.dumps(found.to_dict()))


def polars(frame):
    return pl.from_pandas(in_files(frame))


def in_files(frame):
    """Neither polars nor Parquet files have categories other than texts."""
    return frame.astype({"grade": str}) if "grade" in frame else frame


def by_command(study, covariates, folder, kind, *more):
    def write(frame, name):
        path = folder / f"{name}.{kind}"
        frame = in_files(frame)
        frame.to_parquet(path, index=False) if kind == "parquet" else frame.to_csv(path, index=False)
        return path

    predictions = pd.DataFrame(study.curves, columns=[f"{t:g}" for t in TIMES])
    result = run(
        *("evaluate", "--time", "months", "--event", "died", "--covariates", ",".join(covariates)),
        *("--train", write(study.train, "train"), "--test", write(study.test, "test")),
        *("--predictions", f"m={write(predictions, 'm')}", "--adjustments", ",".join(ADJUSTMENTS)),
        *(
            "--metrics",
            "ibs",
            "--no-hint",
            "--families",
            "clayton",
            "--taus",
            "0",
            "--json",
            folder / "out.json",
            *more,
        ),
    )
    assert result.exit_code == 0, result.output
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))


def by_batches(study, covariates, folder):
    """Streamed in passes, with the adjustments fitted to all subjects."""
    cut = len(study.test) // 2
    for k, part in enumerate((study.test[:cut], study.test[cut:])):
        in_files(part).to_parquet(folder / f"test-{k}.parquet", index=False)
    pd.DataFrame(study.curves, columns=[f"{t:g}" for t in TIMES]).to_parquet(
        folder / "m.parquet", index=False
    )
    scan = cc.scan_parquet(
        folder / "test-*.parquet",
        {"m": folder / "m.parquet"},
        time="months",
        event="died",
        covariates=covariates,
    )
    found = scan.evaluate(
        adjustments=ADJUSTMENTS,
        metrics="ibs",
        y_train=cc.Survival(study.train["months"], study.train["died"]),
        x_train=in_files(study.train)[covariates],
        n_kept=100,
        n_fit=len(study.test),
    )
    return json.loads(json.dumps(found.to_dict()))


def scores(numbers):
    """The score under each adjustment; None where there is none."""
    [metric] = numbers["metrics"]
    return {name: metric["scores"].get(name, {}).get("m") for name in ADJUSTMENTS}


def agree(found, expected):
    for name, value in scores(expected).items():
        assert scores(found)[name] == (value if value is None else pytest.approx(value, rel=1e-12)), name


def reasons(numbers, adjustment):
    return [note["text"] for note in notes(numbers, adjustment) if note["kind"] == "missing"]


def notes(numbers, adjustment):
    [found] = [each["notes"] for each in numbers["adjustments"] if each["name"] == adjustment]
    return found


@pytest.mark.parametrize("alone", [None, "train", "test"])
def test_the_same_scores_by_every_door(tmp_path, alone):
    study = only_in(alone)
    expected = by_frames(study, COVARIATES)
    others = [by_frames(study, COVARIATES, made) for made in (polars, pa.Table.from_pandas)]
    others += [by_command(study, COVARIATES, tmp_path, "parquet", *more) for more in ([], ["--stream"])]
    others.append(by_batches(study, COVARIATES, tmp_path))
    for found in others:
        agree(found, expected)
        assert found["data"]["covariates"] == COVARIATES
        for name in ADJUSTMENTS:
            assert reasons(found, name) == reasons(expected, name)
    texts = ["age", "stage"]
    agree(by_command(study, texts, tmp_path, "csv"), by_frames(study, texts))
    # What is fitted to the test sample has seen its levels; what is fitted to the training sample says what it lacks.
    assert scores(expected)["imputed"] is not None
    for name in ("ipcw_cox", "imputed_covariates"):
        if alone != "test":
            assert scores(expected)[name] is not None
            assert reasons(expected, name) == []
            continue
        assert scores(expected)[name] is None
        [why] = reasons(expected, name)
        for part in ("x_test", "'stage'", "'I', 'II', 'III'", "'IV'"):
            assert part in why


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
    for each in (model, cc.JointModel.load(tmp_path / "model.json")):
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
    agree(by_command(study, COVARIATES, tmp_path, "parquet"), found)
    kept = by_frames(study, ["age", "grade", "site"])
    for name in ("ipcw_cox", "imputed_covariates"):
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
    scan = cc.scan_chunks(
        [
            ({"m": (TIMES, curves)}, cc.Survival(part["months"], part["died"]), part[["age", "stage"]])
            for part, curves in frames
        ]
    )
    drawn = next(k for k in range(20, 160) if 7 not in _drawn(scan, k))
    found = scan.evaluate(adjustments=["ipcw", "imputed"], metrics="ibs", n_fit=drawn, n_kept=drawn)
    assert np.isfinite(found.score("m", adjustment="ipcw").value)
    [note] = found.results["imputed"].notes_of("missing")
    assert "'stage'" in note.text
    assert "'IV'" in note.text


def _drawn(scan, k):
    keys = np.concatenate([batch.key for part in scan.parts for batch in scan.outcomes(part)])
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
    [note] = found.results["imputed"].notes_of("missing")
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
            adjustments=["ipcw", "ipcw_cox", "aipcw", "imputed", "imputed_covariates"],
            metrics="ibs",
        )
        assert np.isfinite(found.score("m", adjustment="ipcw").value)
        for name in ("ipcw_cox", "aipcw", "imputed", "imputed_covariates"):
            [note] = found.results[name].notes_of("missing")
            assert "x_test must have values of moderate size" in note.text
            assert "'x0'" in note.text
