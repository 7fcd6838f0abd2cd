"""One study by every door: Python, the command line, and batches of Parquet files."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd

import cocensor as cc
from tests.cli.study import run

TIMES = np.array([0.25, 0.5, 0.75, 1.0])
OUTCOME = {"time": "months", "event": "died"}
COVARIATES = ["age", "stage", "smokes", "grade", "site"]
WITH_COVARIATES = ["ipcw_cox", "imputation", "imputation_covariates"]
#: Little to compute beside the scores.
FEW = ("--metrics", "ibs", "--families", "clayton", "--taus", "0")


def sample(n, seed):
    rng = np.random.default_rng(seed)
    age, grade = rng.normal(size=n), rng.choice([2, 3, 10], size=n)
    event, dropout = rng.exponential(np.exp(-0.5 * age)), rng.exponential(np.exp(-0.1 * grade), size=n)
    return pd.DataFrame(
        {
            "months": np.minimum(event, 3 * dropout) + 0.01,
            "died": event <= 3 * dropout,
            "age": age,
            "stage": rng.choice(["I", "II", "III"], size=n),
            "smokes": rng.random(n) < 0.5,
            "grade": pd.Categorical(grade),
            "site": pd.Categorical(
                rng.choice(["east", "west"], size=n), categories=["north", "west", "east"]
            ),
        }
    )


def only_in(name=None):
    """A study in which one sample alone has the stage IV."""
    train, test = sample(240, 1), sample(160, 2)
    if name is not None:
        {"train": train, "test": test}[name].loc[[3, 8, 21, 30, 44], "stage"] = "IV"
    rate = np.exp(0.4 * test["age"].to_numpy())
    return SimpleNamespace(train=train, test=test, curves=np.exp(-rate[:, None] * TIMES))


def outcomes(frame):
    return cc.Survival.from_frame(frame, **OUTCOME)


def curve_frame(curves):
    """Curves with a row per subject, and times as texts, as files have them."""
    return pd.DataFrame(curves, columns=[f"{t:g}" for t in TIMES])


def write(frame, path, **how):
    """Write a frame as its file is called; Parquet files have no categories other than texts."""
    frame = frame.astype({"grade": str}) if "grade" in frame else frame
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=how.get("index", False))
    else:
        frame.to_csv(path, **({"index": False} | how))
    return path


def by_command(folder, test, models, *more):
    """The numbers that the command line writes; models are files by name."""
    given = [part for name, file in models.items() for part in ("--predictions", f"{name}={file}")]
    result = run(
        *("evaluate", "--test", test, "--time", "months", "--event", "died", *given, *FEW),
        *("--json", folder / "out.json", *more),
    )
    assert result.exit_code == 0, result.output
    return json.loads((folder / "out.json").read_text(encoding="utf-8"))


def numbers_of(evaluation):
    """The numbers of an evaluation, as JSON has them."""
    return json.loads(evaluation.to_json())


def scores(numbers, model="m"):
    """The integrated Brier score under each adjustment; None where there is none."""
    [metric] = numbers["metrics"]
    return {name: by_model.get(model) for name, by_model in metric["scores"].items()}


def notes(numbers, adjustment):
    [found] = [each["notes"] for each in numbers["adjustments"] if each["name"] == adjustment]
    return found


def reasons(numbers, adjustment):
    """Why there is no score under an adjustment."""
    return [note["text"] for note in notes(numbers, adjustment) if note["kind"] == "missing"]


def by_frames(study, covariates, made=lambda x: x):
    """The numbers of Python, with adjustments that read covariates."""
    x_test, x_train = (made(each[covariates]) for each in (study.test, study.train))
    y_test, y_train = outcomes(study.test), outcomes(study.train)
    samples = {"x_train": x_train, "y_train": y_train, "adjustments": WITH_COVARIATES}
    return numbers_of(cc.evaluate({"m": (TIMES, study.curves)}, y_test, x_test, **samples, metrics="ibs"))


def by_files(study, covariates, folder, kind, *more):
    """The same by the command line."""
    files = {name: write(getattr(study, name), folder / f"{name}.{kind}") for name in ("train", "test")}
    model = write(curve_frame(study.curves), folder / f"m.{kind}")
    options = "--covariates", ",".join(covariates), "--adjustments", ",".join(WITH_COVARIATES)
    return by_command(folder, files["test"], {"m": model}, "--train", files["train"], *options, *more)
