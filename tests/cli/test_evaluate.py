import importlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

import cocensor as cc
from tests.cli.study import TIMES, refusal, run


def test_the_numbers_are_those_of_the_library(study):
    train, test = (
        cc.Survival.from_frame(frame, time="months", event="died") for frame in (study.train, study.test)
    )
    models = {name: (TIMES, frame.drop(columns="patient")) for name, frame in study.predictions.items()}
    expected = cc.evaluate(models, train, test, copula=cc.Clayton.from_tau(0.4))
    found = json.loads(study.json("--adjustments", ",".join(expected.scored)))
    for adjustment in expected.scored:
        for model in models:
            score = found["metrics"][0]["scores"][adjustment][model]
            assert score == pytest.approx(expected.score(model, adjustment), abs=1e-12)


def test_output_tells_scores_sensitivity_and_files(study):
    result = study.evaluate("--json", study.folder / "numbers.json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    for words in (
        "Evaluation of 2 models on 60 test subjects",
        "IBS-Dep",
        "Clayton copula, τ = 0.4, as given",
    ):
        assert words in result.stdout
    assert "Sensitivity of" in result.stdout
    numbers = json.loads((study.folder / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["sensitivity"]["statement"] in result.stdout
    assert result.stdout.rstrip().endswith(f"All numbers are in {study.folder / 'numbers.json'}.")


def test_without_outputs_it_only_prints(study):
    before = study.files()
    assert "Evaluation of 2 models" in study.evaluate().stdout
    assert study.files() == before


def test_a_report(study):
    pytest.importorskip("cocensor.report")
    report, numbers = study.folder / "report.html", study.folder / "out.json"
    result = study.evaluate("--out", report, "--json", numbers, "--title", "Our <study>")
    assert result.exit_code == 0, result.output
    page = report.read_text(encoding="utf-8")
    assert "Our &lt;study&gt;" in page
    assert "Our <study>" not in page
    assert "flat" in page
    assert {"report.html", "out.json"} <= set(study.files())
    assert not [name for name in study.files() if name.startswith(".")]


# --- rows --------------------------------------------------------------------------------------------


def test_rows_are_matched_by_id(study):
    ordered = study.json()
    for name, frame in study.predictions.items():
        frame.sample(frac=1, random_state=3).to_csv(study.folder / f"{name}.csv", index=False)
    assert study.json() == ordered


def test_rows_without_id_come_in_order(study):
    ordered = study.json()
    for name, frame in study.predictions.items():
        frame.drop(columns="patient").to_csv(study.folder / f"{name}.csv", index=False)
    assert study.json(by_id=False) == ordered


def with_ids(study, test, predicted=None):
    """Write the study anew, with other ids in the test sample and in the predictions, whose rows are turned round."""
    study.test.assign(patient=test).to_csv(study.folder / "test.csv", index=False)
    for name, frame in study.predictions.items():
        frame = frame.assign(patient=test if predicted is None else predicted)
        frame.iloc[::-1].to_csv(study.folder / f"{name}.csv", index=False)


@pytest.mark.parametrize(
    "ids",
    [
        [12345678901234567000 + k for k in range(60)],
        [f"{k:03d}" for k in range(60)],
        ["1", "01", "001", "1.0", *range(2, 58)],
        [f"{k}E2" for k in range(60)],
    ],
    ids=["20 digits", "zeros first", "zeros that tell", "like numbers"],
)
def test_ids_are_texts(study, ids):
    ordered = study.json()
    with_ids(study, ids)
    assert study.json() == ordered


@pytest.mark.parametrize(
    ("test", "predicted", "message"),
    [
        ("{}E2", "{}00", "cox.csv has no row for patient '1E2' and 59 more of "),
        ("{:03d}", "{}", "cox.csv has no row for patient '001' and 59 more of "),
        (
            "123456789012340{:03d}00",
            "123456789012340{:03d}07",
            "cox.csv has no row for patient '12345678901234000100' ",
        ),
    ],
)
def test_ids_that_look_alike_are_not_one(study, test, predicted, message):
    with_ids(study, *([each.format(k) for k in range(1, 61)] for each in (test, predicted)))
    assert message in refusal(study.evaluate())


@pytest.mark.parametrize("spelt", ["{}", "{:03d}"])
def test_texts_meet_the_integers_of_parquet(study, spelt):
    ordered = json.loads(study.json())
    study.test.assign(patient=[spelt.format(k) for k in range(60)]).to_csv(
        study.folder / "test.csv", index=False
    )
    for name, frame in study.predictions.items():
        frame.assign(patient=range(60)).iloc[::-1].to_parquet(study.folder / f"{name}.parquet")
    found = json.loads(study.json(cox="cox.parquet", flat="flat.parquet"))
    assert found["metrics"] == ordered["metrics"]
    said = "cox.parquet has integers as patient: those of "
    assert (said in " ".join(found["notes"])) == (spelt != "{}")


def test_texts_that_are_one_integer(study):
    study.test.assign(patient=["1", "01", *range(2, 60)]).to_csv(study.folder / "test.csv", index=False)
    study.predictions["cox"].assign(patient=range(60)).to_parquet(study.folder / "cox.parquet")
    said = refusal(study.evaluate(cox="cox.parquet"))
    assert "test.csv: patient must differ between rows, but rows 0 and 1 have '1'." in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.iloc[1:], "cox.csv has no row for patient 'p2-0' of "),
        (lambda f: f.iloc[3:], "cox.csv has no row for patient 'p2-0' and 2 more of "),
        (
            lambda f: f.assign(patient=f["patient"].replace("p2-4", "p2-3")),
            "patient must differ between rows, but rows 3 and 4 have 'p2-3'.",
        ),
        (
            lambda f: f.assign(patient=f["patient"].replace("p2-4", "")),
            "cox.csv: column 'patient' has no value in row 4.",
        ),
        (lambda f: f.drop(columns="patient"), "cox.csv has no column 'patient'; its columns are '0', '0.5'"),
    ],
)
def test_ids_that_do_not_match(study, change, message):
    change(study.predictions["cox"]).to_csv(study.folder / "cox.csv", index=False)
    before = study.files()
    assert message in refusal(study.evaluate("--json", study.folder / "out.json"))
    assert study.files() == before


