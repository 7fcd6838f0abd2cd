"""Bounds of scores and differences, whatever the dependence of event and dropout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped, frame_of_rows
from cocensor._json import plain
from cocensor._notes import Note, noted
from cocensor._views import view
from cocensor.data import RiskTable
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeAxis
from cocensor.inference.along_axis import imbens_manski_constant
from cocensor.inference.estimates import ConfidenceInterval
from cocensor.metrics import CumulativeDynamicAUC, Metric
from cocensor.study.data import DEFAULT_LEVEL
from cocensor.study.evaluation import NOT_ASKED, Evaluation
from cocensor.study.ranking import rankable
from cocensor.study.sensitivity.extremes import NO_DIFFERENCE, Dropouts, extremes_of_auc, extremes_of_mean
from cocensor.warnings import HorizonWarning, collected

# Bounds and values that are computed otherwise differ by rounding.
_ROUNDING = 1e-12
_ENDS = ("low", "high", "low_error", "high_error")


@dataclass(frozen=True)
class Bound:
    """The lowest and the highest value that any dependence of event and dropout can give.

    Attributes
    ----------
    low, high, low_error, high_error : float
        Both are attained by some event times after the dropouts; and their standard errors. NaN where there is none.
    missing : str or None
        Why there is no bound, or no standard error.
    range : pair of float
        What intervals are cut to.

    Examples
    --------
    >>> from cocensor.study.sensitivity import Bound
    >>> bound = Bound(0.10, 0.30, 0.01, 0.02)
    >>> bound.holds(0.2), round(bound.width, 3)
    (True, 0.2)
    >>> [round(end, 4) for end in bound.confidence_interval()]
    [0.0836, 0.3329]

    References
    ----------
    Imbens, G. W., Manski, C. F. (2004). Confidence intervals for partially identified parameters. *Econometrica* 72,
    1845–1857.
    """

    low: float
    high: float
    low_error: float = np.nan
    high_error: float = np.nan
    missing: str | None = None
    range: tuple[float, float] = field(default=(-np.inf, np.inf), repr=False)

    @property
    def width(self) -> float:
        """How much the dependence leaves open."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether a value lies within, up to rounding."""
        return bool(self.low - _ROUNDING <= value <= self.high + _ROUNDING)

    def confidence_interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The interval that covers the true value, wherever within the bounds, with this chance in large samples.

        The bounds widened by :func:`imbens_manski_constant` standard errors, which is valid as the lower bound is below
        the upper one in every sample. NaN where there are no standard errors; ``missing`` says why.
        """
        error = float(np.maximum(self.low_error, self.high_error))
        constant = imbens_manski_constant(self.width, error, level)
        ends = self.low - constant * self.low_error, self.high + constant * self.high_error
        if self.range[0] <= self.low and self.high <= self.range[1]:
            ends = tuple(np.clip(ends, *self.range).tolist())
        return ConfidenceInterval(*ends)

    def __neg__(self) -> Bound:
        """The bound of the negative value."""
        low, high = self.range
        return Bound(-self.high, -self.low, self.high_error, self.low_error, self.missing, (-high, -low))


class BoundCurve(NamedTuple):
    """Bounds at each of some times."""

    times: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    r"""Sharp bounds of scores, and of differences of two models, without any assumption about dropout.

    Made by :meth:`Evaluation.bounds`. A subject that dropped out at c had its event at one unknown time after c, which
    is taken to be the best for a model, or the worst. The score under every imputation of the event times lies within,
    and so does the score by the true ones. An administrative censoring is independent, as marked: it is weighted, as
    IPCW weighs a censoring, and not bounded. Weighted bounds hold the scores on average. Bounds of a difference are
    much narrower than the difference of bounds: both models face the same event times.

    Attributes
    ----------
    metric, models : Metric, tuple of str
    level : float or None
        The level of intervals in the table and in words; None where none were wanted.
    notes : tuple of Note
    time_axis, risk_table : TimeAxis, RiskTable or None
        What time is called, and its unit; and how many of the test sample are at risk.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
    >>> bounds = result.bounds()
    >>> round(bounds["good"].low, 4), round(bounds["good"].high, 4)
    (0.0938, 0.1688)
    >>> round(bounds["good", "flat"].low, 4), round(bounds["good", "flat"].high, 4)
    (-0.1063, -0.0562)
    >>> bounds.certain("good", "flat")
    'good'
    >>> print(bounds.statement)
    Whatever the dependence, good has a better score than flat in this sample, but chance may explain the difference:
    its integrated Brier score is lower by 0.056 to 0.106 (95% interval −0.047 to 0.159).
    """

    metric: Metric
    models: tuple[str, ...]
    level: float | None
    _found: Mapping[tuple[str, ...], Bound]
    _curves: Mapping[tuple[str, ...], BoundCurve] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    library: Any = None
    #: Models that are not called better than another, whatever their scores.
    disqualified: tuple[str, ...] = ()
    time_axis: TimeAxis = field(default_factory=TimeAxis)
    risk_table: RiskTable | None = None

    def __getitem__(self, models: str | tuple[str, str]) -> Bound:
        """The bound of a model, or of the score of the first minus that of the second."""
        key = self._key(models)
        if len(key) == 2 and key[0] == key[1]:
            return Bound(0.0, 0.0, 0.0, 0.0)
        return self._found[key] if key in self._found else -self._found[key[::-1]]

    def over_time(self, a: str, b: str | None = None) -> BoundCurve:
        """The bounds at each time of the evaluation, of a model or of its score minus that of another.

        Sharp for each time alone. Not all of a curve can be attained at once, as each event happens at one time: their
        average over time is wider than the bounds of the average.
        """
        key = self._key(a if b is None else (a, b))
        if not self._curves:
            raise ValueError(
                f"metric must have values over time to be bounded, but {self.metric.name!r} has none."
            )
        if key in self._curves:
            return self._curves[key]
        if key[::-1] not in self._curves:
            raise ValueError(f"models must be two, or one with survival curves, but are {' and '.join(key)}.")
        times, low, high = self._curves[key[::-1]]
        return BoundCurve(times, -high, -low)

    def certain(self, a: str, b: str, level: float | None = None) -> str | None:
        """Which of two models is better whatever the dependence; None where that is open, or it is no contender.

        By the bounds of the difference in this sample; with a ``level``, by their confidence interval.
        """
        bound = self[a, b]
        low, high = (bound.low, bound.high) if level is None else bound.confidence_interval(level)
        if self.metric.direction == "higher":
            low, high = -high, -low
        better = a if high < 0 else b if low > 0 else None
        return None if better in self.disqualified else better

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """All pairs of models."""
        return tuple(combinations(self.models, 2))

    @property
    def statement(self) -> str:
        """Who beats whom whatever the dependence, by intervals where they were asked for, and how much is open else."""
        return view("text.sensitivity.bounds_in_words")(self)

    def table(self) -> Any:
        """One row per model and per pair (``against`` is the other one): bounds, errors, interval, who is better."""
        rows = [(name, None, *self._row(self[name]), None) for name in self.models]
        rows += [(a, b, *self._row(self[a, b]), self.certain(a, b, self.level)) for a, b in self.pairs]
        columns = ("model", "against", *_ENDS, "interval_low", "interval_high", "better")
        return frame_of_rows(columns, rows, self.library)

    def _row(self, bound: Bound) -> tuple[float, ...]:
        ends = (getattr(bound, name) for name in _ENDS)
        return *ends, *bound.confidence_interval(self.level or DEFAULT_LEVEL)

    def plot(self, ax: Any = None) -> Any:
        """Bounds of all models and pairs; returns the axes (a :class:`~cocensor.views.plots.ForestDisplay`)."""
        return view("plots.ForestDisplay").from_bounds(self).plot(ax=ax)

    def plot_over_time(self, minus: str | None = None, ax: Any = None, *, at_risk: bool = True) -> Any:
        """Bounds at each time, or of differences from one model, by :class:`~cocensor.views.plots.CurveDisplay`."""
        return view("plots.CurveDisplay").from_bounds(self, minus=minus).plot(ax=ax, at_risk=at_risk)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON can hold them; curves over time are sharp at each time for itself."""
        of_metric = {name: getattr(self.metric, name) for name in ("label", "direction", "at")}
        pairs = [
            {"a": a, "b": b, **self._numbers((a, b)), "certain": self.certain(a, b)}
            | {"certain_by_interval": self.certain(a, b, self.level)}
            for a, b in self.pairs
        ]
        numbers = {"metric": self.metric.name, **of_metric, "level": self.level} | {
            "models": {name: self._numbers(name) for name in self.models},
            "pairs": pairs,
            "times": next((curve.times for curve in self._curves.values()), None),
            "statement": self.statement,
            "notes": [note.to_dict() for note in self.notes],
        }
        return dict(plain(numbers))

    def _numbers(self, models: str | tuple[str, str]) -> dict[str, Any]:
        bound, curve = self[models], self._curves.get(self._key(models))
        interval = bound.confidence_interval(self.level or DEFAULT_LEVEL)
        numbers = {name: getattr(bound, name) for name in (*_ENDS, "missing")}
        return numbers | {"interval": interval, "curve": curve and {"low": curve.low, "high": curve.high}}

    def __repr__(self) -> str:
        return escaped(view("text.sensitivity.bounds_as_text")(self))

    def _key(self, models: str | tuple[str, str]) -> tuple[str, ...]:
        """Return the names of one or two models."""
        key = models if isinstance(models, tuple) else (models,)
        if len(key) not in (1, 2):
            raise ValueError(f"models must be one or two, but are {len(key)}.")
        for name in key:
            check_choice(name, "model", self.models)
        return key


