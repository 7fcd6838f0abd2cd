"""Evaluations with scores, and errors of them, made up."""

import re
from dataclasses import replace

import numpy as np

from cocensor.inference.estimates import Estimates
from cocensor.metrics import MetricValue
from cocensor.study.data import REFERENCE
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.benchmarks import PlausibleRange
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.sensitivity.run import tau_of_ratio
from cocensor.views.text.face import face
from cocensor.views.text.names import ISOLATE

ROWS = {"a": 0, "twin": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5}


def told(*made_up, **options):
    """What a view shows first, by made-up scores; see ``made``."""
    return face(Report(*made(*made_up, **options)))


def made(
    evaluation,
    grid,
    scores,
    families=None,
    ipcw=None,
    error=None,
    plausible=(-0.2, 0.2),
    ratios=None,
    reference=None,
):
    """An evaluation and a sensitivity analysis: scores of the table by model, on the grid by family, τ and model.

    ``error`` is the standard error of each score, or a dict of them by model, NaN for no interval; None asks for no
    intervals. ``ratios`` are scores by line, hazard ratio after dropout and model. ``reference`` is the score of the
    reference curve, without error.
    """
    models = list(grid[next(iter(grid))][1])
    by_name = {"ipcw": ipcw or scores, "imputation": scores}
    results = {
        name: scored(evaluation.results[name], each, error, reference=reference)
        for name, each in by_name.items()
        if name in evaluation.results
    }
    predictions = dict.fromkeys(models, evaluation.data.predictions["a"])
    data = replace(
        evaluation.data,
        predictions=predictions,
        models=tuple(models),
        confidence_level=None if error is None else 0.95,
    )
    changed = replace(evaluation, results=results, data=data)
    benchmarks = None
    if evaluation.data.samples.x_test is not None and evaluation.data.samples.y_test.n_events > 20:
        benchmarks = evaluation.benchmarks()
    after = None
    if ratios is not None:
        after = Grid(changed, "hazard_ratio", *_lines(results["imputation"], ratios, error, reference), {})
    lines, taus, answers = _lines(results["imputation"], grid, error, reference)
    unknown = benchmarks or ValueError("covariates do not tell.")
    held = PlausibleRange.of(evaluation, unknown, plausible)
    over_tau = Grid(changed, "tau", families or lines, taus, answers, {})
    ratios_of = () if after is None else after.points
    taus = {ratio: tau_of_ratio(evaluation, "imputation", ratio) for ratio in ratios_of}
    return changed, Sensitivity(changed, over_tau, after, held, benchmarks, taus)


def _lines(base, grid, error, reference):
    """Lines, points and answers of a grid."""
    answers = {
        line: {
            point: scored(base, {model: scores[k] for model, scores in by_model.items()}, error, k, reference)
            for k, point in enumerate(points)
        }
        for line, (points, by_model) in grid.items()
    }
    points = tuple(sorted({point for line, _ in grid.values() for point in line}))
    return tuple(grid), points, {"imputation": answers}


def scored(result, scores, error, k=0, reference=None):
    """An answer; errors at points of the grid with another ``k`` are independent, "twin" shares those of "a"."""
    known = {model: score for model, score in scores.items() if score is not None}
    values = {"ibs": {model: MetricValue(score) for model, score in known.items()}}
    if error is None:
        return replace(result, values=values, errors={}, batches={})
    errors = {model: error[model] if isinstance(error, dict) else error for model in known}
    rows = np.zeros((len(ROWS), len(known)))
    for column, model in enumerate(known):
        rows[ROWS[model], column] = errors[model]
    unknown = {model: "nobody knows." for model in known if np.isnan(errors[model])}
    rows[:, [model in unknown for model in known]] = np.nan
    names, numbers = tuple(known), list(known.values())
    if reference is not None:
        names, numbers, rows = (
            (*names, REFERENCE),
            [*numbers, reference],
            np.column_stack([rows, 0.0 * rows[:, 0]]),
        )
    estimates = Estimates(names, np.array(numbers), rows, missing=unknown)
    batches = np.concatenate([np.zeros((k * len(ROWS), rows.shape[1])), rows])
    return replace(result, values=values, errors={"ibs": estimates}, batches={"ibs": batches})


def plain(text):
    if isinstance(text, tuple):
        return tuple(map(plain, text))
    return text.translate({ord(mark): None for mark in ISOLATE})


def says(text, *facts):
    """Whether a text has these, as whole words and in this order."""
    return re.search(".*".join(rf"(?<!\w){re.escape(fact)}(?!\w)" for fact in facts), text) is not None
