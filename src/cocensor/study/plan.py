"""The plan of an evaluation: frozen, complete, and without data."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    as_tuple,
    as_vector,
    check_choice,
    check_number,
    check_whole,
    refuse_first,
)
from cocensor._notes import Note, noted
from cocensor.adjustments import Adjustment, Fitted, adjustment
from cocensor.adjustments.registry import adjustment_label, adjustment_name, needs_copula
from cocensor.copulas import ArchimedeanCopula, Copula, Independence, copula_families
from cocensor.copulas.registry import as_taus
from cocensor.data.times import TimeAxis, TimeGrid
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric, metric

AskedAdjustment = str | Adjustment | Fitted
HorizonRule = str | float | Mapping[str, float] | None
#: The name of an argument in a refusal.
Naming = Callable[[str], str]
Several = TypeVar("Several", bound=Sized)
#: Sets of adjustments; "default" where none in particular are wanted.
SETS = {"default": ("ipcw", "imputation"), "paper": ("ipcw", "imputation", "dep", "cg_q")}
#: The metrics of ``metrics="default"``.
DEFAULT_METRICS = ("ibs", "auc", "concordance", "ici")
#: The family, in tables and among ``families``, of scores by hazard ratio after dropout.
HAZARD_RATIO = "hazard_ratio"
FAMILIES = ("clayton", "frank", "gumbel", "joe", "gaussian", HAZARD_RATIO)
RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
_ARCHIMEDEAN = ("dep", "cg_q")


class AtRisk(NamedTuple):
    """A horizon: the largest time at which at least this share is at risk."""

    share: float


@dataclass(frozen=True)
class Planned:
    """One adjustment of a plan, at independence where it takes its copula from the plan."""

    name: str
    label: str
    adjustment: Adjustment
    takes_copula: bool = False

    def under(self, copula: Copula) -> Adjustment:
        """The adjustment under the copula that the plan assumes."""
        return self.adjustment.with_copula(copula) if self.takes_copula else self.adjustment


@dataclass(frozen=True)
class SensitivityPlan:
    """The dependences of a sensitivity analysis; see :meth:`Evaluation.sensitivity`."""

    families: tuple[str, ...] = FAMILIES
    taus: tuple[float, ...] | None = None
    adjustments: tuple[str, ...] | None = None
    hazard_ratios: tuple[float, ...] | None = None
    plausible: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        families: str | Sequence[str] | None = None,
        taus: Any = None,
        adjustments: str | Sequence[str] | None = None,
        hazard_ratios: Any = None,
        plausible: Any = None,
        *,
        named: Naming = str,
    ) -> SensitivityPlan:
        """Check the arguments of :meth:`Evaluation.sensitivity`; ``named`` gives their names in refusals."""
        chosen = FAMILIES if families is None else _as_families(families, named("families"))
        return cls(
            chosen,
            None if taus is None else _as_taus(taus, chosen, named),
            None if adjustments is None else as_tuple(adjustments, named("adjustments"), str),
            None if hazard_ratios is None else _as_ratios(hazard_ratios, chosen, named),
            None if plausible is None else _as_ends(plausible, named("plausible")),
        )

    @property
    def copulas(self) -> tuple[str, ...]:
        """The families of copulas."""
        return tuple(family for family in self.families if family != HAZARD_RATIO)


@dataclass(frozen=True)
class Plan:
    """The plan of an evaluation: values alone, no data, models, paths or scheduler.

    :func:`evaluate` makes one of its arguments, the command line of its options; :meth:`to_toml` writes it.

    Attributes
    ----------
    adjustments : tuple of Planned
    adjustment_set : str or None
        "default" or "paper" where they were given as a set: what cannot be used of one is left out.
    metrics : tuple of Metric
    default_metrics : bool
        Whether they are the default ones, which single times and models may add to.
    times, at, horizon, copula, covariates, confidence_level
        As in :func:`evaluate`, each in one form: times and columns as tuples, a share at risk as :class:`AtRisk`.
    n_resamples, seed : int
        The bootstrap; None for intervals from formulas.
    time_axis : TimeAxis
        What time is called, and its unit.
    margin : float, dict or None
        Differences that are too small to matter; see :func:`evaluate`.
    sensitivity : SensitivityPlan
        The defaults of :meth:`Evaluation.sensitivity`.

    Examples
    --------
    >>> import cocensor as cc
    >>> plan = cc.Plan.of(metrics=["ibs", "auc"], at=[12, 24], copula=cc.Clayton(2.0))
    >>> [metric.name for metric in plan.metrics]
    ['ibs', 'auc']
    >>> print(plan.to_toml())
    metrics = ["ibs", "auc"]
    at = [12.0, 24.0]
    copula = {family = "clayton", tau = 0.5}
    >>> cc.Plan.from_toml(plan.to_toml()) == plan
    True
    """

    adjustments: tuple[Planned, ...]
    adjustment_set: str | None
    metrics: tuple[Metric, ...]
    default_metrics: bool
    times: tuple[float, ...] | None = None
    at: tuple[float, ...] | None = None
    horizon: Literal["t_max"] | float | AtRisk | None = None
    copula: Copula | Literal["select"] | None = None
    covariates: Literal["all"] | tuple[str | int, ...] | None = "all"
    confidence_level: float | None = 0.95
    n_resamples: int | None = None
    seed: int = 0
    time_axis: TimeAxis = field(default_factory=TimeAxis)
    margin: float | Mapping[str, float] | None = None
    sensitivity: SensitivityPlan = field(default_factory=SensitivityPlan)

    @classmethod
    def of(
        cls,
        *,
        adjustments: AskedAdjustment | Sequence[AskedAdjustment] | Mapping[str, AskedAdjustment] = "default",
        metrics: str | Metric | Sequence[str | Metric] = "default",
        times: npt.ArrayLike | None = None,
        at: npt.ArrayLike | None = None,
        horizon: HorizonRule = None,
        copula: Any = None,
        covariates: Any = "all",
        confidence_level: float | None = 0.95,
        n_resamples: int | None = None,
        seed: int = 0,
        time_name: str | None = None,
        time_unit: str | None = None,
        margin: float | Mapping[str, float] | None = None,
        sensitivity: SensitivityPlan | Mapping[str, Any] | None = None,
        named: Naming = str,
    ) -> Plan:
        """Check the arguments of :func:`evaluate` as far as that takes no data.

        The plan holds the value of an adjustment that is fitted already, and of a copula that was chosen: what was
        fitted is data. ``named`` gives the name of an argument in refusals.
        """
        by_default = isinstance(metrics, str) and metrics == "default"
        chosen = _as_metrics(DEFAULT_METRICS if by_default else metrics, named("metrics"))
        if confidence_level is not None:
            confidence_level = check_number(confidence_level, named("confidence_level"), lower=0.0, upper=1.0)
        if isinstance(sensitivity, Mapping):
            sensitivity = SensitivityPlan.of(**sensitivity, named=named)
        as_set = adjustments if isinstance(adjustments, str) and adjustments in SETS else None
        plan = cls(
            _as_adjustments(adjustments, named("adjustments")),
            as_set,
            chosen,
            by_default,
            _as_scored_times(times, chosen, horizon, named("horizon")),
            _as_single_times(at, chosen, named("at")),
            _as_horizon(horizon, named("horizon")),
            _as_copula(copula, named("copula")),
            _as_columns(covariates),
            confidence_level,
            None if n_resamples is None else check_whole(n_resamples, named("n_resamples"), 2),
            check_whole(seed, named("seed"), 0),
            TimeAxis(time_name, time_unit),
            _as_margin(margin, chosen, named("margin")),
            sensitivity or SensitivityPlan(),
        )
        if isinstance(plan.copula, Copula):
            plan.under(plan.copula)  # refuses a copula that an adjustment cannot rest on
        return plan

    @property
    def takes_copula(self) -> bool:
        """Whether any adjustment takes its copula from the plan."""
        return any(planned.takes_copula for planned in self.adjustments)

    def under(self, copula: Copula) -> tuple[dict[str, tuple[str, Adjustment]], list[Note]]:
        """By name the label of each adjustment, and the adjustment under a copula; and what a set leaves out."""
        left_out: list[Planned] = []
        if self.adjustment_set is not None and not isinstance(copula, ArchimedeanCopula):
            left_out = [planned for planned in self.adjustments if planned.name in _ARCHIMEDEAN]
        labels = [planned.label for planned in left_out]
        notes = [noted("paper_needs_archimedean", adjustments=labels)] if labels else []
        kept = (planned for planned in self.adjustments if planned not in left_out)
        return {planned.name: (planned.label, planned.under(copula)) for planned in kept}, notes

    def to_toml(self) -> str:
        """The plan as TOML: all that is not as it is by default. A value that no registered name makes is refused."""
        from cocensor.study.plan_toml import plan_values, toml_line

        return "\n".join(toml_line(key, value) for key, value in plan_values(self).items())

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """The plan that :meth:`to_toml` wrote."""
        from cocensor.study.plan_toml import plan_arguments

        try:
            values = tomllib.loads(text)
        except (RecursionError, ValueError) as error:
            raise ValueError(f"a plan must be TOML, but is not: {error}.") from None
        return cls.of(**plan_arguments(values))


def _as_metrics(metrics: Any, name: str) -> tuple[Metric, ...]:
    """Return metrics by name or as they are, each once."""
    listed = _filled(as_tuple(metrics, name, str, Metric), name)
    chosen = tuple(value if isinstance(value, Metric) else metric(value) for value in listed)
    check_differ(chosen, name)
    return chosen


def check_differ(metrics: Sequence[Metric], name: str = "metrics") -> None:
    """Refuse metrics of the same name."""
    names = [by.name for by in metrics]
    if len(set(names)) < len(names):
        raise ValueError(f"{name} must have different names, but are {', '.join(names)}.")


def _as_scored_times(
    times: Any, metrics: Sequence[Metric], horizon: HorizonRule, name: str
) -> tuple[float, ...] | None:
    """Return times to score at, in any order, that span an interval unless every metric picks its own time."""
    if times is None:
        return None
    if horizon is not None:
        raise ValueError(f"{name} must be None where times are given: they end where it lies.")
    if all(by.single_times == "only" or by.at is not None for by in metrics):
        return tuple(TimeGrid.of(times).times.tolist())
    grid = as_vector(times, "times", negative=False)
    if not grid.size or grid.min() == grid.max():
        raise ValueError(f"times must span an interval, but are {grid.tolist()}.")
    return tuple(grid.tolist())


def takes_single_times(by: Metric) -> bool:
    """Whether a metric takes single times, and does not have one of its own."""
    return by.single_times != "never" and by.at is None


def _as_single_times(at: Any, metrics: Sequence[Metric], name: str) -> tuple[float, ...] | None:
    """Return single times, sorted, each once, where a metric takes them; None for none."""
    if at is None:
        return None
    given = as_vector(at, name, single=True, negative=False)
    times = np.unique(_filled(given, name, "at least one time is needed, or None."))
    if not any(map(takes_single_times, metrics)):
        listed = ", ".join(by.name for by in metrics)
        raise ValueError(
            f"{name} was given, but none of the metrics ({listed}) has a value at a single time; add one, such as "
            "'brier'."
        )
    return tuple(times.tolist())


def _as_horizon(horizon: Any, name: str) -> Literal["t_max"] | float | AtRisk | None:
    if horizon is None or isinstance(horizon, AtRisk):
        return horizon
    if isinstance(horizon, Mapping) and set(horizon) == {"at_risk"}:
        return AtRisk(check_number(horizon["at_risk"], f"{name}['at_risk']", lower=0.0, upper=1.0))
    if isinstance(horizon, str) and horizon == "t_max":
        return "t_max"
    if isinstance(horizon, str | Mapping):
        raise ValueError(f"{name} must be 't_max', a time or {{'at_risk': share}}, but is {horizon!r}.")
    return check_number(horizon, name, lower=0.0)


def _as_copula(copula: Any, name: str) -> Copula | Literal["select"] | None:
    if isinstance(copula, CopulaChoice):
        return copula.copula
    if copula is None or isinstance(copula, Copula):
        return copula
    if copula == "select":
        return "select"
    raise ValueError(
        f"{name} must be 'select', a copula, what select_copula returned, or None, but is {copula!r}."
    )


def _as_margin(margin: Any, metrics: Sequence[Metric], name: str) -> float | dict[str, float] | None:
    """Return the margin of the first metric, or of metrics by name."""
    if isinstance(margin, Mapping):
        for key in margin:
            known = dict.fromkeys(name for by in metrics for name in (by.name, by.family))
            check_choice(key, name, tuple(known))
        return {key: _not_negative(margin[key], f"{name}[{key!r}]") for key in margin}
    return None if margin is None else _not_negative(margin, name)


def _not_negative(value: Any, name: str) -> float:
    number = check_number(value, name)
    if number < 0:
        raise ValueError(f"{name} must not be negative, but is {number:g}.")
    return number


def _as_columns(covariates: Any) -> Literal["all"] | tuple[str | int, ...] | None:
    if covariates is None:
        return None
    if isinstance(covariates, str) and covariates == "all":
        return "all"
    listed = as_tuple(covariates, "covariates", str, int, np.integer)
    columns = _filled(listed, "covariates", "at least one is needed, or None.")
    return tuple(int(column) if isinstance(column, np.integer) else column for column in columns)


def _filled(values: Several, name: str, rule: str = "at least one is needed.") -> Several:
    """Several values, of which there must be at least one."""
    if not len(values):
        raise ValueError(f"{name} is empty: {rule}")
    return values


def given_fits(adjustments: Any) -> dict[str, Fitted]:
    """The adjustments that are given fitted, by name."""
    by_name = _by_name(adjustments, "adjustments")
    return {name: value for name, value in by_name.items() if isinstance(value, Fitted)}


def _as_adjustments(adjustments: Any, argument: str) -> tuple[Planned, ...]:
    by_name = _filled(_by_name(adjustments, argument), argument)
    for name in by_name:
        if not isinstance(name, str) or name in ("", "model"):
            raise ValueError(
                f"{argument} must have strings other than 'model' as names, but one is {name!r}."
            )
    labels = {n: _in_short(value) if n == _own_name(value) else n for n, value in by_name.items()}
    in_lower_case = [label.casefold() for label in labels.values()]
    planned = []
    for name, value in by_name.items():
        # Two with the same label go by their names.
        label = labels[name] if in_lower_case.count(labels[name].casefold()) == 1 else name
        takes_copula = isinstance(value, str) and needs_copula(value)
        chosen = adjustment(value) if isinstance(value, str) else value
        unfitted = chosen.adjustment if isinstance(chosen, Fitted) else chosen
        planned.append(Planned(name, label, unfitted, takes_copula))
    return tuple(planned)


def _by_name(adjustments: Any, argument: str) -> dict[str, AskedAdjustment]:
    """Return adjustments by name, as objects or as registered names; a label stands for its name."""

    def resolved(value: Any) -> AskedAdjustment:
        return value if isinstance(value, Adjustment | Fitted) else adjustment_name(value, argument)

    if isinstance(adjustments, str) and adjustments in SETS:
        adjustments = SETS[adjustments]
    if isinstance(adjustments, Mapping):
        return {name: resolved(value) for name, value in adjustments.items()}
    values = [resolved(value) for value in as_tuple(adjustments, argument, str, Adjustment, Fitted)]
    by_name = {_own_name(value): value for value in values}
    if len(by_name) < len(values):
        raise ValueError(f"{argument} must differ: give a dict with a name for each.")
    return by_name


def _own_name(value: AskedAdjustment) -> str:
    """Return the name of an adjustment that was given without one."""
    return value if isinstance(value, str) else repr(value)


def _in_short(value: AskedAdjustment) -> str:
    """Return the label of a registered adjustment; of another, the settings alone that are not the default."""
    if isinstance(value, str):
        return adjustment_label(value)
    if isinstance(value, Fitted):
        return f"{_in_short(value.adjustment)}, fitted"
    instance: Any = value
    if not is_dataclass(type(value)):
        return repr(value)
    set_apart = []
    for setting in fields(instance):
        try:  # a default may not go with the other settings
            is_default = bool(replace(instance, **{setting.name: setting.default}) == value)
        except (TypeError, ValueError):
            is_default = False
        if not is_default:
            set_apart.append(f"{setting.name}={getattr(value, setting.name)!r}")
    return f"{type(value).__name__}({', '.join(set_apart)})"


def _as_families(families: Any, name: str) -> tuple[str, ...]:
    """Return families of copulas, and perhaps hazard ratios beside them."""
    chosen = _filled(as_tuple(families, name, str), name)
    if Independence.name in chosen:
        raise ValueError(f"{name} must not include 'independence': τ = 0 is independence already.")
    copulas = [family for family in copula_families() if family != Independence.name]
    for family in chosen:
        check_choice(family, name, (*copulas, HAZARD_RATIO))
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"{name} must differ, but are {', '.join(chosen)}.")
    if set(chosen) == {HAZARD_RATIO}:
        raise ValueError(
            f"{name} must have a copula beside {HAZARD_RATIO!r}, such as 'clayton', if only at taus=[0]."
        )
    return chosen


def _as_taus(taus: Any, families: tuple[str, ...], named: Naming) -> tuple[float, ...]:
    """Return Kendall's τ, each of which a family reaches."""
    grid = _filled(as_taus(taus, named("taus")), named("taus"))
    reach = [copula_families()[family].tau_range for family in families if family != HAZARD_RATIO]
    for tau in grid.tolist():
        if tau and not any(low < tau < high for low, high in reach):
            raise ValueError(
                f"{named('taus')} must each be within reach of a family, but {tau:g} is beyond {', '.join(families)}."
            )
    return tuple(grid.tolist())


def check_has_ratios(families: Sequence[str], argument: str, named: Naming = str) -> None:
    """Refuse an argument about hazard ratios after dropout where these are not varied."""
    if HAZARD_RATIO not in families:
        raise ValueError(
            f"{named('families')} must have {HAZARD_RATIO!r} where {argument} is given, but has {', '.join(families)}."
        )


def _as_ratios(values: Any, families: tuple[str, ...], named: Naming) -> tuple[float, ...]:
    """Return different hazard ratios, in their order."""
    name = named("hazard_ratios")
    grid = np.unique(_filled(as_vector(values, name, single=True), name))
    refuse_first(~(grid > 0), grid, f"{name} must be positive and finite")
    check_has_ratios(families, name, named)
    return tuple(grid.tolist())


def _as_ends(plausible: Any, name: str) -> tuple[float, float]:
    """Return the two ends of a plausible range."""
    values = as_vector(plausible, name)
    if values.size != 2:
        raise ValueError(f"{name} must have two ends, low and high, but has {values.size} values.")
    low, high = (check_number(float(end), name, lower=-1.0, upper=1.0) for end in values)
    if low > high:
        raise ValueError(f"{name} must have its lower end first, but is {low:g}, {high:g}.")
    return low, high
