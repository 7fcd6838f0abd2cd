"""``cocensor reproduce``: the experiments of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cocensor.cli.console import progress_bar, refuse, refusing, say, warn


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments by name, or 'all'.")] = None,
    show: Annotated[bool, typer.Option("--list", help="List the experiments, and run none.")] = False,
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
        bool, typer.Option("--quick", help="One seed and small samples: about a minute in all.")
    ] = False,
    n_jobs: Annotated[int, typer.Option(min=1, help="How many processes.")] = 1,
    backend: Annotated[str, typer.Option(help="loky: this machine. dask: a cluster.")] = "loky",
    scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")] = None,
) -> None:
    """Run experiments of the paper; a run that was stopped goes on where it was.

    Results, tables (Markdown and LaTeX) and figures (PNG and PDF) go into a folder per experiment and protocol, in
    which one run works at a time. The exit code is 1 if a cell failed, and 3 if a process died.

    Example: cocensor reproduce dependence --protocol published --n-jobs 2
    """
    from cocensor.paper import experiments, run

    kinds = experiments()
    if show:
        for name, kind in kinds.items():
            say(f"{name:<23}{kind.about}")
        return
    with refusing():
        listed = ", ".join(kinds)
        if not names:
            raise ValueError(f"names is empty: give some of {listed}, or all.")
        for name in names:
            if name not in (*kinds, "all"):
                raise ValueError(f"names must be of {listed} or all, but one is {name!r}.")
        if quick and seeds is not None:
            raise ValueError(f"--seeds must not be given with --quick, which uses one, but is {seeds}.")
        options = {"datasets": datasets, "strategies": strategies, "learners": learners}
        only = {name: tuple(text.split(",")) for name, text in options.items() if text is not None}
        runs = []
        for kind in [kinds[name] for name in (kinds if "all" in names else dict.fromkeys(names))]:
            # Of all experiments, those that have an option take it.
            config = kind.default_config()
            own = {name: only[name] for name in only if "all" not in names or hasattr(config, name)}
            runs.append(kind.configured(protocol, seeds, quick, **own))
    how: dict[str, Any] = {"n_jobs": n_jobs, "backend": backend, "scheduler": scheduler}
    n_failed = 0
    for experiment in runs:
        folder = out / f"{experiment.name}-{experiment.config.protocol}{'-quick' if quick else ''}"
        try:
            with progress_bar() as phase:
                outcome = run(experiment, folder, **how, progress=phase(experiment.name))
            for note in outcome.notes:
                warn(f"Note: {note}")
            for cell, error in outcome.failed[:5]:
                warn(f"Failed: {cell}: {error}")
            say(f"{experiment.name}: {len(outcome.rows)} rows in {folder}")
        except (ImportError, OSError, ValueError) as error:
            refuse(error, 3 if isinstance(error, ChildProcessError) else 2)
        n_failed += len(outcome.failed)
    if n_failed:
        raise typer.Exit(1)
