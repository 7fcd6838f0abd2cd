"""The calls that gave the numbers of a page; models and outcomes are the user's."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any

from cocensor.adjustments import adjustment, adjustment_names, needs_copula
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.evaluation.asked_metrics import at_single_times
from cocensor.evaluation.findings import DEFAULT_LEVEL
from cocensor.metrics import Metric, metric_names
from cocensor.sensitivity import HAZARD_RATIO, Sensitivity

# Of a number in double precision.
_MOST_DIGITS = 17


def code(evaluation: Evaluation) -> str:
    """What to run for the same results; objects of the user's own code are shown by their settings."""
    samples, horizon = evaluation.data.samples, evaluation.horizon
    streamed = evaluation.data.streamed
    given = ["models", "y_test"] if streamed is None else []
    chosen = not isinstance(evaluation.data.covariates, str) or evaluation.data.covariates != "all"
    given += ["x_test"] if streamed is None and (chosen or samples.x_test is not None) else []
    given += ["y_train=y_train"] if samples.y_train is not None else []
    given += ["x_train=x_train"] if samples.x_train is not None else []
    given += [f"covariates={evaluation.data.covariates!r}"] if chosen else []
    given += ["folds=folds"] if samples.folds is not None else []
    given += ["true_times=true_times"] if evaluation.truth is not None else []
    named = {"time_name": evaluation.time_axis.name, "time_unit": evaluation.time_axis.unit}
    given += [f"{argument}={text!r}" for argument, text in named.items() if text is not None]
    if streamed is not None:
        given += [f"n_fit={len(streamed.learning.samples.y_test)}", f"n_kept={len(samples.y_test)}"]
    call = "cc.evaluate(" if streamed is None else "scan.evaluate("
    end = "times=times" if horizon.by == "times" else f"horizon={horizon.time!r}"
    copula, indent = _copula(evaluation), " " * len(f"result = {call}")
    asked, own = _adjustments(evaluation)
    own += [each.name for each in evaluation.data.metrics if each.family not in metric_names()]
    objects = "is an object" if len(own) == 1 else "are objects"
    listed = ", ".join(map(repr, own))
    remark = f"# {listed} {objects} of your own code: these lines alone do not reproduce the numbers."
    return "\n".join(
        (
            *([remark] if own else []),
            "import cocensor as cc",
            "",
            *([] if streamed is None else ["scan = cc.scan_parquet(...)  # or cc.scan_chunks(...)"]),
            f"result = {call}{', '.join(given)},",
            f"{indent}adjustments={asked},",
            f"{indent}metrics={_metrics(evaluation)}, {end}, copula={copula}{_intervals(evaluation)})",
            *_bootstrap(evaluation),
            *_analyses(evaluation),
            'result.to_html("report.html")',
        )
    )


def _copula(evaluation: Evaluation) -> str:
    """The copula that adjustments by name were given."""
    known = {"selected": '"select"', "independence": "None", "unused": "None"}
    return known.get(evaluation.assumed.origin) or _from_tau(evaluation.assumed.copula)


def _from_tau(copula: Copula) -> str:
    """A copula by the shortest τ that gives the same one, or by its θ where none does."""
    kind, tau = type(copula), float(copula.tau)
    if not copula.is_independence:
        for digits in range(1, _MOST_DIGITS + 1):
            said = float(f"{tau:.{digits}g}")
            if kind.from_tau(said) == copula:
                return f"cc.{kind.__name__}.from_tau({said!r})"
    return f"cc.{copula!r}"


def _intervals(evaluation: Evaluation) -> str:
    """What intervals were asked for, where it is not the default."""
    level = evaluation.confidence_level
    return "" if level == DEFAULT_LEVEL else f", confidence_level={level!r}"


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
    after, families = found.after_dropout, list(found.families)
    asked = [
        f"families={families if after is None else [*families, HAZARD_RATIO]!r}",
        f"taus={list(found.taus)!r}",
        f"adjustments={list(found.answers)!r}",
    ]
    if after is not None:
        asked.append(f"hazard_ratios={list(after.ratios)!r}")
        if len(after.lines) > 1 and set(after.lines[1:]) != set(found.evaluation.data.samples.y_test.reasons):
            asked.append("hazard_ratio_by=groups")
    if found.plausible.origin == "asked":
        asked.append(f"plausible={(found.plausible.low, found.plausible.high)!r}")
    start = "result.sensitivity("
    return (start + f",\n{' ' * len(start)}".join(asked) + ")").split("\n")


def _analyses(evaluation: Evaluation) -> list[str]:
    lines = []
    sensitivity = evaluation.computed("sensitivity")
    if sensitivity is not None:
        lines += _sensitivity(sensitivity)
    lines += [
        f"result.curve_errors({metric!r}, {name!r})"
        for metric in evaluation.metrics
        for name in evaluation.results
        if evaluation.computed_curve_errors(metric, name) is not None
    ]
    lines += [
        f"result.profile_errors({metric!r}, {name!r})"
        for metric in evaluation.metrics
        for name in evaluation.results
        if evaluation.computed_profile_errors(metric, name) is not None
    ]
    lines += [
        f"result.calibration_curve({model!r}, {each.time!r}, {name!r})"
        for name, model, each in evaluation.computed_details("calibration")
    ]
    lines += [
        f"result.d_calibration({model!r}, {name!r})"
        for name, model, _ in evaluation.computed_details("d_calibration")
    ]
    lines += [
        f"result.decision_curve({next(iter(each.values())).time!r}, {name!r})"
        for name, _, each in evaluation.computed_details("decision_curves")
    ]
    lines += [
        f"result.bounds({_asked(evaluation, each.metric)})" for each in evaluation.all_computed("bounds")
    ]
    lines += ["result.plausible_tau()"] if evaluation.computed("plausible_tau") is not None else []
    lines += ["result.copula_hint()"] if evaluation.computed("hint") is not None else []
    lines += ["result.survival_curves()"] if evaluation.computed("survival") is not None else []
    lines += ["result.dependence_profile()"] if evaluation.computed("profile") is not None else []
    return lines


def _asked(evaluation: Evaluation, metric: Metric) -> str:
    """A metric of the evaluation by its name, or at a time of its own."""
    return repr(metric.name) if metric.name in evaluation.metrics else f"{metric.family!r}, at={metric.at!r}"


def _metrics(evaluation: Evaluation) -> str:
    """The metrics as code, and the single times that they were asked for at."""
    known: list[Any] = list(evaluation.data.metrics)
    bare = tuple(dict.fromkeys(each if each.at is None else replace(each, at=None) for each in known))
    if evaluation.at and at_single_times(bare, evaluation.at) == evaluation.data.metrics:
        return f"[{', '.join(map(_metric, bare))}], at={list(evaluation.at)!r}"
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
    if needs_copula(name) and evaluation.assumed.origin == "unused":
        return False  # a fitted one was given
    copula = evaluation.assumed.copula if needs_copula(name) else None
    return adjustment(name, copula=copula) == evaluation.results[name].adjustment
