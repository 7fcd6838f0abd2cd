"""Whether a model counts time in another unit than the outcomes do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import Predicted, PredictionsAt, RiskScores
from cocensor.study.probe import Probe

#: Units of time by how many of one make up one of the other.
UNITS = {
    7.0: ("days", "weeks"),
    12.0: ("months", "years"),
    24.0: ("hours", "days"),
    30.4375: ("days", "months"),
    52.1786: ("weeks", "years"),
    365.25: ("days", "years"),
}
# As many events tell; between so many times curves are held against each other.
_EVENTS, _TIMES = 10, 20
_AT_RISK = 0.05
# On the scale of log cumulative hazards: how near a scaled curve must be, how far the unscaled one, at least and times
# as far; and the deviance of the number of events (4 standard errors).
_SELDOM = 0.1
_NEAR, _FAR, _TIMES_AS_FAR, _DEVIANCE = 0.3, np.log(4.0), 4.0, 16.0


@dataclass(frozen=True, eq=False)
class TimeScale:
    """The times of a model are ``factor`` times those of the outcomes; it was told at these ``times``."""

    factor: float
    times: FloatArray = field(repr=False)

    def scaled(self, predictions: Predicted) -> FloatArray:
        """The times of the model."""
        if isinstance(predictions, PredictionsAt):  # which rounding must not miss
            return predictions.times
        return np.minimum(self.times * self.factor, predictions.end)  # which rounding may pass

    def units(self, unit: str | None) -> dict[str, str]:
        """Which units the predictions and the outcomes may be in; empty where the unit of the latter is another."""
        few = self.factor > 1
        fine, coarse = UNITS[self.factor if few else min(UNITS, key=lambda each: abs(each - 1 / self.factor))]
        model, outcomes = (fine, coarse) if few else (coarse, fine)
        return {"predictions": model, "outcomes": outcomes} if unit in (None, outcomes) else {}


def time_scale(probe: Probe, predictions: Predicted) -> TimeScale | None:
    r"""The factor by which the times of a model are off; None where the unscaled ones fit, or no factor mends them.

    The mean predicted curve at scaled times is held against the Kaplan–Meier curve by
    :math:`L(f) = \overline{|\log \bar H(f t) - \log H_{KM}(t)|}`, in which a wrong unit is a shift, and a baseline
    hazard that is off by r is one of log r. A factor is told where L(f) is at most 0.3 and a quarter of L(1), L(1) at
    least log 4, and the number of events 4 standard errors off what the unscaled curves expect: hazards that are off by
    less than 4 are not taken for another unit.
    """
    unscaled, best = _fits(probe, predictions)
    if unscaled is None or best is None or unscaled.gap < _FAR or unscaled.deviance < _DEVIANCE:
        return None
    return best.scale if best.gap <= min(_NEAR, unscaled.gap / _TIMES_AS_FAR) else None


def nearest_scale(probe: Probe, predictions: Predicted) -> TimeScale | None:
    """The factor that brings a mean curve that is far off nearest to Kaplan–Meier's, where it halves the distance."""
    unscaled, best = _fits(probe, predictions)
    if unscaled is None or best is None or unscaled.gap < _FAR or best.gap > unscaled.gap / 2.0:
        return None
    return best.scale


def _fits(probe: Probe, predictions: Predicted) -> tuple[_Fit | None, _Fit | None]:
    """That of the unscaled times, and the best of all others."""
    if isinstance(predictions, RiskScores) or np.count_nonzero(probe.outcomes.event) < _EVENTS:
        return None, None
    factors = [factor for each in UNITS for factor in (each, 1 / each)]
    fits = [fit for factor in factors if (fit := _Fit.of(probe, predictions, factor)) is not None]
    best = min((fit for fit in fits if fit.n_events >= _EVENTS), key=_Fit.place, default=None)
    return _Fit.of(probe, predictions, 1.0), best


@dataclass(frozen=True, eq=False)
class _Fit:
    """How far the mean curve at scaled times is from that of Kaplan–Meier, up to where it is known."""

    scale: TimeScale
    gap: float
    n_events: int
    expected: float

    def place(self) -> float:
        """The smaller, the likelier: units that are seldom mixed up come after others that fit about as well."""
        return self.gap + (
            _SELDOM if round(max(self.scale.factor, 1 / self.scale.factor)) in (24, 52) else 0.0
        )

    @property
    def deviance(self) -> float:
        """Of the number of events, as of a Poisson count."""
        observed = max(self.n_events, 0.5)
        return 2.0 * (observed * np.log(observed / self.expected) - (observed - self.expected))

    @classmethod
    def of(cls, probe: Probe, predictions: Predicted, factor: float) -> _Fit | None:
        y = probe.outcomes
        times = _times(probe, predictions, factor)
        if times is None:
            return None
        scale = TimeScale(factor, times)
        mean = probe.read(predictions, scale.scaled(predictions)).mean(axis=0)
        predicted = -np.log(np.clip(mean, 1e-12, 1.0))
        observed = -np.log(np.clip(np.asarray(probe.kaplan_meier.predict(times, tail="last")), 1e-12, 1.0))
        floor = 0.5 / len(y)  # half an event
        n_events = int(np.count_nonzero(y.event & (y.time <= times[-1])))
        gaps = np.abs(np.log(np.maximum(predicted, floor)) - np.log(np.maximum(observed, floor)))
        ratio = max(predicted[-1], floor) / max(observed[-1], floor)
        return cls(scale, float(gaps.mean()), n_events, max(n_events, 0.5) * ratio)


def _times(probe: Probe, predictions: Predicted, factor: float) -> FloatArray | None:
    """Times of the outcomes at which scaled curves are known; scaled ones where a few events have happened."""
    y = probe.outcomes
    end = float(np.quantile(y.time, 1.0 - _AT_RISK, method="lower"))
    if isinstance(predictions, PredictionsAt):
        time = predictions.times / factor
        return time if time <= end else None
    end = min(end, predictions.end / factor)
    if end <= 0:
        return None
    times = np.linspace(0.0, end, _TIMES + 1)[1:]
    if factor == 1:
        return times
    seen = np.sort(y.time[y.event])
    kept = times[np.searchsorted(seen, times, side="right") >= _EVENTS // 2]
    return kept if kept.size else None
