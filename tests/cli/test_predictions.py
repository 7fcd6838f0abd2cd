"""Which row of a file of predictions is whose, and which column is what time."""

import json
import os

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from tests.cli.study import refusal, said


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
    ("test", "predicted", "missing"),
    [
        ("{}E2", "{}00", "'1E2'"),
        ("{:03d}", "{}", "'001'"),
        ("123456789012340{:03d}00", "123456789012340{:03d}07", "'12345678901234000100'"),
    ],
)
def test_ids_that_look_alike_are_not_one(study, test, predicted, missing):
    with_ids(study, *([each.format(k) for k in range(1, 61)] for each in (test, predicted)))
    refusal(
        study.evaluate(),
        "cox.csv",
        f"patient {missing} and 59 more",
        "test.csv, line 2: predictions for another sample?",
    )


@pytest.mark.parametrize("spelt", ["{}", "{:03d}"])
def test_texts_meet_the_integers_of_parquet(study, spelt):
    ordered = study.numbers()
    study.test.assign(patient=[spelt.format(k) for k in range(60)]).to_csv(
        study.folder / "test.csv", index=False
    )
    for name, frame in study.predictions.items():
        frame.assign(patient=range(60)).iloc[::-1].to_parquet(study.folder / f"{name}.parquet")
    found = study.numbers(cox="cox.parquet", flat="flat.parquet")
    assert found["metrics"] == ordered["metrics"]
    assert ("'000' as 0" in said(found, "decision")) == (spelt != "{}")


def test_texts_that_are_one_integer(study):
    study.test.assign(patient=["1", "01", *range(2, 60)]).to_csv(study.folder / "test.csv", index=False)
    study.predictions["cox"].assign(patient=range(60)).to_parquet(study.folder / "cox.parquet")
    refusal(study.evaluate(cox="cox.parquet"), "test.csv: patient", "line 3 has 1 like line 2")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda f: f.iloc[1:], ["no row for patient 'p2-0' of"]),
        (lambda f: f.iloc[3:], ["no row for patient 'p2-0' and 2 more of"]),
        (lambda f: f.assign(patient=f["patient"].replace("p2-4", "p2-3")), ["line 6 has 'p2-3' like line 5"]),
        (lambda f: f.assign(patient=f["patient"].replace("p2-4", "")), ["'patient'", "line 6"]),
        (lambda f: f.drop(columns="patient"), ["no column 'patient'", "'0', '0.5'"]),
    ],
)
def test_ids_that_do_not_match(study, change, parts):
    change(study.predictions["cox"]).to_csv(study.folder / "cox.csv", index=False)
    before = study.files()
    refusal(study.evaluate("--json", study.folder / "out.json", models=["cox"]), "cox.csv", *parts)
    assert study.files() == before


def test_an_id_that_only_the_test_sample_has(study):
    result = study.evaluate("--id", "age", "--adjustments", "ipcw", by_id=False)
    refusal(result, "cox.csv has no column 'age'", "'patient', '0'")


def test_predictions_for_nobody(study):
    study.test.iloc[2:].to_csv(study.folder / "test.csv", index=False)
    refusal(study.evaluate(), "cox.csv", "patient 'p2-0' and 1 more, line 2, not in", "test.csv")


def by_time(study, name="cox"):
    """The curves of a model as lifelines and pycox give them: times as index, a column per subject."""
    return study.predictions[name].set_index("patient").rename(columns=float).T.rename_axis(columns=None)


def labelled(study):
    """The test sample with the numbers that a split of a larger table has left as index, as pandas writes it."""
    index = np.random.default_rng(4).choice(900, len(study.test), replace=False)
    test = study.test.set_index(index).drop(columns="patient")
    test.to_csv(study.folder / "test.csv")
    return index


def test_a_column_per_subject_is_matched_by_id(study):
    ordered = study.json()
    for name in study.predictions:
        by_time(study, name).iloc[:, ::-1].to_csv(study.folder / f"{name}.csv")
    assert study.json() == ordered
    for name in study.predictions:
        by_time(study, name).rename_axis(index="duration").to_csv(study.folder / f"{name}.csv")
    assert study.json() == ordered
    by_time(study).iloc[:, 1:].to_csv(study.folder / "cox.csv")
    refusal(study.evaluate("--strict"), "cox.csv", "transposed?")
    by_time(study).rename(columns={"p2-0": "q"}).to_csv(study.folder / "cox.csv")
    refusal(study.evaluate("--strict"), "cox.csv has no column for patient 'p2-0'")


