"""Which adjustment answers come from, and which imputation all models share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from cocensor.adjustments import Adjustment, Fitted, Imputation

if TYPE_CHECKING:
    from cocensor.study.scores import AdjustmentScores

Candidate = TypeVar("Candidate", bound=Adjustment | Fitted)
#: Preferred first: imputation that is the same for all models, then that given each model's own prediction.
_PREFERRED = (
    ("everything",),
    ("covariates", "predictions"),
    ("predictions",),
    ("covariates",),
    ("prediction",),
)


def imputation_among(adjustments: Iterable[Candidate]) -> Candidate | None:
    """The first of those that give all models one status, from what all of them predict; None where there is none."""
    shared = [each for each in adjustments if "predictions" in _unfitted(each).needs]
    return min(shared, key=lambda each: _preference(_unfitted(each)), default=None)


def first_choice(results: Sequence[AdjustmentScores], metric: str) -> str:
    """The name of the adjustment that answers should come from: that votes, and has scores by a metric."""

    def place(each: AdjustmentScores) -> tuple[bool, bool, tuple[bool, bool, int]]:
        votes, silent = each.adjustment.votes, each.answered and not each.values[metric]
        return not votes, silent, _preference(each.adjustment)

    return min(results, key=place).name


def _preference(adjustment: Adjustment) -> tuple[bool, bool, int]:
    """Where an adjustment stands among those that answers could come from; the smallest comes first."""
    given = adjustment.given if isinstance(adjustment, Imputation) else None
    place = _PREFERRED.index(given) if given in _PREFERRED else len(_PREFERRED)
    return not adjustment.votes, not adjustment.rests_on_copula, place


def _unfitted(each: Adjustment | Fitted) -> Adjustment:
    return each.adjustment if isinstance(each, Fitted) else each
