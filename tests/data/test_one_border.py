"""One table has one score, and one refusal, by whatever door it comes in."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from tests.cli.study import run
from tests.data import doors
from tests.data.doors import (
    COVARIATES,
    TIMES,
    WITH_COVARIATES,
    by_command,
    by_files,
    by_frames,
    curve_frame,
    numbers_of,
    only_in,
    outcomes,
    scores,
    write,
)

ADJUSTMENTS = ["ipcw", "imputation"]
ASKED = {"adjustments": ADJUSTMENTS, "metrics": "ibs"}
OPTIONS = ("--adjustments", ",".join(ADJUSTMENTS))


@pytest.fixture(scope="module")
def study():
    found = only_in()
    found.y = outcomes(found.test)
    found.expected = scores(numbers_of(cc.evaluate({"m": (TIMES, found.curves)}, found.y, **ASKED)))
    assert set(found.expected) == set(ADJUSTMENTS)
    return found


def agree(found, study):
    assert scores(found) == pytest.approx(study.expected, rel=1e-12)


def frames(curves):
    """The same curves in every form that a frame may have."""
    straight = curve_frame(curves)
    turned = straight.T.set_axis(TIMES, axis=0)
    named = turned.rename_axis(index="time", columns=None).reset_index().rename(columns=str)
    return {
        "row per subject": straight,
        "times as numbers": straight.set_axis(TIMES, axis=1),
        "polars": pl.from_pandas(straight),
        "pyarrow": pa.Table.from_pandas(straight),
        "row per time": turned,
        "row per time, times first": named,
        "row per time, polars": pl.from_pandas(named),
        "row per time, pyarrow": pa.Table.from_pandas(named),
    }


@pytest.mark.parametrize("form", frames(only_in().curves))
def test_frames_score_as_the_pair(study, form):
    agree(numbers_of(cc.evaluate({"m": frames(study.curves)[form]}, study.y, **ASKED)), study)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("turned", [False, True], ids=["row per subject", "row per time"])
def test_files_score_as_the_pair(study, tmp_path, kind, turned):
    frame = curve_frame(study.curves)
    if turned:
        frame = frame.T.rename(index=float).rename(columns=str).rename_axis(index=None)
    test = write(study.test, tmp_path / f"test.{kind}")
    model = write(frame, tmp_path / f"m.{kind}", index=turned)
    agree(by_command(tmp_path, test, {"m": model}, *OPTIONS), study)


def in_two_files(frame, folder):
    folder.mkdir()
    for k, part in enumerate((frame[:70], frame[70:])):
        part.to_parquet(folder / f"part-{k}.parquet", index=False)
    return folder


def test_batches_score_as_the_pair(study, tmp_path):
    test = in_two_files(study.test[["months", "died"]], tmp_path / "test")
    model = in_two_files(curve_frame(study.curves), tmp_path / "m")
    scan = cc.scan_parquet(test, {"m": model}, **doors.OUTCOME)
    agree(numbers_of(scan.evaluate(**ASKED)), study)
    # In passes over all subjects, the adjustments fitted to all of them.
    agree(numbers_of(scan.evaluate(**ASKED, n_kept=100)), study)
    agree(by_command(tmp_path, test, {"m": model}, *OPTIONS), study)


@pytest.mark.parametrize("ids", ["texts", "numbers"])
def test_ids_in_another_order_score_as_the_pair(study, tmp_path, ids):
    order = np.random.default_rng(5).permutation(len(study.test))
    known = [f"p{k}" for k in order] if ids == "texts" else order
    test = study.test.assign(patient=known)
    model = curve_frame(study.curves).assign(patient=known).sort_values("patient")
    by_id = ("--id", "patient")
    turned = model.set_index("patient").T.rename(index=float).rename_axis(columns=None)
    for kind in ("csv", "parquet"):
        file = write(test, tmp_path / f"test.{kind}")
        straight = write(model, tmp_path / f"m.{kind}")
        agree(by_command(tmp_path, file, {"m": straight}, *by_id, *OPTIONS), study)
        turned.rename(columns=str).to_csv(tmp_path / "turned.csv")
        agree(by_command(tmp_path, file, {"m": tmp_path / "turned.csv"}, *by_id, *OPTIONS), study)
    files = in_two_files(test.drop(columns="grade"), tmp_path / "test"), in_two_files(model, tmp_path / "m")
    scan = cc.scan_parquet(files[0], {"m": files[1]}, **doors.OUTCOME, id="patient")
    agree(numbers_of(scan.evaluate(**ASKED)), study)
    labelled = {"x_test": test.set_index("patient")[["age"]], "covariates": None}
    for form in (model.set_index("patient"), turned):
        agree(numbers_of(cc.evaluate({"m": form}, study.y, **labelled, **ASKED)), study)


def test_one_at_time_zero_makes_no_curve_of_one_time(study, tmp_path):
    """By every door; whoever wants the line says so with Predictions."""
    starts = pd.DataFrame({"0": 1.0, "0.5": study.curves[:, 1]})
    asked = {"adjustments": "ipcw", "metrics": "brier", "at": 0.5}
    expected = cc.evaluate({"m": (0.5, study.curves[:, 1])}, study.y, **asked).score("m").value
    test = write(study.test[["months", "died"]], tmp_path / "test.parquet")
    model = write(starts, tmp_path / "m.parquet")
    scan = cc.scan_parquet(test, {"m": model}, **doors.OUTCOME, tail="last")
    results = [
        cc.evaluate({"m": ([0.0, 0.5], starts.to_numpy())}, study.y, **asked),
        cc.evaluate({"m": starts}, study.y, **asked),
        scan.evaluate(**asked),
    ]
    for result in results:
        assert result.data.predictions["m"].time == 0.5
        assert result.score("m").value == expected
    result = run(
        *("evaluate", "--test", test, "--time", "months", "--event", "died", "--predictions", f"m={model}"),
        *("--adjustments", "ipcw", "--metrics", "brier", "--at", "0.5", "--json", tmp_path / "out.json"),
    )
    assert result.exit_code == 0, result.output
    assert "at time 0.5 alone" in (tmp_path / "out.json").read_text()
    line = cc.evaluate({"m": cc.Predictions([0.0, 0.5], starts.to_numpy())}, study.y, **ASKED)
    assert isinstance(line.data.predictions["m"], cc.Predictions)


_ALONE = ("--adjustments", "imputation", "--metrics", "ibs")

# --- refusals -------------------------------------------------------------------------------------------


def refused(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value)


def refused_by_command(*arguments):
    """Return the refusal, with lines of a CSV file, of which the first is its header, as rows."""
    result = run("evaluate", "--time", "months", "--event", "died", *arguments, "--strict")
    assert result.exit_code == 2, result.output
    said = result.stderr.rstrip("\n")
    return re.sub(r"(?<=\b)line (\d+)", lambda line: f"row {int(line[1]) - 2}", said)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1.5, "probabilities must lie in [0, 1], but row 107 at time 0.75 is 1.5."),
        (1.0, "probabilities must not increase over time, but row 107 rises from"),
        (np.nan, "column '0.75' has no value in row 107."),
        (np.inf, "column '0.75' must be finite, but row 107 is inf."),
        ("high", "column '0.75' must have numbers, but row 107 is 'high'."),
    ],
)
def test_a_bad_prediction_is_refused_in_one_sentence(study, tmp_path, value, sentence):
    frame = curve_frame(study.curves).astype({"0.75": object} if isinstance(value, str) else {})
    frame.loc[107, "0.75"] = value
    test = study.test[["months", "died"]]
    said = [refused(lambda: cc.evaluate({"m": frame}, study.y))]
    for kind in ("csv", "parquet"):
        if kind == "parquet" and isinstance(value, str):
            frame = frame.astype({"0.75": str})
        files = write(test, tmp_path / f"test.{kind}"), write(frame, tmp_path / f"m.{kind}")
        said.append(refused_by_command("--test", files[0], "--predictions", f"m={files[1]}"))
    assert all(sentence in each for each in said), said
    if isinstance(value, str):
        return  # which the footer tells before any row is read
    halves = in_two_files(test, tmp_path / "test"), in_two_files(frame, tmp_path / "m")
    scan = cc.scan_parquet(halves[0], {"m": halves[1]}, **doors.OUTCOME)
    # The file, and the row in it.
    assert f"part-1.parquet: {sentence.replace('107', '37')}" in refused(lambda: scan.evaluate(**ASKED))


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("months", np.nan, "column 'months' has no value in row 107."),
        ("months", np.inf, "column 'months' must be finite, but row 107 is inf."),
        ("months", -1.0, "column 'months' must not be negative, but row 107 is -1.0."),
        (
            "died",
            2.0,
            "column 'died' must have TRUE and FALSE or 1 and 0 (competing events are not supported), but row 107 is 2",
        ),
        (
            "ended",
            True,
            "column 'ended' (administrative) must be false where event is true, but row 107 is True.",
        ),
        (
            "why",
            None,
            "column 'why' (reason) must be given for each dropout, if only as 'unknown', but row 107 is None.",
        ),
    ],
)
def test_a_bad_value_of_a_subject_is_refused_in_one_sentence(study, tmp_path, column, value, sentence):
    columns = {"administrative": "ended", "reason": "why"}
    test = study.test.drop(columns=["grade", "site", "smokes"]).astype({"died": float})
    test = test.assign(ended=False, why="moved")
    test.loc[107, "died"] = float(column == "ended")
    test.loc[107, column] = value
    curves = curve_frame(study.curves)
    model = write(curves, tmp_path / "m.parquet")
    x = ["age", "stage"]

    def in_python(frame):
        y = cc.Survival.from_frame(frame, **doors.OUTCOME, **columns)
        return cc.evaluate({"m": (TIMES, study.curves)}, y, frame[x], **ASKED)

    said = [refused(lambda: in_python(test))]
    options = [part for name, own in columns.items() for part in (f"--{name}", own)]
    for kind in ("csv", "parquet"):
        file = write(test, tmp_path / f"test.{kind}")
        given = "--test", file, "--predictions", f"m={model}", "--covariates", ",".join(x), *options
        said.append(refused_by_command(*given))
    assert all(sentence in each for each in said), said
    halves = in_two_files(test, tmp_path / "test"), in_two_files(curves, tmp_path / "m")
    scan = cc.scan_parquet(halves[0], {"m": halves[1]}, **doors.OUTCOME, **columns, covariates=x)
    assert f"part-1.parquet: {sentence.replace('107', '37')}" in refused(lambda: scan.evaluate(**ASKED))


def test_covariates_that_lack_values_have_the_same_scores_by_every_door(tmp_path):
    """The imputation model takes them; adjustments that need all values refuse them, and name the sample."""
    study = only_in(None)
    x = ["age", "stage"]
    for frame in (study.test, study.train):
        frame.loc[frame.index[::7], "age"] = np.nan
        frame.loc[frame.index[::5], "stage"] = None
    asked = {**ASKED, "adjustments": "imputation"}
    curves, y = {"m": (TIMES, study.curves)}, outcomes(study.test)
    expected = scores(numbers_of(cc.evaluate(curves, y, study.test[x], **asked)))
    assert np.isfinite(expected["imputation"])
    test = study.test.drop(columns=["grade", "site", "smokes"])
    others = [scores(numbers_of(cc.evaluate(curves, y, pl.from_pandas(test[x]), **asked)))]
    model = in_two_files(curve_frame(study.curves), tmp_path / "m")
    scan = cc.scan_parquet(in_two_files(test, tmp_path / "test"), {"m": model}, **doors.OUTCOME, covariates=x)
    others += [
        scores(numbers_of(scan.evaluate(**asked))),
        scores(numbers_of(scan.evaluate(**asked, n_kept=100, n_fit=len(test)))),
    ]
    for other in others:
        assert other == pytest.approx(expected, rel=1e-9)
    message = refused(lambda: cc.evaluate(curves, y, study.test[x], adjustments="ipcw_cox"))
    assert "x_test: column 'age' has no value in row 0" in message
    for kind in ("csv", "parquet"):
        files = (
            write(test, tmp_path / f"test.{kind}"),
            write(curve_frame(study.curves), tmp_path / f"c.{kind}"),
        )
        given = "--test", files[0], "--predictions", f"m={files[1]}", "--covariates", ",".join(x)
        said = refused_by_command(*given, "--adjustments", "ipcw_cox")
        assert f"test.{kind}: column 'age' has no value in row 0" in said
        out = tmp_path / f"{kind}.json"
        done = run("evaluate", *given, "--time", "months", "--event", "died", "--json", out, *_ALONE)
        assert done.exit_code == 0, done.output
        assert "'age' has no value for" in out.read_text()


def test_a_text_among_numbers_is_no_level(study, tmp_path):
    """A column of which one value was mistyped is read as texts; its numbers would be a level each."""
    test = study.test.astype({"age": str})
    test.loc[107, "age"] = "."
    said = [refused(lambda: cc.evaluate({"m": (TIMES, study.curves)}, study.y, test[["age"]], **ASKED))]
    model = write(curve_frame(study.curves), tmp_path / "m.parquet")
    for kind in ("csv", "parquet"):
        file = write(test, tmp_path / f"test.{kind}")
        said.append(refused_by_command("--test", file, "--predictions", f"m={model}", "--covariates", "age"))
    halves = in_two_files(test.drop(columns="grade"), tmp_path / "test")
    scan = cc.scan_parquet(halves, {"m": model}, **doors.OUTCOME, covariates=["age"])
    said.append(refused(lambda: scan.evaluate(**ASKED)).replace("row 37", "row 107"))
    assert all("column 'age' has mostly numbers, but row 107 is '.'" in each for each in said), said


# --- covariates -----------------------------------------------------------------------------------------


def by_batches(study, covariates, folder):
    """Streamed in passes, with the adjustments fitted to all subjects."""
    test, train = (each.astype({"grade": str}) for each in (study.test, study.train))
    model = in_two_files(curve_frame(study.curves), folder / "m")
    scan = cc.scan_parquet(
        in_two_files(test, folder / "test"), {"m": model}, **doors.OUTCOME, covariates=covariates
    )
    samples = {"x_train": train[covariates], "y_train": outcomes(train), "adjustments": WITH_COVARIATES}
    return numbers_of(scan.evaluate(**samples, metrics="ibs", n_kept=100, n_fit=len(test)))


@pytest.mark.parametrize("alone", [None, "train", "test"])
def test_covariates_have_the_same_scores_and_refusals_by_every_door(tmp_path, alone):
    study = only_in(alone)
    expected = by_frames(study, COVARIATES)
    libraries = (lambda x: pl.from_pandas(x.astype({"grade": str})), pa.Table.from_pandas)
    others = [by_frames(study, COVARIATES, made) for made in libraries]
    others += [by_files(study, COVARIATES, tmp_path, "parquet", *more) for more in ([], ["--stream"])]
    others.append(by_batches(study, COVARIATES, tmp_path))
    for found in others:
        assert found["data"]["covariates"] == COVARIATES
        for name, score in scores(expected).items():
            assert scores(found)[name] == (score if score is None else pytest.approx(score, rel=1e-12)), name
            assert doors.reasons(found, name) == doors.reasons(expected, name)
    texts = ["age", "stage"]
    in_csv, in_frames = by_files(study, texts, tmp_path, "csv"), by_frames(study, texts)
    for name, score in scores(in_frames).items():
        assert scores(in_csv)[name] == (score if score is None else pytest.approx(score, rel=1e-12)), name
    # What is fitted to the test sample has seen its levels; what is fitted to the training sample says what it lacks.
    assert scores(expected)["imputation"] is not None
    for name in ("ipcw_cox", "imputation_covariates"):
        assert (scores(expected).get(name) is None) == (alone == "test")
        for why in doors.reasons(expected, name):
            for part in ("x_test", "'stage'", "'I', 'II', 'III'", "'IV'"):
                assert part in why
        assert len(doors.reasons(expected, name)) == (alone == "test")


def test_samples_of_different_kinds_are_refused_in_one_sentence(tmp_path):
    study = only_in()
    study.test = study.test.assign(stage=1.5)
    sentence = "column 'stage' has numbers, but categories in "
    assert f"x_test: {sentence}x_train" in refused(lambda: by_frames(study, ["stage"]))
    for more in ((), ("--stream",)):
        files = [write(getattr(study, name), tmp_path / f"{name}.parquet") for name in ("train", "test")]
        model = write(curve_frame(study.curves), tmp_path / "m.parquet")
        told = refused_by_command(
            *(
                "--train",
                files[0],
                "--test",
                files[1],
                "--predictions",
                f"m={model}",
                "--covariates",
                "stage",
            ),
            *("--adjustments", ",".join(WITH_COVARIATES), *more),
        )
        assert sentence in told