def test_a_column_without_a_name_has_the_ids(study):
    ordered = study.json()
    for name, frame in study.predictions.items():
        frame.set_index("patient").rename_axis(None).iloc[::-1].to_csv(study.folder / f"{name}.csv")
    found = study.numbers()
    assert found["metrics"] == json.loads(ordered)["metrics"]
    assert "the column without a name is read as patient" in said(found, "decision")


@pytest.mark.parametrize("turned", [False, True], ids=["row per subject", "column per subject"])
def test_without_ids_an_index_of_pandas_has_the_labels(study, turned):
    ordered = study.numbers()["metrics"]
    index = labelled(study)
    for name, frame in study.predictions.items():
        own = frame.drop(columns="patient").set_index(index).sort_index()
        (own.T.rename(index=float) if turned else own).to_csv(study.folder / f"{name}.csv")
    found = study.numbers(by_id=False)
    assert found["metrics"] == ordered
    assert "cox.csv: The predictions are put into the order of the test subjects" in said(found, "decision")
    own = study.predictions["cox"].drop(columns="patient").set_index(index + 1000)
    (own.T.rename(index=float) if turned else own).to_csv(study.folder / "cox.csv")
    refusal(
        study.evaluate("--strict", by_id=False), "cox.csv", "labels", f"none for '{index[0]}'", "number them"
    )


@pytest.mark.parametrize("turned", [False, True], ids=["row per subject", "column per subject"])
@pytest.mark.parametrize("first", [0, 1])
def test_labels_that_merely_count_are_matched_by_position(study, turned, first):
    ordered = study.numbers()["metrics"]
    for name, frame in study.predictions.items():
        own = frame.drop(columns="patient").set_index(np.arange(60) + first)
        (own.T.rename(index=float) if turned else own).to_csv(study.folder / f"{name}.csv")
    for write in (None, labelled):
        if write is not None:
            write(study)
        found = study.numbers(by_id=False)
        assert found["metrics"] == ordered
        assert "s are numbered, and matched by position" in said(found, "decision")


@pytest.mark.parametrize("turned", [False, True], ids=["row per subject", "column per subject"])
def test_labels_that_the_test_sample_does_not_have_ask_for_an_id(study, turned):
    own = study.predictions["cox"].set_index("patient").rename_axis(None)
    (own.T.rename(index=float) if turned else own).to_csv(study.folder / "cox.csv")
    refusal(study.evaluate("--strict", by_id=False), "cox.csv", "'p2-0'", "--id COLUMN", "test.csv")


def test_what_lifelines_exports(study):
    """``predict_survival_function(X).to_csv()`` scores as the frame itself does in Python."""
    from lifelines import CoxPHFitter, WeibullAFTFitter

    columns = ["age", "months", "died"]
    train, test = study.train[columns], study.test.set_index("patient")[columns]
    fitters = {"cox": CoxPHFitter(), "flat": WeibullAFTFitter()}
    frames = {
        name: fitter.fit(train, "months", "died").predict_survival_function(test)
        for name, fitter in fitters.items()
    }
    for name, frame in frames.items():
        frame.to_csv(study.folder / f"{name}.csv")
    y_train, y_test = (cc.Survival.from_frame(part, time="months", event="died") for part in (train, test))
    expected = cc.evaluate(frames, y_test, y_train=y_train, adjustments="ipcw", metrics="ibs")
    [found] = study.numbers()["metrics"]
    assert found["scores"]["ipcw"] == pytest.approx(
        {name: expected.score(name).value for name in frames}, rel=1e-12
    )


def test_numbers_that_the_test_file_has_in_another_order_are_refused(study):
    """Sorted, or numbered anew: a file does not tell."""
    order = np.random.default_rng(0).permutation(60)
    study.test.set_index(order).to_csv(study.folder / "test.csv")
    for name, frame in study.predictions.items():
        frame.drop(columns="patient").set_index(order).sort_index().to_csv(study.folder / f"{name}.csv")
    refusal(study.evaluate(by_id=False), "cox.csv", "test.csv", "another order", "--id")


