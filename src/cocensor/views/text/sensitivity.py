"""A sensitivity analysis in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from cocensor._checks import escaped
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.bounding import has_bounds
from cocensor.study.standing import rankable
from cocensor.views.text.bounds import (
    bounds_in_words,
    certain_in_words,
    open_in_words,
    pairs_from_leader,
    why_no_bounds,
)
from cocensor.views.text.checks import nothing_to_rank
from cocensor.views.text.names import BARE, Names, as_noun, listed, quoted
from cocensor.views.text.plausible import plausible_tau_in_words
from cocensor.views.text.verdict import (
    Tau,
    along_in_words,
    lead_in_words,
    lost_in_words,
    plausible_in_words,
    ratios_in_words,
    span_in_words,
)

_OVER = {"plausible": "plausible range, as far as it was tried", "grid": "grid"}


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """What a terminal shows of a sensitivity analysis."""
    tau = Tau()
    lines = tau.told(chain([_over_what(sensitivity, tau)], _told(sensitivity, BARE, tau)))
    return "\n".join([*lines, *filter(None, [ratios_in_words(sensitivity.verdict.over_ratios)])])


def _over_what(sensitivity: Sensitivity, tau: Tau) -> str:
    grid = sensitivity.over_tau
    low, high = min(grid.points), max(grid.points)
    taus = f"{tau} from {low:g} to {high:g}" if low < high else f"{tau} = {low:g}"
    labels = listed([as_noun(sensitivity.evaluation.results[name].label) for name in grid.answers])
    return f"Sensitivity of {labels} over {', '.join(grid.lines)}; {taus}."


def sensitivity_in_words(sensitivity: Sensitivity, names: Names = BARE) -> str:
    """Who is told from whom, and how far along τ, by the primary adjustment and the first metric."""
    tau = Tau()
    return " ".join(tau.told(_told(sensitivity, names, tau)))


def _told(sensitivity: Sensitivity, names: Names, tau: Tau) -> Iterator[str]:
    evaluation, grid, verdict = sensitivity.evaluation, sensitivity.over_tau, sensitivity.verdict
    label, metric, able = quoted(evaluation, grid.primary), verdict.standing.metric, rankable(evaluation)
    if not grid.leaders():
        yield f"By {label} there is no {metric.label} at any point of the grid."
    elif not verdict.tried:
        yield f"The grid is of {label}, which no verdict counts."
    elif not evaluation.data.anybody_left:
        yield "Nobody dropped out: there is no dependence to vary."
    elif not able:
        yield nothing_to_rank(evaluation, names)
    elif len(able) == 1:
        yield plausible_in_words(verdict, tau)
        what = f"the {metric.label} of {names.model(able[0])}, scored with {label}, lies between"
        for over, span in verdict.spans.items():
            if over != "grid" and span == verdict.spans["grid"]:
                continue
            yield f"Over the {_OVER[over]}, {what} {span_in_words(span, verdict.standing.level)}."
    else:
        yield f"By the {metric.label}, scored with {label}:"
        yield lead_in_words(verdict, names, tau)
        yield from along_in_words(verdict, names, tau)
        yield lost_in_words(verdict, names)
        if verdict.silent:
            yield f"Under {names.families(verdict.silent)} there is no answer."


def beside_scores(report: Report) -> list[str]:
    """What a terminal shows after the scores: what is certain, how far the answer holds, what is open, benchmarks."""
    evaluation, bounds, covariates = report.evaluation, report.bounds_by(), report.benchmarks
    said = [] if bounds is None else [certain_in_words(bounds)]
    said += [] if report.sensitivity is None else [sensitivity_as_text(report.sensitivity)]
    if bounds is None and not has_bounds(evaluation.data.metrics[0]):
        said.append(why_no_bounds(evaluation))
    elif bounds is not None:
        pairs = pairs_from_leader(evaluation, bounds)
        said.append(open_in_words(bounds, pairs) if pairs else bounds_in_words(bounds))
    if covariates is not None:
        cautions = [note.text for note in covariates.notes if note.kind == "caution"]
        said.append(" ".join([plausible_tau_in_words(covariates), *cautions]))
    return [escaped(part) for part in said if part]
