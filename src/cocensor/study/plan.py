"""What is asked of an evaluation: frozen, complete, and without data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    as_times,
    as_tuple,
    as_vector,
    check_choice,
    check_number,
    check_whole,
    read_only,
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

#: An adjustment by name, as it is, or fitted already.
AskedAdjustment = str | Adjustment | Fitted
HorizonRule = str | float | Mapping[str, float] | None
#: How a refusal calls an argument.
Naming = Callable[[str], str]
#: Adjustments that are asked for together; "default" where none in particular are.
SETS = {"default": ("ipcw", "imputation"), "paper": ("ipcw", "imputation", "dep", "cg_q")}
#: Metrics that are asked for together.
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
    """One adjustment of a plan."""

    #: By which it is asked for, and what it is called in tables.
    name: str
    label: str
    #: At independence where its copula is that of the plan.
    adjustment: Adjustment
    #: Whether its copula is that of the plan.
    takes_copula: bool = False

    def under(self, copula: Copula) -> Adjustment:
        """The adjustment under the copula that the plan assumes."""
        return self.adjustment.with_copula(copula) if self.takes_copula else self.adjustment


@dataclass(frozen=True)
class SensitivityPlan:
    """Over which dependences a sensitivity analysis goes; see :meth:`Evaluation.sensitivity`."""

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
        """The arguments of :meth:`Evaluation.sensitivity`, checked; ``named`` is how a refusal calls them."""
        chosen = FAMILIES if families is None else _as_families(families, named("families"))
        grid = None if taus is None else _as_taus(taus, chosen, named)
        ratios = None
        if hazard_ratios is not None:
            ratios = tuple(as_ratios(hazard_ratios, named("hazard_ratios")).tolist())
            check_has_ratios(chosen, named("hazard_ratios"), named)
        return cls(
            chosen,
            grid,
            None if adjustments is None else as_tuple(adjustments, named("adjustments"), str),
            ratios,
            None if plausible is None else _as_ends(plausible, named("plausible")),
        )

    @property
    def copulas(self) -> tuple[str, ...]:
        """The families of copulas."""
        return tuple(family for family in self.families if family != HAZARD_RATIO)

    @property
    def with_ratios(self) -> bool:
        """Whether hazard ratios after dropout are varied too."""
        return HAZARD_RATIO in self.families


@dataclass(frozen=True)
class Plan:
    """What is asked of an evaluation: values alone, no data, models, paths or scheduler.

    :func:`evaluate` makes one of its arguments, the command line of its options; :meth:`to_toml` writes it.

    Attributes
    ----------
    adjustments : tuple of Planned
    adjustment_set : str or None
        "default" or "paper" where they were asked for as a set: what cannot be used of one is left out.
    metrics : tuple of Metric
    default_metrics : bool
        Whether they are the default ones, which single times and models may add to.
    times, at : tuple of float or None
        Times that scores over time are averaged over, and single times, as far as they were asked for.
    horizon : "t_max", float, AtRisk or None
    copula : Copula, "select" or None
    covariates : "all", tuple of names or numbers of columns, or None
    confidence_level : float or None
    n_resamples, seed : int
        Of the bootstrap; None for intervals from formulas.
    time_axis : TimeAxis
        What time is called, and its unit.
    sensitivity : SensitivityPlan
        What :meth:`Evaluation.sensitivity` does unless it is told otherwise.

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
        sensitivity: SensitivityPlan | Mapping[str, Any] | None = None,
        named: Naming = str,
    ) -> Plan:
        """The arguments of :func:`evaluate`, checked as far as that takes no data.

        Of an adjustment that is fitted already, and of a copula that was chosen, the plan holds the value: what was
        fitted is data. ``named`` is how a refusal calls an argument.
        """
        by_default = isinstance(metrics, str) and metrics == "default"
        chosen = as_metrics(DEFAULT_METRICS if by_default else metrics, named("metrics"))
        scored = None if times is None else tuple(as_scored_times(times, chosen).tolist())
        if scored is not None and horizon is not None:
            raise ValueError(
                f"{named('horizon')} must be None where times are given: they end where it lies."
            )
        if confidence_level is not None:
            confidence_level = check_number(confidence_level, named("confidence_level"), lower=0.0, upper=1.0)
        if n_resamples is not None:
            n_resamples = check_whole(n_resamples, named("n_resamples"), 2)
        if isinstance(sensitivity, Mapping):
            sensitivity = SensitivityPlan.of(**sensitivity, named=named)
        as_set = adjustments if isinstance(adjustments, str) and adjustments in SETS else None
        plan = cls(
            _as_adjustments(adjustments, named("adjustments")),
            as_set,
            chosen,
            by_default,
            scored,
            _as_single_times(at, chosen, named("at")),
            _as_horizon(horizon, named("horizon")),
            _as_copula(copula, named("copula")),
            _as_columns(covariates),
            confidence_level,
            n_resamples,
            check_whole(seed, named("seed"), 0),
            TimeAxis(time_name, time_unit),
            sensitivity or SensitivityPlan(),
        )
        if isinstance(plan.copula, Copula):
            plan.under(plan.copula)  # refuses a copula that an adjustment cannot rest on
        return plan

    @property
    def takes_copula(self) -> bool:
        """Whether any adjustment takes its copula from the plan."""
        return any(each.takes_copula for each in self.adjustments)

    def under(self, copula: Copula) -> tuple[dict[str, tuple[str, Adjustment]], list[Note]]:
        """By name what each adjustment is called, and the adjustment under a copula; and what a set leaves out."""
        kept, notes = self.adjustments, list[Note]()
        left_out = [each for each in kept if self.adjustment_set is not None and each.name in _ARCHIMEDEAN]
        if left_out and not isinstance(copula, ArchimedeanCopula):
            notes.append(noted("paper_needs_archimedean", adjustments=[each.label for each in left_out]))
            kept = tuple(each for each in kept if each not in left_out)
        return {each.name: (each.label, each.under(copula)) for each in kept}, notes

    def to_toml(self) -> str:
        """The plan as TOML: all that is not as it is by default. A value that no registered name makes is refused."""
        from cocensor.study.plan_toml import plan_to_toml

        return plan_to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """The plan that :meth:`to_toml` wrote."""
        from cocensor.study.plan_toml import plan_from_toml

        return plan_from_toml(text)