def test_an_id_that_only_the_test_sample_has(study):
    said = refusal(study.evaluate("--id", "age", "--adjustments", "ipcw", by_id=False))
    assert "cox.csv has no column 'age'; its columns are 'patient', '0'" in said


def test_predictions_for_nobody(study):
    study.test.iloc[2:].to_csv(study.folder / "test.csv", index=False)
    assert "cox.csv has a row for patient 'p2-0' and 1 more, not in " in refusal(study.evaluate())


def test_without_id_lengths_must_be_equal(study):
    study.predictions["cox"].drop(columns="patient").iloc[1:].to_csv(study.folder / "cox.csv", index=False)
    said = refusal(study.evaluate(by_id=False))
    assert "cox.csv has 59 rows, but " in said
    assert "test.csv has 60: --id COLUMN matches rows by an id." in said


def test_a_column_that_is_no_time_may_be_an_id(study):
    said = refusal(study.evaluate(by_id=False))
    assert said.endswith(
        "cox.csv: column names must be times, but one is 'patient': did you mean --id patient?"
    )


# --- columns of predictions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ["0", "1", "0.5", "1.5", "2.5"],
            "cox.csv: times must increase strictly, but column '0.5' comes after '1'.",
        ),
        (
            ["0", "1", "1.0", "1.5", "2.5"],
            "cox.csv: times must increase strictly, but column '1.0' comes after '1'.",
        ),
        (["-1", "0", "1", "2", "3"], "cox.csv: times must not be negative, but column '-1' is."),
        (["0", "1", "2", "3", "note"], "cox.csv: column names must be times, but one is 'note'."),
        (["0", "1", "2", "3", "inf"], "cox.csv: column names must be times, but one is 'inf'."),
        (["0", "1", "2", "2", "3"], "cox.csv: two columns have the name '2'."),
        (["X0", "1", "2", "3", "4"], "cox.csv: column names must be times, but one is 'X0'."),
    ],
)
def test_column_names_that_are_no_times(study, columns, message):
    study.predictions["cox"].set_axis(["patient", *columns], axis=1).to_csv(
        study.folder / "cox.csv", index=False
    )
    assert refusal(study.evaluate()).endswith(message)


