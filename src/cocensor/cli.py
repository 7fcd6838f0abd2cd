"""The command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import cocensor as cc
from cocensor._validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(
    name="cocensor",
    help="How good is a survival model when people drop out for reasons related to the outcome?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cocensor {cc.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How good is a survival model when people drop out for reasons related to the outcome?"""


@app.command()
def demo(
    n: Annotated[int, typer.Option(min=10, help="Number of simulated patients.")] = 2000,
    family: Annotated[
        str, typer.Option(help="Copula of event and dropout: clayton, frank, gumbel or joe.")
    ] = "clayton",
    tau: Annotated[float, typer.Option(help="Kendall's tau of event and dropout.")] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    out: Annotated[Path, typer.Option(help="Where to save the figure (PNG, PDF or SVG).")] = Path(
        "cocensor-demo.png"
    ),
) -> None:
    """Show what dependent censoring does to Kaplan-Meier, and what the Copula-Graphic estimator mends.

    Draws patients whose dropout depends on their event, so that the truth is known, and compares both
    estimates of the survival curve with it.

    Example: cocensor demo --family frank --tau 0.7
    """
    try:
        copula = cc.copula(family, tau=tau)
        graphic = cc.CopulaGraphic(copula)  # type: ignore[arg-type]  # refuses others in one sentence
        if not out.parent.is_dir():
            raise ValueError(f"out must lie in an existing folder, but {out.parent} is none.")
        if out.suffix.lower() not in {".png", ".pdf", ".svg"}:
            raise ValueError(f"out must end in .png, .pdf or .svg, but is {out}.")
    except (TypeError, ValueError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None

    y = _simulate(n, copula, seed)
    graphic.fit(y)
    kaplan_meier = cc.KaplanMeier().fit(y)

    console = Console()
    console.print(
        f"[bold]{n} simulated patients[/bold], {y.n_events} events, "
        f"{n - y.n_events} dropouts ({100 * (1 - y.n_events / n):.0f} % censored).\n"
        + (
            f"Event and dropout depend on each other: {family} copula, Kendall's tau {tau:g}.\n"
            if tau
            else "Event and dropout are independent.\n"
        )
    )
    console.print(_comparison(kaplan_meier, graphic))
    label = f"Copula-Graphic ({type(copula).__name__}, τ = {tau:g})"
    try:
        _save(_figure({"Kaplan–Meier": kaplan_meier, label: graphic}), out)
    except OSError as error:
        typer.echo(f"Error: the figure cannot be written to {out}: {error.strerror}.", err=True)
        raise typer.Exit(2) from None
    console.print(
        f"\nKaplan-Meier takes dropout for independent of the event. The figure is in [bold]{out}[/bold].",
        highlight=False,
    )


@app.command()
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments by name, or 'all'.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Show the experiments, and run none.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results, one sub-folder per experiment.")] = Path(
        "reproduction"
    ),
    protocol: Annotated[
        str,
        typer.Option(
            help="matched: one interval of time for all scores. published: each to its own end, as the authors did."
        ),
    ] = "matched",
    seeds: Annotated[int | None, typer.Option(min=1, help="How many seeds, from 0 on.")] = None,
    datasets: Annotated[str | None, typer.Option(help="Only these data sets, with commas.")] = None,
    strategies: Annotated[
        str | None, typer.Option(help="Only these feature strategies, with commas.")
    ] = None,
    learners: Annotated[str | None, typer.Option(help="Only these learners, with commas.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="One seed and small samples: a minute in all.")
    ] = False,
    n_jobs: Annotated[int, typer.Option(min=1, help="How many processes.")] = 1,
    backend: Annotated[str, typer.Option(help="loky: this machine. dask: a cluster.")] = "loky",
    scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")] = None,
) -> None:
    """Run experiments of the paper; a run that was stopped goes on where it was.

    Results, tables (Markdown and LaTeX) and figures (PNG and PDF) go into a folder per experiment and protocol. The
    exit code is 1 if a cell failed.

    Example: cocensor reproduce dependence --protocol published --n-jobs 2
    """
    from cocensor.experiments import experiments

    known = experiments()
    if show:
        for name, kind in known.items():
            typer.echo(f"{name:<18}{kind.about}")
        return
    try:
        chosen = _chosen_experiments(names, known)
        asked = {"datasets": datasets, "strategies": strategies, "learners": learners}
        only = {name: tuple(text.split(",")) for name, text in asked.items() if text is not None}
        runs = [_configured(known[name], only, names, protocol, seeds, quick) for name in chosen]
    except (TypeError, ValueError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    failed = 0
    for experiment in runs:
        folder = out / f"{experiment.name}-{experiment.config.protocol}{'-quick' if quick else ''}"
        try:
            failed += _run_experiment(experiment, folder, n_jobs, backend, scheduler)
        except (ImportError, OSError, ValueError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from None
    if failed:
        raise typer.Exit(1)


def _configured(kind: Any, only: dict[str, tuple[str, ...]], names: list[str] | None, *how: Any) -> Any:
    """An experiment with its options; of "all", those that have an option take it."""
    if "all" in (names or []):
        only = {name: values for name, values in only.items() if hasattr(kind.default_config(), name)}
    return kind.configured(*how, **only)


def _chosen_experiments(names: list[str] | None, known: dict[str, Any]) -> list[str]:
    if not names:
        raise ValueError(f"names is empty: give some of {', '.join(known)}, or all.")
    unknown = [name for name in names if name not in (*known, "all")]
    if unknown:
        raise ValueError(f"names must be of {', '.join(known)} or all, but one is {unknown[0]!r}.")
    return list(known) if "all" in names else list(dict.fromkeys(names))


def _run_experiment(experiment: Any, folder: Path, n_jobs: int, backend: str, scheduler: str | None) -> int:
    """Run with a progress bar; the number of cells that failed."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from cocensor.experiments import run

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(experiment.name, total=None)
        outcome = run(
            experiment,
            folder,
            n_jobs=n_jobs,
            backend=backend,
            scheduler=scheduler,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    for cell, error in outcome.failed[:5]:
        typer.echo(f"Failed: {cell}: {error}", err=True)
    console = Console()
    console.print(f"{experiment.name}: {len(outcome.rows)} rows in [bold]{folder}[/bold]", highlight=False)
    return len(outcome.failed)


def _true_survival(months: FloatArray) -> FloatArray:
    return np.exp(-((months / 24.0) ** 1.5))


def _simulate(n: int, copula: cc.Copula, seed: int) -> cc.Survival:
    """Weibull event times and exponential dropout times, in months, with the given survival copula."""
    u, v = copula.sample(n, seed).T
    return cc.Survival.from_latent(24.0 * (-np.log(u)) ** (1 / 1.5), 20.0 * -np.log(v))


def _comparison(kaplan_meier: cc.KaplanMeier, graphic: cc.CopulaGraphic) -> Table:
    table = Table(title="Probability of being event-free, with 95 % intervals", title_justify="left")
    for heading in ("month", "truth", "Kaplan-Meier", "error", "Copula-Graphic", "error"):
        table.add_column(heading, justify="right", overflow="fold")
    months = np.array([6.0, 12.0, 18.0, 24.0, 30.0, 36.0])
    for t in months[months <= graphic.t_max_]:
        truth = float(_true_survival(t))
        cells = [f"{t:.0f}", f"{truth:.3f}"]
        for estimator in (kaplan_meier, graphic):
            estimate = estimator.predict(t)
            lower, upper = estimator.confidence_interval(t)
            cells += [f"{estimate:.3f} ({lower:.3f}-{upper:.3f})", f"{estimate - truth:+.3f}"]
        table.add_row(*cells)
    return table


def _figure(estimators: dict[str, cc.KaplanMeier | cc.CopulaGraphic]) -> Figure:
    from matplotlib.figure import Figure

    from cocensor.plots import SurvivalCurveDisplay

    figure = Figure(figsize=(7.0, 4.5), dpi=150, layout="constrained")
    ax = figure.subplots()
    SurvivalCurveDisplay.from_estimators(estimators, truth=_true_survival).plot(ax)
    ax.set(xlabel="months", ylabel="probability of being event-free")
    ax.set_title("Dependent dropout misleads Kaplan–Meier", loc="left")
    return figure


def _save(figure: Figure, out: Path) -> None:
    """Write the figure whole or not at all."""
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    try:
        figure.savefig(part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