# --- metrics and times ------------------------------------------------------------------------------------


def as_metrics(metrics: Any, name: str = "metrics") -> tuple[Metric, ...]:
    """Metrics by name or as they are, each once."""
    listed = as_tuple(metrics, name, str, Metric)
    if not listed:
        raise ValueError(f"{name} is empty: at least one is needed.")
    found = tuple(each if isinstance(each, Metric) else metric(each) for each in listed)
    check_differ(found, name)
    return found


def check_differ(metrics: Sequence[Metric], name: str = "metrics") -> None:
    """Refuse metrics of the same name."""
    if len({each.name for each in metrics}) < len(metrics):
        raise ValueError(
            f"{name} must have different names, but are {', '.join(each.name for each in metrics)}."
        )


def as_interval(times: npt.ArrayLike) -> FloatArray:
    """Times to score at: a copy, in any order, that spans an interval."""
    grid = as_times(as_vector(times, "times", copy=True), "times")
    if not grid.size or grid.min() == grid.max():
        raise ValueError(f"times must span an interval, but are {grid.tolist()}.")
    return read_only(grid)


def as_scored_times(times: npt.ArrayLike, metrics: Sequence[Metric]) -> FloatArray:
    """Times to score at, of which a single one will do where every metric picks its own."""
    if not all(each.single_times == "only" or each.at is not None for each in metrics):
        return as_interval(times)
    return TimeGrid.of(times).times


def takes_single_times(each: Metric) -> bool:
    """Whether single times ask for a metric, which does not have one of its own."""
    return each.single_times != "never" and each.at is None


def _as_single_times(at: Any, metrics: Sequence[Metric], name: str) -> tuple[float, ...] | None:
    """The single times that were asked for, sorted, each once, where a metric takes them; None for none."""
    if at is None:
        return None
    found = np.unique(as_times(as_vector(at, name, single=True), name))
    if not found.size:
        raise ValueError(f"{name} is empty: at least one time is needed, or None.")
    if not any(map(takes_single_times, metrics)):
        listed = ", ".join(each.name for each in metrics)
        raise ValueError(
            f"{name} was given, but none of the metrics ({listed}) has a value at a single time; add one, such as "
            "'brier'."
        )
    return tuple(found.tolist())


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
    if isinstance(copula, Copula):
        return copula
    if copula is None:
        return None
    if copula == "select":
        return "select"
    raise ValueError(
        f"{name} must be 'select', a copula, what select_copula returned, or None, but is {copula!r}."
    )


def _as_columns(covariates: Any) -> Literal["all"] | tuple[str | int, ...] | None:
    if covariates is None:
        return None
    if isinstance(covariates, str) and covariates == "all":
        return "all"
    columns = as_tuple(covariates, "covariates", str, int, np.integer)
    if not columns:
        raise ValueError("covariates is empty: at least one is needed, or None.")
    return tuple(int(each) if isinstance(each, np.integer) else each for each in columns)


# --- adjustments ------------------------------------------------------------------------------------------


def given_fits(asked: Any) -> dict[str, Fitted]:
    """The adjustments that are given fitted, by name."""
    return {name: each for name, each in _by_name(asked, "adjustments").items() if isinstance(each, Fitted)}


def _as_adjustments(asked: Any, name: str) -> tuple[Planned, ...]:
    by_name = _by_name(asked, name)
    if not by_name:
        raise ValueError(f"{name} is empty: at least one is needed.")
    for key in by_name:
        if not isinstance(key, str) or key in ("", "model"):
            raise ValueError(f"{name} must have strings other than 'model' as names, but one is {key!r}.")
    labels = {key: _label(key, each) for key, each in by_name.items()}
    shown = [label.casefold() for label in labels.values()]
    planned = []
    for key, each in by_name.items():
        # Two that would be called the same go by their names.
        label = labels[key] if shown.count(labels[key].casefold()) == 1 else key
        if isinstance(each, str):
            takes_copula = needs_copula(each)
            value = adjustment(each, copula=Independence() if takes_copula else None)
            planned.append(Planned(key, label, value, takes_copula))
        else:
            planned.append(Planned(key, label, each.adjustment if isinstance(each, Fitted) else each))
    return tuple(planned)


