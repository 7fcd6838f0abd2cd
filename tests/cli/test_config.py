"""A study in a file, covariates by exclusion, and models that must not be missing."""

import json
import sys
import tomllib
from dataclasses import fields
from inspect import signature

import pytest
import typer

import cocensor as cc
from cocensor.cli import app
from cocensor.cli.inputs import Inputs
from cocensor.cli.plan import PlanOptions, plan_of
from cocensor.cli.study_file import Outputs, StudyFile, study_in, study_text
from tests.cli.study import refusal, run, said

INPUTS = {
    "test": "test.csv",
    "event": "died",
    "time": "months",
    "id": "patient",
    "predictions": {"cox": "cox.csv", "flat": "flat.csv"},
}
PLAN = {"adjustments": ["ipcw"], "metrics": ["ibs"]}


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(each)}" for key, each in value.items()) + "}"
    # JSON's texts, numbers, booleans and lists are TOML's.
    return json.dumps(value)


def written(study, name="study.toml", plan=None, outputs=None, **inputs):
    """A study file with little to compute; a change to None leaves a key out."""
    tables = {"inputs": INPUTS | inputs, "plan": PLAN | (plan or {}), "outputs": outputs or {}}
    lines = []
    for table, values in tables.items():
        lines += [f"[{table}]", *(f"{k} = {toml(v)}" for k, v in values.items() if v is not None)]
    path = study.folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
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
    moved = {"test": "../test.csv", "predictions": {"cox": "../cox.csv", "flat": "../flat.csv"}}
    assert found == {"inputs": INPUTS | moved, "plan": PLAN}


def test_an_absolute_path_stays_but_below_the_folder(tmp_path):
    inside, outside = tmp_path / "a" / "in.csv", tmp_path / "out.csv"
    inside.parent.mkdir()
    inputs = Inputs(test=inside, train=outside, event="died", time="months", risk=["old=age"])
    found = tomllib.loads(study_text(inputs, cc.Plan.of(), Outputs(), inside.parent / "study.toml"))
    assert found["inputs"]["test"] == "in.csv"
    assert found["inputs"]["train"] == outside.as_posix()


def test_the_command_line_wins(study):
    path = written(study, plan={"horizon": 1.5, "at": [1.0], "metrics": ["ibs", "brier"]}, strict=True)
    flat = f"flat={study.folder / 'flat.csv'}"
    found = metrics_of(study.folder, "--config", path, "--horizon", "1", "--predictions", flat)
    assert found["horizon"]["time"] == 1.0
    assert [model["name"] for model in found["models"]] == ["flat"]
    assert [metric["name"] for metric in found["metrics"]] == ["ibs", "brier at 1"]


INPUTS_OF_A_TEST = Inputs(
    test="test.csv", event="died", time="months", risk=["old=age"], predictions=["cox=a.csv"]
)


def plan_under(saved, file="study.toml", **options):
    return plan_of(PlanOptions(**options), saved, INPUTS_OF_A_TEST, file)


def test_an_option_changes_its_part_of_what_a_file_says_alone():
    clayton, ils = cc.Clayton.from_tau(0.5), cc.metric("ils", floor=0.01)
    saved = {"copula": clayton, "metrics": [ils, cc.metric("auc")], "sensitivity": {"taus": [0.0, 0.2]}}
    assert plan_under(saved, tau=0.3).copula == cc.Clayton.from_tau(0.3)
    assert plan_under(saved, copula="select").copula == "select"
    assert plan_under(saved, margin=0.1).metrics == (ils, cc.metric("auc"))
    assert plan_under(saved, metrics="ils:0.1,auc").metrics == (cc.metric("ils", floor=0.1), cc.metric("auc"))
    assert plan_under(saved, metrics="auc", margin=0.02).margin == 0.02
    found = plan_under(saved, plausible="0,0.1").sensitivity
    assert (found.taus, found.plausible) == ((0.0, 0.2), (0.0, 0.1))
    assert plan_under({"n_resamples": 9}, seed=3).seed == 3


