"""Imputation of the status from a joint model, given covariates or the prediction."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from cocensor._validation import FloatArray, HorizonWarning, as_times, as_vector, check_choice
from cocensor.adjustments.base import Adjustment, always_event_free
from cocensor.adjustments.estimate import Estimate
from cocensor.adjustments.joint_source import JointGivenCovariates, JointRecipe, Prepared, check_model
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Imputed, Status, TimeGrid
from cocensor.joint.fit import Times
from cocensor.joint.margins import Margins
from cocensor.joint.model import Conditional, JointModel
from cocensor.outcomes import Survival

# A score that others explain up to this share of its variance adds nothing but trouble.
_COLLINEAR = 1e-6


class JointConditional(Adjustment):
    r"""A censored subject is event-free at t with the probability that a joint model of (E, C) gives it.

    .. math:: q_i(t) = P(E > t \mid E > c_i, C = c_i, z_i), \qquad a = q, \qquad b = 1 - q,

    and :math:`P(E > t \mid E > c_i, C > c_i, z_i)` after an administrative censoring. What is imputed follows the
    subject, through z: its covariates, or the risk score of the model under evaluation. That is what imputation from
    the margins alone lacks, and what keeps the loss of a good model from being overstated.

    Parameters
    ----------
    given : {"covariates", "prediction"}
        ``"covariates"``: z = x, with the joint model fitted to the training data (``x_train``). ``"prediction"``:
        :math:`z = \log(-\log \hat S_i(t_0))`, with the joint model fitted to the *test* outcomes: a score depends on
        the data only through (E, C) and the prediction, so neither covariates nor training data are needed. The
        status then belongs to the one model under evaluation.
    copula : Copula, family, name, CopulaChoice or JointModel, optional
        The dependence of E and C given z; independence by default. A family (or its name) has its θ estimated, which
        rests on the form of the margins alone. Given the prediction, the τ to assume is that of (E, C) given the
        score: a mixture over covariates, as a rule somewhat weaker than given covariates.
    margins, knots, penalty, times
        As in :func:`fit_joint`.
    model : JointModel, optional
        Given covariates: use this fitted model instead of fitting one.
    score_times : int or sequence of float
        Given the prediction: at which times its curves are read, or how many of them, at equally spaced quantiles of
        the observed times (1: the median). Curves that cross need about three. Predictions that come as an array
        are read at the nearest of the times asked for.

    Notes
    -----
    Scores that are constant, or that others explain, leave the design; a prediction of exactly 0 or 1 is given the
    most extreme score of the others, for the score only. ``status.notes`` records all of it, and ``status.model`` is
    the joint model.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=4000, n_features=3, copula=cc.Clayton(2.0)).draw(0)
    >>> train, test = data[:2000], data[2000:]
    >>> times = cc.time_grid(train.y, n=20, horizon={"at_risk": 0.1})
    >>> curves = cc.CoxPH().fit(train.X, train.y).survival(times, test.X)
    >>> def score(adjustment):
    ...     return cc.integrated_brier_score(train.y, test.y, curves, times, adjustment=adjustment)
    >>> truth = score(cc.Oracle(test.event_time))
    >>> for adjustment in (cc.IPCW(), JointConditional("prediction", cc.Clayton(2.0))):
    ...     print(f"{score(adjustment) - truth:+.4f}")
    -0.0106
    -0.0018
    """

    def __init__(
        self,
        given: Literal["covariates", "prediction"] = "covariates",
        copula: Any = None,
        margins: Margins = "spline",
        *,
        knots: int = 3,
        penalty: float = 0.01,
        times: Times = "auto",
        model: JointModel | None = None,
        score_times: int | Sequence[float] | FloatArray = 1,
    ) -> None:
        check_choice(given, "given", ("covariates", "prediction"))
        check_model(model, copula)
        if model is not None and given == "prediction":
            raise ValueError("model must be None given the prediction: it is fitted to the test outcomes.")
        self.given, self.copula, self.model = given, copula, model
        self.score_times = _checked_score_times(score_times)
        self._recipe = JointRecipe.of(copula if model is None else model, margins, knots, penalty, times)
        self._source = JointGivenCovariates(self._recipe, model)

    def __repr__(self) -> str:
        if self.model is not None:
            return f"JointConditional({self.given!r}, model={self.model!r})"
        return f"JointConditional({self.given!r}, copula={self.copula!r}, margins={self._recipe.margins!r})"

    @property
    def assumption(self) -> str:
        """What the adjustment rests on."""
        z = "the covariates" if self.given == "covariates" else "the evaluated model's own risk score"
        return f"Given {z}, event and dropout have {self._recipe} and margins of the stated form."

    @property
    def needs(self) -> frozenset[str]:
        """Covariates, or the estimate."""
        return frozenset({"covariates"} if self.given == "covariates" else {"estimate"})

    def with_copula(self, copula: Any) -> JointConditional:
        """The same adjustment, not fitted yet, under another copula of event and dropout."""
        other = JointConditional(self.given, copula, **self._recipe.settings, score_times=self.score_times)
        other._recipe = replace(other._recipe, prepared=self._recipe.prepared)
        return other

    def sharing(self) -> JointConditional:
        """The same; those that it becomes ``with_copula`` make samples ready once, and start from each other's fits."""
        other = self.copy()
        other._recipe = replace(self._recipe, prepared=Prepared())
        return other

    def _fit(self, y: Survival, x: Any) -> None:
        if self.given == "covariates":
            self._source = JointGivenCovariates(self._recipe, self.model).fitted(y, x)

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        # Whoever is censored after the last time asked for is event-free at all of them.
        asked = ~y.event & (y.time < grid.last)
        cut = grid.cut(y.time)
        groups = [
            Group.of(np.flatnonzero(y.event), cut, EVENT_FREE, EVENT),
            always_event_free(np.flatnonzero(~y.event & ~asked), y, grid),
        ]
        if not asked.any():
            return Status(grid, len(y), tuple(groups))
        model, X, notes = self._given(y, grid, x, estimate)
        if grid.last > model.t_max_:
            warnings.warn(
                f"times pass {model.t_max_:g}, the last time that the joint model was fitted to: "
                "beyond it the margins extrapolate.",
                HorizonWarning,
                stacklevel=4,
            )
        ended = np.zeros(len(y), dtype=bool) if y.administrative is None else y.administrative
        q = Conditional(model, grid.sorted, y.time, X, ended)
        groups += [
            Group.of(np.flatnonzero(asked & kind), cut, EVENT_FREE, Imputed(q)) for kind in (ended, ~ended)
        ]
        return Status(grid, len(y), tuple(groups), notes=notes, model=model)

    def _given(
        self, y: Survival, grid: TimeGrid, x: Any, estimate: Any
    ) -> tuple[JointModel, FloatArray, tuple[str, ...]]:
        """The joint model, what it conditions on, and notes."""
        if self.given == "covariates":
            return *self._source.of(x, y), ()
        if estimate is None:
            raise ValueError("estimate is needed: the joint model is given the prediction.")
        scores, notes = risk_scores(estimate, grid, y, self.score_times)
        try:
            model = self._recipe.fit(scores if scores.shape[1] else None, y)
        except ValueError as error:
            raise ValueError(f"the joint model cannot be fitted to y_test: {error}") from error
        return model, scores, tuple(notes)


