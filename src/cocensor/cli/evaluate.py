"""``cocensor evaluate``: what models score under stated assumptions about the censoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import typer

from cocensor._notes import noted
from cocensor.cli.console import progress_bar, refusing, say
from cocensor.cli.inputs import Inputs
from cocensor.cli.options import with_options
from cocensor.cli.outputs import check_outputs, write_all
from cocensor.cli.plan import PlanOptions, plan_of
from cocensor.cli.study import check_refused, is_streamed, scored, scored_in_batches
from cocensor.cli.study_file import Outputs, StudyFile, study_text
from cocensor.study import Plan
from cocensor.study.report import full_report
from cocensor.views.text.evaluation import minor_notes
from cocensor.views.text.headline import joint_fit
from cocensor.views.text.sensitivity import beside_scores
from cocensor.warnings import collected


@with_options(Inputs, PlanOptions, Outputs, StudyFile)
def evaluate(context: typer.Context, *groups: Any) -> None:
    """Score predictions under several assumptions about the censoring, and see whether the best model stays best.

    Prints the scores as soon as they are there; then how far the verdict holds as the dependence of event and dropout
    grows, what holds whatever it is, and which dependence measured covariates suggest. Writes a report and all numbers
    where asked to.

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
    fit, unprinted = joint_fit(result), None
    # A misfit is among the cautions already.
    fit_in_words = [] if fit is None or fit.failed else [fit.statement]
    try:
        for line in (repr(result), *fit_in_words, *minor_notes(result)):
            say(line)
    except OSError as error:  # files are written first
        unprinted = error
    with progress_bar() as phase:
        report = full_report(
            result,
            hint=outputs.hint,
            hazard_ratio_by=groups,
            phases=phase,
            curves=outputs.out is not None or outputs.json is not None,
        )
        places = write_all(
            phase,
            (outputs.out, "The report is", lambda place: report.to_html(place, outputs.title)),
            (outputs.json, "All numbers are", report.to_json),
            (study_file.save_config, "The study is", lambda place: place.write_text(saved_text, "utf-8")),
        )
        phase("Summing up")
        further = beside_scores(report)
    if unprinted is not None:
        raise unprinted
    if report.hint is not None and result.data.assumed.hint is None:  # else it came with the scores
        further.append(report.hint.statement)
    for line in (*(f"\n{text}" for text in further), *places):
        say(line)
