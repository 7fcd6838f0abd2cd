"""A study in a file, covariates by exclusion, and models that must not be missing."""

import json
import math
import tomllib

import pytest
import typer

import cocensor as cc
from cocensor.cli import app
from cocensor.cli.config import config_text, options_in
from tests.cli.study import refusal, run, said

QUICK = {
    "test": "test.csv",
    "event": "died",
    "time": "months",
    "id": "patient",
    "predictions": ["cox=cox.csv", "flat=flat.csv"],
    "adjustments": "ipcw",
    "metrics": "ibs",
    "hint": False,
}


def written(study, name="study.toml", **changes):
    """A study file with little to compute; a change to None leaves a key out."""
    options = {key: value for key, value in (QUICK | changes).items() if value is not None}
    # JSON's texts, numbers, booleans and lists are TOML's.
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
    path = study.folder / name
    path.write_text(text, encoding="utf-8")
    return path


def metrics_of(folder, *arguments):
    path = folder / "found.json"
    result = run("evaluate", *arguments, "--json", path)
    assert result.exit_code == 0, result.output
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_saved_study_runs_again_from_anywhere(study, monkeypatch):
    saved = study.folder / "study.toml"
    monkeypatch.chdir(study.folder)
    first = study.evaluate("--covariates", "age", "--json", "first.json", "--save-config", saved, train=None)
    assert first.exit_code == 0, first.output
    assert "study.toml" in first.output
    (study.folder / "elsewhere").mkdir()
    monkeypatch.chdir(study.folder / "elsewhere")
    again = run("evaluate", "--config", saved, "--json", "again.json")
    assert again.exit_code == 0, again.output
    before, after = (study.folder / name for name in ("first.json", "elsewhere/again.json"))
    assert after.read_bytes() == before.read_bytes()


def test_a_saved_study_says_paths_from_its_folder(study, monkeypatch):
    (study.folder / "kept").mkdir()
    monkeypatch.chdir(study.folder)
    result = run("evaluate", "--config", written(study).name, "--save-config", "kept/study.toml")
    assert result.exit_code == 0, result.output
    found = tomllib.loads((study.folder / "kept" / "study.toml").read_text(encoding="utf-8"))
    assert found["test"] == "../test.csv"
    assert found["predictions"] == ["cox=../cox.csv", "flat=../flat.csv"]
    assert found["hint"] is False
    assert not {"config", "save-config"} & set(found)


def test_an_absolute_path_stays_but_below_the_folder(tmp_path):
    inside, outside = tmp_path / "a" / "in.csv", tmp_path / "out.csv"
    inside.parent.mkdir()
    found = tomllib.loads(config_text({"test": inside, "train": outside}, inside.parent / "study.toml"))
    assert found == {"test": "in.csv", "train": outside.as_posix()}


def test_the_command_line_wins(study):
    path = written(study, strict=True, horizon="1.5")
    found = metrics_of(
        study.folder, "--config", path, "--horizon", "1", "--predictions", f"flat={study.folder / 'flat.csv'}"
    )
    assert found["horizon"]["time"] == 1.0
    assert [model["name"] for model in found["models"]] == ["flat"]