def _checked_score_times(score_times: Any) -> int | FloatArray:
    if isinstance(score_times, int | np.integer):
        if isinstance(score_times, bool) or score_times < 1:
            raise ValueError(f"score_times must be at least 1, but is {score_times!r}.")
        return int(score_times)
    times = np.unique(as_times(as_vector(np.atleast_1d(score_times), "score_times"), "score_times"))
    if not times.size:
        raise ValueError("score_times is empty: at least one time is needed.")
    return times


def risk_scores(
    estimate: Any, grid: TimeGrid, y: Survival, score_times: int | FloatArray
) -> tuple[FloatArray, list[str]]:
    """log(−log Ŝ(t₀)) at a few times, without what is constant or collinear, and notes on that."""
    if isinstance(score_times, int):
        levels = np.arange(1, score_times + 1) / (score_times + 1)
        wanted = np.unique(np.quantile(y.time, levels, method="inverted_cdf"))
    else:
        wanted = score_times
    predicted = Estimate.of(estimate, grid.sorted, grid.order, len(y))
    survival, at = predicted.read_at(wanted)
    notes, kept = [], np.empty((len(y), 0))
    for t, column in zip(at, survival.T, strict=True):
        with np.errstate(divide="ignore"):
            score = np.log(-np.log(column))
        finite = np.isfinite(score)
        if finite.any() and not finite.all():
            score = np.clip(score, score[finite].min(), score[finite].max())
            notes.append(
                f"{int((~finite).sum())} predictions of 0 or 1 at time {t:g}: most extreme score of the others"
            )
        if not finite.any() or _explained(score, kept):
            notes.append(f"risk score at time {t:g} left out: constant, or explained by the others")
            continue
        kept = np.column_stack((kept, score))
        notes.append(f"risk score at time {t:g}")
    return kept, notes


def _explained(score: FloatArray, others: FloatArray) -> bool:
    """Whether a score is constant, or a combination of others up to a negligible rest."""
    design = np.column_stack((np.ones(score.size), others))
    rest = score - design @ np.linalg.lstsq(design, score, rcond=None)[0]
    spread = np.var(score)
    return bool(spread <= 1e-24 * max(1.0, float(np.mean(score**2))) or np.var(rest) < _COLLINEAR * spread)
