"""Sensitivity analyses, and benchmarks by measured covariates, in words."""

from __future__ import annotations

from collections.abc import Iterator

from cocensor._checks import escaped
from cocensor.study.ranking import rankable
from cocensor.study.report import Report
from cocensor.study.sensitivity import CovariateBenchmarks, Sensitivity
from cocensor.study.sensitivity.bounds import has_bounds
from cocensor.views.text.bounds import certain_in_words, still_open_in_words, why_no_bounds
from cocensor.views.text.checks import nothing_to_rank
from cocensor.views.text.digits import from_to, level_in_words
from cocensor.views.text.names import BARE, Names, counted, listed, quoted
from cocensor.views.text.verdict import ratios_in_words, sentences

# A τ that many sensitivity analyses come to.
_EXAMPLE = 0.3
_TINY = 0.005
_LIMIT = (
    "This is a benchmark, not a bound: leaving because the event is near can be stronger than any covariate."
)


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """A sensitivity analysis for a terminal."""
    grid = sensitivity.over_tau
    taus = from_to(min(grid.points), max(grid.points))
    labels = listed([quoted(sensitivity.evaluation, name) for name in grid.answers])
    over = f"Sensitivity of {labels} over {', '.join(grid.lines)}; τ {taus}."
    lines = [over, *_sentences(sensitivity, BARE), ratios_in_words(sensitivity.verdict.over_ratios)]
    return "\n".join(filter(None, lines))


def sensitivity_in_words(sensitivity: Sensitivity, names: Names = BARE) -> str:
    """The verdict over τ, by the primary adjustment and the first metric."""
    return " ".join(filter(None, _sentences(sensitivity, names)))


def _sentences(sensitivity: Sensitivity, names: Names) -> Iterator[str]:
    evaluation, grid, verdict = sensitivity.evaluation, sensitivity.over_tau, sensitivity.verdict
    label = quoted(evaluation, grid.primary)
    if not grid.leaders():
        yield f"By {label} there is no {verdict.standing.metric.label} at any point of the grid."
    elif not verdict.tried:
        yield f"The grid is of {label}, which no verdict counts."
    elif not evaluation.data.anybody_left:
        yield "Nobody dropped out: there is no dependence to vary."
    elif not rankable(evaluation):
        yield nothing_to_rank(evaluation, names)
    else:
        yield from sentences(verdict, names)
        if verdict.silent:
            yield f"Under {names.families(verdict.silent)} there is no answer."


def beside_scores(report: Report) -> list[str]:
    """Lines for a terminal after the scores: what is certain, how far it holds, what is open, benchmarks."""
    evaluation, bounds, covariates = report.evaluation, report.bounds_by(), report.benchmarks
    lines = [] if bounds is None else [certain_in_words(bounds)]
    lines += [] if report.sensitivity is None else [sensitivity_as_text(report.sensitivity)]
    if bounds is None and not has_bounds(evaluation.data.metrics[0]):
        lines.append(why_no_bounds(evaluation))
    elif bounds is not None:
        lines.append(still_open_in_words(evaluation, bounds))
    if covariates is not None:
        cautions = [note.text for note in covariates.notes if note.kind == "caution"]
        lines.append(" ".join([plausible_tau_in_words(covariates), *cautions]))
    return [escaped(line) for line in lines if line]


# --- benchmarks --------------------------------------------------------------------------------------------


def plausible_tau_in_words(benchmarks: CovariateBenchmarks, names: Names = BARE) -> str:
    """The hidden factor that some τ would take, beside the strongest measured one, and what that leaves open."""
    strongest = benchmarks.strongest
    ratio = benchmarks.hidden([_EXAMPLE])[_EXAMPLE]
    # Shrinking is mentioned where it shows.
    before, shrunken = f"{strongest.tau:z.2f}", f"{strongest.shrunken_tau:z.2f}"
    noise = f" ({before} before its noise is allowed for)" if before != shrunken else ""
    together = f" All covariates together induce {_tau(benchmarks.together)}." * (
        len(benchmarks.benchmarks) > 1
    )
    return (
        f"τ = {_EXAMPLE} would take a hidden factor with a hazard ratio of {ratio:.1f} per SD on both event and "
        f"dropout; {names.model(strongest.name)}, the strongest you measured, has {strongest.hazard_ratio_event:.2f} "
        f"on the event and {strongest.hazard_ratio_dropout:.2f} on dropout and induces "
        f"{_tau(strongest.shrunken_tau)}{noise}.{together} {_LIMIT}"
    )


def _tau(tau: float) -> str:
    return f"τ = {tau:.2f}" if abs(tau) >= _TINY else f"|τ| below {_TINY}"


def plausible_tau_as_text(benchmarks: CovariateBenchmarks) -> str:
    """The table of all covariates, and the statement."""
    rows = benchmarks.benchmarks
    width = max(12, *(len(row.name) for row in rows)) + 2
    level = level_in_words(benchmarks.confidence_level)
    lines = [
        f"Which τ of event and dropout leaving out a covariate would induce ({counted(benchmarks.n, 'subject')}, "
        f"{counted(benchmarks.n_events, 'event')}, {counted(benchmarks.n_dropouts, 'dropout')}; hazard ratios per SD, "
        f"{level} intervals)",
        "",
        f"{'covariate':<{width}}{'event':>8}{'dropout':>9}{'τ':>9}{'from':>9}{'to':>9}{'shrunken':>10}",
    ]
    for row in rows:
        lines.append(
            f"{row.name:<{width}}{row.hazard_ratio_event:8.2f}{row.hazard_ratio_dropout:9.2f}{row.tau:z9.3f}"
            f"{row.interval.low:z9.3f}{row.interval.high:z9.3f}{row.shrunken_tau:z10.3f}"
        )
    low, high = benchmarks.together_interval
    lines.append(f"{'all together':<{width}}{'':17}{benchmarks.together:z9.3f}{low:z9.3f}{high:z9.3f}")
    lines.append(f"{'aligned':<{width}}{'':17}{benchmarks.aligned:9.3f}")
    return "\n".join([*lines, "", benchmarks.statement, *map(str, benchmarks.notes)])
