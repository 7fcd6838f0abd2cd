"""Outcomes from columns: times or dates, whom the end of the study censored, and why others left."""

import json

import numpy as np
import pandas as pd
import pytest

from cocensor.data.files import read_table
from cocensor.data.tables import Columns
from tests.cli.study import refusal, run, said

DATES = ("--entry", "admitted", "--exit", "left", "--data-lock", "2021-12-31")
LOCK = pd.Timestamp("2021-12-31")


def dated(frame):
    """A sample whose times are days up to the data lock, which some reach."""
    entry = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)) * 9 % 600, unit="D")
    left = entry + pd.to_timedelta(np.ceil(300 * frame["months"].to_numpy()), unit="D")
    ended = left >= LOCK
    event = frame["died"].to_numpy() & ~ended
    dropout = ~event & ~ended
    return frame.assign(
        admitted=entry.strftime("%Y-%m-%d"),
        left=left.where(~ended, LOCK).strftime("%Y-%m-%d"),
        died=event,
        ended=ended & ~event,
        why=np.where(dropout, np.where(np.arange(len(frame)) % 3 > 0, "moved away", "too ill"), ""),
        days=(left.where(~ended, LOCK) - entry).days,
        planned=(LOCK - entry).days,
        lock="2021-12-31",
    )


@pytest.fixture
def dates(study):
    """The study with dates, in days, and what to call with it."""
    study.train, study.test = dated(study.train), dated(study.test)
    for name in ("train", "test"):
        getattr(study, name).to_csv(study.folder / f"{name}.csv", index=False)
    days = {f"{300 * float(t):g}": values for t, values in study.predictions["cox"].iloc[:, 1:].items()}
    pd.DataFrame(days).to_csv(study.folder / "days.csv", index=False)
    return study


def evaluate(study, *options, event="died"):
    files = [part for name in ("train", "test") for part in (f"--{name}", study.folder / f"{name}.csv")]
    few = ("--adjustments", "ipcw", "--metrics", "ibs", "--confidence", "none")
    model = ("--predictions", f"cox={study.folder / 'days.csv'}")
    return run("evaluate", *files, *model, *few, "--event", event, *options)


def numbers(study, *options):
    path = study.folder / "out.json"
    result = evaluate(study, *options, "--json", path)
    assert result.exit_code == 0, result.output
    return json.loads(path.read_text(encoding="utf-8"))


def test_three_ways_to_say_the_same(dates):
    marked = numbers(dates, "--time", "days", "--administrative", "ended")
    assert [marked["data"][part].pop("reasons") for part in ("train", "test")] == [{}, {}]
    assert marked["data"]["test"]["administrative"] == dates.test["ended"].sum() > 0
    for way in (DATES, (*DATES[:-1], "lock"), ("--time", "days", "--follow-up", "planned")):
        found = numbers(dates, *way, "--reason", "why")
        reasons = found["data"]["test"].pop("reasons")
        assert reasons == dates.test["why"][dates.test["why"] != ""].value_counts().to_dict()
        assert sum(found["data"]["train"].pop("reasons").values()) == found["data"]["train"]["dropouts"]
        assert found["data"] == marked["data"]
        assert found["metrics"] == marked["metrics"]


def read(study, **columns):
    return Columns("died", **columns).read(read_table(study.folder / "test.csv"))


def test_dates_that_the_reader_takes_for_texts_dates_or_moments(dates):
    by_date = {"entry": "admitted", "exit": "left", "data_lock": "2021-12-31"}
    expected = read(dates, **by_date)
    np.testing.assert_array_equal(expected.time, dates.test["days"])
    path = dates.folder / "test.csv"
    for form in ("%Y-%m-%d 00:00:00", "%Y-%m-%dT00:00:00.000"):
        moments = pd.to_datetime(dates.test["admitted"]).dt.strftime(form)
        dates.test.assign(admitted=moments).to_csv(path, index=False)
        assert read(dates, **by_date).equals(expected)
    dates.test.assign(admitted=pd.to_datetime(dates.test["admitted"])).to_parquet(path)
    assert read(dates, **by_date).equals(expected)
    dates.test.to_csv(path, index=False, sep=";")
    assert read(dates, **by_date).equals(expected)


