"""Choosing a copula family by likelihood, and saying what the likelihood cannot know."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    BoolArray,
    FloatArray,
    Progress,
    Seed,
    as_generator,
    as_weights,
    check_number,
    library_of,
    make_frame,
)
from cocensor._notes import Note, noted
from cocensor._parallel import one_blas_thread
from cocensor._views import view
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.copulas.registry import as_taus, walks_from_independence
from cocensor.data import Survival
from cocensor.joint.design import Design
from cocensor.joint.fit import STARTS, JointProblem
from cocensor.joint.margins import MarginForm
from cocensor.joint.model import JointModel
from cocensor.joint.settings import DEFAULT_MARGINS, LARGEST_TAU, AskedTimeKind, Family, Knots, resolve_family
from cocensor.warnings import FitWarning

CANDIDATES = ("independence", "clayton", "frank", "gumbel", "joe")
#: Margins of another form than assumed pass for a weak dependence: less than this is no reason to leave independence.
MIN_GAIN = 5.0
_FOLDS = 5
# Cross-validation fits every family six times. With this many subjects one validation part tells as much, and more
# subjects would only make the fits dearer: what decides is the form of the margins, not chance.
_ENOUGH_TO_SPLIT = 20_000
_VALIDATION_SHARE = 0.3


@one_blas_thread
def select_copula(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    families: Sequence[str | type[Copula]] = CANDIDATES,
    *,
    margins: MarginForm = DEFAULT_MARGINS,
    penalty: float | None = None,
    penalised: bool = False,
    min_gain: float = MIN_GAIN,
    starts: Sequence[float] = STARTS,
    knots: Knots = "auto",
    time_kind: AskedTimeKind = "auto",
    folds: int | None = None,
    seed: Seed = 0,
    sample_weight: Any = None,
) -> CopulaChoice:
    """Choose the copula family whose joint model predicts outcomes best that it has not seen.

    Each family is fitted to the training part with the same margins (:func:`fit_joint`). They are compared by the mean
    negative log-likelihood of the validation part. Independence is always among the candidates, and it stays unless a
    family beats it clearly. :func:`evaluate` and the command line choose by this function and its defaults.

    Parameters
    ----------
    X, y : covariates (or None, or a :class:`~cocensor.joint.design.Design`) and outcomes
    X_val, y_val : optional
        A validation part. Without one there is 5-fold cross-validation, with models fitted to all subjects;
        from 20,000 subjects on, 14,000 random ones are fitted to and 6,000 others validate.
    families : sequence of str or class
    margins, penalty, starts, knots, time_kind
        As in :func:`fit_joint`, with the same defaults: where all subjects are fitted to, ``models`` are the models
        that it returns.
    penalised : bool
        Add the penalty to the validation likelihood, as the paper does.
    min_gain : float
        By how many units of the held-out log-likelihood a family must beat independence to be chosen. Margins of
        another form than assumed pass for a weak dependence.
    folds : int, optional
        Cross-validate with so many folds, however many subjects there are; they are balanced in events, dropouts and
        ends of study.
    seed : int or Generator
        Of the folds, or of the random validation part.
    sample_weight : array-like of shape (n,), optional
        Case weights of ``y``, as in :func:`fit_joint`: in fits, and where subjects validate.

    Returns
    -------
    CopulaChoice

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton, select_copula
    >>> data = SyntheticDesign(n=4000, n_features=2, copula=Clayton.from_tau(0.7)).draw(1)
    >>> choice = select_copula(data.X, data.y, families=("clayton", "frank"), margins="weibull")
    >>> choice.best
    JointModel(Clayton(theta=...), margins='weibull', n=4000, covariates=2)

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival models.
    *UAI*.
    """
    outcomes = Survival.coerce(y)
    if X is None and X_val is not None:
        raise ValueError("X_val must be None where X is.")
    if (y_val is None) != (X_val is None) and X is not None:
        raise ValueError("X_val and y_val belong together: give both or neither.")
    if folds is not None:
        if y_val is not None:
            raise ValueError("folds must be None beside a validation part.")
        if check_number(folds, "folds", lower=1) != int(folds) or folds > len(outcomes):
            raise ValueError(f"folds must be a whole number from 2 to the sample size, but is {folds}.")
    if check_number(min_gain, "min_gain") < 0:
        raise ValueError(f"min_gain must not be negative, but is {min_gain:g}.")
    resolved = _families(families)
    design = Design.of(X, len(outcomes))
    parts = _parts(design, outcomes, folds, seed) if y_val is None else ("validation part", None, [])
    how, included, held_out = parts
    weight = None if sample_weight is None else as_weights(sample_weight, len(outcomes))
    settings: dict[str, Any] = {
        "margins": margins,
        "penalty": penalty,
        "knots": knots,
        "sample_weight": weight,
    }
    prepared = partial(JointProblem.of, design, outcomes, **settings)
    problem = prepared(time_kind=time_kind, included=included)
    models = _fit_all(problem, resolved, dict.fromkeys(resolved, starts))
    # Parts start where all subjects led to, unless that is the edge of a family.
    taus = {name: model.copula.tau for name, model in models.items()}
    reached = {name: (tau,) if abs(tau) < LARGEST_TAU else starts for name, tau in taus.items()}
    losses: dict[str, list[float]] = {name: [] for name in models}

    def validate(
        fitted: dict[str, JointModel], X: Any, y: Survival, weight: FloatArray | None = None
    ) -> float:
        """Add the negative log-likelihoods, with the penalty if that is asked for; the weight of the subjects."""
        n = float(len(y) if weight is None else weight.sum())
        for name, model in fitted.items():
            distance = model.copula.theta - model.copula.independence_theta if penalised else 0.0
            losses[name].append(-model.loglik(X, y, weight) + n * model.penalty * distance**2)
        return n

    n_held_out = 0.0
    if y_val is not None:
        validating_y = Survival.coerce(y_val, "y_val")
        models["independence"].covariates(X_val, len(validating_y), "X_val", "y_val")
        n_held_out = validate(models, X_val, validating_y)
    for k, left in enumerate(held_out, start=1):
        try:
            fitted = models
            if included is None:  # all parts are judged by the same likelihood
                fitted = _fit_all(prepared(time_kind=problem.time_kind, included=~left), resolved, reached)
        except ValueError as error:
            raise ValueError(
                f"fold {k} of {len(held_out)} cannot be left out: {error} Use fewer folds or a validation part."
            ) from error
        rows = np.flatnonzero(left)
        own = None if weight is None else weight[rows]
        n_held_out += validate(fitted, design[rows], outcomes[rows], own)
    validation = {name: sum(values) / n_held_out for name, values in losses.items()}
    if np.isinf(list(validation.values())).all():
        raise ValueError(
            f"no family can be chosen: by {how}, {'y' if y_val is None else 'y_val'} has a likelihood of 0 under every "
            "one of them, because some times or covariates are far from those of the fit."
        )
    # Independence is the first of the models, so that a tie is its.
    preferred = min(models, key=lambda name: round(validation[name], 9))
    gain = n_held_out * (validation["independence"] - validation[preferred])
    best = models[preferred if gain >= min_gain else "independence"]
    library = None if isinstance(X, Design) else library_of(X)
    return CopulaChoice(best, preferred, gain, min_gain, models, validation, how, problem, library)


def _parts(
    design: Design, y: Survival, folds: int | None, seed: Seed
) -> tuple[str, BoolArray | None, list[BoolArray]]:
    """How the validation goes, who is fitted to at first (None for all), and the parts that validate."""
    # Drawn for outcome and covariates, whatever the order of the rows.
    lots = np.empty(len(y))
    order = np.lexsort((*design.matrix.T, ~(y.event | y.dropout), y.event, y.time))
    lots[order] = as_generator(seed).random(len(y))
    if folds is None and len(y) >= _ENOUGH_TO_SPLIT:
        order = np.argsort(lots)[:_ENOUGH_TO_SPLIT]
        n_validating = round(_VALIDATION_SHARE * order.size)
        validating, included = np.zeros((2, len(y)), dtype=bool)
        validating[order[:n_validating]] = included[order[n_validating:]] = True
        return f"random validation part of {n_validating:,} subjects", included, [validating]
    n_folds = _FOLDS if folds is None else int(folds)
    # Events, dropouts and administrative censorings are dealt out in turn, in random order.
    kind = y.event + 2 * (False if y.administrative is None else y.administrative)
    fold = np.empty(len(y), dtype=np.intp)
    fold[np.lexsort((lots, kind))] = np.arange(len(y)) % n_folds
    return f"{n_folds}-fold cross-validation", None, [fold == k for k in range(n_folds)]


def _families(families: Sequence[Family]) -> dict[str, type[Copula]]:
    if not isinstance(families, list | tuple) or not families:
        raise ValueError(f"families must be a list or tuple of families, but is {families!r}.")
    for family in families:
        if isinstance(family, Copula):
            raise ValueError(f"families must not fix θ, but one is {family!r}.")
    free = [resolve_family(family, name="families")[0] for family in families]
    names = [family.name for family in free]
    if len(set(names)) < len(names):
        raise ValueError(f"families must differ, but are {', '.join(names)}.")
    return {"independence": Independence} | dict(zip(names, free, strict=True))


def _fit_all(
    problem: JointProblem, families: dict[str, type[Copula]], starts: Mapping[str, Sequence[float]]
) -> dict[str, JointModel]:
    return {
        name: problem.fit(family, 0.0 if family is Independence else None, starts[name])
        for name, family in families.items()
    }


# Subjects times covariates squared: up to here the profile, some 45 fits to all subjects, takes seconds.
_QUICK_PROFILE = 10_000_000
_FEW_COVARIATES = 10
_DEFAULT_TAUS = np.round(np.arange(-0.9, 0.91, 0.1), 10)


@dataclass(frozen=True, eq=False)
class CopulaChoice:
    """The result of :func:`select_copula`; takes the place of a copula in adjustments.

    Attributes
    ----------
    best : JointModel
        The model of the chosen family; ``copula`` is its copula.
    preferred : str
        The family that predicts best; not the chosen one where its ``gain`` over independence, in units of the
        held-out log-likelihood, is below ``min_gain``.
    models : dict of JointModel
        By family.
    table : frame
        Family, θ and τ with their standard errors, mean negative log-likelihood of the training and of the
        validation part, lower is better.

    See Also
    --------
    select_copula : Makes it, with an example.
    """

    best: JointModel
    preferred: str
    gain: float
    min_gain: float
    models: dict[str, JointModel]
    validation: dict[str, float]
    how: str
    problem: JointProblem
    library: Any

    @property
    def copula(self) -> Copula:
        """The chosen copula."""
        return self.best.copula

    @property
    def profile_is_quick(self) -> bool:
        """Whether :meth:`profile` takes seconds rather than minutes."""
        n, p = self.problem.likelihood.n, len(self.problem.design.ridge_of_effects)
        return n * max(p, _FEW_COVARIATES) ** 2 <= _QUICK_PROFILE

    @cached_property
    def table(self) -> Any:
        """One row per family, as the kind of frame that the covariates came in."""
        models = self.models.values()
        columns: dict[str, list[Any]] = {
            "family": list(self.models),
            "theta": [model.copula.theta for model in models],
            "theta_se": [model.theta_se_ for model in models],
            "tau": [model.copula.tau for model in models],
            "tau_se": [model.tau_se_ for model in models],
            "train_nll": [-model.loglik_ / model.n_ for model in models],
            "validation_nll": list(self.validation.values()),
            "converged": [model.converged_ for model in models],
            "chosen": [name == self.copula.name for name in self.models],
        }
        return make_frame(columns, library=self.library)

    def profile(
        self, taus: npt.ArrayLike | None = None, progress: Progress | None = None
    ) -> DependenceProfile:
        """The training likelihood at fixed τ, with margins fitted at each, for every family.

        ``taus`` are Kendall's τ, by default from −0.9 to 0.9; a family takes part where it reaches them. Independence
        (τ = 0) is always among them. ``progress`` is called with the number of finished fits and of all.
        """
        grid = np.unique(np.append(_DEFAULT_TAUS if taus is None else as_taus(taus), 0.0))
        families = {name: copula_families()[name] for name in self.models if name != "independence"}
        if not families:
            raise ValueError("families has only independence: there is no τ to profile over.")
        walks = {name: [*chain(*walks_from_independence(family, grid))] for name, family in families.items()}
        report = progress or (lambda done, total: None)
        done, total = 0, sum(map(len, walks.values()))
        report(done, total)
        curves: dict[str, tuple[FloatArray, FloatArray]] = {}
        notes: list[Note] = []
        with one_blas_thread:
            at_zero = self.problem.values(self.problem.independence, Independence())[1]
            for name, family in families.items():
                values = {0.0: at_zero}
                for tau in walks[name]:
                    copula = family.from_tau(tau)
                    minimum = self.problem.margins_at(copula)
                    values[float(tau)] = self.problem.values(minimum, copula)[1]
                    if not minimum.converged:
                        notes.append(noted("not_converged", family=name, tau=float(tau)))
                        warnings.warn(notes[-1].text, FitWarning, stacklevel=2)
                    done += 1
                    report(done, total)
                ordered = sorted(values)
                curves[name] = np.array(ordered), np.array([values[tau] for tau in ordered])
        n = self.problem.likelihood.n
        return DependenceProfile(curves, at_zero, n, self.library, choice=self, notes=tuple(notes))

    def summary(self) -> str:
        """The table, the choice and its caveat, as text."""
        return view("text.fits.choice_as_text")(self)

    def __repr__(self) -> str:
        return f"CopulaChoice({self.copula!r}, of {', '.join(self.models)}, by {self.how})"


#: Half the 95% quantile of χ² with one degree of freedom: τ within this of the maximum cannot be distinguished.
CUT = 1.9207


@dataclass(frozen=True, eq=False)
class DependenceProfile:
    """The profile likelihood over τ, family by family: how well each dependence fits the data.

    Made by :meth:`CopulaChoice.profile`. At each τ the margins are fitted anew. It rests on the form of the margins
    alone: read it as a hint.

    Attributes
    ----------
    curves : dict of pair of array
        By family the τ and the log-likelihood at each.
    independence : float
        The log-likelihood at independence.
    n : float
        The number of subjects, or the sum of their case weights.
    choice : CopulaChoice or None
        The choice that it belongs to, if any.
    notes : tuple of Note
        What was decided on the way.

    Examples
    --------
    >>> from cocensor import Clayton, select_copula
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=1, copula=Clayton.from_tau(0.6)).draw(1)
    >>> choice = select_copula(data.X, data.y, families=("clayton",), margins="weibull", folds=2)
    >>> profile = choice.profile([0.0, 0.3, 0.6])
    >>> profile.best[:2]
    ('clayton', 0.6)
    """

    curves: dict[str, tuple[FloatArray, FloatArray]]
    independence: float
    n: float
    library: Any = None
    choice: CopulaChoice | None = None
    notes: tuple[Note, ...] = ()

    @property
    def best(self) -> tuple[str, float, float]:
        """The family and τ of the largest log-likelihood, and that itself."""
        family = max(self.curves, key=lambda name: self.curves[name][1].max())
        taus, values = self.curves[family]
        at = int(np.argmax(values))
        return family, float(taus[at]), float(values[at])

    @cached_property
    def table(self) -> Any:
        """One row per family and τ; ``difference`` is the log-likelihood minus the largest of all."""
        top = self.best[2]
        rows = [
            (name, tau, copula_families()[name].from_tau(tau).theta, value, value - top)
            for name, (taus, values) in self.curves.items()
            for tau, value in zip(taus.tolist(), values.tolist(), strict=True)
        ]
        names = ("family", "tau", "theta", "loglik", "difference")
        table = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        return make_frame(table, library=self.library)

    def supported(self, family: str) -> tuple[float, float]:
        """The smallest and largest τ that fit about as well as the best of a family (95%)."""
        taus, values = self.curves[family]
        inside = taus[values >= values.max() - CUT]
        return float(inside.min()), float(inside.max())

    @property
    def statement(self) -> str:
        """What the profile says, and the choice beside it where they differ, in words."""
        return view("text.fits.profile_in_words")(self)

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON can hold it; ``difference`` is the log-likelihood minus the largest of all."""
        family, tau, top = self.best
        return {
            "n": self.n,
            "independence": self.independence,
            "best": {"family": family, "tau": tau, "loglik": top},
            "cut": CUT,
            "statement": self.statement,
            "families": {
                name: {
                    "taus": taus.tolist(),
                    "loglik": values.tolist(),
                    "difference": (values - top).tolist(),
                    "supported": list(self.supported(name)),
                }
                for name, (taus, values) in self.curves.items()
            },
            "notes": [note.to_dict() for note in self.notes],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`)."""
        return view("plots.CurveDisplay").from_profile(self).plot(ax=ax)

    def __repr__(self) -> str:
        return f"DependenceProfile({', '.join(self.curves)})"
