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
        arguments += ["--families", "clayton", "--taus", "0,0.4", "--no-hint"]
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


def scores(numbers):
    """All values and standard errors."""
    return numbers["scores"]


def test_print(files):
    print(json.dumps(files.numbers("--fit-rows", 500), indent=1)[:6000])
    assert 0
