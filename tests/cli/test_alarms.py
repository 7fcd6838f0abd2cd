"""Mistakes in files, as users make them."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.study import TIMES, predicted, refusal, sample


@pytest.fixture
def large(study):
    """The same study with enough subjects to tell a mistake from chance."""
    test = sample(400, 2)
    test.to_csv(study.folder / "test.csv", index=False)
    frame = predicted(test, 0.5)
    frame.insert(0, "patient", test["patient"])
    study.test, study.predictions = test, {"cox": frame}
    frame.to_csv(study.folder / "cox.csv", index=False)
    return study


def alarmed(study, frame, *more, **how):
    """What is printed first about a model in a file, and the numbers."""
    frame.to_csv(study.folder / "bad.csv", index=False)
    numbers = study.folder / "out.json"
    result = study.evaluate("--json", numbers, *more, models=("cox",), cox="bad.csv", **how)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split()), json.loads(numbers.read_text(encoding="utf-8"))


def no_winner(numbers):
    metrics = numbers["metrics"]
    return not any(
        metric["ranks"][name] or metric["best"][name] for metric in metrics for name in metric["best"]
    )


def test_times_in_another_unit(large):
    frame = large.predictions["cox"]
    times = {f"{t:g}": f"{t * 30.4375:g}" for t in TIMES}
    said, numbers = alarmed(large, frame.rename(columns=times), "--adjustments", "ipcw")
    assert "Are its times in the unit of the outcomes?" in said
    assert "negative_skill" in {each["code"] for each in numbers["checks"]}
    assert no_winner(numbers)


def test_rows_without_ids_in_another_order(large):
    strong = predicted(large.test, 0.9).sample(frac=1.0, random_state=0)
    said, numbers = alarmed(large, strong, "--adjustments", "ipcw", by_id=False)
    assert "--id" in said
    assert no_winner(numbers)
    strong.insert(0, "patient", large.test["patient"])
    assert alarmed(large, strong, "--adjustments", "ipcw")[1]["checks"] == []


def test_an_inverted_event_flag(large):
    flipped = large.test.assign(died=~large.test["died"])
    flipped["died"] = flipped["died"] & (np.arange(400) % 3 == 0)
    flipped.to_csv(large.folder / "flipped.csv", index=False)
    right = flipped.assign(died=~flipped["died"])
    rate = right["died"].sum() / right["months"].sum()
    curves = np.exp(-rate * np.exp(0.5 * right["age"].to_numpy())[:, None] * np.array(TIMES))
    frame = pd.DataFrame(curves, columns=[f"{t:g}" for t in TIMES])
    frame.insert(0, "patient", right["patient"])
    said, numbers = alarmed(large, frame, "--adjustments", "ipcw", test="flipped.csv", train=None)
    assert "event flag inverted" in said
    assert [each["model"] for each in numbers["checks"] if each["disqualifies"]] == [None]
    assert no_winner(numbers)


def test_risks_at_one_time(large):
    frame = large.predictions["cox"][["patient", "1"]].copy()
    frame["1"] = 1.0 - frame["1"]
    said, numbers = alarmed(large, frame, "--adjustments", "ipcw", "--metrics", "brier")
    assert "Give 1 − risk" in said
    assert no_winner(numbers)


def written(study, frame, name="bad.csv"):
    frame.to_csv(study.folder / name, index=False)
    return study.evaluate(models=("cox",), cox=name, by_id="patient" in frame)


def test_percent_is_refused_with_what_to_do(study):
    frame = study.predictions["cox"].copy()
    frame.iloc[:, 1:] *= 100
    refusal(written(study, frame), "bad.csv", "in percent? divide by 100.")


def test_risks_over_time_are_refused_with_what_to_do(study):
    frame = study.predictions["cox"].copy()
    frame.iloc[:, 1:] = 1.0 - frame.iloc[:, 1:]
    refusal(written(study, frame), "bad.csv", "are these risks? give 1 − risk;")


def test_cumulative_hazards_are_refused_with_what_to_do(study):
    frame = study.predictions["cox"].copy()
    frame.iloc[:, 1:] = -np.log(frame.iloc[:, 1:])
    refusal(
        written(study, frame), "bad.csv", "they look like cumulative hazards H, which rise: give S = exp(−H)."
    )


def test_a_transposed_file_is_refused_as_such(study):
    n = len(study.test)
    frame = study.predictions["cox"].set_index("patient").T
    refusal(written(study, frame), f"{len(TIMES)} rows and {n} columns for {n} test subjects: transposed?")
    refusal(written(study, frame.reset_index()), "columns are labelled 'p2-0'", "--id COLUMN")
