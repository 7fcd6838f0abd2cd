"""Columns of an imputation model: covariates and the risk scores of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    BoolArray,
    FloatArray,
    as_vector,
    check_choice,
    check_length,
    check_whole,
)
from cocensor._notes import Note, noted
from cocensor.adjustments.models.learned import Learned, LearnedScores
from cocensor.data import Predictions, Sample, Survival
from cocensor.data.covariates import Encoding
from cocensor.data.predictions import Predicted, PredictionsAt, RiskScores
from cocensor.data.risk_table import WhichMargin
from cocensor.data.times import shown_time
from cocensor.joint.design import Design
from cocensor.joint.margins import Basis

ScoreTimes = int | tuple[float, ...] | Literal["auto"]
Ridge = Literal["", "scores", "covariates", "learned", "curvature", "time"]
# Of a natural spline with 3 degrees of freedom.
_OUTER_KNOTS = (0.05, 0.95)
# A covariate that others explain up to this share of its variance adds nothing but trouble; so does a function of a
# spline that those before it explain up to this share of its size.
_COLLINEAR = 1e-6
# What is made of predictions is there once: two unshrunk scores of which one is the other, recalibrated, are noise.
_RECALIBRATED = 1e-3
# Columns add as much as each other if it is the same up to this share.
_TIE = 1e-3
# A score at another quartile joins where that at the median explains less than this share of its variance.
_ENOUGH = 0.95
# A learned score of which one covariate explains more than this share of the variance is named after it.
_MOSTLY = 0.9
# A score is left unshrunk where there are so many events, and dropouts, for each.
_PER_SCORE = 10


def check_score_times(score_times: Any) -> ScoreTimes:
    """Return at how many times predictions are read, or at which."""
    if isinstance(score_times, str):
        check_choice(score_times, "score_times", ("auto",))
        return "auto"
    if isinstance(score_times, int | np.integer):
        return check_whole(score_times, "score_times")
    times = np.unique(as_vector(score_times, "score_times", single=True, negative=False))
    if not times.size:
        raise ValueError("score_times is empty: at least one time is needed.")
    return tuple(times.tolist())


@dataclass(frozen=True)
class Recipe:
    """The rule by which predictions become columns: the times, the smoothness, and what a ridge shrinks."""

    score_times: ScoreTimes = 1
    score_df: int = 1
    time_varying: bool = False
    shrink: bool = False
    learned: Learned = False


#: Columns with their values, in the order in which they come in.
_Columns = list[tuple["Column", FloatArray]]


def imputation_design(
    sample: Sample, predictions: Mapping[str, Predicted], recipe: Recipe
) -> tuple[ImputationDesign, tuple[Note, ...]]:
    r"""Covariates and the risk scores :math:`\log(-\log \hat S(t_0))` of all predictions, and notes on them.

    Scores come first, then scores at further times, covariates, learned scores, and what bends the scores. A column
    that is constant, or that those before it explain, leaves by a decomposition that is pivoted within each of the
    five; those that stay keep their order. The scores of out-of-fold predictions are centred within folds.
    """
    notes: list[Note] = []
    x, y, folds = sample.x, sample.y, sample.folds
    scores, others, covariates, learned, bent = parts = tuple(_Columns() for _ in range(5))
    shrunk: dict[str, Ridge] = {ridge: ridge if recipe.shrink else "" for ridge in get_args(Ridge)}
    for name, predicted in predictions.items():
        by_time, n_extreme = _scores(predicted, y, recipe.score_times)
        if n_extreme:
            notes.append(noted("extreme_scores", model=name, n=n_extreme))
        if not by_time:
            notes.append(noted("no_risk_score", model=name))
        for i, (t, raw) in enumerate(by_time.items()):
            score = raw if folds is None else _centred(raw, folds)
            source = Score(name, t, float(raw.min()), float(raw.max()), folds is not None)
            label = f"risk score of {name}" if t is None else f"score of {name} at {shown_time(t)}"
            if i and recipe.score_times == "auto":
                others.append((Column(label, shrunk["scores"], source), score))
                continue
            scores.append((Column(label, "", source), score))
            curvature = Curvature.fitted(score, recipe.score_df) if recipe.score_df > 1 else None
            for k, values in enumerate(() if curvature is None else curvature.of(score).T):
                label = f"curvature {k + 1} of {name}"
                bent.append((Column(label, shrunk["curvature"], source, curvature, k), values))
        times = [shown_time(t) for t in by_time if t is not None]
        if times:
            notes.append(noted("score_times", model=name, times=times))
    encoding: Encoding | None = None
    learner: LearnedScores | None = None
    if x is not None:
        encoding = Encoding.of(x, "x_test", incomplete=True)
        check_length(x, "x_test", len(y), "y_test")
        columns = zip(encoding.names, encoding.matrix(x, "x_test").T, strict=True)
        covariates += [(Column(name, shrunk["covariates"], i), x) for i, (name, x) in enumerate(columns)]
        notes += encoding.notes
        if recipe.learned:
            learner, learned_scores, more = LearnedScores.of(sample, recipe.learned)
            notes += more
            for kind, score in zip(learner.kinds, learned_scores.T, strict=True):
                label = f"learned score of {kind}{_mostly(score, covariates)}"
                learned.append((Column(label, shrunk["learned"], kind), score))
    candidates = [column for part in parts for column, _ in part]
    values = [x for part in parts for _, x in part]
    negligible = [_COLLINEAR if part is covariates else _RECALIBRATED for part in parts]
    counted = sample.counted & (y.time > 0)
    chosen = _independent([len(part) for part in parts], negligible, values, counted)
    kept = sorted(chosen)
    left_out = [column.name for i, column in enumerate(candidates) if i not in kept]
    left_out += () if encoding is None else encoding.left_out
    if left_out:
        notes.append(noted("columns_left_out", columns=left_out))
    n_scores, n_varying = len(scores), len(candidates) - len(learned) - len(bent)
    varying = tuple(i for i, column in enumerate(kept) if column < n_varying) if recipe.time_varying else ()
    if recipe.shrink:
        rarer = min(int(y.event.sum()), int(y.dropout.sum()) or len(y))
        free = max(1, rarer // _PER_SCORE)
        beyond = [column for column in chosen if column < n_scores][free:]
        for column in beyond:
            candidates[column] = replace(candidates[column], ridge="scores")
        if beyond:
            notes.append(noted("scores_shrunk", n=rarer, free=free, scores=free + len(beyond)))
    sources = tuple(candidates[i] for i in kept)
    names, ridges = tuple(column.name for column in sources), tuple(column.ridge for column in sources)
    matrix = np.column_stack([np.empty((len(y), 0)), *(values[i] for i in kept)])
    design = ImputationDesign(
        matrix, names, varying, ridges, shrunk["time"], sources=sources, covariates=encoding, learned=learner
    )
    return design, tuple(notes)


def _mostly(score: FloatArray, covariates: _Columns) -> str:
    """Name the covariate that a learned score is hardly more than, as where it was known after the outcome."""
    for column, values in covariates if spread_of(score) else ():
        if spread_of(values) and np.corrcoef(values, score)[0, 1] ** 2 > _MOSTLY:
            return f" (mostly {column.name!r})"
    return ""


def risk_score(predicted: Predicted, y: Survival, folds: npt.NDArray[Any] | None = None) -> FloatArray | None:
    """The score at the median of the observed times; None where the predictions do not tell subjects apart."""
    scores, _ = _scores(predicted, y, 1)
    score = next(iter(scores.values()), None)
    return score if score is None or folds is None else _centred(score, folds)


def _independent(
    sizes: list[int], negligible: list[float], values: list[FloatArray], counted: BoolArray
) -> list[int]:
    """The columns that those before them leave something of, those that add most first.

    A Cholesky decomposition of the correlations among the subjects ``counted``, pivoted within each part of the
    columns, of these ``sizes``, and with a share of the variance that is ``negligible`` there. Of columns that add as
    much, up to a margin that rounding does not reach, the first is taken.
    """
    if not values or not counted.any():
        return []
    X = np.column_stack([column[counted] for column in values])
    spread = np.array([spread_of(column) for column in X.T])
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rest = Z.T @ Z / len(Z) * np.outer(spread > 0, spread > 0)
    kept: list[int] = []
    for stop, size, least in zip(np.cumsum(sizes).tolist(), sizes, negligible, strict=True):
        candidates = list(range(stop - size, stop))
        while candidates:
            most = max(rest[i, i] for i in candidates)
            if most < least:
                break
            first = next(i for i in candidates if rest[i, i] >= max((1.0 - _TIE) * most, least))
            kept.append(first)
            candidates.remove(first)
            rest -= np.outer(rest[:, first], rest[first]) / rest[first, first]
    return kept


def _scores(
    predicted: Predicted, y: Survival, times: ScoreTimes
) -> tuple[dict[float | None, FloatArray], int]:
    """log(−log Ŝ(t)) by t (a risk score: at None), and how many were infinite and got an extreme of the others."""
    if isinstance(predicted, RiskScores):
        return ({None: predicted.risk} if spread_of(predicted.risk) else {}), 0
    scores, n_extreme = dict[float | None, FloatArray](), 0
    first = _times(predicted, y, 1 if times == "auto" else times).tolist()
    for t in [*first, *(_times(predicted, y, 3).tolist() if times == "auto" else ())]:
        raw = raw_score(predicted, t)
        finite = raw[np.isfinite(raw)]
        if t in scores or not finite.size:
            continue
        score = within(raw, float(finite.min()), float(finite.max()))
        if not spread_of(score):
            continue
        if t not in first:
            middle = next(iter(scores.values()), None)
            if middle is None or np.corrcoef(score, middle)[0, 1] ** 2 >= _ENOUGH:
                continue
        scores[t] = score
        n_extreme += score.size - finite.size
    return scores, n_extreme


def _times(predicted: Predicted, y: Survival, score_times: ScoreTimes) -> FloatArray:
    """Return the times at which predictions are read: up to the end of their curves, and where subjects differ."""
    if isinstance(predicted, PredictionsAt):
        return predicted.times
    wanted = np.unique(np.minimum(wanted_times(y, score_times), predicted.end))
    values = predicted.read(wanted, slice(None))
    constant = values.min(axis=0) == values.max(axis=0)
    if not constant.any():
        return wanted
    differ = wanted[:0]
    if isinstance(predicted, Predictions):
        table = predicted.probabilities
        differ = predicted.times[table.min(axis=0) < table.max(axis=0)]
    if not differ.size:
        return wanted
    nearest = differ[np.abs(differ - wanted[constant, None]).argmin(axis=1)]
    return np.unique(np.concatenate((wanted[~constant], nearest)))


def wanted_times(y: Survival, score_times: ScoreTimes) -> FloatArray:
    """Return the times at which predictions are to be read; all that "auto" may read."""
    if isinstance(score_times, tuple):
        return np.array(score_times, dtype=np.float64)
    n_levels = min(3 if score_times == "auto" else score_times, len(y))  # which gives all of the times
    levels = np.arange(1, n_levels + 1) / (n_levels + 1)
    return np.asarray(np.quantile(y.time, levels, method="inverted_cdf"))


def _centred(score: FloatArray, folds: npt.NDArray[Any]) -> FloatArray:
    """The scores, shifted so that all folds have the same mean."""
    _, fold = np.unique(folds, return_inverse=True)
    return score + (float(score.mean()) - np.bincount(fold, score) / np.bincount(fold))[fold]


@dataclass(frozen=True, eq=False)
class Score:
    r"""The risk score :math:`\log(-\log \hat S(t))` of a model, or (t is None) the one that it predicts."""

    model: str
    t: float | None
    #: Of the subjects fitted to: a prediction of 0 or 1 gets one of the two.
    lowest: float
    highest: float
    is_centred: bool = False

    def of(self, predictions: Mapping[str, Predicted]) -> FloatArray:
        """The scores of any subjects; of none where those fitted to were centred by fold."""
        predicted = predictions.get(self.model)
        if predicted is None:
            raise ValueError(f"predictions must hold those of {self.model!r}, as in the fit.")
        if self.is_centred:
            raise ValueError("folds are needed: the fit was to out-of-fold predictions.")
        if isinstance(predicted, RiskScores) and self.t is None:
            return predicted.risk
        if isinstance(predicted, RiskScores) or self.t is None:
            kind = "risk scores" if self.t is None else "survival curves"
            raise ValueError(f"predictions of {self.model!r} must be {kind}, as in the fit.")
        return within(raw_score(predicted, self.t), self.lowest, self.highest)


def raw_score(predicted: Predicted, t: float) -> FloatArray:
    """log(−log Ŝ(t)); infinite for a prediction of 0 or 1."""
    with np.errstate(divide="ignore"):
        return np.log(-np.log(predicted.read(np.array([t]), slice(None))[:, 0]))


def within(score: FloatArray, lowest: float, highest: float) -> FloatArray:
    """The scores, with the infinite ones set to the lowest or highest."""
    finite = np.isfinite(score)
    return score if finite.all() else np.where(finite, score, np.clip(score, lowest, highest))


@dataclass(frozen=True, eq=False)
class Curvature:
    """What a natural spline of a score adds to the line: functions orthonormal over the subjects, orthogonal to it."""

    centre: float
    scale: float
    basis: Basis

    @classmethod
    def fitted(cls, score: FloatArray, df: int) -> Curvature | None:
        """Put knots at quantiles of the ``score`` of the subjects fitted to; None where these are too few."""
        knots = np.unique(np.quantile(score, np.linspace(*_OUTER_KNOTS, df + 1)))
        if knots.size < 3 or score.size <= knots.size:
            return None
        centre, scale = float(score.mean()), spread_of(score)
        plain = cls(centre, scale, Basis((knots - centre) / scale))
        columns = plain.of(score)
        _, upper = np.linalg.qr(columns)
        kept = np.abs(np.diag(upper)) > _COLLINEAR * np.linalg.norm(columns, axis=0)
        if not kept.all():
            _, upper = np.linalg.qr(columns[:, kept])
        transform = np.zeros((columns.shape[1], upper.shape[1]))
        transform[kept] = np.linalg.inv(upper) * np.sqrt(score.size)
        return cls(centre, scale, Basis(plain.basis.knots, transform[:, 2:]))

    def of(self, score: FloatArray) -> FloatArray:
        """The functions of any scores, (n, size)."""
        return self.basis.values((score - self.centre) / self.scale)


def spread_of(value: FloatArray) -> float:
    """The standard deviation; 0 where it is rounding alone."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(np.std(value))
    return 0.0 if spread <= 1e-12 * max(1.0, float(np.abs(value).max(initial=0.0))) else spread


