"""``cocensor evaluate``: what models score under stated assumptions about the censoring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import cocensor as cc
from cocensor._notes import Note
from cocensor._validation import check_choice, collected
from cocensor.cli.analyses import analyse
from cocensor.cli.config import Config, SaveConfig, config_text
from cocensor.cli.console import progress_bar, refusing, say
from cocensor.cli.inputs import (
    DATA,
    PREDICTIONS,
    Folds,
    Identity,
    PredictionFiles,
    Risks,
    Test,
)
from cocensor.cli.outcomes import (
    Administrative,
    DataLock,
    DateFormat,
    Entry,
    Event,
    Exit,
    FollowUp,
    OutcomeColumns,
    Reason,
    Time,
    TimeUnit,
    TrueTime,
)
from cocensor.cli.outputs import check_outputs, written_together
from cocensor.cli.settings import (
    ASSUMPTIONS,
    Covariates,
    HazardRatioBy,
    HazardRatios,
    Plausible,
    Strict,
    adjustments_of,
    check_refused,
    copula_of,
    covariates_asked,
    horizon_of,
    intervals_of,
    metrics_of,
    models_by_name,
    sensitivity_grid,
    single_times,
)
from cocensor.cli.stream import (
    FitRows,
    Scheduler,
    Stream,
    check_streamed,
    is_streamed,
    scored_in_batches,
    starting_over,
)
from cocensor.cli.study import BETWEEN, BEYOND, Study, scored
from cocensor.evaluation.asked_metrics import DEFAULT_METRICS
from cocensor.words import beside_scores, minor_notes

_SCORES = "Scores"
_OUTPUT = "Output"


def evaluate(
    test: Test,
    event: Event,
    time: Time = None,
    predictions: PredictionFiles = None,
    risk: Risks = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=(
                "Training sample, with the same columns as the test sample. Without it, everything "
                "is estimated from the test sample, as for out-of-fold predictions."
            ),
            rich_help_panel=DATA,
        ),
    ] = None,
    covariates: Covariates = None,
    administrative: Administrative = None,
    follow_up: FollowUp = None,
    entry: Entry = None,
    exit_: Exit = None,
    data_lock: DataLock = None,
    date_format: DateFormat = None,
    time_unit: TimeUnit = None,
    reason: Reason = None,
    true_time: TrueTime = None,
    identity: Identity = None,
    folds: Folds = None,
    interpolation: Annotated[
        str | None,
        typer.Option(
            help="Curves between predicted times: linear or step. By default linear, with a note where step would "
            "move the scores.",
            rich_help_panel=PREDICTIONS,
        ),
    ] = None,
    tail: Annotated[
        str,
        typer.Option(
            help="Curves after the last predicted time: none (scores end there) or last (constant).",
            rich_help_panel=PREDICTIONS,
        ),
    ] = "none",
    strict: Strict = False,
    copula: Annotated[
        str,
        typer.Option(
            metavar="FAMILY",
            help=(
                "Assumed dependence of event and dropout given the predictions and any covariates: "
                "independence, select (by likelihood), or, with --tau, clayton, frank, gumbel, joe "
                "or gaussian."
            ),
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = "independence",
    tau: Annotated[
        float | None, typer.Option(help="Kendall's τ of the copula.", rich_help_panel=ASSUMPTIONS)
    ] = None,
    adjustments: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help=(
                f"One or more of {', '.join(cc.adjustment_names())}, or paper (ipcw, imputed and "
                "those of the paper). By default ipcw and imputed."
            ),
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = None,
    hint: Annotated[
        bool,
        typer.Option(
            "--hint/--no-hint",
            help=(
                "Also select the copula that fits best, which may take longer than all the rest, and draw the "
                "likelihood over τ in the report. It is a hint: no score depends on it."
            ),
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = False,
    families: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Copula families of the sensitivity analysis, and hazard_ratio (after dropout). By default all.",
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = None,
    taus: Annotated[
        str | None,
        typer.Option(
            metavar="T,T,...",
            help=(
                "Values of Kendall's τ in the sensitivity analysis. By default -0.3, or the lowest "
                "plausible one, to 0.9 in steps of 0.1."
            ),
            rich_help_panel=ASSUMPTIONS,
        ),
    ] = None,
    hazard_ratios: HazardRatios = None,
    hazard_ratio_by: HazardRatioBy = None,
    plausible: Plausible = None,
    metrics: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help=(
                f"One or more of {', '.join(cc.metric_names())}, or default "
                f"({', '.join(DEFAULT_METRICS)}). The first decides which model is best."
            ),
            rich_help_panel=_SCORES,
        ),
    ] = "default",
    at: Annotated[
        str | None,
        typer.Option(
            metavar="T,T,...",
            help=(
                "Times for metrics at single times, such as brier and auc: for example 12,24,60. By "
                "default the quartiles of the event times for the default metrics, and the horizon "
                "for others."
            ),
            rich_help_panel=_SCORES,
        ),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(
            help="For ils: smaller probabilities are raised to this one, such as 0.01.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="For net_benefit: the predicted risk at which one would treat, such as 0.2.",
            rich_help_panel=_SCORES,
        ),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=(
                "End of the scored interval: a time, t_max, or the share still at risk, such as "
                "10%. By default 5% or the end of the predictions, whichever comes first."
            ),
            rich_help_panel=_SCORES,
        ),
    ] = None,
    confidence: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="Confidence level of the intervals of scores and differences, or none for no intervals.",
            rich_help_panel=_SCORES,
        ),
    ] = "0.95",
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=(
                "Number of bootstrap samples, such as 500, for the intervals of the scores. All "
                "adjustments are refitted to each. Intervals over time and over other copulas still "
                "come from formulas."
            ),
            rich_help_panel=_SCORES,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the bootstrap. By default 0.", rich_help_panel=_SCORES),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the report (HTML).", rich_help_panel=_OUTPUT),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write all numbers (JSON).", rich_help_panel=_OUTPUT),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.", rich_help_panel=_OUTPUT)] = None,
    stream: Stream = False,
    scheduler: Scheduler = None,
    fit_rows: FitRows = None,
    config: Config = None,
    save_config: SaveConfig = None,
) -> None:
    """Score predictions under several assumptions about the censoring, and see whether the best model stays best.

    Prints the scores as soon as they are there; then how far the verdict holds as the dependence of event and dropout
    grows, what holds whatever it is, and which dependence measured covariates suggest. Writes a report and all numbers
    where asked to.

    Shortest: cocensor evaluate --test test.csv --time months --event died --covariates all --predictions cox=cox.csv

    Example: cocensor evaluate --train train.csv --test test.csv --time months --event died --covariates age,stage
    --id patient --predictions cox=cox.csv --predictions rsf=rsf.parquet --out report.html
    """
    options = dict(locals())  # as --save-config writes them
    notes: list[Note] = []
    with refusing():
        files, risks = models_by_name(predictions or (), risk or ())
        inputs = [test, *(path for path in (train, config) if path is not None), *files.values()]
        outputs = {
            "out": (out, (".html", ".htm")),
            "json": (json, (".json",)),
            "save-config": (save_config, (".toml",)),
        }
        check_outputs(inputs, **outputs)
        saved = None if save_config is None else config_text(options, save_config)
        if interpolation is not None:
            check_choice(interpolation, "--interpolation", tuple(BETWEEN))
        check_choice(tail, "--tail", tuple(BEYOND))
        if title is not None and out is None:
            raise ValueError("--title belongs to the report: give --out too.")
        columns = OutcomeColumns(
            event, time, administrative, follow_up, entry, exit_, data_lock, time_unit, reason, date_format
        )
        notes += columns.notes
        named = {**columns.by_option, "true-time": true_time, "id": identity, "folds": folds}
        names = covariates_asked(covariates, **named)
        settings: dict[str, Any] = {
            "copula": copula_of(copula, tau),
            "adjustments": adjustments_of(adjustments, names is not None),
            "metrics": metrics_of(metrics, floor, threshold),
            "at": single_times(at),
            "horizon": horizon_of(horizon),
            **intervals_of(confidence, bootstrap, seed),
            "time_name": columns.time_axis.name,
            "time_unit": columns.time_axis.unit,
        }
        grid = sensitivity_grid(families, taus, hazard_ratios, hazard_ratio_by, plausible)
        study = Study(
            test,
            train,
            files,
            risks,
            columns,
            names,
            identity,
            true_time,
            folds,
            hazard_ratio_by,
            interpolation,
            None if tail == "none" else tail,
            strict,
            settings,
        )
        in_batches = is_streamed(stream, scheduler, fit_rows, (test, *files.values()))
        if in_batches:
            check_streamed(study, bootstrap)
        unprinted: OSError | None = None
        with starting_over(in_batches):
            with progress_bar() as phase, collected(UserWarning) as warned:
                if in_batches:
                    result = scored_in_batches(study, scheduler, fit_rows, phase, notes)
                else:
                    result = scored(study, grid, phase, notes)
            if strict:
                left_out = {*files, *risks} - set(result.data.predictions)
                check_refused({note.model: note.text for note in result.notes if note.model in left_out})
            notes += [Note("caution", text) for text in warned]
            result = replace(result, notes=(*notes, *result.notes))
            try:
                for line in _scores(result):
                    say(line)
            except OSError as error:  # files are written first
                unprinted = error
            with progress_bar() as phase:
                for_report = out is not None or json is not None
                sensitivity = analyse(result, grid, hint, for_report, phase)
                with written_together(out, json, save_config) as places:
                    page, numbers_file, study_file = places
                    if page is not None and out is not None:
                        phase(f"Writing {out.name}")
                        result.to_html(page, title)
                    if numbers_file is not None and json is not None:
                        phase(f"Writing {json.name}")
                        result.to_json(numbers_file)
                    if study_file is not None and saved is not None:
                        study_file.write_text(saved, encoding="utf-8")
                phase("Summing up")
                further = beside_scores(result, sensitivity)
        if unprinted is not None:
            raise unprinted
        hinted = result.computed("hint")
        if hinted is not None and result.assumed.hint is None:  # else it came with the scores
            further.append(hinted.statement)
        for line in further:
            say(f"\n{line}")
        written = (out, "The report is"), (json, "All numbers are"), (save_config, "All options are")
        for path, content in written:
            if path is not None:
                say(f"{content} in {path}.")


def _scores(result: cc.Evaluation) -> list[str]:
    """Scores, and what must be known of them."""
    fit = result.computed("judge_fit")
    # A misfit is among the cautions already.
    judged = [] if fit is None or fit.failed else [fit.statement]
    return [repr(result), *judged, *minor_notes(result)]
