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
    """The code that gives the same results; objects of the user's own code are shown by their settings."""
    evaluation, data, axis = report.evaluation, report.evaluation.data, report.evaluation.data.time_axis
    samples, streamed, covariates = data.samples, data.streamed, evaluation.plan.covariates
    given = {
        "y_train": samples.y_train is not None and "y_train",
        "x_train": samples.x_train is not None and "x_train",
        "covariates": covariates != "all" and repr(None if covariates is None else list(covariates)),
        "folds": samples.folds is not None and "folds",
        "true_times": evaluation.truth is not None and "true_times",
        "time_name": axis.name is not None and repr(axis.name),
        "time_unit": axis.unit is not None and repr(axis.unit),
        "margin": evaluation.plan.margin is not None and repr(evaluation.plan.margin),
    }
    positional, call = ["models", "y_test"], "cc.evaluate("
    if covariates != "all" or samples.x_test is not None:
        positional.append("x_test")
    if streamed is not None:
        positional, call = [], "scan.evaluate("
        given |= {"n_fit": str(len(streamed.learning.samples.y_test)), "n_kept": str(len(samples.y_test))}
    arguments = ", ".join([*positional, *(f"{name}={text}" for name, text in given.items() if text)])
    indent = " " * len(f"result = {call}")
    end = "times=times" if data.horizon.by == "times" else f"horizon={data.horizon.time!r}"
    by_origin = {"selected": '"select"', "independence": "None", "unused": "None"}
    copula = by_origin.get(data.assumed.origin) or _from_tau(data.assumed.copula)
    level = data.confidence_level
    intervals = "" if level == DEFAULT_LEVEL else f", confidence_level={level!r}"
    adjustments, own = _adjustments(evaluation)
    own += [metric.name for metric in data.metrics if metric.family not in metric_names()]
    lines = ["import cocensor as cc", ""]
    if own:
        objects = f"{', '.join(map(repr, own))} {'is an object' if len(own) == 1 else 'are objects'}"
        lines.insert(0, f"# {objects} of your own code: these lines alone do not reproduce the numbers.")
    if streamed is not None:
        lines.append("scan = cc.scan_parquet(...)  # or cc.scale.scan_chunks(...)")
    lines += [
        f"result = {call}{arguments},",
        f"{indent}adjustments={adjustments},",
        f"{indent}metrics={_metrics(evaluation)}, {end}, copula={copula}{intervals})",
    ]
    return "\n".join([*lines, *_bootstrap(evaluation), *_analyses(report)])


def _from_tau(copula: Copula) -> str:
    """A copula by the shortest τ that gives the same one, or by its θ where none does."""
    kind, tau = type(copula), float(copula.tau)
    if not copula.is_independence:
        for digits in range(1, _MOST_DIGITS + 1):
            rounded = float(f"{tau:.{digits}g}")
            if kind.from_tau(rounded) == copula:
                return f"cc.{kind.__name__}.from_tau({rounded!r})"
    return f"cc.{copula!r}"


def _bootstrap(evaluation: Evaluation) -> list[str]:
    """The bootstrap that errors are from; where only some adjustments have one, they are named."""
    drawn: dict[tuple[int, int], list[str]] = {}
    for name, scores in evaluation.results.items():
        if scores.resampling is not None:
            drawn.setdefault((scores.resampling.n_resamples, scores.resampling.seed), []).append(name)
    return [
        f"result = result.bootstrap({n}, seed={seed}"
        + (")" if names == list(evaluation.results) else f", adjustments={names!r})")
        for (n, seed), names in drawn.items()
    ]


def _sensitivity(sensitivity: Sensitivity) -> list[str]:
    """The call that gives the same grid."""
    grid, after, plausible = sensitivity.over_tau, sensitivity.over_ratio, sensitivity.plausible
    families = [*grid.lines, *([] if after is None else [HAZARD_RATIO])]
    arguments = [f"{families=}", f"taus={list(grid.points)!r}", f"adjustments={list(grid.answers)!r}"]
    if after is not None:
        arguments.append(f"hazard_ratios={list(after.points)!r}")
        lines = set(after.lines[1:])
        if lines and lines != set(sensitivity.evaluation.data.samples.y_test.reasons):
            arguments.append("hazard_ratio_by=groups")
    if plausible.origin == "asked":
        arguments.append(f"plausible={(plausible.low, plausible.high)!r}")
    start = "sensitivity = result.sensitivity("
    return (start + f",\n{' ' * len(start)}".join(arguments) + ")").split("\n")


def _analyses(report: Report) -> list[str]:
    """The sensitivity analysis, and the call that writes the page."""
    lines, arguments = list[str](), list[str]()
    if report.sensitivity is not None:
        lines = _sensitivity(report.sensitivity)
        arguments.append("sensitivity=sensitivity")
    if report.profile is not None:
        arguments.append("hint=True")
    return [*lines, f'result.full({", ".join(arguments)}).to_html("report.html")']


def _metrics(evaluation: Evaluation) -> str:
    """The metrics as code, and the single times that they were asked for at."""
    metrics: list[Any] = list(evaluation.data.metrics)
    bare = tuple(dict.fromkeys(by if by.at is None else replace(by, at=None) for by in metrics))
    at = evaluation.data.at
    if at and at_single_times(bare, at) == evaluation.data.metrics:
        return f"[{', '.join(map(_metric, bare))}], at={list(at)!r}"
    return f"[{', '.join(map(_metric, metrics))}]"


def _metric(metric: Metric) -> str:
    """A metric as code: its name, with its settings if it has any; one that is not known by name as it shows itself."""
    if metric.family not in metric_names():
        return repr(metric)
    own: tuple[Field[Any], ...] = fields(metric) if is_dataclass(metric) else ()
    settings = "".join(
        f", {setting.name}={value!r}"
        for setting in own
        if (value := getattr(metric, setting.name)) != setting.default or setting.default is MISSING
    )
    return f"cc.metric({metric.family!r}{settings})" if settings else repr(metric.family)


def _adjustments(evaluation: Evaluation) -> tuple[str, list[str]]:
    """The adjustments as code, and the names of those that are objects of the user's own."""
    own = [name for name in evaluation.results if not _is_known(evaluation, name)]
    if not own:
        return repr(list(evaluation.results)), []
    values = [
        f"{name!r}: {(scores.adjustment if name in own else name)!r}"
        for name, scores in evaluation.results.items()
    ]
    return f"{{{', '.join(values)}}}", own


def _is_known(evaluation: Evaluation, name: str) -> bool:
    """Whether the name of an adjustment stands for it."""
    assumed, takes_copula = evaluation.data.assumed, name in adjustment_names() and needs_copula(name)
    # Where the copula is not used, a fitted one was given.
    if name not in adjustment_names() or (takes_copula and assumed.origin == "unused"):
        return False
    known = adjustment(name, copula=assumed.copula if takes_copula else None)
    return known == evaluation.results[name].adjustment
