"""Ensembles of trees: random survival forests, and gradient boosting of the partial likelihood."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from cocensor._checks import FloatArray, check_number, check_whole, need
from cocensor.data import Predictions
from cocensor.data.survival import structured
from cocensor.paper.learners.base import Learner, Part
from cocensor.paper.learners.cox import ProportionalHazards

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
        """Return what both ensembles of scikit-survival take."""
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


# Elements of scikit-survival's array of curves at a time, 32 MiB.
_BLOCK_ELEMENTS = 1 << 22


@dataclass(eq=False, kw_only=True)
class RSF(TreeLearner):
    r"""A random survival forest: the mean of the Kaplan–Meier curves of the leaves that x falls into,

    .. math:: \hat S(t \mid x) = \frac1B \sum_{b=1}^B \hat S_{b, \ell_b(x)}(t),

    over B trees, each grown on a bootstrap sample and split by the log-rank test. It is scikit-survival's
    ``RandomSurvivalForest``, and needs ``cocensor[learners]``. Assumes that event and censoring are independent
    within a leaf.

    Parameters
    ----------
    n_estimators : int
        B, the number of trees.
    max_depth : int or None
        1 in the paper's text; 3 behind its published numbers (``learner("rsf", preset="published")``). A tree
        stores a curve for every leaf: without a limit a forest on some thousand subjects takes gigabytes.
    min_samples_split, min_samples_leaf : int
        The smallest node that is split, and the smallest leaf.
    max_features : {"sqrt", "log2"}, int, float or None
        How many covariates a split may choose among: as a rule, a number, a share, or all.
    seed : int
        Of bootstrap and splits: the same seed gives the same forest.

    Attributes
    ----------
    model_ : sksurv.ensemble.RandomSurvivalForest

    Notes
    -----
    Curves are steps at all distinct event times of the training part, at the full n × (number of these)
    resolution: scikit-survival also lists the times of censorings, where no curve falls, and leaving these out
    loses nothing. Beyond the last event they stay at their last value.

    A split costs (distinct values of a covariate) × (distinct times): 7,000 subjects with ten continuous covariates
    and no tied times take two minutes at depth 3. Times rounded to some hundred values make that half a minute.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import RSF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> time = rng.exponential(np.exp(-2.0 * X[:, 0]))
    >>> curves = RSF(n_estimators=50, max_depth=3).fit(X, (time, np.ones(300))).predict([[-1.0, 0.0], [1.0, 0.0]])
    >>> curves([0.5]).round(1)
    array([[0.8],
           [0.1]])

    References
    ----------
    Ishwaran, H., Kogalur, U. B., Blackstone, E. H., Lauer, M. S. (2008). Random survival forests. *Annals of
    Applied Statistics* 2.
    """

    name: ClassVar[str] = "rsf"

    def _fit(self, part: Part, validation: Part | None) -> None:
        ensemble = need("sksurv.ensemble", type(self).__name__, "scikit-survival", "learners")
        self.model_ = ensemble.RandomSurvivalForest(**self._settings())
        self.model_.fit(part.X, structured(part.y.time, part.y.event))
        self._times = np.unique(part.y.time[part.y.event])
        self._kept = np.searchsorted(self.model_.unique_times_, self._times)

    def _predict(self, X: FloatArray) -> Predictions:
        table = np.empty((len(X), self._times.size))
        step = max(1, _BLOCK_ELEMENTS // self.model_.unique_times_.size)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            table[rows] = self.model_.predict_survival_function(X[rows], return_array=True)[:, self._kept]
        return Predictions(self._times, table, interpolation="step", tail="last")


@dataclass(eq=False, kw_only=True)
class GBSA(TreeLearner):
    r"""Gradient boosting survival analysis: Cox's model with a sum of trees in the place of :math:`x'\beta`,

    .. math:: \hat S(t \mid x) = \exp\Bigl(-H_0(t)\, e^{r(x)}\Bigr), \qquad r(x) = \nu \sum_{b=1}^B f_b(x),

    where each tree :math:`f_b` is fitted to the gradient of the partial log-likelihood (Breslow's ties) at the sum
    so far, on a random share of the subjects. It is scikit-survival's ``GradientBoostingSurvivalAnalysis`` with its
    Cox loss, and needs ``cocensor[learners]``. Assumes proportional hazards, and that event and censoring are
    independent given x.

    Parameters
    ----------
    n_estimators : int
        B, the number of trees.
    learning_rate : float
        ν. The paper does not name it; 0.1 is scikit-survival's default, and in the published code.
    subsample : float
        The share of subjects, in (0, 1], that a tree is fitted to.
    max_depth : int or None
        1 in the paper's text; 3 behind its published numbers (``learner("gbsa", preset="published")``).
    min_samples_split, min_samples_leaf : int
        The smallest node that is split, and the smallest leaf.
    max_features : {"sqrt", "log2"}, int, float or None
        How many covariates a split may choose among: as a rule, a number, a share, or all.
    seed : int
        Of subsamples and splits: the same seed gives the same trees.

    Attributes
    ----------
    model_ : sksurv.ensemble.GradientBoostingSurvivalAnalysis

    Notes
    -----
    scikit-survival sums the loss and its gradient over all pairs of subjects. Here both come from sorted cumulative
    sums, the same up to rounding, which on five thousand subjects is a hundred times as fast.

    Curves are steps at all distinct event times of the training part, n × (number of these), and stay at their last
    value beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import GBSA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> time = rng.exponential(np.exp(-2.0 * X[:, 0]))
    >>> GBSA().fit(X, (time, np.ones(300))).predict([[-1.0, 0.0], [1.0, 0.0]])([0.5]).round(1)
    array([[0.9],
           [0.1]])

    References
    ----------
    Ridgeway, G. (1999). The state of boosting. *Computing Science and Statistics* 31.
    """

    name: ClassVar[str] = "gbsa"

    learning_rate: float = 0.1
    subsample: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.learning_rate, "learning_rate", lower=0.0)
        if not 0.0 < check_number(self.subsample, "subsample") <= 1.0:
            raise ValueError(f"subsample must lie in (0, 1], but is {self.subsample:g}.")

    def _fit(self, part: Part, validation: Part | None) -> None:
        need("sksurv.ensemble", type(self).__name__, "scikit-survival", "learners")
        from cocensor.paper.learners.cox_boosting import SortedCoxBoosting

        self.model_ = SortedCoxBoosting(
            **self._settings(), learning_rate=self.learning_rate, subsample=self.subsample
        )
        self.model_.fit(part.X, structured(part.y.time, part.y.event))
        self._hazards = ProportionalHazards.fit(part.y, self.model_.predict(part.X))

    def _predict(self, X: FloatArray) -> Predictions:
        return self._hazards.curves(self.model_.predict(X))