def test_a_refusal_names_the_option_or_the_file():
    with pytest.raises(ValueError, match=r"^study.toml: at must not"):
        plan_under({"at": [-1.0]}, metrics="brier")
    with pytest.raises(ValueError, match=r"^--at must not"):
        plan_under({"at": [1.0]}, metrics="brier", at="-1")


def test_every_argument_of_a_plan_is_an_option_or_comes_with_the_inputs():
    options = {"confidence_level": "confidence", "n_resamples": "bootstrap"}
    arguments = {options.get(name, name) for name in signature(cc.Plan.of).parameters}
    arguments |= set(signature(type(cc.Plan.of().sensitivity).of).parameters) - {"adjustments"}
    of_a_file_alone = {"times"}  # a grid is too long for a command line
    with_inputs = {"covariates", "time_name", "time_unit", "sensitivity", "named"}
    settings = {"tau"}
    assert {each.name for each in fields(PlanOptions)} == arguments - of_a_file_alone - with_inputs | settings


def test_numbers_dates_and_lists_may_stand_for_texts(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("[inputs]\ntime = 60\ndata_lock = 2020-12-31\ncovariates = ['age', 'sex']\n")
    options, _ = study_in(path)
    assert options == {"time": "60", "data_lock": "2020-12-31", "covariates": "age,sex"}


def test_all_values_come_back(tmp_path):
    path = tmp_path / "study.toml"
    inputs = Inputs(
        test=tmp_path / "test.csv",
        event='say "τ" \\ \n\t\x01\x7f #',
        entry="in",
        exit="out",
        data_lock="2020-12-31",
        id="patient",
        predictions=[f"τ a.b={tmp_path / 'c = d.csv'}"],
        risk=["a=b, c", '"=x=y'],
        strict=True,
        fit_rows=500,
    )
    outputs = Outputs(out=tmp_path / "report.html", title="#", hint=True)
    path.write_text(study_text(inputs, cc.Plan.of(seed=3), outputs, path), encoding="utf-8")
    options, plan = study_in(path)
    again = {key: value for key, value in options.items() if key in {each.name for each in fields(Inputs)}}
    assert Inputs(**again | {"test": tmp_path / "test.csv"}) == inputs
    assert {key: value for key, value in options.items() if key not in again} == {
        "out": str(outputs.out),
        "title": "#",
        "hint": True,
    }
    assert plan == {"seed": 3}


def test_every_option_has_its_table():
    [command] = [each for name, each in typer.main.get_command(app).commands.items() if name == "evaluate"]
    groups = {group: {each.name for each in fields(group)} for group in (Inputs, PlanOptions, Outputs)}
    apart = {each.name for each in fields(StudyFile)}
    assert {param.name for param in command.params} - {"help", "help_all"} == apart.union(*groups.values())
    assert apart == {"scheduler", "config", "save_config"}


@pytest.mark.parametrize(
    ("table", "key", "value", "rule"),
    [
        ("inputs", "evnt", "died", "did you mean 'event'?"),
        ("plan", "metrix", ["ibs"], "did you mean 'metrics'?"),
        ("inputs", "config", "other.toml", "no key"),
        (
            "inputs",
            "scheduler",
            "tcp://host:8786",
            "can run code on this machine: give --scheduler on the command line",
        ),
        ("inputs", "clusters", "site", "clusters is not supported yet"),
        ("plan", "cause", 1, "cause is not supported yet"),
        ("plan", "copula", {"family": "clayton", "rho": 1}, "its keys are family, tau, theta"),
        ("plan", "copula", "plackett", "'plackett'"),
        ("plan", "adjustments", ["magic"], "'magic'"),
        ("plan", "sensitivity", {"tau": [0.2]}, "did you mean 'taus'?"),
        ("plan", "sensitivity", 3, "must be a table"),
        ("plan", "n_resamples", 2.5, "a whole number"),
        ("outputs", "hint", 1, "true or false, but is 1"),
        ("inputs", "event", ["died"], "text in quotes, but is ['died']"),
        ("inputs", "test", 7, "a path in quotes, but is 7"),
        ("inputs", "fit_rows", 2.5, "a whole number, but is 2.5"),
        ("inputs", "predictions", ["cox=cox.csv"], "a table of texts by model"),
        ("inputs", "predictions", {"cox": 1}, "a table of texts by model"),
        ("inputs", "predictions", {"a=b": "cox.csv"}, "without"),
        ("outputs", "json", "out.txt", ".json"),
    ],
)
def test_keys_that_are_refused(study, table, key, value, rule):
    tables = {"plan": {key: value}} if table == "plan" else {}
    tables |= {"outputs": {key: value}} if table == "outputs" else {}
    path = written(study, **tables, **({key: value} if table == "inputs" else {}))
    refusal(run("evaluate", "--config", path), key, rule)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[input]\n", "has no key 'input': did you mean 'inputs'?"),
        ("test = 'test.csv'\n", "has no key 'test': its keys are inputs, plan, outputs"),
        ("inputs = 3\n", "inputs must be a table"),
    ],
)
def test_tables_that_are_refused(study, text, rule):
    path = study.folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    refusal(run("evaluate", "--config", path), "study.toml", rule)


