"""Scores where the hazard of the event is another after dropout."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._validation import (
    BoolArray,
    FloatArray,
    as_vector,
    check_length,
    column_names,
    escaped,
    refuse_at,
    refuse_first,
    spelled,
    to_numpy,
)
from cocensor.adjustments.samples import Samples
from cocensor.sensitivity.grid_scores import GridScores

#: The family, in tables and among ``families``, of scores by hazard ratio after dropout.
HAZARD_RATIO = "hazard_ratio"
#: The line on which the ratio of everybody moves.
ALL = "all"
RATIOS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
_MOST_GROUPS = 12


@dataclass(frozen=True, eq=False, repr=False)
class AfterDropout(GridScores):
    r"""Every score over the hazard ratio ρ after dropout; ``Sensitivity.after_dropout``.

    Up to a dropout at c, event and dropout are independent given z; from then on the hazard is ρ times that of those
    alike in z who are still under observation: :math:`q(t) = [S_E(t \mid z)/S_E(c \mid z)]^\rho`. The margins are
    fitted once, at independence, which is ρ = 1. On the line "all" the ratio of everybody moves; on each of the others
    that of one reason of dropout, or of one group of subjects, while the others stay at 1.

    Points, leads and tipping points are ratios. Between two ratios values are taken to move along lines in log ρ, which
    is what the ``positions`` of :meth:`along` are.

    Attributes
    ----------
    evaluation : Evaluation
    lines : tuple of str
        "all", and reasons or groups.
    points : tuple of float
        The ratios.
    answers : dict of AdjustmentScores
        By adjustment, line and ratio.
    missing : dict of Note
        By adjustment and line, why there is no answer, or none at some ratio.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> why = ["too ill" if x > 0.5 else "moved away" for x in test.X[:, 0]]
    >>> y = cc.Survival(test.y.time, test.y.event, reason=why)
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (3, 10)}
    >>> result = cc.evaluate(models, y, y_train=train.y, metrics="ibs")
    >>> print(result.sensitivity(["clayton", "hazard_ratio"], [0.0]).after_dropout.statement)
    If the hazard of those who left is ρ times that of comparable subjects who stayed, 10 beats 3 for ρ up to about
    2 (0.5 to 5 was tried). For “too ill” alone: up to about 2; for “moved away” alone: every ρ.
    """

    point_name = "ratio"

    @property
    def ratios(self) -> tuple[float, ...]:
        """The hazard ratios of the grid."""
        return self.points

    @staticmethod
    def position(point: float) -> float:
        """The logarithm of a ratio."""
        return math.log(point)

    @staticmethod
    def at_position(position: float) -> float:
        """The ratio with this logarithm; a ratio of the grid comes back as it was."""
        return float(f"{math.exp(position):.12g}")

    def place(self, adjustment: str, line: str, point: float) -> tuple[str, str | None, float, float]:
        """Where a point is in tables."""
        return HAZARD_RATIO, None if line == ALL else line, np.nan, point

    def plot(self, line: str | Sequence[str] = ALL, ax: Any = None) -> Any:
        """Scores along the hazard ratio of all, or of reasons or groups, a panel each; returns the axes.

        See :class:`~cocensor.plots.SensitivityDisplay`.
        """
        from cocensor.plots import SensitivityDisplay

        return SensitivityDisplay.from_after_dropout(self, line=line).plot(ax=ax)

    def plot_differences(
        self, reference: str | None = None, line: str | Sequence[str] = ALL, ax: Any = None
    ) -> Any:
        """Scores less that of one model; returns the axes (see :class:`~cocensor.plots.DifferenceDisplay`)."""
        from cocensor.plots import DifferenceDisplay

        return DifferenceDisplay.from_after_dropout(self, reference, line=line).plot(ax=ax)

    @cached_property
    def statement(self) -> str:
        """The answer in words, by the primary adjustment and the first metric of the evaluation."""
        from cocensor.words import after_dropout_in_words

        return after_dropout_in_words(self)

    def __repr__(self) -> str:
        from cocensor.words import after_dropout_as_text

        return escaped(after_dropout_as_text(self))

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON can hold it."""
        from cocensor.sensitivity.numbers import grid_numbers

        return grid_numbers(self)


