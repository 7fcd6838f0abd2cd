"""What was found over time, and behind values at single times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocensor._validation import FloatArray
from cocensor.evaluation.curve_errors import CurveErrors, curve_errors, profile_errors
from cocensor.evaluation.findings import Findings

_LIMITS = ("standard_error", "low", "high", "band_low", "band_high")


@dataclass(frozen=True, eq=False, repr=False)
class CurveFindings(Findings):
    """Values over time, and the curves behind values at single times, with their errors."""

    def curves(self, metric: str | None = None) -> Any:
        """The values of a metric over time: one row per adjustment, model and time.

        ``low`` to ``high`` is the interval of each value, and ``band_low`` to ``band_high`` holds a whole curve.
        """
        by, rows = self.metric(metric), list[tuple[Any, ...]]()
        for name, each in self.results.items():
            for model, found in each.values[by.name].items():
                if found.curve is not None:
                    errors = None if self.confidence_level is None else self.curve_errors(by.name, name)
                    rows += self._rows(name, model, self.times, found.curve, errors)
        if not rows:
            raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
        return self._curve_frame(("time", "value"), rows, with_limits=self.confidence_level is not None)

    def profiles(self, metric: str | None = None, *, at: float | None = None) -> Any:
        """The curves behind the values of a metric at one time: one row per adjustment, model and point.

        Of the AUC they are ROC curves. Limits come with them under adjustments for which :meth:`profile_errors` has
        been asked.
        """
        by, rows = self.metric(metric, at), list[tuple[Any, ...]]()
        known = {name: self._answer(metric, name, at)[1] for name in self.results}
        computed = {name: self._analyses.get(("profiles", by.name, by.at, name)) for name in known}
        for name, each in known.items():
            for model, found in each.values[by.name].items():
                if found.profile is not None:
                    rows += self._rows(name, model, *found.profile, computed[name])
        if not rows:
            raise ValueError(
                f"metric must have a curve behind its value at one time, but {by.name!r} has none."
            )
        return self._curve_frame(
            ("x", "y"), rows, with_limits=any(each is not None for each in computed.values())
        )

    def curve_errors(self, metric: str | None = None, adjustment: str | None = None) -> CurveErrors:
        """The values of a metric over time with their sampling errors: intervals, bands, differences of models.

        Computed when first asked for.
        """
        by, found = self.metric(metric), self.under(adjustment)
        key = ("curves", by.name, by.at, found.name)
        errors: CurveErrors = self._computed_once(key, lambda: curve_errors(self.data, found, by))
        return errors

    def profile_errors(
        self, metric: str | None = None, adjustment: str | None = None, *, at: float | None = None
    ) -> CurveErrors:
        """The curves behind the values of a metric at one time, such as ROC curves, with their sampling errors.

        Computed when first asked for.
        """
        by, found = self._answer(metric, adjustment, at)
        key = ("profiles", by.name, by.at, found.name)
        errors: CurveErrors = self._computed_once(key, lambda: profile_errors(self.data, found, by))
        return errors

    def computed_curve_errors(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> CurveErrors | None:
        """What :meth:`curve_errors` has given before; None where nobody has asked."""
        return self._computed("curves", metric, adjustment)

    def computed_profile_errors(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> CurveErrors | None:
        """What :meth:`profile_errors` has given before; None where nobody has asked."""
        return self._computed("profiles", metric, adjustment)

    def _computed(self, kind: str, metric: str | None, adjustment: str | None) -> CurveErrors | None:
        by = self.metric(metric)
        found: CurveErrors | None = self._analyses.get((kind, by.name, by.at, self.under(adjustment).name))
        return found

    def _rows(
        self, adjustment: str, model: str, x: FloatArray, y: FloatArray, errors: CurveErrors | None
    ) -> list[tuple[Any, ...]]:
        """Rows of a table of curves, with limits where there are errors."""
        columns = [x, y]
        if errors is not None:
            found = errors.of(model)
            band = found.band(self._level)
            low, high = found.confidence_intervals(self._level)
            columns += [found.standard_errors, low, high, band.low, band.high]
        return [(adjustment, model, *map(float, at)) for at in zip(*columns, strict=True)]

    def _curve_frame(self, axes: tuple[str, str], rows: list[tuple[Any, ...]], with_limits: bool) -> Any:
        columns = ("adjustment", "model", *axes, *(_LIMITS if with_limits else ()))
        missing = (float("nan"),) * len(_LIMITS)
        return self._frame(columns, [(*row, *missing)[: len(columns)] for row in rows])
