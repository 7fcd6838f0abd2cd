"""Files that are read in batches: the same numbers, however they are cut and wherever they are read."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.cli.study import predicted, refusal, run, sample

N = 700
WEIGHTS = {"cox": 0.5, "flat": 0.0}


class Files:
    """A study in Parquet files of so many rows each."""

    def __init__(self, folder, test_rows=200, model_rows=300):
        self.folder = folder
        self.test = sample(N, 3).drop(columns="stage")
        self.test["patient"] = np.arange(N)
        self.write("test", self.test, test_rows)
        for name, weight in WEIGHTS.items():
            frame = predicted(self.test, weight)
            frame.insert(0, "patient", self.test["patient"])
            self.write(name, frame, model_rows)

    def write(self, name, frame, rows):
        (self.folder / name).mkdir(parents=True)
        for k, start in enumerate(range(0, N, rows)):
            frame[start : start + rows].to_parquet(self.folder / name / f"part-{k}.parquet")

    def evaluate(self, *more, shape="{}/*.parquet", **given):
        places = {name: str(self.folder / shape.format(name)) for name in ("test", *WEIGHTS)} | given
        arguments = ["--test", places["test"], "--time", "months", "--event", "died", "--id", "patient"]
        for name in WEIGHTS:
            arguments += ["--predictions", f"{name}={places[name]}"]
        if "--metrics" not in more:
            arguments += ["--metrics", "ibs"]
        arguments += ["--families", "clayton", "--taus", "0,0.4"]
        return run("evaluate", *arguments, *more)

    def numbers(self, *more, **how):
        path = self.folder / "out.json"
        result = self.evaluate("--json", path, *more, **how)
        assert result.exit_code == 0, result.output
        found = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
        return found


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path / "study")


def numbers_of(found):
    """All values and standard errors, in one list."""
    return [
        value
        for metric in found["metrics"]
        for kind in ("scores", "standard_errors")
        for by_model in metric[kind].values()
        for value in by_model.values()
        if value is not None  # the AUC of a constant has no error
    ]


def assert_same(one, other):
    np.testing.assert_allclose(numbers_of(one), numbers_of(other), rtol=1e-10)


def test_patterns_folders_and_single_files_have_the_numbers_of_memory(files):
    for name in ("test", *WEIGHTS):
        pd.read_parquet(files.folder / name).to_parquet(files.folder / f"{name}.parquet")
    held = files.numbers(shape="{}.parquet")
    assert "streamed" not in held
    assert_same(files.numbers(), held)
    assert_same(files.numbers(shape="{}"), held)
    assert_same(files.numbers("--stream", shape="{}.parquet"), held)


def test_files_cut_otherwise_and_sorted_by_number_have_the_same_numbers(files, tmp_path):
    one = files.numbers("--fit-rows", 500, "--metrics", "ibs,auc")
    assert one["data"]["test"]["n"] == N
    assert one["streamed"]["n_fitted"] == 500
    other = Files(tmp_path / "other", test_rows=60, model_rows=N)  # of 12 files, 10 and 11 come last
    assert_same(other.numbers("--fit-rows", 500, "--metrics", "ibs,auc"), one)


def test_a_cluster_has_the_same_numbers(files, cluster):
    here = files.numbers("--fit-rows", 500)
    far = files.numbers("--fit-rows", 500, "--scheduler", cluster.scheduler_address)
    assert_same(far, here)


def test_a_page_is_written_and_the_options_can_be_read_again(files):
    page, study = files.folder / "report.html", files.folder / "study.toml"
    first = files.evaluate("--fit-rows", 500, "--covariates", "all", "--out", page, "--save-config", study)
    assert first.exit_code == 0, first.output
    text = page.read_text(encoding="utf-8")
    assert f"{N} test subjects" in re.sub(r"<[^>]*>", "", text)
    page.unlink()
    again = run("evaluate", "--config", study)
    lines = [line for line in first.stdout.splitlines() if line]
    assert [line for line in again.stdout.splitlines() if line][:8] == lines[:8]
    assert page.exists()


def test_a_training_sample_is_held_and_fitted_to(files):
    train = sample(300, 4)
    train.to_csv(files.folder / "train.csv", index=False)
    how = "--train", files.folder / "train.csv", "--covariates", "age", "--horizon", "1.5"
    found = files.numbers(*how, "--fit-rows", 500)
    assert found["data"]["train"]["n"] == 300
    held = files.numbers(*how)
    # The same fit, and sums over all subjects.
    assert found["metrics"][0]["scores"]["ipcw"] == pytest.approx(
        held["metrics"][0]["scores"]["ipcw"], rel=1e-10
    )


@pytest.mark.parametrize("damage", ["broken", "missing", "other columns"])
def test_the_file_that_is_wrong_is_named_and_nothing_is_written(files, damage):
    file = files.folder / "cox" / "part-1.parquet"
    if damage == "missing":
        file.unlink()
    elif damage == "broken":
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
    else:
        pd.read_parquet(file).drop(columns="1.5").to_parquet(file)
    out = files.folder / "out.json"
    name = "cox/*.parquet" if damage == "missing" else str(file)
    refusal(files.evaluate("--json", out), name)
    assert not out.exists()


def test_a_file_that_breaks_amid_the_rows_is_named_and_nothing_is_written(files):
    """Footers are whole: it is found when its rows are read."""
    file = files.folder / "flat" / "part-1.parquet"
    content = bytearray(file.read_bytes())
    content[200:2000] = bytes(1800)
    file.write_bytes(content)
    out = files.folder / "out.json"
    refusal(files.evaluate("--json", out, "--fit-rows", 500), str(file))
    assert not out.exists()


def test_a_pattern_without_files_is_refused(files):
    refusal(files.evaluate(test=str(files.folder / "none-*.parquet")), "none-*.parquet")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--risk", "r=age"),
        ("--follow-up", "age"),
        ("--true-time", "age"),
        ("--folds", "age"),
        ("--hazard-ratio-by", "age"),
        ("--bootstrap", "20"),
    ],
)
def test_options_that_take_all_subjects_at_once_are_refused_before_any_file_is_read(tmp_path, option, value):
    arguments = ["--test", tmp_path / "*.parquet", "--predictions", f"cox={tmp_path}", "--event", "died"]
    refusal(
        run("evaluate", *arguments, "--time", "months", option, value), f"{option} ", value.rpartition("=")[2]
    )


@pytest.mark.parametrize("train", ["", "*.parquet"])
def test_a_training_sample_in_several_files_is_refused_before_any_file_is_read(tmp_path, train):
    arguments = ["--test", tmp_path / "*.parquet", "--predictions", f"cox={tmp_path}", "--event", "died"]
    refusal(
        run("evaluate", *arguments, "--time", "months", "--train", tmp_path / train),
        "--train must be one file",
        train,
    )


def test_dates_are_refused(tmp_path):
    arguments = ["--stream", "--test", "t.parquet", "--predictions", "cox=c.parquet", "--event", "died"]
    dates = ["--entry", "begin", "--exit", "end", "--data-lock", "2020-01-01"]
    refusal(run("evaluate", *arguments, *dates), "--entry", "begin")


@pytest.mark.parametrize(("option", "value"), [("--scheduler", "tcp://127.0.0.1:1"), ("--fit-rows", "1000")])
def test_options_of_streams_are_refused_for_files_that_are_read_whole(study, option, value):
    refusal(study.evaluate(option, value), option, "--stream", value)


@pytest.mark.parametrize("value", ["0", "-3"])
def test_a_number_of_subjects_to_fit_to_is_positive(files, value):
    refusal(files.evaluate("--fit-rows", value), "--fit-rows", value)


def test_an_address_without_a_scheduler_is_refused(files, monkeypatch):
    monkeypatch.setattr("cocensor.scale.reduce._PATIENCE", "200ms")
    refusal(files.evaluate("--scheduler", "tcp://127.0.0.1:9"), "--scheduler", "tcp://127.0.0.1:9")


def test_dates_are_no_covariates(files):
    frame = files.test.assign(born=pd.Timestamp("2020-01-01"))
    for file in (files.folder / "test").iterdir():
        file.unlink()
    frame.to_parquet(files.folder / "test" / "all.parquet")
    refusal(files.evaluate("--covariates", "age,born"), "all.parquet", "'born'", "dates")


def test_an_interruption_says_that_the_run_starts_over(files, monkeypatch):
    def interrupted(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr("cocensor.scale.evaluate.reduce_parts", interrupted)
    result = files.evaluate()
    assert result.exit_code == 130
    assert result.stderr == "Interrupted. The same command starts over.\n"


def test_passes_are_told_by_name():
    from cocensor.cli.evaluate import _progress_of_passes

    told = []
    passes = _progress_of_passes(lambda *phase: told.append(phase), 2)
    for number in range(3):
        for done in range(3):
            passes(2 * number + done, 6)
    assert told == [
        ("Reading outcomes", 0, 2),
        ("Reading outcomes", 1, 2),
        ("Reading",),
        ("Reading scores", 0, 2),
        ("Reading scores", 1, 2),
        ("Fitting",),
        ("Scoring", 0, 2),
        ("Scoring", 1, 2),
        ("Computing errors",),
    ]