def has_bounds(metric: Metric) -> bool:
    """Whether sharp bounds by a metric can be computed: a mean of losses, or the AUC at one time."""
    return metric.mean_of_losses or (isinstance(metric, CumulativeDynamicAUC) and metric.at is not None)


def find_bounds(evaluation: Evaluation, metric: Metric) -> Bounds:
    """Return the bounds of all models by a metric, and of all their differences but those of AUCs."""
    if not has_bounds(metric):
        raise ValueError(
            "metric must be a mean of losses, such as 'ibs' or 'brier', or the AUC at one time, but is "
            f"{metric.name!r}: others have no sharp bounds that can be computed."
        )
    data, why = evaluation.data, None
    grid = metric.grid(data.grid)
    predictions = data.read_at(grid)
    read: dict[str, Predicted] = {name: predictions[name] for name in data.scored_by(metric)}
    if data.confidence_level is None:
        why = NOT_ASKED
    elif len(data.samples.y_test) < 2:
        why = "a single subject gives no standard error"
    with collected(HorizonWarning) as warned:
        open_ = Dropouts.of(data.samples, grid)
        if isinstance(metric, CumulativeDynamicAUC):
            extremes = extremes_of_auc(metric, open_, read, why is None)
        else:
            extremes = extremes_of_mean(metric, open_, read, why is None)
    keys = _models_and_pairs(tuple(read))
    no_curves = Bound(np.nan, np.nan, missing="it does not predict what is scored")
    bounds = dict.fromkeys(_models_and_pairs(data.models), no_curves)
    ends = zip(keys, *extremes.values.tolist(), *extremes.errors.tolist(), strict=True)
    for key, low, high, low_error, high_error in ends:
        reason = why
        if np.isnan(low):
            reason = NO_DIFFERENCE if len(key) == 2 else metric.undefined
        cut = metric.range if len(key) == 1 else (-np.inf, np.inf)
        bounds[key] = Bound(low, high, low_error, high_error, reason, cut)
    curves = () if extremes.curves is None else zip(keys, *extremes.curves, strict=True)
    return Bounds(
        metric,
        data.models,
        data.confidence_level,
        bounds,
        {key: BoundCurve(grid.times, low, high) for key, low, high in curves},
        tuple(noted("warned", why=text) for text in warned),
        data.library,
        tuple(name for name in data.models if name not in rankable(evaluation)),
        data.time_axis,
        data.samples.y_test.risk_table,
    )


def _models_and_pairs(models: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [*((name,) for name in models), *combinations(models, 2)]
