"""Random survival forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cocensor._checks import FloatArray, need
from cocensor.data import Predictions
from cocensor.data.survival import structured
from cocensor.paper.learners.base import Part
from cocensor.paper.learners.trees import TreeLearner

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
