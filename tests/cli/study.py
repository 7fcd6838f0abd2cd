"""A small study in files, and the command line that reads them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from cocensor.cli import app

TIMES = (0.0, 0.5, 1.0, 1.5, 2.5)


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def refusal(result, *parts):
    """Assert that a command was refused in one line of stderr that has all ``parts``; what that line says."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.endswith("\n")
    assert result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr, result.stderr
    return result.stderr.removeprefix("Error: ").removesuffix("\n")


def sample(n, seed):
    rng = np.random.default_rng(seed)
    age, event, dropout = rng.normal(size=n), rng.exponential(size=n), 1.5 * rng.exponential(size=n)
    event = event * np.exp(-0.5 * age)
    return pd.DataFrame(
        {
            "patient": [f"p{seed}-{k}" for k in range(n)],
            "age": age.round(3),
            "stage": rng.choice(["I", "II", "III"], size=n),
            "months": np.minimum(event, dropout).round(4) + 0.001,
            "died": event <= dropout,
        }
    )


def predicted(test, weight):
    """Exponential curves in ``TIMES``."""
    rate = np.exp(weight * test["age"].to_numpy())
    curves = np.exp(-rate[:, None] * np.array(TIMES)).round(6)
    return pd.DataFrame(curves, columns=[f"{t:g}" for t in TIMES])


class Study:
    """Frames of a study, written to a folder; the predictions have a column of ids first."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.train, self.test = sample(120, 1), sample(60, 2)
        self.predictions = {name: predicted(self.test, w) for name, w in (("cox", 0.5), ("flat", 0.0))}
        for frame in self.predictions.values():
            frame.insert(0, "patient", self.test["patient"])
        self.train.to_csv(folder / "train.csv", index=False)
        self.test.to_csv(folder / "test.csv", index=False)
        for name, frame in self.predictions.items():
            frame.to_csv(folder / f"{name}.csv", index=False)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def evaluate(self, *more, by_id=True, models=("cox", "flat"), **files):
        """Run ``evaluate`` with little to compute; ``files`` take the place of train, test and the predictions."""
        given = {name: files.get(name, f"{name}.csv") for name in ("train", "test", "cox", "flat")}
        arguments = ["--time", "months", "--event", "died"]
        for name in ("train", "test"):
            if given[name] is not None:
                arguments += [f"--{name}", self.folder / given[name]]
        for name in models:
            arguments += ["--predictions", f"{name}={self.folder / given[name]}"]
        if "--copula" not in more:
            arguments += ["--copula", "clayton", "--tau", "0.4"]
        if "--taus" not in more:
            arguments += ["--families", "clayton,frank", "--taus", "0,0.4"]
        if not {"--adjustments", "--covariates"} & set(more):
            arguments += ["--adjustments", "ipcw,dep"]
        if "--metrics" not in more:
            arguments += ["--metrics", "ibs"]
        if by_id:
            arguments += ["--id", "patient"]
        return run("evaluate", *arguments, *more)

    def json(self, *more, **how):
        """The numbers that ``evaluate`` writes, as text."""
        path = self.folder / "out.json"
        result = self.evaluate("--json", path, *more, **how)
        assert result.exit_code == 0, result.output
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return text

    def numbers(self, *more, **how):
        """The numbers that ``evaluate`` writes."""
        return json.loads(self.json(*more, **how))


def said(numbers, kind):
    """The notes of one kind, in one text."""
    return " ".join(note["text"] for note in numbers["notes"] if note["kind"] == kind)
