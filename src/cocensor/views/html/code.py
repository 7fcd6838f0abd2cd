"""The calls that gave the numbers of a page; models and outcomes are the user's."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any

from cocensor.adjustments import adjustment, adjustment_names
from cocensor.adjustments.registry import needs_copula
from cocensor.copulas import Copula
from cocensor.metrics import Metric, metric_names
from cocensor.study.data import DEFAULT_LEVEL
from cocensor.study.evaluation import Evaluation
from cocensor.study.plan import HAZARD_RATIO
from cocensor.study.prepare import at_single_times
from cocensor.study.report import Report
from cocensor.study.sensitivity import Sensitivity

# Of a number in double precision.
_MOST_DIGITS = 17


def code(report: Report) -> str:
    """What to run for the same results; objects of the user's own code are shown by their settings."""
    evaluation = report.evaluation
    samples, horizon = evaluation.data.samples, evaluation.data.horizon
    streamed, covariates = evaluation.data.streamed, evaluation.plan.covariates
    given = ["models", "y_test"] if streamed is None else []
    chosen = covariates != "all"
    given += ["x_test"] if streamed is None and (chosen or samples.x_test is not None) else []
    given += ["y_train=y_train"] if samples.y_train is not None else []
    given += ["x_train=x_train"] if samples.x_train is not None else []
    given += [f"covariates={covariates if covariates is None else list(covariates)!r}"] if chosen else []
    given += ["folds=folds"] if samples.folds is not None else []
    given += ["true_times=true_times"] if evaluation.truth is not None else []
    axis = evaluation.data.time_axis
    named = {"time_name": axis.name, "time_unit": axis.unit}
    given += [f"{argument}={text!r}" for argument, text in named.items() if text is not None]
    if streamed is not None:
        given += [f"n_fit={len(streamed.learning.samples.y_test)}", f"n_kept={len(samples.y_test)}"]
    call = "cc.evaluate(" if streamed is None else "scan.evaluate("
    end = "times=times" if horizon.by == "times" else f"horizon={horizon.time!r}"
    copula, indent = _copula(evaluation), " " * len(f"result = {call}")
    asked, own = _adjustments(evaluation)
    own += [each.name for each in evaluation.data.metrics if each.family not in metric_names()]
    level = evaluation.data.confidence_level
    intervals = "" if level == DEFAULT_LEVEL else f", confidence_level={level!r}"
    objects = "is an object" if len(own) == 1 else "are objects"
    listed = ", ".join(map(repr, own))
    remark = f"# {listed} {objects} of your own code: these lines alone do not reproduce the numbers."
    return "\n".join(
        (
            *([remark] if own else []),
            "import cocensor as cc",
            "",
            *([] if streamed is None else ["scan = cc.scan_parquet(...)  # or cc.scale.scan_chunks(...)"]),
            f"result = {call}{', '.join(given)},",
            f"{indent}adjustments={asked},",
            f"{indent}metrics={_metrics(evaluation)}, {end}, copula={copula}{intervals})",
            *_bootstrap(evaluation),
            *_analyses(report),
        )
    )


def _copula(evaluation: Evaluation) -> str:
    """The copula that adjustments by name were given."""
    known = {"selected": '"select"', "independence": "None", "unused": "None"}
    assumed = evaluation.data.assumed
    return known.get(assumed.origin) or _from_tau(assumed.copula)


def _from_tau(copula: Copula) -> str:
    """A copula by the shortest τ that gives the same one, or by its θ where none does."""
    kind, tau = type(copula), float(copula.tau)
    if not copula.is_independence:
        for digits in range(1, _MOST_DIGITS + 1):
            said = float(f"{tau:.{digits}g}")
            if kind.from_tau(said) == copula:
                return f"cc.{kind.__name__}.from_tau({said!r})"
    return f"cc.{copula!r}"


def _bootstrap(evaluation: Evaluation) -> list[str]:
    """The bootstrap that errors are from; of some adjustments, these are named."""
    drawn: dict[tuple[int, int], list[str]] = {}
    for name, each in evaluation.results.items():
        if each.resampling is not None:
            drawn.setdefault((each.resampling.n_resamples, each.resampling.seed), []).append(name)
    return [
        f"result = result.bootstrap({n}, seed={seed}"
        + (")" if names == list(evaluation.results) else f", adjustments={names!r})")
        for (n, seed), names in drawn.items()
    ]