@dataclass(frozen=True, eq=False)
class RatioLines:
    """Whose ratio moves on each line: everybody's, or that of one reason or group.

    ``unnamed`` says why reasons that there are have no lines.
    """

    ratios: FloatArray
    reasons: tuple[str, ...] = ()
    groups: Mapping[str, BoolArray] = field(default_factory=dict)
    unnamed: tuple[str, ...] = ()

    @classmethod
    def of(cls, ratios: Any, by: Any, samples: Samples) -> RatioLines:
        """As asked for by ``hazard_ratios`` and ``hazard_ratio_by``."""
        grid = as_ratios(ratios)
        if by is None or (isinstance(by, str) and by == "reason"):
            return cls._by_reason(grid, samples, asked=by is not None)
        labels = _labels(by, samples)
        groups = check_groups(labels, "hazard_ratio_by")
        array = np.array(labels)
        return cls(grid, groups={name: array == name for name in groups} if len(groups) > 1 else {})

    @classmethod
    def _by_reason(cls, grid: FloatArray, samples: Samples, asked: bool) -> RatioLines:
        reasons = samples.y_test.reasons
        if asked and not reasons:
            raise ValueError("hazard_ratio_by must not be 'reason' where y_test names no reasons of dropout.")
        if len(reasons) > _MOST_GROUPS:
            why = f"at most {_MOST_GROUPS} reasons for a line each, but has {len(reasons)}: put some of them together."
            if asked:
                raise ValueError(f"y_test must have {why}")
            why = f"No reason is moved alone: y_test may have {why}"
            return cls(grid, unnamed=(why,))
        _refuse_all(reasons, "y_test")
        return cls(grid, reasons if len(reasons) > 1 else ())

    @property
    def names(self) -> tuple[str, ...]:
        """The lines."""
        return (ALL, *self.reasons, *self.groups)

    def ratio(self, line: str, ratio: float) -> Any:
        """What the adjustments are given at a point of a line."""
        if line == ALL:
            return ratio
        if line in self.groups:
            return np.where(self.groups[line], ratio, 1.0)
        return {line: ratio}


def as_ratios(values: Any) -> FloatArray:
    """Different hazard ratios, in their order."""
    grid = np.unique(as_vector(values, "hazard_ratios", single=True))
    if not grid.size:
        raise ValueError("hazard_ratios is empty: at least one is needed.")
    bad = ~(grid > 0) | ~np.isfinite(grid)
    if bad.any():
        refuse_first(bad, grid, "hazard_ratios must be positive and finite")
    return grid


def _labels(by: Any, samples: Samples) -> list[str]:
    n = len(samples.y_test)
    if isinstance(by, str):
        names = column_names(samples.x_test) or []
        if by not in names:
            raise ValueError(
                f"hazard_ratio_by must be a column of numbers in x_test, or a label per test subject, but is {by!r}."
            )
        by = np.asarray(samples.x_test)[:, names.index(by)]
    check_length(by, "hazard_ratio_by", n, "y_test")
    values = to_numpy(by, "hazard_ratio_by")
    if values.ndim != 1:
        raise ValueError(
            f"hazard_ratio_by must have one label per test subject, but its shape is {values.shape}."
        )
    return as_labels(values.tolist(), "hazard_ratio_by")


def as_labels(values: Sequence[Any], argument: str) -> list[str]:
    """A text per test subject."""
    found = []
    for row, value in enumerate(values):
        text = "" if value is None else spelled(value).strip()
        if not text:
            refuse_at((row,), value, f"{argument} must have a label for each test subject")
        found.append(text)
    return found


def check_groups(labels: Sequence[str], argument: str) -> list[str]:
    """The different labels, in their order, if they are few."""
    names = sorted(set(labels))
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"{argument} must have at most {_MOST_GROUPS} groups, but has {len(names)}: put some of them together."
        )
    _refuse_all(names, argument)
    return names


def _refuse_all(names: Sequence[str], argument: str) -> None:
    if ALL in names:
        raise ValueError(f"{argument} must not call a group {ALL!r}: that is everybody's hazard ratio.")