def test_predictions_at_time_zero_only(study):
    study.predictions["cox"][["patient", "0"]].to_csv(study.folder / "cox.csv", index=False)
    assert refusal(study.evaluate()).endswith(
        "cox.csv: there is no column that is named after a time beyond 0."
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "cox.csv: probabilities must lie in [0, 1], but row 7 at time 1.5 is 1.5."),
        (1.0, "cox.csv: probabilities must not increase over time, but row 7 rises from"),
        ("NA", "cox.csv: column '1.5' has no value in row 7."),
        ("high", "cox.csv: column '1.5' must have numbers, but row 7 is 'high'."),
    ],
)
def test_values_that_are_no_survival_probabilities(study, value, message):
    frame = study.predictions["cox"].astype({"1.5": object})
    frame.loc[7, "1.5"] = value
    frame.to_csv(study.folder / "cox.csv", index=False)
    assert message in refusal(study.evaluate())


def test_time_zero_may_be_left_out(study):
    with_zero = study.json()
    for name, frame in study.predictions.items():
        frame.drop(columns="0").to_csv(study.folder / f"{name}.csv", index=False)
    assert study.json() == with_zero


def test_the_horizon_stops_where_predictions_do_unless_their_tail_is_held(study):
    for name, frame in study.predictions.items():
        frame[["patient", "0", "0.5"]].to_csv(study.folder / f"{name}.csv", index=False)
    assert json.loads(study.json())["horizon"]["time"] == 0.5
    assert json.loads(study.json("--tail", "last"))["horizon"]["time"] > 0.5
    assert "horizon must not pass 0.5" in refusal(study.evaluate("--horizon", "1"))


def test_steps_and_lines_between_times_differ(study):
    step, linear = (json.loads(study.json("--interpolation", each)) for each in ("step", "linear"))
    assert step["metrics"] != linear["metrics"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ([], "cox.csv, linear between its times, nothing beyond"),
        (
            ["--interpolation", "step", "--tail", "last"],
            "cox.csv, steps at its times, the last value beyond",
        ),
    ],
)
def test_the_numbers_say_how_predictions_were_read(study, how, said):
    assert json.loads(study.json(*how))["models"][0] == {"name": "cox", "came_as": said}


def test_a_file_name_that_is_no_utf8(study):
    name = os.fsdecode(b"\xff.csv")
    (study.folder / "cox.csv").rename(study.folder / name)
    assert json.loads(study.json(cox=name))["models"][0]["came_as"].startswith("\\udcff.csv, ")


# --- outcomes and covariates -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("months", "", "train.csv: column 'months' has no value in row 5."),
        ("months", "NA", "train.csv: column 'months' has no value in row 5."),
        ("months", "-1", "train.csv: time must not be negative, but row 5 is -1.0."),
        ("months", "soon", "train.csv: column 'months' must have numbers, but row 5 is 'soon'."),
        ("died", "NA", "train.csv: column 'died' has no value in row 5."),
        ("died", "2", "train.csv: column 'died' must have TRUE and FALSE or 1 and 0, but row 5 is '2'."),
        ("died", "yes", "train.csv: column 'died' must have TRUE and FALSE or 1 and 0, but row 5 is 'yes'."),
        ("age", "NA", "train.csv: column 'age' has no value in row 5."),
        ("stage", "NA", "train.csv: column 'stage' has no value in row 5."),
        ("stage", " ", "train.csv: column 'stage' has no value in row 5."),
        ("age", ".", "train.csv: column 'age' has mostly numbers, but row 5 is '.' ("),
        ("age", "1,234", "train.csv: column 'age' has mostly numbers, but row 5 is '1,234' ("),
    ],
)
def test_values_that_are_refused(study, column, value, message):
    frame = study.train.astype({column: object})
    frame.loc[5, column] = value
    frame.to_csv(study.folder / "train.csv", index=False)
    assert message in refusal(study.evaluate("--covariates", "age,stage"))