@pytest.mark.parametrize(
    "content", [b"tau 0.3", b"tau = 0.1\ntau = 0.2", b"title = '\xff'", b"tau = " + b"9" * 9999]
)
def test_files_that_are_no_toml(study, content):
    path = study.folder / "study.toml"
    path.write_bytes(content)
    refusal(run("evaluate", "--config", path), "study.toml must be TOML in UTF-8")


def test_what_is_neither_given_nor_in_the_file_is_asked_for(study):
    refusal(run("evaluate", "--config", written(study, event=None)), "--event")
    refusal(run("evaluate", "--config", study.folder / "none.toml"), "none.toml is not there")


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
    refusal(result, "--save-config", "train")


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
        *(
            "--config",
            written(study, plan={"adjustments": ["imputation_covariates"], "metrics": ["auc"]}),
            "--covariates",
            "all",
        ),
        *more,
    )
    assert found["data"]["covariates"] == ["age", "stage"]
    assert "age and stage" in said(found, "decision")
    assert "without a name" in said(found, "decision")


def test_all_covariates_with_a_column_of_that_name(study):
    path = written(study, plan={"adjustments": ["ipcw_cox"]}, covariates="all")
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
    path = written(study, strict=True, outputs={"out": "page.html"})
    refusal(run("evaluate", "--config", path), "--strict", "cox: ", "cox.csv", "1.5")
    assert "page.html" not in study.files()
    assert metrics_of(study.folder, "--config", path, "--no-strict")["models"]


@pytest.fixture
def nothing_computed(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["cocensor.cli.evaluate"], "run", interrupt)


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


@pytest.mark.parametrize("more", [{}, {"risk": {"old": "age"}}])
def test_nothing_is_computed_where_all_files_are_refused(study, nothing_computed, more):
    refused_at_first_sight(study, "cox", "flat")
    refusal(run("evaluate", "--config", written(study, **more)), "cox.csv: ", "flat.csv: ")


def test_strict_does_not_mind_what_a_metric_cannot_score(study):
    path = written(study, risk={"old": "age"}, strict=True)
    found = metrics_of(study.folder, "--config", path)
    assert "old" in [model["name"] for model in found["models"]]


def test_strict_minds_predictions_that_end_early(study):
    study.predictions["cox"][["patient", "0", "0.5", "1"]].to_csv(study.folder / "cox.csv", index=False)
    path = written(study, strict=True, plan={"horizon": 2})
    refusal(run("evaluate", "--config", path), "--strict", "cox: ", "horizon", "must not pass 1")