def test_numbers_and_dates_may_stand_for_texts(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("horizon = 60\nconfidence = 0.9\ndata-lock = 2020-12-31\ntau = 0\n")
    kinds = {"horizon": str, "confidence": str, "data_lock": str, "tau": float}
    assert options_in(path, kinds) == {
        "horizon": "60",
        "confidence": "0.9",
        "data_lock": "2020-12-31",
        "tau": 0,
    }


def test_all_values_come_back(tmp_path):
    path = tmp_path / "study.toml"
    options = {
        "title": 'say "τ" \\ \n\t\x01\x7f #',
        "tau": 1e-5,
        "floor": math.inf,
        "bootstrap": 500,
        "hint": True,
        "risk": ["a=b, c", '"='],
        "exit_": "out",
        "identity": "patient",
    }
    path.write_text(config_text(options | {"seed": None}, path), encoding="utf-8")
    kinds = {name: list[str] if name == "risk" else type(value) for name, value in options.items()}
    assert options_in(path, kinds) == options


def test_every_option_but_its_own_is_a_key(tmp_path):
    [command] = [each for name, each in typer.main.get_command(app).commands.items() if name == "evaluate"]
    given = {param.name: "x" for param in command.params}
    options = {opt.removeprefix("--") for param in command.params for opt in param.opts}
    keys = set(tomllib.loads(config_text(given | {"predictions": ["x"]}, tmp_path / "study.toml")))
    assert keys == options - {"config", "save-config", "scheduler", "help"}


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("taau", 0.3, "did you mean 'tau'?"),
        ("config", "other.toml", "not an option"),
        (
            "scheduler",
            "tcp://host:8786",
            "can run code on this machine: give --scheduler on the command line",
        ),
        ("options", {"tau": 0.3}, "not an option"),
        ("tau", "0.3", "a number, but is '0.3'"),
        ("tau", True, "a number, but is True"),
        ("bootstrap", 2.5, "a whole number, but is 2.5"),
        ("hint", 1, "true or false, but is 1"),
        ("event", ["died"], "text in quotes, but is ['died']"),
        ("test", 7, "a path in quotes, but is 7"),
        ("predictions", "cox=cox.csv", "a list of strings in quotes, but is 'cox=cox.csv'"),
        ("predictions", ["cox=cox.csv", 1], "a list of strings"),
    ],
)
def test_keys_that_are_refused(study, key, value, rule):
    table = isinstance(value, dict)
    path = written(study, **({} if table else {key: value}))
    if table:
        path.write_text(path.read_text() + f"[{key}]\ntau = 0.3\n")
    refusal(run("evaluate", "--config", path), "study.toml", key, rule)


@pytest.mark.parametrize(
    "content", [b"tau 0.3", b"tau = 0.1\ntau = 0.2", b"title = '\xff'", b"tau = " + b"9" * 9999]
)
def test_files_that_are_no_toml(study, content):
    path = study.folder / "study.toml"
    path.write_bytes(content)
    refusal(run("evaluate", "--config", path), "study.toml must be TOML in UTF-8")


def test_what_is_neither_given_nor_in_the_file_is_asked_for(study):
    refusal(run("evaluate", "--config", written(study, event=None)), "--event")
    refusal(run("evaluate", "--config", study.folder / "none.toml"), "none.toml cannot be read")


def test_a_study_is_written_only_where_it_may_be(study):
    path = written(study)
    before = path.read_bytes()
    refusal(run("evaluate", "--config", path, "--save-config", path), "--save-config", "overwrite an input")
    refusal(
        run("evaluate", "--config", path, "--save-config", study.folder / "a.txt"), "--save-config", ".toml"
    )
    refusal(
        run("evaluate", "--config", path, "--time", "no", "--save-config", study.folder / "b.toml"), "'no'"
    )
    assert path.read_bytes() == before
    assert "b.toml" not in study.files()


def test_a_path_that_is_not_utf_8_cannot_be_saved(study):
    result = run(
        "evaluate",
        "--config",
        written(study),
        "--train",
        "\udcff.csv",
        "--save-config",
        study.folder / "a.toml",
    )
    refusal(result, "--save-config", "--train")


def test_all_covariates_are_what_no_other_option_names(study):
    wide = study.test.assign(centre=["a", "b"] * 30, score=study.test["age"], fold=[0, 1] * 30)
    wide.to_csv(study.folder / "test.csv")
    more = (
        "--hazard-ratio-by",
        "centre",
        "--families",
        "clayton,hazard_ratio",
        "--taus",
        "0",
        "--hazard-ratios",
        "1,2",
        "--folds",
        "fold",
        "--risk",
        "gleason=score",
    )
    found = metrics_of(
        study.folder,
        *("--config", written(study, adjustments="imputed_covariates", metrics="auc"), "--covariates", "all"),
        *more,
    )
    assert found["data"]["covariates"] == ["age", "stage"]
    assert "age and stage" in said(found, "decision")
    assert "without a name" in said(found, "decision")