def test_columns_that_are_not_there(study):
    assert "train.csv has no column 'sex'; its columns are 'patient'" in refusal(
        study.evaluate("--covariates", "sex")
    )
    study.test.drop(columns="months").to_csv(study.folder / "test.csv", index=False)
    assert "test.csv has no column 'months'" in refusal(study.evaluate())


def test_events_may_be_zero_and_one(study):
    expected = study.json()
    study.train.astype({"died": int}).to_csv(study.folder / "train.csv", index=False)
    assert study.json() == expected


def test_ends_of_study_are_told_apart(study):
    for frame, name in ((study.train, "train"), (study.test, "test")):
        ended = ~frame["died"] & (frame["months"] > 0.5)
        frame.assign(ended=ended.astype(int)).to_csv(study.folder / f"{name}.csv", index=False)
    data = json.loads(study.json("--administrative", "ended"))["data"]["train"]
    ended = int((~study.train["died"] & (study.train["months"] > 0.5)).sum())
    assert data["administrative"] == ended > 0
    assert data["dropouts"] == int((~study.train["died"]).sum()) - ended


def test_texts_are_encoded_by_the_training_part(study):
    test = study.test.copy()
    test.loc[0, "stage"] = "IV"
    test.assign(site="a").to_csv(study.folder / "test.csv", index=False)
    study.train.assign(site="a").to_csv(study.folder / "train.csv", index=False)
    found = json.loads(study.json("--covariates", "age,stage,site", "--adjustments", "given_covariates"))
    assert found["data"]["covariates"] == ["age", "stage=II", "stage=III"]
    notes = " ".join(found["notes"])
    assert "Covariate 'stage' is text: indicators stand for its 3 levels." in notes
    assert "Covariate 'site' does not vary in" in notes
    assert (
        "test.csv: column 'stage' has the level 'IV', which the training part does not have: 1 row" in notes
    )


def test_texts_where_numbers_were_learnt(study):
    test = study.test.astype({"age": object})
    test.loc[3, "age"] = "old"
    test.to_csv(study.folder / "test.csv", index=False)
    said = refusal(study.evaluate("--covariates", "age"))
    assert "test.csv: column 'age' has mostly numbers, but row 3 is 'old'" in said
    study.test.assign(age="old").to_csv(study.folder / "test.csv", index=False)
    said = refusal(study.evaluate("--covariates", "age"))
    assert "test.csv: column 'age' has texts, but numbers in " in said


def test_a_date_is_no_covariate(study):
    study.train.assign(born="2020-01-01").to_csv(study.folder / "train.csv", index=False)
    study.test.assign(born="2020-01-01").to_csv(study.folder / "test.csv", index=False)
    said = refusal(study.evaluate("--covariates", "born"))
    assert "train.csv: column 'born' must have numbers or texts, but has date" in said