def test_reasons_and_units(dates):
    by_date = {"entry": "admitted", "exit": "left", "data_lock": "lock", "reason": "why"}
    y = read(dates, **by_date, time_unit="months")
    np.testing.assert_allclose(y.time, dates.test["days"] / 30.4375)
    assert set(y.reasons) == {"moved away", "too ill"}
    assert [why or "" for why in y.reason] == dates.test["why"].tolist()


@pytest.mark.parametrize(
    ("options", "axis"),
    [
        (("--time", "days"), {"name": "days", "unit": "days", "label": "days"}),
        (("--time", "planned"), {"name": "planned", "unit": None, "label": "planned"}),
        (("--time", "planned", "--time-unit", "cycles"), {"name": "planned", "unit": "cycles"}),
        (DATES, {"name": None, "unit": "days", "label": "days"}),
        (
            (*DATES, "--time-unit", "months", "--horizon", "9"),
            {"name": None, "unit": "months", "label": "months"},
        ),
    ],
)
def test_the_axis_of_time_by_columns_and_dates(dates, options, axis):
    found = numbers(dates, *options)["time"]
    assert {key: found[key] for key in axis} == axis


def test_a_unit_is_shown_on_terminal_and_page(dates):
    page = dates.folder / "page.html"
    shown = ("--time-unit", "cycles", "--metrics", "ibs,auc", "--at", "90", "--out", page)
    result = evaluate(dates, "--time", "planned", *shown)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "AUC at 90 cycles" in text
    assert " cycles" in result.stdout.splitlines()[0]
    assert "time_unit=&#39;cycles&#39;" in text


def test_a_unit_that_the_name_of_the_column_denies(dates):
    found = numbers(dates, "--time", "days", "--time-unit", "weeks")
    assert found["time"]["label"] == "days (weeks)"
    assert found["horizon"]["time"] == numbers(dates, "--time", "days")["horizon"]["time"]
    caution = said(found, "caution")
    assert "weeks" in caution
    assert "'days'" in caution
    assert "'days'" not in said(numbers(dates, "--time", "days", "--time-unit", "Days"), "caution")


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%y", "%d %b %Y"])
@pytest.mark.parametrize("lock", ["one", "a column"])
def test_dates_in_another_form(dates, form, lock):
    expected = numbers(dates, *DATES)
    for name in ("train", "test"):
        frame = getattr(dates, name)
        for column in ("admitted", "left", "lock"):
            frame[column] = pd.to_datetime(frame[column]).dt.strftime(form)
        frame.to_csv(dates.folder / f"{name}.csv", index=False)
    options = [*DATES[:-1], LOCK.strftime(form) if lock == "one" else "lock"]
    assert numbers(dates, *options, "--date-format", form)["metrics"] == expected["metrics"]
    refusal(evaluate(dates, *DATES), "line 2", "--date-format", "%d/%m/%Y")
    refusal(evaluate(dates, *DATES, "--date-format", form), "--data-lock", f"{LOCK:{form}}", "'2021-12-31'")


@pytest.mark.parametrize(
    ("column", "value", "parts"),
    [
        ("left", "31.03.2021", ["exit", "line 9", "'31.03.2021'", "2021-03-31"]),
        ("admitted", "3/31/21", ["entry", "line 9", "'3/31/21'", "2021-03-31"]),
        ("left", "", ["'left'", "line 9", "still under observation", "data lock"]),
        ("left", "2019-01-01", ["exit", "line 9", "2019-01-01", "entry"]),
        ("left", "2022-01-01", ["exit", "line 9", "2022-01-01", "2021-12-31"]),
    ],
)
def test_dates_that_cannot_be(dates, column, value, parts):
    dates.test.loc[7, column] = value
    dates.test.to_csv(dates.folder / "test.csv", index=False)
    refusal(evaluate(dates, *DATES), "test.csv", *parts)