def test_the_index_of_a_parquet_file_is_matched_and_no_covariate(study):
    """As pandas writes it, beside CSV, where it has no name."""
    train, test = (part.drop(columns="patient") for part in (study.train, study.test))
    train.to_csv(study.folder / "train.csv", index=False)
    test.to_csv(study.folder / "test.csv", index=False)
    for name, frame in study.predictions.items():
        frame.drop(columns="patient").to_csv(study.folder / f"{name}.csv", index=False)
    plain = study.numbers("--adjustments", "ipcw_cox", "--covariates", "all", by_id=False)
    labels = [f"s{k}" for k in np.random.default_rng(0).permutation(60)]
    train.set_index(pd.Index([f"t{k}" for k in range(120)])).to_parquet(study.folder / "train.csv")
    test.set_index(pd.Index(labels)).to_parquet(study.folder / "test.csv")
    for name, frame in study.predictions.items():
        curves = frame.drop(columns="patient").set_index(pd.Index(labels)).sort_index()
        curves.to_parquet(study.folder / f"{name}.csv")
    found = study.numbers("--adjustments", "ipcw_cox", "--covariates", "all", by_id=False)
    assert found["data"]["covariates"] == plain["data"]["covariates"]
    assert found["metrics"][0]["scores"] == plain["metrics"][0]["scores"]


def test_without_id_lengths_must_be_equal(study):
    study.predictions["cox"].drop(columns="patient").iloc[1:].to_csv(study.folder / "cox.csv", index=False)
    refusal(study.evaluate(by_id=False), "cox.csv has 59 rows", "60 test subjects", "--id")


def test_a_column_that_is_no_time_may_be_an_id(study):
    refusal(study.evaluate(by_id=False), "cox.csv", "'patient'", "--id patient?")


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        (["0", "1", "0.5", "1.5", "2.5"], ["increase", "'0.5' comes after '1'"]),
        (["0", "1", "1.0", "1.5", "2.5"], ["increase", "'1.0' comes after '1'"]),
        (["-1", "0", "1", "2", "3"], ["negative", "'-1'"]),
        (["0", "1", "2", "3", "note"], ["times", "'note'"]),
        (["0", "1", "2", "3", "inf"], ["times", "'inf'"]),
        (["0", "1", "2", "2", "3"], ["two columns", "'2'"]),
        (["X0", "1", "2", "3", "4"], ["times", "'X0'"]),
    ],
)
def test_column_names_that_are_no_times(study, columns, parts):
    frame = study.predictions["cox"].set_axis(["patient", *columns], axis=1)
    frame.to_csv(study.folder / "cox.csv", index=False)
    refusal(study.evaluate(models=["cox"]), "cox.csv: ", *parts)


def test_predictions_at_time_zero_only(study):
    study.predictions["cox"][["patient", "0"]].to_csv(study.folder / "cox.csv", index=False)
    refusal(study.evaluate(models=["cox"]), "cox.csv: ", "after 0")


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (1.5, ["probabilities must lie in [0, 1]", "line 9 at time 1.5 is 1.5"]),
        (1.0, ["probabilities must not increase", "line 9"]),
        ("NA", ["column '1.5'", "line 9"]),
        ("high", ["column '1.5' must have numbers", "line 9 is 'high'"]),
    ],
)
def test_values_that_are_no_survival_probabilities(study, value, parts):
    frame = study.predictions["cox"].astype({"1.5": object})
    frame.loc[7, "1.5"] = value
    frame.to_csv(study.folder / "cox.csv", index=False)
    refusal(study.evaluate(models=["cox"]), "cox.csv: ", *parts)


def test_what_rounding_takes_out_of_the_unit_interval_is_noted(study):
    frame = study.predictions["cox"].copy()
    frame.loc[7, "0"], frame.loc[7, "2.5"] = 1.0000001, -1.2e-07
    frame.to_csv(study.folder / "cox.csv", index=False)
    [note] = [note for note in study.numbers()["notes"] if note["model"] == "cox"]
    assert note["kind"] == "decision"
    assert "2 probabilities" in note["text"]


def test_time_zero_may_be_left_out(study):
    with_zero = study.json()
    for name, frame in study.predictions.items():
        frame.drop(columns="0").to_csv(study.folder / f"{name}.csv", index=False)
    assert study.json() == with_zero


def test_the_horizon_stops_where_predictions_do_unless_their_tail_is_held(study):
    for name, frame in study.predictions.items():
        frame[["patient", "0.5", "1"]].to_csv(study.folder / f"{name}.csv", index=False)
    assert study.numbers()["horizon"]["time"] == 1
    assert study.numbers()["horizon"]["by"] == "predictions"
    assert study.numbers("--tail", "last")["horizon"]["time"] > 1
    refusal(study.evaluate("--horizon", "1.2"), "horizon must not pass 1", "is 1.2")