def _sensitivity(found: Sensitivity) -> list[str]:
    """The call that gives the same grid."""
    grid, after = found.over_tau, found.over_ratio
    families = [*grid.lines] if after is None else [*grid.lines, HAZARD_RATIO]
    asked = [
        f"families={families!r}",
        f"taus={list(grid.points)!r}",
        f"adjustments={list(grid.answers)!r}",
    ]
    if after is not None:
        asked.append(f"hazard_ratios={list(after.points)!r}")
        if len(after.lines) > 1 and set(after.lines[1:]) != set(found.evaluation.data.samples.y_test.reasons):
            asked.append("hazard_ratio_by=groups")
    if found.plausible.origin == "asked":
        asked.append(f"plausible={(found.plausible.low, found.plausible.high)!r}")
    start = "sensitivity = result.sensitivity("
    return (start + f",\n{' ' * len(start)}".join(asked) + ")").split("\n")


def _analyses(report: Report) -> list[str]:
    """The calls of what is shown beside the scores, and the one that writes the page."""
    evaluation, lines, handed = report.evaluation, list[str](), list[str]()
    if report.sensitivity is not None:
        lines += _sensitivity(report.sensitivity)
        handed.append("sensitivity=sensitivity")
    if report.bounds:
        calls = [f"result.bounds({_asked(evaluation, each.metric)})" for each in report.bounds]
        handed.append(f"bounds=[{', '.join(calls)}]")
    own = report.sensitivity is None or report.sensitivity.benchmarks is None
    if report.benchmarks is not None and own:
        handed.append("benchmarks=result.benchmarks()")
    if _has_hint(report):
        handed.append("hint=result.suggest_copula()")
    if report.survival is not None:  # it was made by full()
        also = [each for each in handed if each.startswith("sensitivity=")]
        also += ["hint=True"] if report.profile is not None or _has_hint(report) else []
        return [*lines, f'result.full({", ".join(also)}).to_html("report.html")']
    shown = ", ".join(['"report.html"', *handed])
    return [*lines, f"result.to_html({shown})"]


def _has_hint(report: Report) -> bool:
    """Whether a copula was looked for beside the scores."""
    return report.hint is not None and report.evaluation.data.assumed.hint is None


def _asked(evaluation: Evaluation, metric: Metric) -> str:
    """A metric of the evaluation by its name, or at a time of its own."""
    return repr(metric.name) if metric.name in evaluation.metrics else f"{metric.family!r}, at={metric.at!r}"


def _metrics(evaluation: Evaluation) -> str:
    """The metrics as code, and the single times that they were asked for at."""
    known: list[Any] = list(evaluation.data.metrics)
    bare = tuple(dict.fromkeys(each if each.at is None else replace(each, at=None) for each in known))
    at = evaluation.data.at
    if at and at_single_times(bare, at) == evaluation.data.metrics:
        return f"[{', '.join(map(_metric, bare))}], at={list(at)!r}"
    return f"[{', '.join(map(_metric, known))}]"


def _metric(metric: Metric) -> str:
    """A metric as code: its name, with its settings if it has any; one that is not known by name as it shows itself."""
    if metric.family not in metric_names():
        return repr(metric)
    named: tuple[Field[Any], ...] = fields(metric) if is_dataclass(metric) else ()
    settings = "".join(
        f", {each.name}={value!r}"
        for each in named
        if (value := getattr(metric, each.name)) != each.default or each.default is MISSING
    )
    return f"cc.metric({metric.family!r}{settings})" if settings else repr(metric.family)


def _adjustments(evaluation: Evaluation) -> tuple[str, list[str]]:
    """The adjustments as code, and the names of those that are objects of the user's own."""
    own = [name for name in evaluation.results if not _is_known(evaluation, name)]
    if not own:
        return repr(list(evaluation.results)), []
    shown = ", ".join(
        f"{name!r}: {each.adjustment!r}" if name in own else f"{name!r}: {name!r}"
        for name, each in evaluation.results.items()
    )
    return f"{{{shown}}}", own


def _is_known(evaluation: Evaluation, name: str) -> bool:
    """Whether the name of an adjustment stands for it."""
    if name not in adjustment_names():
        return False
    assumed = evaluation.data.assumed
    if needs_copula(name) and assumed.origin == "unused":
        return False  # a fitted one was given
    copula = assumed.copula if needs_copula(name) else None
    return adjustment(name, copula=copula) == evaluation.results[name].adjustment
