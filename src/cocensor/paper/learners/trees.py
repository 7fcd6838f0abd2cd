"""What the two ensembles of trees share."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, Literal

from cocensor._checks import check_whole
from cocensor.paper.learners.base import Learner

MaxFeatures = Literal["sqrt", "log2"] | int | float | None


@dataclass(eq=False, kw_only=True)
class TreeLearner(Learner, ABC):
    """Hyperparameters of an ensemble of trees, in scikit-survival's words."""

    n_estimators: int = 100
    max_depth: int | None = 1
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_features: MaxFeatures = "sqrt"
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(self.n_estimators, "n_estimators", 1)
        if self.max_depth is not None:
            check_whole(self.max_depth, "max_depth", 1, otherwise=" or None")
        check_whole(self.min_samples_split, "min_samples_split", 2)
        check_whole(self.min_samples_leaf, "min_samples_leaf", 1)
        check_whole(self.seed, "seed", 0)
        _check_max_features(self.max_features)

    def _settings(self) -> dict[str, Any]:
        """What both ensembles of scikit-survival take."""
        return {
            "n_estimators": self.n_estimators,
            "max_depth": self.max_depth,
            "min_samples_split": self.min_samples_split,
            "min_samples_leaf": self.min_samples_leaf,
            "max_features": self.max_features,
            "random_state": self.seed,
        }


def _check_max_features(value: Any) -> None:
    if value is None or value in ("sqrt", "log2"):
        return
    is_share = isinstance(value, float) and 0.0 < value <= 1.0
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if not (is_share or is_count):
        raise ValueError(
            "max_features must be 'sqrt', 'log2', a whole number from 1 on, a share in (0, 1] or None, "
            f"but is {value!r}."
        )