# --- options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--copula", "clayton"], "--tau is needed for the clayton copula."),
        (
            ["--copula", "select", "--tau", "0.5"],
            "--tau must come with the family of a --copula, but that is select.",
        ),
        (["--copula", "plackett"], "--copula must be one of 'select', 'independence', 'clayton'"),
        (
            ["--copula", "gumbel", "--tau", "-0.5"],
            "tau of the gumbel copula must lie in [0, 1), but is -0.5.",
        ),
        (["--horizon", "late"], "--horizon must be a time, t_max or a share such as 10%, but is 'late'."),
        (["--horizon", "150%"], "horizon['at_risk'] must lie strictly between 0 and 1, but is 1.5."),
        (["--horizon", "-1"], "horizon must lie strictly between 0 and inf, but is -1."),
        (["--adjustments", "magic"], "--adjustments must be one of 'ipcw', "),
        (["--adjustments", "ipcw,ipcw"], "--adjustments must not repeat itself, but has 'ipcw' twice."),
        (
            ["--adjustments", "given_covariates"],
            "--covariates are needed for the adjustment 'given_covariates'.",
        ),
        (["--adjustments", "ipcw", "--out", "r.html"], "--adjustments must have one that rests on a copula"),
        (["--metric", "auc"], "--metric must be one of 'ibs', 'ils', but is 'auc'."),
        (["--metric", "ils"], "--floor and --metric ils belong together"),
        (["--floor", "0.1"], "--floor and --metric ils belong together"),
        (["--families", "magic"], "--families must be one of 'clayton'"),
        (
            ["--families", "clayton,independence"],
            "--families must not have independence: τ = 0 is independence already.",
        ),
        (
            ["--families", "clayton,joe", "--taus", "0,-0.5"],
            "--taus must be within reach of --families, but -0.5 is beyond clayton,joe.",
        ),
        (["--taus", "0,x"], "--taus must be numbers with commas between, but one is 'x'."),
        (["--taus", "0,1"], "--taus must lie strictly between -1 and 1, but is 1."),
        (
            ["--covariates", "age,,stage"],
            "--covariates must be names with commas between, but is 'age,,stage'.",
        ),
        (
            ["--covariates", "age,months"],
            "--covariates must not name the column of --time, but has 'months'.",
        ),
        (["--covariates", "died"], "--covariates must not name the column of --event, but has 'died'."),
        (
            ["--covariates", "stage", "--administrative", "stage"],
            "--covariates must not name the column of --administrative, but has 'stage'.",
        ),
        (["--covariates", "patient"], "--covariates must not name the column of --id, but has 'patient'."),
        (["--interpolation", "cubic"], "--interpolation must be one of 'linear', 'step', but is 'cubic'."),
        (["--tail", "zero"], "--tail must be one of 'none', 'last', but is 'zero'."),
        (["--title", "A study"], "--title is the report's: give --out too."),
        (["--predictions", "rsf"], "--predictions must be NAME=FILE, but is 'rsf'."),
        (["--predictions", "=rsf.csv"], "--predictions must be NAME=FILE, but is '=rsf.csv'."),
        (
            ["--predictions", "a\x1b[2J=rsf.csv"],
            "--predictions must be NAME=FILE, but is 'a\\x1b[2J=rsf.csv'.",
        ),
        (["--predictions", "a\nb=rsf.csv"], "--predictions must be NAME=FILE, but is 'a\\nb=rsf.csv'."),
        (
            ["--predictions", "a\u2028b=rsf.csv"],
            "--predictions must be NAME=FILE, but is 'a\\u2028b=rsf.csv'.",
        ),
        (["--predictions", "cox=rsf.csv"], "--predictions must have different names, but 'cox' comes twice."),
        (["--predictions", "rsf=rsf.csv"], "rsf.csv cannot be read: No such file or directory."),
    ],
)
def test_options_that_are_refused(study, monkeypatch, options, message):
    monkeypatch.chdir(study.folder)
    before = study.files()
    assert message in refusal(study.evaluate(*options, "--json", "out.json"))
    assert study.files() == before


@pytest.mark.parametrize(
    ("option", "reason"),
    [("t_max", "the last time"), ("1.5", "as asked"), ("20%", "the largest time with at least 20 % at risk")],
)
def test_horizons(study, option, reason):
    found = json.loads(study.json("--horizon", option, "--tail", "last"))["horizon"]
    assert found["reason"].startswith(reason)
    y = study.train["months"], study.test["months"]
    share = min(np.sort(t)[-int(np.ceil(0.2 * len(t)))] for t in y)
    expected = {"t_max": min(t.max() for t in y), "1.5": 1.5, "20%": share}
    assert found["time"] == pytest.approx(expected[option])


def test_warnings_become_notes(study):
    late = str(max(study.train["months"].max(), study.test["months"].max()) - 0.001)
    result = study.evaluate("--horizon", late, "--tail", "last", "--adjustments", "dep")
    assert result.exit_code == 0, result.output
    assert "fewer than 1% are at risk" in result.stdout


def test_metrics_adjustments_and_grid(study):
    grid = ["--families", "gumbel", "--taus", "0.2,0.6"]
    found = json.loads(
        study.json(
            "--metric", "ibs", "--metric", "ils", "--floor", "0.01", "--adjustments", "ipcw,dep", *grid
        )
    )
    assert [each["name"] for each in found["metrics"]] == ["ibs", "ils"]
    assert [each["name"] for each in found["adjustments"]] == ["ipcw", "dep"]
    assert found["sensitivity"]["families"] == ["gumbel"]
    assert found["sensitivity"]["taus"] == [0.2, 0.6]