def test_all_covariates_with_a_column_of_that_name(study):
    path = written(study, covariates="all", adjustments="ipcw_cox")
    study.test.assign(all=study.test["age"]).to_csv(study.folder / "test.csv", index=False)
    refusal(run("evaluate", "--config", path), "--covariates all", "test.csv", "'all'")
    study.test.drop(columns=["age", "stage"]).assign(all=study.test["age"]).to_csv(
        study.folder / "test.csv", index=False
    )
    assert metrics_of(study.folder, "--config", path)["data"]["covariates"] == ["all"]
    study.test.rename(columns={"died": "all"}).to_csv(study.folder / "test.csv", index=False)
    found = metrics_of(study.folder, "--config", path, "--event", "all")
    assert found["data"]["covariates"] == ["age", "stage"]


def test_all_covariates_that_are_none_or_an_id(study):
    path = written(study, covariates="all")
    study.test.drop(columns=["age", "stage"]).to_csv(study.folder / "test.csv", index=False)
    refusal(run("evaluate", "--config", path), "--covariates", "test.csv")
    study.test.assign(name=study.test["patient"]).to_csv(study.folder / "test.csv", index=False)
    refusal(run("evaluate", "--config", path), "--covariates all", "'name'", "id")
    stray = study.test.astype({"age": object})
    stray.loc[5, "age"] = "."
    stray.to_csv(study.folder / "test.csv", index=False)
    refusal(run("evaluate", "--config", path), "'age'", "mostly numbers")


def test_strict_wants_all_models(study):
    study.predictions["cox"].assign(**{"1.5": 1.5}).to_csv(study.folder / "cox.csv", index=False)
    path = written(study, strict=True, out="page.html")
    refusal(run("evaluate", "--config", path), "--strict", "cox: ", "cox.csv", "1.5")
    assert "page.html" not in study.files()
    assert metrics_of(study.folder, "--config", path, "--no-strict")["models"]


@pytest.fixture
def nothing_computed(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cc, "evaluate", interrupt)


def refused_at_first_sight(study, *names):
    for name in names:
        study.predictions[name].assign(**{"1.5": 1.5}).to_csv(study.folder / f"{name}.csv", index=False)


def test_a_file_that_is_refused_is_told_before_anything_is_computed(study, nothing_computed):
    refused_at_first_sight(study, "cox")
    result = run("evaluate", "--config", written(study))
    told, interrupted = result.stderr.splitlines()
    assert told.startswith(f"cox is left out: {study.folder / 'cox.csv'}: ")
    assert "1.5" in told
    assert interrupted == "Interrupted."
    refusal(run("evaluate", "--config", written(study, strict=True)), "--strict", "cox: ", "cox.csv")


@pytest.mark.parametrize("more", [{}, {"risk": ["old=age"]}])
def test_nothing_is_computed_where_all_files_are_refused(study, nothing_computed, more):
    refused_at_first_sight(study, "cox", "flat")
    refusal(run("evaluate", "--config", written(study, **more)), "cox.csv: ", "flat.csv: ")


def test_strict_does_not_mind_what_a_metric_cannot_score(study):
    path = written(study, risk=["old=age"], strict=True)
    found = metrics_of(study.folder, "--config", path)
    assert "old" in [model["name"] for model in found["models"]]


def test_strict_minds_predictions_that_end_early(study):
    study.predictions["cox"][["patient", "0", "0.5", "1"]].to_csv(study.folder / "cox.csv", index=False)
    path = written(study, strict=True, horizon="2")
    refusal(run("evaluate", "--config", path), "--strict", "cox: ", "horizon", "must not pass 1")
