"""``cocensor evaluate``: what models score under stated assumptions about the censoring."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import cocensor as cc
from cocensor._checks import Progress, check_whole, escaped
from cocensor._notes import Note, noted
from cocensor.cli.console import Phases, patiently, progress_bar, refusing, say, warn
from cocensor.cli.inputs import BETWEEN, BEYOND, Inputs, covariates_of
from cocensor.cli.options import with_options
from cocensor.cli.outputs import check_outputs, write_all
from cocensor.cli.plan import PlanOptions, plan_of
from cocensor.cli.study_file import Outputs, StudyFile, study_text
from cocensor.data.curves import predictions_of
from cocensor.data.files import read_content, read_table
from cocensor.data.predictions import RiskScores
from cocensor.scale.evaluate import run_scan
from cocensor.scale.files import Files
from cocensor.scale.reduce import connected
from cocensor.study import Plan
from cocensor.study.prepare import as_true_times
from cocensor.study.report import Report, full_report
from cocensor.study.run import run
from cocensor.study.sensitivity.run import as_labels, check_groups
from cocensor.views.text.face import scores_in_a_line
from cocensor.views.text.terminal import details, report_lines
from cocensor.warnings import collected

# How the command line marks who was censored by the end of the study.
_MARKED_BY = "--administrative COLUMN"
# What the help shows of a command of so many options; --help-all shows all.
_FIRST = "test train time event administrative covariates id predictions plausible metrics horizon out config verbose"


@with_options(Inputs, PlanOptions, Outputs, StudyFile, first=_FIRST.split())
def evaluate(context: typer.Context, *groups: Any) -> None:
    """Score predictions when people may drop out for reasons related to the outcome, and say which model is best.

    Shortest: cocensor evaluate --test test.csv --time months --event died --covariates all --predictions cox=cox.csv

    Example: cocensor evaluate --train train.csv --test test.csv --time months --event died --covariates age,stage
    --id patient --predictions cox=cox.csv --predictions rsf=rsf.parquet --out report.html
    """
    with refusing():
        evaluated(context.meta.get("plan", {}), *groups)


def evaluated(
    saved: Mapping[str, Any], inputs: Inputs, options: PlanOptions, outputs: Outputs, study_file: StudyFile
) -> None:
    """Evaluate, write and print; ``saved`` are the arguments of the plan in a study file."""
    read = [inputs.test, *(path for path in (inputs.train, study_file.config) if path is not None)]
    check_outputs(
        [*read, *inputs.files.values()],
        out=(outputs.out, (".html", ".htm")),
        json=(outputs.json, (".json",)),
        save_config=(study_file.save_config, (".toml",)),
    )
    if outputs.title is not None and outputs.out is None:
        raise ValueError("--title belongs to the report: give --out too.")
    inputs.check()
    plan = plan_of(options, saved, inputs, study_file.config)
    saved_text = "" if (path := study_file.save_config) is None else study_text(inputs, plan, outputs, path)
    in_batches = is_streamed(inputs, plan, study_file.scheduler)
    try:
        _run(inputs, plan, outputs, study_file, saved_text, in_batches)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*["The same command starts over."] if in_batches else []) from None


def _run(
    inputs: Inputs, plan: Plan, outputs: Outputs, study_file: StudyFile, saved_text: str, in_batches: bool
) -> None:
    """Do what was checked."""
    notes, groups = [*inputs.columns.notes], None
    with progress_bar() as phase, collected(UserWarning) as warned:
        if in_batches:
            result = scored_in_batches(inputs, plan, study_file.scheduler, phase, notes)
        else:
            result, groups = scored(inputs, plan, phase, notes)
    if inputs.strict:
        left_out = {*inputs.files, *inputs.risks} - set(result.data.predictions)
        check_refused({note.about.model: note.text for note in result.notes if note.about.model in left_out})
    notes += [noted("warned", why=text) for text in warned]
    result = replace(result, notes=(*notes, *result.notes))
    curves = outputs.out is not None or outputs.json is not None
    try:
        with progress_bar() as phase, patiently(f"{scores_in_a_line(result)} Now under other dependences …"):
            report = full_report(
                result, hint=outputs.hint, hazard_ratio_by=groups, phases=phase, curves=curves
            )
            places = write_all(
                phase,
                (outputs.out, "The report is", lambda place: report.to_html(place, outputs.title)),
                (outputs.json, "All numbers are", report.to_json),
                (study_file.save_config, "The study is", lambda place: place.write_text(saved_text, "utf-8")),
            )
            phase("Summing up")
    except BaseException:  # the scores are there all the same
        for line in report_lines(Report(result), _MARKED_BY):
            say(line)
        raise
    more = [] if outputs.verbose else ["All notes: --verbose."]
    lines = report_lines(report, _MARKED_BY, [" ".join([*places, *more])], not outputs.verbose)
    for line in lines:
        say(line)
    for text in details(report) if outputs.verbose else ():
        say(f"\n{text}")


def scored(inputs: Inputs, plan: Plan, phase: Phases, notes: list[Note]) -> tuple[cc.Evaluation, Any]:
    """Return the scores, and the groups of ``--hazard-ratio-by``."""
    phase(f"Reading {inputs.test.name}")
    subjects = read_table(inputs.test, inputs.id)
    names = inputs.covariates_in(subjects, inputs.test, notes)
    samples = [subjects]
    if inputs.train is not None:
        phase(f"Reading {inputs.train.name}")
        samples.insert(0, read_table(inputs.train))
    y = [inputs.columns.read(table, training=table is not subjects) for table in samples]
    notes += [note for table in samples for note in table.notes]
    x = covariates_of(names, samples)
    settings: dict[str, Any] = {}
    if inputs.true_time is not None:
        times = subjects.numbers(inputs.true_time)
        with subjects.naming():
            settings["true_times"] = as_true_times(times, y[-1], f"column {inputs.true_time!r}")
    if inputs.folds is not None:
        settings["folds"] = subjects.texts(inputs.folds)
    groups = None
    if inputs.hazard_ratio_by is not None:
        labels = subjects.texts(inputs.hazard_ratio_by)
        with subjects.naming():
            groups = as_labels(labels, "--hazard-ratio-by")
            check_groups(groups, "--hazard-ratio-by")
    if inputs.train is not None:
        settings |= {"y_train": y[0], "x_train": x[0]}
    models, refused = dict[str, Any](), dict[str, str]()
    between, tail = inputs.between_and_beyond
    how = f"{BETWEEN[between or 'linear']}, {BEYOND[inputs.tail]}"
    for name, file in inputs.files.items():
        phase(f"Reading {file.name}", len(models), len(inputs.files))
        content, source = read_content(file), escaped(file.name)
        try:  # what is refused costs this model, and not the others
            table = read_table(file, inputs.id, content)
            models[name], decided = predictions_of(table, subjects, inputs.id, between, tail, source, how)
            notes += decided
        except ValueError as error:
            models[name], refused[name] = error, str(error)
    if inputs.strict:
        check_refused(refused)
    if refused and len(refused) == len(models):
        raise ValueError(" ".join(refused.values()))
    for name, why in refused.items():
        warn(f"{name} is left out: {why}")
    for name, column in inputs.risks.items():
        source = f"column {column!r} of {escaped(inputs.test.name)}"
        models[name] = RiskScores(subjects.numbers(column), source)
    phase("Selecting a copula" if plan.copula == "select" else "Checking predictions")
    return run(plan, models, y[-1], x[-1], progress=_progress_of_scores(phase, plan), **settings), groups


def check_refused(refused: Mapping[str, str]) -> None:
    """``--strict``: refuse a study in which predictions are ``refused``, by model with why."""
    if refused:
        why = " ".join(f"{name}: {text}" for name, text in refused.items())
        raise ValueError(f"--strict scores all models or none, but predictions are refused. {why}")


def _progress_of_scores(phase: Phases, plan: Plan) -> Progress:
    """Return what names the progress of :func:`cocensor.evaluate`: first the adjustments, then resamples."""
    scored, resamples = False, None

    def report(done: int, total: int) -> None:
        nonlocal scored, resamples
        if scored:
            resamples = resamples or phase("Scoring bootstrap samples")
            resamples(done, total)
        elif done < total:
            phase(f"Scoring by {plan.adjustments[done].label}", done, total)
        else:
            scored = True

    return report


def is_streamed(inputs: Inputs, plan: Plan, scheduler: str | None) -> bool:
    """Return whether files are read in batches, as asked for or for there are several, and refuse what cannot be."""
    if not inputs.stream and not any(map(_is_several, (inputs.test, *inputs.files.values()))):
        for name, value in (("--scheduler", scheduler), ("--fit-rows", inputs.fit_rows)):
            if value is not None:
                raise ValueError(
                    f"{name} must come with --stream, or with patterns or folders of files, but is {value}."
                )
        return False
    if inputs.fit_rows is not None:
        check_whole(inputs.fit_rows, "--fit-rows")
    if inputs.train is not None and _is_several(inputs.train):
        raise ValueError(f"--train must be one file, for it is held in memory, but is {inputs.train}.")
    risk = next((f"{name}={column}" for name, column in inputs.risks.items()), None)
    for name, value, instead in (
        ("--risk", risk, ": give --predictions with files of one column, risk"),
        ("--entry", inputs.entry, ": compute times, and give --time and --administrative"),
        ("--follow-up", inputs.follow_up, ": mark who reached the end, and give --administrative"),
        ("--true-time", inputs.true_time, ""),
        ("--folds", inputs.folds, ""),
        ("--hazard-ratio-by", inputs.hazard_ratio_by, ""),
        ("--bootstrap", plan.n_resamples, ": intervals come from formulas"),
    ):
        if value is not None:
            raise ValueError(
                f"{name} must not come with files that are read in batches, but is {value}{instead}."
            )
    return True


def _is_several(path: Path) -> bool:
    """Return whether a path is a folder or a pattern; a file may be called as a pattern is."""
    return path.is_dir() or (any(sign in str(path) for sign in "*?[") and not path.exists())


def scored_in_batches(
    inputs: Inputs, plan: Plan, scheduler: str | None, phase: Phases, notes: list[Note]
) -> cc.Evaluation:
    """Return the scores of a study whose test sample and predictions are read in batches."""
    phase(f"Looking at {inputs.test.name}")
    columns = Files.of(inputs.test, "--test").columns if inputs.covariate_names == [] else []
    names = inputs.covariates_among(columns, inputs.test, notes)
    interpolation, tail = inputs.between_and_beyond
    scan = cc.scan_parquet(
        inputs.test,
        dict(inputs.files),
        time=str(inputs.time),
        event=inputs.event,
        covariates=names,
        administrative=inputs.administrative,
        reason=inputs.reason,
        id=inputs.id,
        interpolation=interpolation,
        tail=tail,
    )
    settings: dict[str, Any] = {} if inputs.fit_rows is None else {"n_fit": inputs.fit_rows}
    if inputs.train is not None:
        phase(f"Reading {inputs.train.name}")
        table = read_table(inputs.train)
        settings["y_train"] = inputs.columns.read(table, training=True)
        notes += table.notes
        [settings["x_train"]] = covariates_of(names, [table])
    with nullcontext() if scheduler is None else connected(scheduler, "--scheduler") as client:
        progress = _progress_of_passes(phase, len(scan.parts))
        return run_scan(scan, plan, client=client, progress=progress, **settings)


def _progress_of_passes(phase: Phases, n_parts: int) -> Progress:
    """Return what names the progress of :meth:`cocensor.scale.Scan.evaluate`, which reads all parts several times."""
    before = 0

    def report(done: int, total: int) -> None:
        """Show a pass that ends once, and the next that begins."""
        nonlocal before
        last = total // n_parts - 1
        number, within = divmod(done, n_parts)
        has_ended = within == 0 and done != before
        before = done
        if done == total:
            phase("Computing errors")
        elif has_ended:
            phase("Fitting" if number == last else "Reading")
        else:
            name = "Scoring" if number == last else "Reading scores" if number else "Reading outcomes"
            phase(name, within, n_parts)

    return report
