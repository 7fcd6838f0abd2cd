"""``cocensor evaluate``: what models score under stated assumptions about the censoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from unicodedata import category

import typer

import cocensor as cc
from cocensor._validation import check_choice, check_number
from cocensor.adjustments.registry import needs_copula
from cocensor.cli.console import noting, progress_bar, refusing, say
from cocensor.cli.files import read_table
from cocensor.cli.inputs import (
    DATA,
    Administrative,
    Covariates,
    Event,
    Time,
    Train,
    covariate_names,
    covariates_of,
    items,
    numbers,
    outcomes,
    predicted_curves,
)
from cocensor.cli.outputs import check_outputs, written_together

_PREDICTIONS = "Predictions"
_ASSUMPTIONS = "Assumptions about the censoring"
_SCORES = "Scores"
_OUTPUT = "Output"
_BETWEEN = {"linear": "linear between its times", "step": "steps at its times"}
_BEYOND = {"none": "nothing beyond", "last": "the last value beyond"}


def evaluate(
    train: Train,
    test: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Test sample, with the columns of the training sample.", rich_help_panel=DATA
        ),
    ],
    time: Time,
    event: Event,
    predictions: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=FILE",
            help="A model's survival probabilities for the test subjects, CSV or Parquet: a row per subject, columns "
            'named after times. Once per model; a name has no "=".',
            rich_help_panel=_PREDICTIONS,
        ),
    ],
    covariates: Covariates = None,
    administrative: Administrative = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Match rows of the test sample and of predictions by this column, which all have. Else they must "
            "come in the same order.",
            rich_help_panel=_PREDICTIONS,
        ),
    ] = None,
    interpolation: Annotated[
        str, typer.Option(help="Between predicted times: linear or step.", rich_help_panel=_PREDICTIONS)
    ] = "linear",
    tail: Annotated[
        str,
        typer.Option(
            help="Beyond the last predicted time: none (scores end there) or last (it is held).",
            rich_help_panel=_PREDICTIONS,
        ),
    ] = "none",
    copula: Annotated[
        str,
        typer.Option(
            metavar="FAMILY",
            help="How event and dropout depend on each other: select (by likelihood, a hint), independence, or with "
            "--tau clayton, frank, gumbel, joe or gaussian.",
            rich_help_panel=_ASSUMPTIONS,
        ),
    ] = "select",
    tau: Annotated[
        float | None, typer.Option(help="Kendall's τ of the copula.", rich_help_panel=_ASSUMPTIONS)
    ] = None,
    adjustments: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help=f"Some of {', '.join(cc.adjustments())}. By default the most used ones.",
            rich_help_panel=_ASSUMPTIONS,
        ),
    ] = None,
    families: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Copula families of the sensitivity analysis. By default all.",
            rich_help_panel=_ASSUMPTIONS,
        ),
    ] = None,
    taus: Annotated[
        str | None,
        typer.Option(
            metavar="T,T,...",
            help="Kendall's τ of the sensitivity analysis. By default 0,0.1,...,0.9.",
            rich_help_panel=_ASSUMPTIONS,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="ibs (integrated Brier score) or ils (integrated log score). Once per metric; ibs by default.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(
            help="For ils: smaller probabilities count as this one, such as 0.01.", rich_help_panel=_SCORES
        ),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="End of the scored interval: a time, t_max, or a share still at risk such as 10%. By default 5% or "
            "the end of the predictions, whichever comes first.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The report, HTML.", rich_help_panel=_OUTPUT)
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="All numbers, JSON.", rich_help_panel=_OUTPUT)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.", rich_help_panel=_OUTPUT)] = None,
) -> None:
    """Score predictions under several assumptions about the censoring, and see whether the best model stays best.

    Prints the scores and what they depend on; writes a report and all numbers where asked to.

    Example: cocensor evaluate --train train.csv --test test.csv --time months --event died --covariates age,stage
    --id patient --predictions cox=cox.csv --predictions rsf=rsf.parquet --out report.html
    """
    notes: list[str] = []
    with refusing():
        files = _files_by_name(predictions)
        inputs = [train, test, *files.values()]
        check_outputs(inputs, out=(out, (".html", ".htm")), json=(json, (".json",)))
        check_choice(interpolation, "--interpolation", tuple(_BETWEEN))
        check_choice(tail, "--tail", tuple(_BEYOND))
        if title is not None and out is None:
            raise ValueError("--title is the report's: give --out too.")
        roles = {"time": time, "event": event, "administrative": administrative, "id": identity}
        names = covariate_names(covariates, **roles)
        settings: dict[str, Any] = {
            "copula": _copula(copula, tau),
            "adjustments": _adjustments(adjustments, names is not None, out is not None),
            "metrics": _metrics(metric or ["ibs"], floor),
            "horizon": _horizon(horizon),
        }
        grid = _sensitivity_grid(families, taus)
        with progress_bar("Reading"):
            samples = read_table(train), read_table(test, identity)
            y_train, y_test = (outcomes(table, time, event, administrative) for table in samples)
            x_train, x_test = covariates_of(names, *samples, notes=notes)
            how: tuple[Any, Any] = interpolation, None if tail == "none" else tail
            models = {
                name: predicted_curves(read_table(file, identity), samples[1], identity, *how, notes=notes)
                for name, file in files.items()
            }
        with progress_bar("Scoring") as progress, noting(notes):
            result = cc.evaluate(models, y_train, y_test, x_train, x_test, progress=progress, **settings)
        came_as = {
            name: f"{_spelt(file)}, {_BETWEEN[interpolation]}, {_BEYOND[tail]}"
            for name, file in files.items()
        }
        result = replace(result, came_as=came_as, notes=(*notes, *result.notes))
        sensitivity = None
        if any(each.moves for each in result.scored.values()):
            with progress_bar("Other copulas") as progress:
                sensitivity = result.sensitivity(**grid, progress=progress)
        with progress_bar("Writing"), written_together(out, json) as (page, numbers_file):
            if page is not None:
                result.to_html(page, sensitivity, title)
            if numbers_file is not None:
                result.to_json(numbers_file, sensitivity)
        say(repr(result))
        for each in result.scored.values():
            for note in each.notes:
                if note not in each.cautions:  # told already
                    say(f"{each.label}: {note}")
        if sensitivity is not None:
            say(f"\n{sensitivity!r}")
        for path, content in ((out, "The report is"), (json, "All numbers are")):
            if path is not None:
                say(f"{content} in {path}.")


def _files_by_name(predictions: Sequence[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in predictions:
        name, equals, file = (part.strip() for part in text.partition("="))
        # Format characters belong to some scripts; control characters, line ends and broken bytes to none.
        if not (name and equals and file) or {"Cc", "Cs", "Zl", "Zp"} & set(map(category, name)):
            raise ValueError(f"--predictions must be NAME=FILE, but is {text!r}.")
        if name in files:
            raise ValueError(f"--predictions must have different names, but {name!r} comes twice.")
        files[name] = Path(file)
    return files


def _spelt(file: Path) -> str:
    """The name of a file as UTF-8 can hold it, which not every name is."""
    return file.name.encode(errors="replace").decode()


def _copula(family: str, tau: float | None) -> Any:
    check_choice(family, "--copula", ("select", *cc.copula_families()))
    if family in ("select", "independence"):
        if tau is not None:
            raise ValueError(f"--tau must come with the family of a --copula, but that is {family}.")
        return "select" if family == "select" else cc.Independence()
    if tau is None:
        raise ValueError(f"--tau is needed for the {family} copula.")
    return cc.copula(family, tau=tau)


def _adjustments(text: str | None, with_covariates: bool, with_report: bool) -> Any:
    if text is None:
        return "default"
    asked = items(text, "--adjustments")
    for name in asked:
        check_choice(name, "--adjustments", tuple(cc.adjustments()))
        made = cc.adjustment(name, copula=cc.Independence() if needs_copula(name) else None)
        if "covariates" in made.needs and not with_covariates:
            raise ValueError(f"--covariates are needed for the adjustment {name!r}.")
    if with_report and not any(map(needs_copula, asked)):
        raise ValueError(
            f"--adjustments must have one that rests on a copula, which the report varies, but are {text}."
        )
    return asked


def _metrics(names: Sequence[str], floor: float | None) -> list[cc.Metric]:
    for name in names:
        check_choice(name, "--metric", ("ibs", "ils"))
    if ("ils" in names) != (floor is not None):
        raise ValueError("--floor and --metric ils belong together: give both or neither.")
    return [cc.metric(name, floor=floor if name == "ils" else None) for name in names]


def _horizon(text: str | None) -> Any:
    if text is None or text == "t_max":
        return text
    try:
        return {"at_risk": float(text[:-1]) / 100} if text.endswith("%") else float(text)
    except ValueError:
        raise ValueError(
            f"--horizon must be a time, t_max or a share such as 10%, but is {text!r}."
        ) from None


def _sensitivity_grid(families: str | None, taus: str | None) -> dict[str, Any]:
    chosen = None if families is None else items(families, "--families")
    if "independence" in (chosen or ()):
        raise ValueError("--families must not have independence: τ = 0 is independence already.")
    known = {name: kind.tau_range for name, kind in cc.copula_families().items() if name != "independence"}
    for family in chosen or ():
        check_choice(family, "--families", tuple(known))
    grid = None if taus is None else numbers(taus, "--taus")
    for tau in grid or ():
        check_number(tau, "--taus", lower=-1.0, upper=1.0)
        if tau and not any(low < tau < high for low, high in (known[name] for name in chosen or known)):
            raise ValueError(f"--taus must be within reach of --families, but {tau:g} is beyond {families}.")
    return {"families": chosen, "taus": grid}