@dataclass(frozen=True, eq=False)
class Column:
    """A score, one of the functions that bend it, a covariate by its place or a learned score; and its ridge."""

    name: str
    ridge: Ridge
    source: Score | int | WhichMargin
    curvature: Curvature | None = None
    function: int = 0


@dataclass(frozen=True, eq=False)
class ImputationDesign(Design):
    """The columns of an imputation model for the subjects fitted to, and how they are made for any others."""

    sources: tuple[Column, ...] = ()
    covariates: Encoding | None = None
    learned: LearnedScores | None = None

    def matrix_of(self, sample: Sample, predictions: Mapping[str, Predicted]) -> FloatArray:
        """The columns of any subjects with predictions."""
        n, x = len(sample), sample.x
        if self.covariates is None:
            covariates = np.empty((n, 0))
        elif x is None:
            raise ValueError("x_test is needed: the joint model conditions on covariates.")
        else:
            covariates = self.covariates.matrix(x, "x_test")
            check_length(covariates, "x_test", n, "y_test")

        @cache
        def score_of(source: Score) -> FloatArray:
            score = source.of(predictions)
            check_length(score, f"predictions[{source.model!r}]", n, "y_test")
            return score

        @cache
        def bent(source: Score, curvature: Curvature | None) -> FloatArray:
            return score_of(source)[:, None] if curvature is None else curvature.of(score_of(source))

        learned: dict[Any, FloatArray] = {}
        if self.learned is not None:
            learned = dict(zip(self.learned.kinds, self.learned.of_subjects(sample).T, strict=True))
        matrix = np.empty((n, len(self.sources)))
        for j, column in enumerate(self.sources):
            if isinstance(column.source, Score):
                matrix[:, j] = bent(column.source, column.curvature)[:, column.function]
            elif isinstance(column.source, str):
                matrix[:, j] = learned[column.source]
            else:
                matrix[:, j] = covariates[:, column.source]
        return matrix
