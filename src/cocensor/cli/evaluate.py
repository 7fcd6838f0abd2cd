"""``cocensor evaluate``: what models score under stated assumptions about the censoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import typer

import cocensor as cc
from cocensor._notes import Note, noted
from cocensor.cli.console import progress_bar, refusing, say
from cocensor.cli.inputs import Inputs
from cocensor.cli.options import with_options
from cocensor.cli.outputs import check_outputs, written_together
from cocensor.cli.plan import PlanOptions, plan_of
from cocensor.cli.stream import Cluster, check_streamed, is_streamed, scored_in_batches, starting_over
from cocensor.cli.study import check_refused, scored
from cocensor.cli.study_file import Outputs, StudyFile, study_text
from cocensor.study.report import full_report
from cocensor.views.text.evaluation import minor_notes
from cocensor.views.text.headline import joint_fit
from cocensor.views.text.sensitivity import beside_scores
from cocensor.warnings import collected


@with_options(Inputs, PlanOptions, Outputs, Cluster, StudyFile)
def evaluate(
    context: typer.Context,
    inputs: Inputs,
    options: PlanOptions,
    outputs: Outputs,
    cluster: Cluster,
    study_file: StudyFile,
) -> None:
    """Score predictions under several assumptions about the censoring, and see whether the best model stays best.

    Prints the scores as soon as they are there; then how far the verdict holds as the dependence of event and dropout
    grows, what holds whatever it is, and which dependence measured covariates suggest. Writes a report and all numbers
    where asked to.

    Shortest: cocensor evaluate --test test.csv --time months --event died --covariates all --predictions cox=cox.csv

    Example: cocensor evaluate --train train.csv --test test.csv --time months --event died --covariates age,stage
    --id patient --predictions cox=cox.csv --predictions rsf=rsf.parquet --out report.html
    """
    with refusing():
        evaluated(inputs, options, outputs, cluster, study_file, context.meta.get("plan", {}))


def evaluated(
    inputs: Inputs,
    options: PlanOptions,
    outputs: Outputs,
    cluster: Cluster,
    study_file: StudyFile,
    saved: Mapping[str, Any],
) -> None:
    """Evaluate, write and tell; ``saved`` are the arguments of the plan in a study file."""
    out, json, save_config = outputs.out, outputs.json, study_file.save_config
    read = [inputs.test, *(path for path in (inputs.train, study_file.config) if path is not None)]
    written = {
        "out": (out, (".html", ".htm")),
        "json": (json, (".json",)),
        "save-config": (save_config, (".toml",)),
    }
    check_outputs([*read, *inputs.files.values()], **written)
    if outputs.title is not None and out is None:
        raise ValueError("--title belongs to the report: give --out too.")
    inputs.check()
    notes: list[Note] = [*inputs.columns.notes]
    plan = plan_of(options, saved, inputs, study_file.config)
    saved_text = None if save_config is None else study_text(inputs, plan, outputs, save_config)
    in_batches = is_streamed(inputs, cluster)
    if in_batches:
        check_streamed(inputs, plan)
    unprinted: OSError | None = None
    groups: Any = None
    with starting_over(in_batches):
        with progress_bar() as phase, collected(UserWarning) as warned:
            if in_batches:
                result = scored_in_batches(inputs, plan, cluster, phase, notes)
            else:
                result, groups = scored(inputs, plan, phase, notes)
        if inputs.strict:
            left_out = {*inputs.files, *inputs.risks} - set(result.data.predictions)
            check_refused(
                {note.about.model: note.text for note in result.notes if note.about.model in left_out}
            )
        notes += [noted("warned", why=text) for text in warned]
        result = replace(result, notes=(*notes, *result.notes))
        try:
            for line in _scores(result):
                say(line)
        except OSError as error:  # files are written first
            unprinted = error
        with progress_bar() as phase:
            for_report = out is not None or json is not None
            hint = outputs.hint
            report = full_report(result, hint=hint, hazard_ratio_by=groups, phases=phase, curves=for_report)
            with written_together(out, json, save_config) as (page, numbers_file, toml):
                if page is not None and out is not None:
                    phase(f"Writing {out.name}")
                    report.to_html(page, outputs.title)
                if numbers_file is not None and json is not None:
                    phase(f"Writing {json.name}")
                    report.to_json(numbers_file)
                if toml is not None and saved_text is not None:
                    toml.write_text(saved_text, encoding="utf-8")
            phase("Summing up")
            further = beside_scores(report)
    if unprinted is not None:
        raise unprinted
    if report.hint is not None and result.data.assumed.hint is None:  # else it came with the scores
        further.append(report.hint.statement)
    for line in further:
        say(f"\n{line}")
    for path, content in ((out, "The report is"), (json, "All numbers are"), (save_config, "The study is")):
        if path is not None:
            say(f"{content} in {path}.")


def _scores(result: cc.Evaluation) -> list[str]:
    """Scores, and what must be known of them."""
    fit = joint_fit(result)
    # A misfit is among the cautions already.
    fit_in_words = [] if fit is None or fit.failed else [fit.statement]
    return [repr(result), *fit_in_words, *minor_notes(result)]