def test_copulas(study):
    copula = {
        name: json.loads(study.json("--copula", name, "--adjustments", "dep"))["copula"]
        for name in ("independence", "select")
    }
    assert copula["independence"]["tau"] == 0.0
    assert copula["select"]["from"] == "selected"


def test_what_does_not_rest_on_a_copula_has_no_sensitivity(study):
    result = study.evaluate("--adjustments", "ipcw")
    assert result.exit_code == 0
    assert "Sensitivity" not in result.output
    assert "sensitivity" not in json.loads(study.json("--adjustments", "ipcw"))


def test_names_are_printed_as_they_are(study):
    name = "[red]x[/red] <b>é</b> {0} می\u200cروم"
    result = study.evaluate("--predictions", f"{name}={study.folder / 'flat.csv'}")
    assert result.exit_code == 0, result.output
    assert name in result.stdout


# --- outputs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--out", "missing/r.html"], "--out must lie in an existing folder, but missing is none."),
        (["--out", "r.pdf"], "--out must end in .html or .htm, but is r.pdf."),
        (["--json", "out.txt"], "--json must end in .json, but is out.txt."),
        (["--json", "folder.json"], "--json must be a file that can be written, but is folder.json."),
    ],
)
def test_outputs_that_cannot_be_written(study, monkeypatch, options, message):
    monkeypatch.chdir(study.folder)
    Path("folder.json").mkdir()
    before = study.files()
    assert refusal(study.evaluate(*options)) == message
    assert study.files() == before


def test_an_input_is_never_overwritten(study):
    os.link(study.folder / "cox.csv", study.folder / "cox.json")
    content = (study.folder / "cox.csv").read_bytes()
    said = refusal(study.evaluate("--json", study.folder / "cox.json"))
    assert said.startswith("--json must not overwrite an input")
    assert (study.folder / "cox.csv").read_bytes() == content


def test_a_link_stays_and_its_file_is_written(study):
    link, numbers = study.folder / "link.json", study.folder / "elsewhere" / "numbers.json"
    numbers.parent.mkdir()
    link.symlink_to(numbers)
    for _ in range(2):  # the file is not there, then it is
        assert study.evaluate("--json", link).exit_code == 0
        assert link.is_symlink()
        assert json.loads(numbers.read_text(encoding="utf-8"))["models"]
        assert list(numbers.parent.iterdir()) == [numbers]


def test_a_file_that_may_not_be_written_is_refused(study, monkeypatch):
    numbers = study.folder / "numbers.json"
    numbers.write_text("precious")
    # Root may write everything.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or Path(path) != numbers)
    said = refusal(study.evaluate("--json", numbers))
    assert said == f"--json must be a file that can be written, but is {numbers}."


def test_files_are_there_before_anything_is_printed(study, monkeypatch):
    def full(_):
        raise OSError("stdout cannot be written: No space left on device.")

    # By its path it is the command, not the module.
    monkeypatch.setattr(importlib.import_module("cocensor.cli.evaluate"), "say", full)
    said = refusal(study.evaluate("--json", study.folder / "out.json"))
    assert said == "stdout cannot be written: No space left on device."
    assert "out.json" in study.files()


@pytest.mark.parametrize("where", ["sensitivity", "to_json"])
def test_an_interruption_is_one_line_and_leaves_nothing(study, monkeypatch, where):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cc.Evaluation, where, interrupt)
    before = study.files()
    result = study.evaluate("--json", study.folder / "out.json")
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")
    assert study.files() == before


def test_a_full_disk_is_one_line(study, monkeypatch):
    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cc.Evaluation, "to_json", refuse)
    before = study.files()
    result = study.evaluate("--json", study.folder / "out.json")
    assert result.exit_code == 2
    assert result.stderr.endswith("out.json cannot be written: No space left on device.\n")
    assert result.stderr.count("\n") == 1
    assert study.files() == before


def test_help_groups_its_options():
    shown = run("evaluate", "--help").output
    for panel in ("Data", "Predictions", "Assumptions about the censoring", "Scores", "Output"):
        assert panel in shown
