"""The plan of a study, as options and study files ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cocensor as cc
from cocensor._checks import as_choice, check_choice
from cocensor.cli.inputs import Inputs
from cocensor.cli.options import assumption, called, given, items, numbers, option_group, score
from cocensor.metrics.registry import metric_kinds, metric_labels, settings_of
from cocensor.study.plan import DEFAULT_METRICS, SETS, Plan, check_has_ratios

# The setting that a metric needs, and an example of it.
_EXAMPLES = {"threshold": 0.2, "floor": 0.01}
_SETTINGS = {
    name: (setting, _EXAMPLES.get(setting, 0.1))
    for name, kind in metric_kinds().items()
    for setting, needed in settings_of(kind).items()
    if needed
}


@option_group
class PlanOptions:
    """Options that stand for a plan; what is not given is as a study file says, or as it is by default."""

    copula: str | None = assumption(
        "FAMILY",
        "Assumed dependence of event and dropout given the predictions and any covariates: independence (by "
        "default), select (by likelihood), or, with --tau, clayton, frank, gumbel, joe or gaussian.",
    )
    tau: float | None = assumption(None, "Kendall's τ of the copula.")
    adjustments: str | None = assumption(
        "A,B,...",
        f"One or more of {', '.join(cc.adjustments.adjustment_names())}, or paper (ipcw, imputation and those "
        "of the paper). By default ipcw and imputation.",
    )
    families: str | None = assumption(
        "A,B,...",
        "Copula families of the sensitivity analysis, and hazard_ratio (after dropout). By default all.",
    )
    taus: str | None = assumption(
        "T,T,...",
        "Values of Kendall's τ in the sensitivity analysis. By default -0.3, or the lowest plausible one, to 0.9 "
        "in steps of 0.1.",
    )
    hazard_ratios: str | None = assumption(
        "R,R,...",
        "Hazard ratios after dropout in the sensitivity analysis, relative to similar subjects still under "
        "observation. By default 0.5,1,1.5,2,3,5 and the ends of the plausible range.",
    )
    plausible: str | None = assumption(
        "LOW,HIGH",
        "The range of Kendall's τ that you consider plausible, such as 0,0.3. By default -0.2,0.2.",
    )
    metrics: str | None = score(
        "A,B,...",
        f"One or more of {', '.join(cc.metrics.metric_names())}, or default ({', '.join(DEFAULT_METRICS)}). The first "
        "decides which model is best. net_benefit:0.2 is at the risk at which one would treat, ils:0.01 raises smaller "
        "probabilities to 0.01.",
    )
    at: str | None = score(
        "T,T,...",
        "Times for metrics at single times, such as brier and auc: for example 12,24,60. By default the quartiles "
        "of the event times for the default metrics, and the horizon for others.",
    )
    margin: float | None = score(
        None,
        "Differences of the first metric within ± this are too small to matter, such as 0.005. By default 1% of the "
        "score of the Kaplan–Meier curve.",
    )
    horizon: str | None = score(
        "TIME",
        "End of the scored interval: a time, t_max, or the share still at risk, such as 10%. By default 5% or the "
        "end of the predictions, whichever comes first.",
    )
    confidence: str | None = score(
        "LEVEL",
        "Confidence level of the intervals of scores and differences, or none for no intervals. By default 0.95.",
    )
    bootstrap: int | None = score(
        "N",
        "Number of bootstrap samples, such as 500, for the intervals of the scores. All adjustments are refitted "
        "to each. Intervals over time and over other copulas still come from formulas.",
    )
    seed: int | None = score("N", "Seed of the bootstrap. By default 0.")


#: Arguments of :meth:`Plan.of` that are not called as their options.
_ARGUMENTS = {"confidence": "confidence_level", "bootstrap": "n_resamples"}
_SENSITIVITY = ("families", "taus", "hazard_ratios", "plausible")
#: Options that make one argument together with others.
_TOGETHER = ("copula", "tau", "metrics")
_NUMBERS = ("at", "taus", "hazard_ratios", "plausible")


def plan_of(options: PlanOptions, saved: Mapping[str, Any], inputs: Inputs, file: Path | None = None) -> Plan:
    """Return the plan of options and, for the rest, of a study file, of whose plan ``saved`` are the arguments."""
    values, axis = given(options), inputs.columns.time_axis
    arguments: dict[str, Any] = {"time_name": axis.name, "time_unit": axis.unit, **saved}
    arguments["sensitivity"] = {**saved.get("sensitivity", {})}
    for name, value in values.items():
        place = arguments["sensitivity"] if name in _SENSITIVITY else arguments
        if name not in _TOGETHER:
            place[_ARGUMENTS.get(name, name)] = _read(name, value)
    if {"copula", "tau"} & set(values):
        arguments["copula"] = _copula(options, saved.get("copula"))
    if options.metrics is not None:
        arguments["metrics"] = _metrics(options.metrics)
    by_argument = {argument: name for name, argument in _ARGUMENTS.items()}

    def named(argument: str) -> str:
        name = by_argument.get(argument, argument)
        return f"{file}: {argument}" if file and name not in values else called(name)

    plan = Plan.of(**arguments, named=named)
    if inputs.covariates is None and plan.adjustment_set is None:
        for planned in plan.adjustments:
            if "covariates" in planned.adjustment.needs:
                raise ValueError(f"--covariates are needed for the adjustment {planned.name!r}.")
    if plan.n_resamples is None and options.seed is not None:
        raise ValueError(f"--seed must come with --bootstrap, but is {options.seed} without it.")
    if plan.n_resamples is not None and plan.confidence_level is None:
        raise ValueError(
            f"--bootstrap computes intervals and must not come with --confidence none, but is {plan.n_resamples}."
        )
    if inputs.hazard_ratio_by is not None:
        check_has_ratios(plan.sensitivity.families, "--hazard-ratio-by", called)
    return plan


def _read(name: str, value: Any) -> Any:
    """Return the argument that the text of an option stands for."""
    option = called(name)
    if name in _NUMBERS:
        return numbers(value, option)
    if name in ("families", "adjustments"):
        return value if value in SETS else items(value, option)
    if name == "horizon" and value != "t_max":
        number = _number(value.removesuffix("%"), value, option, "a time, t_max or a share such as 10%")
        return {"at_risk": number / 100} if value.endswith("%") else number
    if name == "confidence":
        return None if value == "none" else _number(value, value, option, "a level such as 0.95, or none")
    return value


def _number(text: str, value: str, option: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} must be {rule}, but is {value!r}.") from None


def _copula(options: PlanOptions, saved: Any) -> Any:
    """Return the copula of ``--copula`` and ``--tau``, of which one alone changes what a study file says."""
    in_file: str = saved if isinstance(saved, str) else getattr(saved, "name", "independence")
    family = options.copula or in_file
    check_choice(family, "--copula", ("select", *cc.copulas.copula_families()))
    if family in ("select", "independence"):
        if options.tau is not None:
            raise ValueError(f"--tau must come with a copula family in --copula, but that is {family}.")
        return "select" if family == "select" else None
    if options.tau is None:
        raise ValueError(f"--tau is needed for the {family} copula.")
    return cc.copula(family, tau=options.tau)


def _metrics(text: str) -> str | list[cc.metrics.Metric]:
    """Return metrics by name, with a setting after a colon for those that need one."""
    labels, chosen = {"default": "default", **metric_labels()}, list[cc.metrics.Metric]()
    for item in items(text, "--metrics"):
        name, *setting = item.split(":")
        name = as_choice(name, "--metrics", labels)
        if name == "default":
            if text != item:
                raise ValueError(f"--metrics must be default alone, or names without it, but is {text!r}.")
            return "default"
        if len(setting) != (name in _SETTINGS):
            needed = f"{name}:{_SETTINGS[name][1]:g}" if name in _SETTINGS else name
            raise ValueError(f"--metrics {name} must be given as {needed}, but is {item!r}.")
        values = {_SETTINGS[name][0]: numbers(setting[0], "--metrics")[0]} if setting else {}
        chosen.append(cc.metric(name, **values))
    return chosen
