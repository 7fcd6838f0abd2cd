"""A plan in TOML, and back: all that differs from the default, by registered names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from inspect import signature
from typing import Any

from cocensor._checks import check_choice
from cocensor.adjustments import Adjustment, adjustment, adjustment_names
from cocensor.adjustments.registry import needs_copula
from cocensor.copulas import Copula, Independence, copula, copula_families
from cocensor.metrics import Metric, metric
from cocensor.metrics.registry import metric_kinds
from cocensor.study.plan import AtRisk, Plan, Planned, SensitivityPlan

#: What stands for None where that is not the default.
_FOR_NONE = {"covariates": [], "confidence_level": "none"}


def plan_values(plan: Plan) -> dict[str, Any]:
    """The arguments of :meth:`Plan.of` that differ from the default, as TOML can hold them."""
    default, values = Plan.of(), dict[str, Any]()
    if plan.adjustments != default.adjustments or plan.adjustment_set != default.adjustment_set:
        registered = {planned.name: _registered(planned) for planned in plan.adjustments}
        unnamed = all(name == value for name, value in registered.items())
        values["adjustments"] = plan.adjustment_set or (list(registered) if unnamed else registered)
    if not plan.default_metrics:
        values["metrics"] = [_metric_value(metric) for metric in plan.metrics]
    for name in ("times", "at", "covariates", "n_resamples", "seed", "confidence_level", "margin"):
        value = getattr(plan, name)
        if value != getattr(default, name):
            values[name] = _FOR_NONE[name] if value is None else value
    if (horizon := plan.horizon) is not None:
        values["horizon"] = {"at_risk": horizon.share} if isinstance(horizon, AtRisk) else horizon
    if plan.copula is not None:
        values["copula"] = plan.copula if isinstance(plan.copula, str) else _copula_value(plan.copula)
    for name, value in (("time_name", plan.time_axis.name), ("time_unit", plan.time_axis.unit)):
        if value is not None:
            values[name] = value
    sensitivity = _settings(plan.sensitivity)
    return values | ({"sensitivity": sensitivity} if sensitivity else {})


def _settings(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from the default."""
    own = [field for field in fields(value) if field.init and getattr(value, field.name) != field.default]
    return {field.name: getattr(value, field.name) for field in own}


def _registered(planned: Planned) -> str | dict[str, Any]:
    """Return the registered name that makes an adjustment, with its copula where that is its own."""
    own = getattr(planned.adjustment, "copula", None)
    for name in adjustment_names():
        if needs_copula(name):
            if isinstance(own, Copula) and adjustment(name, copula=own) == planned.adjustment:
                return name if planned.takes_copula else {"name": name, "copula": _copula_value(own)}
        elif not planned.takes_copula and adjustment(name) == planned.adjustment:
            return name
    raise ValueError(
        f"adjustments must be registered to be written to a file, but no name makes {planned.adjustment!r}: "
        "register_adjustment gives it one."
    )


def _metric_value(value: Metric) -> Any:
    """Return the name of a registered metric, with its settings where it has some that are not the default."""
    if metric_kinds().get(value.family) is not type(value):
        raise ValueError(
            f"metrics must be registered to be written to a file, but no name makes {value!r}: register_metric gives "
            "it one."
        )
    settings = _settings(value)
    return {"name": value.family, **settings} if settings else value.family


def _copula_value(value: Copula) -> dict[str, Any]:
    if copula_families().get(value.name) is not type(value):
        raise ValueError(f"copula must be of a known family to be written to a file, but is {value!r}.")
    if value.is_independence:
        return {"family": value.name}
    for tau in (float(f"{value.tau:.6g}"), float(value.tau)):  # better known to readers than θ
        if copula(value.name, tau=tau) == value:
            return {"family": value.name, "tau": tau}
    return {"family": value.name, "theta": float(value.theta)}


def toml_line(key: str, value: Any) -> str:
    """A key and its value in TOML, the key in quotes where it must be."""
    bare = key.replace("_", "a").replace("-", "a").isalnum() and key.isascii()
    return f"{key if bare else _toml_value(key)} = {_toml_value(value)}"


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(toml_line(*item) for item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # JSON escapes what TOML must have escaped, but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(float(value) if isinstance(value, float) else value)  # of numpy's floats too
    raise ValueError(f"a file can hold texts, numbers and lists of these, but not {value!r}.")


def plan_arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of :meth:`Plan.of` that stand in a TOML file."""
    arguments = dict(values)
    check_keys(values, [name for name in signature(Plan.of).parameters if name != "named"], "a plan")
    if isinstance(adjustments := values.get("adjustments"), Mapping):
        arguments["adjustments"] = {name: _adjustment_of(value, name) for name, value in adjustments.items()}
    if "metrics" in values:
        listed = values["metrics"] if isinstance(values["metrics"], list) else [values["metrics"]]
        arguments["metrics"] = "default" if listed == ["default"] else [_metric_of(value) for value in listed]
    if "copula" in values:
        arguments["copula"] = _copula_of(values["copula"])
    for name, for_none in _FOR_NONE.items():
        if values.get(name) == for_none:
            arguments[name] = None
    if "sensitivity" in values:
        check_keys(values["sensitivity"], [field.name for field in fields(SensitivityPlan)], "sensitivity")
    return arguments


def check_keys(values: Any, keys: list[str], what: str) -> None:
    """Refuse keys of a table that it does not have, with the nearest that it has."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be a table of keys and values, but is {values!r}.")
    for key in values:
        if key not in keys:
            near = get_close_matches(key, keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"its keys are {', '.join(keys)}."
            raise ValueError(f"{what} has no key {key!r}: {hint}")


def _adjustment_of(value: Any, name: str) -> str | Adjustment:
    if not isinstance(value, Mapping):
        # The name of an object that was given without one is its repr.
        registered = adjustment(value) if value in adjustment_names() and not needs_copula(value) else None
        return registered if registered is not None and repr(registered) == name else str(value)
    check_keys(value, ["name", "copula"], "an adjustment")
    if "name" not in value:
        raise ValueError(f"an adjustment must have a name, but is {dict(value)!r}.")
    return adjustment(value["name"], copula=_copula_of(value.get("copula", Independence())))


def _metric_of(value: Any) -> Metric:
    if not isinstance(value, Mapping):
        return metric(value)
    if "name" not in value:
        raise ValueError(f"a metric with settings must have a name, but is {dict(value)!r}.")
    return metric(**value)


def _copula_of(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    check_keys(value, ["family", "tau", "theta"], "copula")
    if "family" not in value:
        raise ValueError(f"copula must have a family, but is {dict(value)!r}.")
    check_choice(value["family"], "the family of copula", tuple(copula_families()))
    return copula(value["family"], tau=value.get("tau"), theta=value.get("theta"))