def test_steps_and_lines_between_times_differ(study):
    step, linear = (study.numbers("--interpolation", each) for each in ("step", "linear"))
    assert step["metrics"] != linear["metrics"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ([], ["linear", "nothing after the last time"]),
        (["--interpolation", "step", "--tail", "last"], ["step", "constant"]),
    ],
)
def test_the_numbers_say_how_predictions_were_read(study, how, words):
    found = study.numbers(*how)["models"][0]
    assert found["name"] == "cox"
    assert found["source"].startswith("cox.csv, ")
    assert all(word in found["source"] for word in words)


def test_a_file_name_that_is_no_utf8(study):
    name = os.fsdecode(b"\xff.csv")
    (study.folder / "cox.csv").rename(study.folder / name)
    assert study.numbers(cox=name)["models"][0]["source"].startswith("\\udcff.csv, ")


def test_a_file_with_a_fault_costs_its_model_and_not_the_others(study):
    sound = study.numbers()
    study.predictions["cox"].assign(**{"1.5": 1.5}).to_csv(study.folder / "cox.csv", index=False)
    found = study.numbers()
    [note] = [note for note in found["notes"] if note["kind"] == "missing"]
    assert note["model"] == "cox"
    assert "cox.csv" in note["text"]
    assert "1.5" in note["text"]
    for scores, before in zip(found["metrics"], sound["metrics"], strict=True):
        for name, by_model in scores["scores"].items():
            assert by_model == {"flat": before["scores"][name]["flat"]}
    [alarm] = [alarm for alarm in found["checks"] if alarm["model"] == "cox"]
    assert (alarm["code"], alarm["disqualifies"]) == ("refused", False)
    printed = study.evaluate().stdout
    assert "! cox: It has no score:" in printed


@pytest.mark.parametrize("heading", ["risk", "Risk"])
def test_a_column_of_risks_is_a_risk_score(study, heading):
    """The score that comes as a file is the score that comes as a column of the test sample."""
    asked = ["--metrics", "ibs,auc", "--risk", "age=age"]
    frame = study.test[["patient", "age"]].set_axis(["patient", heading], axis=1)
    frame.sample(frac=1, random_state=3).to_csv(study.folder / "flat.csv", index=False)
    found = study.numbers(*asked)
    assert [each["risk_score"] for each in found["models"]] == [False, True, True]
    assert "flat.csv" in found["models"][1]["source"]
    for metric in found["metrics"]:
        for scores in metric["scores"].values():
            assert scores.get("flat") == scores.get("age")
            assert ("flat" in scores) == (metric["name"] == "auc")


def test_risk_scores_alone_and_without_an_id(study):
    study.test[["age"]].rename(columns={"age": "risk"}).to_csv(study.folder / "cox.csv", index=False)
    given = {"by_id": False, "models": ["cox"]}
    assert study.numbers("--metrics", "auc", **given)["models"][0]["risk_score"]
    refusal(study.evaluate(**given), "'ibs'", "'cox' is a risk score")


def test_risks_beside_times_are_no_risk_score(study):
    study.predictions["cox"].assign(risk=0.5).to_csv(study.folder / "cox.csv", index=False)
    refusal(study.evaluate(models=["cox"]), "cox.csv: ", "times", "'risk'")


@pytest.mark.parametrize("columns", [["1"], ["0", "1"]])
def test_a_file_with_one_time_is_a_prediction_at_that_time_alone(study, columns):
    curves = study.numbers("--metrics", "ibs,brier", "--at", "1", "--tail", "last")
    study.predictions["cox"][["patient", *columns]].to_csv(study.folder / "cox.csv", index=False)
    cut = study.numbers("--metrics", "ibs,brier", "--at", "1", "--tail", "last")
    assert cut["horizon"] == curves["horizon"]
    assert [each["only_at"] for each in cut["models"]] == [1, None]
    assert cut["models"][0]["source"] == "cox.csv, at time 1 alone"
    of_curves, of_cut = (
        {each["name"]: each["scores"] for each in found["metrics"]} for found in (curves, cut)
    )
    assert of_cut["brier at 1"]["ipcw"] == of_curves["brier at 1"]["ipcw"]
    assert of_cut["ibs"]["ipcw"] == {"flat": of_curves["ibs"]["ipcw"]["flat"]}
    assert [(note["kind"], note["model"]) for note in cut["notes"] if note["kind"] == "missing"] == [
        ("missing", "cox")
    ]
