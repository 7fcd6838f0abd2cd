"""The judge: the imputation that answers come from, and how it is found."""

from __future__ import annotations

from collections.abc import Iterable

from cocensor.adjustments import Adjustment, Fitted, Imputation

#: Preferred first: imputation that is the same for all models, then that given each model's own prediction.
_PREFERRED = (
    ("everything",),
    ("covariates", "predictions"),
    ("predictions",),
    ("covariates",),
    ("prediction",),
)


def preference(adjustment: Adjustment) -> tuple[bool, bool, int]:
    """Where an adjustment stands among those that answers could come from; the smallest comes first."""
    given = adjustment.given if isinstance(adjustment, Imputation) else None
    place = _PREFERRED.index(given) if given in _PREFERRED else len(_PREFERRED)
    return not adjustment.votes, not adjustment.rests_on_copula, place


def judge_among(adjustments: Iterable[Adjustment | Fitted]) -> Adjustment | Fitted | None:
    """The first of those that give all models one status, from what all of them predict; None where there is none."""
    judges = [each for each in adjustments if "predictions" in _unfitted(each).needs]
    return min(judges, key=lambda each: preference(_unfitted(each)), default=None)


def _unfitted(each: Adjustment | Fitted) -> Adjustment:
    return each.adjustment if isinstance(each, Fitted) else each