def _by_name(asked: Any, name: str) -> dict[str, AskedAdjustment]:
    """Adjustments by name, as objects or as names of known ones."""
    if isinstance(asked, str) and asked in SETS:
        asked = SETS[asked]
    if isinstance(asked, Mapping):
        return {key: _known(each, name) for key, each in asked.items()}
    several = [_known(each, name) for each in as_tuple(asked, name, str, Adjustment, Fitted)]
    by_name = {each if isinstance(each, str) else repr(each): each for each in several}
    if len(by_name) < len(several):
        raise ValueError(f"{name} must differ: give a dict with a name for each.")
    return by_name


def _known(each: Any, name: str) -> AskedAdjustment:
    """An adjustment as it is, or the name of a known one, which may be asked for by its label."""
    return each if isinstance(each, Adjustment | Fitted) else adjustment_name(each, name)


def _label(name: str, each: AskedAdjustment) -> str:
    """What an adjustment is called: by the name that it was given, else by what sets it apart."""
    if isinstance(each, str):
        return adjustment_label(name) if name == each else name
    return _in_short(each) if name == repr(each) else name


def _in_short(each: Adjustment | Fitted) -> str:
    """An adjustment with the settings alone that are not the default."""
    if isinstance(each, Fitted):
        return f"{_in_short(each.adjustment)}, fitted"
    kind: Any = each
    if not is_dataclass(kind):
        return repr(each)
    set_apart = [
        f"{field.name}={getattr(each, field.name)!r}"
        for field in fields(kind)
        if not _is_as_without(kind, field.name, field.default)
    ]
    return f"{type(each).__name__}({', '.join(set_apart)})"


def _is_as_without(each: Any, name: str, default: Any) -> bool:
    """Whether an adjustment would be the same if a setting had its default, which may depend on the others."""
    try:
        return bool(replace(each, **{name: default}) == each)
    except (TypeError, ValueError):
        return False


# --- sensitivity ------------------------------------------------------------------------------------------


def _as_families(families: Any, name: str) -> tuple[str, ...]:
    """Families of copulas, and perhaps hazard ratios beside them."""
    asked = as_tuple(families, name, str)
    if not asked:
        raise ValueError(f"{name} is empty: at least one is needed.")
    if Independence.name in asked:
        raise ValueError(f"{name} must not include 'independence': τ = 0 is independence already.")
    for family in asked:
        known = [each for each in copula_families() if each != Independence.name]
        check_choice(family, name, (*known, HAZARD_RATIO))
    if len(set(asked)) < len(asked):
        raise ValueError(f"{name} must differ, but are {', '.join(asked)}.")
    if set(asked) == {HAZARD_RATIO}:
        raise ValueError(
            f"{name} must have a copula beside {HAZARD_RATIO!r}, such as 'clayton', if only at taus=[0]."
        )
    return asked


def _as_taus(taus: Any, families: tuple[str, ...], named: Naming) -> tuple[float, ...]:
    """Kendall's τ, each of which a family reaches."""
    grid = as_taus(taus, named("taus"))
    if not grid.size:
        raise ValueError(f"{named('taus')} is empty: at least one is needed.")
    reach = [copula_families()[family].tau_range for family in families if family != HAZARD_RATIO]
    for tau in grid.tolist():
        if tau and not any(low < tau < high for low, high in reach):
            raise ValueError(
                f"{named('taus')} must each be within reach of a family, but {tau:g} is beyond {', '.join(families)}."
            )
    return tuple(grid.tolist())


def check_has_ratios(families: Sequence[str], asked: str, named: Naming = str) -> None:
    """Refuse what is asked about hazard ratios after dropout where these are not varied."""
    if HAZARD_RATIO not in families:
        raise ValueError(
            f"{named('families')} must have {HAZARD_RATIO!r} where {asked} is given, but has {', '.join(families)}."
        )


def as_ratios(values: Any, name: str = "hazard_ratios") -> FloatArray:
    """Different hazard ratios, in their order."""
    grid = np.unique(as_vector(values, name, single=True))
    if not grid.size:
        raise ValueError(f"{name} is empty: at least one is needed.")
    if not (grid > 0).all():
        refuse_first(~(grid > 0), grid, f"{name} must be positive and finite")
    return grid


def _as_ends(plausible: Any, name: str) -> tuple[float, float]:
    """The two ends of a plausible range."""
    values = as_vector(plausible, name)
    if values.size != 2:
        raise ValueError(f"{name} must have two ends, low and high, but has {values.size} values.")
    low, high = (check_number(float(end), name, lower=-1.0, upper=1.0) for end in values)
    if low > high:
        raise ValueError(f"{name} must have its lower end first, but is {low:g}, {high:g}.")
    return low, high
