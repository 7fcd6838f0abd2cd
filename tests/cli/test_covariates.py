"""Outcomes and covariates as files hold them."""

import pytest

from tests.cli.study import refusal, said


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("months", "", "no value in line 7"),
        ("months", "NA", "no value in line 7"),
        ("months", "soon", "numbers, but line 7 is 'soon'"),
        ("died", "NA", "no value in line 7"),
        ("died", "2", "1 and 0 (competing events are not supported), but line 7 is '2'"),
        ("died", "yes", "1 and 0, but line 7 is 'yes'"),
        ("age", "NA", "no value in line 7"),
        ("stage", "NA", "no value in line 7"),
        ("stage", " ", "no value in line 7"),
        ("age", ".", "mostly numbers, but line 7 is '.'"),
        ("age", "1,234", "mostly numbers, but line 7 is '1,234'"),
    ],
)
def test_values_that_are_refused(study, column, value, rule):
    frame = study.train.astype({column: object})
    frame.loc[5, column] = value
    frame.to_csv(study.folder / "train.csv", index=False)
    # The imputation model takes missing values.
    asked = "--covariates", "age,stage", "--adjustments", "imputation,ipcw_cox"
    refusal(study.evaluate(*asked), f"train.csv: column {column!r}", rule)


def test_a_time_before_zero(study):
    study.train.assign(months=-1).to_csv(study.folder / "train.csv", index=False)
    refusal(study.evaluate(), "train.csv: column 'months' must not be negative", "line 2 is -1")


def test_columns_that_are_not_there(study):
    refusal(study.evaluate("--covariates", "sex"), "train.csv has no column 'sex'", "'patient'")
    study.test.drop(columns="months").to_csv(study.folder / "test.csv", index=False)
    refusal(study.evaluate(), "test.csv has no column 'months'")


def test_events_may_be_zero_and_one(study):
    expected = study.json()
    study.train.astype({"died": int}).to_csv(study.folder / "train.csv", index=False)
    assert study.json() == expected


def test_ends_of_study_are_told_apart(study):
    for frame, name in ((study.train, "train"), (study.test, "test")):
        ended = ~frame["died"] & (frame["months"] > 0.5)
        frame.assign(ended=ended.astype(int)).to_csv(study.folder / f"{name}.csv", index=False)
    data = study.numbers("--administrative", "ended")["data"]["train"]
    ended = int((~study.train["died"] & (study.train["months"] > 0.5)).sum())
    assert data["administrative"] == ended > 0
    assert data["dropouts"] == int((~study.train["died"]).sum()) - ended


def test_texts_are_encoded_by_the_sample_that_is_fitted_to(study):
    study.test.assign(site="a").to_csv(study.folder / "test.csv", index=False)
    study.train.assign(site="a").to_csv(study.folder / "train.csv", index=False)
    found = study.numbers("--covariates", "age,stage,site", "--adjustments", "imputation_covariates")
    assert found["data"]["covariates"] == ["age", "stage", "site"]
    assert "'stage' is categorical: it enters as indicators of its 3 levels" in said(found, "decision")
    [adjustment] = found["adjustments"]
    assert any("constant in x_train: site" in note["text"] for note in adjustment["notes"])
    test = study.test.assign(site="a")
    test.loc[0, "stage"] = "IV"
    test.to_csv(study.folder / "test.csv", index=False)
    refusal(
        study.evaluate("--covariates", "age,stage,site", "--adjustments", "imputation_covariates"),
        "x_test must have levels in column 'stage'",
        "'IV'",
    )


def test_without_a_training_sample_texts_are_encoded_by_the_test_sample(study):
    test = study.test.copy()
    test.loc[0, "stage"] = "IV"
    test.to_csv(study.folder / "test.csv", index=False)
    found = study.numbers("--covariates", "age,stage", "--adjustments", "imputation_covariates", train=None)
    assert "its 4 levels" in said(found, "decision")
    assert "stage" not in said(found, "caution")


def test_texts_where_numbers_were_learnt(study):
    test = study.test.astype({"age": object})
    test.loc[3, "age"] = "old"
    test.to_csv(study.folder / "test.csv", index=False)
    refusal(
        study.evaluate("--covariates", "age"), "test.csv: column 'age'", "mostly numbers", "line 5 is 'old'"
    )
    study.test.assign(age="old").to_csv(study.folder / "test.csv", index=False)
    refusal(
        study.evaluate("--covariates", "age"),
        "test.csv: column 'age' has categories, but numbers in",
        "train.csv",
    )
    study.test.assign(stage=3).to_csv(study.folder / "test.csv", index=False)
    refusal(
        study.evaluate("--covariates", "stage"),
        "test.csv: column 'stage' has numbers, but categories in",
        "train.csv",
    )


def test_a_date_is_no_covariate(study):
    study.train.assign(born="2020-01-01").to_csv(study.folder / "train.csv", index=False)
    study.test.assign(born="2020-01-01").to_csv(study.folder / "test.csv", index=False)
    refusal(study.evaluate("--covariates", "born"), "train.csv: column 'born'", "date")