def test_a_dropout_without_a_reason(dates):
    row = int(np.flatnonzero(dates.train["why"] != "")[2])
    dates.train.loc[row, "why"] = ""
    dates.train.to_csv(dates.folder / "train.csv", index=False)
    refusal(evaluate(dates, *DATES, "--reason", "why"), "train.csv", "reason", f"line {row + 2}")
    refusal(evaluate(dates, *DATES, "--reason", "cause"), "test.csv", "'cause'")


def test_the_training_sample_may_do_without_reasons(dates):
    dates.train.drop(columns="why").to_csv(dates.folder / "train.csv", index=False)
    assert numbers(dates, *DATES, "--reason", "why")["metrics"] == numbers(dates, *DATES)["metrics"]


@pytest.mark.parametrize("command", ["evaluate", "fit-copula"])
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ([], ["--time", "--entry"]),
        (["--time", "days", *DATES], ["--time", "--entry", "one of them"]),
        (["--time", "days", "--data-lock", "2021-12-31"], ["--time", "--data-lock"]),
        (DATES[:4], ["--entry and --exit", "--data-lock"]),
        (DATES[2:], ["--exit and --data-lock", "--entry"]),
        ([*DATES, "--administrative", "ended"], ["--data-lock", "--administrative"]),
        ([*DATES, "--follow-up", "planned"], ["--data-lock", "--follow-up"]),
        (
            ["--time", "days", "--follow-up", "planned", "--administrative", "ended"],
            ["--follow-up", "--administrative"],
        ),
        (["--time", "days", "--time-unit", " "], ["--time-unit", "empty"]),
        ([*DATES, "--time-unit", "hours"], ["--time-unit", "'days', 'weeks'", "'hours'"]),
        (
            ["--time", "days", "--entry", "admitted"],
            ["--time", "--entry", "delayed entry is not supported yet"],
        ),
        ([*DATES, "--date-format", "%d/%m"], ["--date-format", "'%d/%m/%Y'", "'%d/%m'"]),
        ([*DATES, "--date-format", "%Q"], ["--date-format", "'%Q'"]),
        (["--time", "days", "--date-format", "%d/%m/%Y"], ["--date-format", "--entry"]),
        ([*DATES[:-1], "31.12.2021"], ["--data-lock", "2021-12-31", "'31.12.2021'"]),
        ([*DATES, "--reason", "why", "--covariates", "age,why"], ["--covariates", "--reason", "'why'"]),
        ([*DATES[:-1], "lock", "--covariates", "lock"], ["--covariates", "--data-lock", "'lock'"]),
    ],
)
def test_mixtures_and_halves(dates, command, options, parts):
    if command == "evaluate":
        result = evaluate(dates, *options)
    else:
        result = run(command, "--train", dates.folder / "train.csv", "--event", "died", *options)
    refusal(result, *parts)


def test_what_comes_after_the_planned_follow_up(dates):
    dates.test.loc[4, "planned"] = dates.test.loc[4, "days"] - 1
    dates.test.to_csv(dates.folder / "test.csv", index=False)
    refusal(evaluate(dates, "--time", "days", "--follow-up", "planned"), "test.csv", "follow_up", "line 6")


def test_an_unmarked_end_of_study_is_suspected(study):
    for name in ("train", "test"):
        frame = getattr(study, name)
        short = frame.assign(
            died=frame["died"] & (frame["months"] < 0.5), months=frame["months"].clip(upper=0.5)
        )
        short.to_csv(study.folder / f"{name}.csv", index=False)
    found = study.numbers("--adjustments", "ipcw")
    assert "in the test sample" in said(found, "caution")
    numbers = study.folder / "tau.json"
    columns = (
        "--time",
        "months",
        "--event",
        "died",
        "--families",
        "frank",
        "--margins",
        "weibull",
        "--json",
        numbers,
    )
    result = run("fit-copula", "--train", study.folder / "train.csv", *columns)
    assert result.exit_code == 0, result.output
    assert "in the training sample" in said(json.loads(numbers.read_text(encoding="utf-8")), "caution")
