"""``cocensor demo``: the whole path, on simulated patients whose truth is known."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

import cocensor as cc
from cocensor._files import behind_links, hidden_folder, move
from cocensor.cli.console import progress_bar, refusing, say
from cocensor.cli.evaluate import evaluated
from cocensor.cli.inputs import Inputs
from cocensor.cli.outputs import terminating_in_order
from cocensor.cli.plan import PlanOptions
from cocensor.cli.study_file import Outputs, StudyFile

_N_TIMES = 60
_NAMES = [f"x{k}" for k in range(1, 11)]
_FEW = 3
_TRUE_TIME = "true_months"
_ENDED = "study_ended"  # for nobody here


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="New folder for data, predictions and report.")
    ] = Path("cocensor-demo"),
    n: Annotated[int, typer.Option(min=200, help="Number of simulated patients.")] = 2000,
    tau: Annotated[float, typer.Option(help="Kendall's τ of event and dropout given covariates.")] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
) -> None:
    """Evaluate three models of simulated patients, of which the usual score picks the wrong one.

    Draws patients from the paper's design, whose dropout depends on their event (Clayton copula), fits three models to
    one half of them, writes the data and the predictions for the other half as CSV files, and runs "cocensor evaluate"
    on these files. As the patients are simulated, their true event times are known (--true-time), and so are the true
    scores.

    Example: cocensor demo --tau 0.3 --seed 1 --out another-demo
    """
    with refusing():
        copula = cc.Clayton.from_tau(tau)
        if behind_links(out).is_symlink():
            raise ValueError(f"--out must be a folder, but {out} is a symbolic link that leads to itself.")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ValueError(f"--out must be a new or an empty folder, but {out} is there.")
        with progress_bar() as phase:
            phase("Simulating patients, fitting three models")
            train, test, models = simulated(n, copula, seed)
        dependent = f"and their dropout depends on their event (Clayton copula, τ = {tau:g})"
        chance = dependent if tau else "independently of it given covariates"
        say(
            f"{n:,} simulated patients; {100 * train.censoring_rate:.0f}% drop out before their event,\n{chance}.\n"
            f"Models: cox (all {len(_NAMES)} covariates), few ({_FEW} of them), joint (of event and dropout).\n"
        )
        target = behind_links(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        # A demo that is stopped leaves the folder as it was.
        with terminating_in_order(), hidden_folder(target.parent) as folder:
            for name, columns in _tables(train, test, models).items():
                table, header = np.column_stack(list(columns.values())), ",".join(columns)
                np.savetxt(folder / f"{name}.csv", table, "%.17g", ",", header=header, comments="")
            inputs = Inputs(
                train=folder / "train.csv",
                test=folder / "test.csv",
                time="months",
                event="died",
                administrative=_ENDED,
                covariates=",".join(_NAMES),
                id="patient",
                true_time=_TRUE_TIME,
                predictions=[f"{name}={folder / name}.csv" for name in models],
            )
            dependence = "depends on" if tau else "is independent of"
            title = f"Simulated patients whose dropout {dependence} their event"
            outputs = Outputs(out=folder / "report.html", title=title)
            with redirect_stdout(io.StringIO()) as printed:
                evaluated({}, inputs, PlanOptions(), outputs, StudyFile())
            target.mkdir(exist_ok=True)
            move({file: target / file.name for file in folder.iterdir()})
        say(printed.getvalue().replace(str(folder), str(out)).rstrip())


def simulated(
    n: int, copula: cc.copulas.Copula, seed: int
) -> tuple[cc.simulate.SyntheticSample, cc.simulate.SyntheticSample, dict[str, cc.Predictions]]:
    """Return training and test half of a draw of the paper's design, and what three models predict for the latter."""
    data = cc.simulate.SyntheticDesign(n=n, n_features=len(_NAMES), copula=copula).draw(seed)
    train, test = data[: n // 2], data[n // 2 :]
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.97)), _N_TIMES)
    joint = cc.fit_joint(train.X, train.y, "clayton", "weibull", penalty=1e-4)
    models = {
        "cox": cc.CoxPH().fit(train.X, train.y).survival(times, test.X),
        "few": cc.CoxPH().fit(train.X[:, :_FEW], train.y).survival(times, test.X[:, :_FEW]),
        "joint": joint.survival(times, test.X),
    }
    as_lines = partial(cc.Predictions, times, interpolation="linear")
    return train, test, {name: as_lines(table.round(6)) for name, table in models.items()}


def _tables(
    train: cc.simulate.SyntheticSample, test: cc.simulate.SyntheticSample, models: dict[str, cc.Predictions]
) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """Return the columns of the samples and of the predictions, by file."""
    patients = np.split(1 + np.arange(len(train) + len(test)), [len(train)])
    tables = {
        name: {
            "patient": numbers,
            "months": sample.y.time,
            "died": sample.y.event,
            _ENDED: 0 * sample.y.event,
        }
        | dict(zip(_NAMES, sample.X.T, strict=True))
        for name, sample, numbers in zip(("train", "test"), (train, test), patients, strict=True)
    }
    tables["test"][_TRUE_TIME] = test.event_time
    for name, curves in models.items():
        times = [f"{time:.10g}" for time in curves.times]
        tables[name] = {"patient": patients[1], **dict(zip(times, curves.probabilities.T, strict=True))}
    return tables
