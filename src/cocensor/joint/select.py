"""Choosing a copula family by likelihood, and saying what the likelihood cannot know."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import (
    ConvergenceWarning,
    FloatArray,
    Seed,
    as_generator,
    as_vector,
    check_choice,
    check_number,
    column_names,
    make_frame,
    take_rows,
)
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.copulas.walks import walks_from_independence
from cocensor.joint.margins import MarginForm, refuse_zero
from cocensor.joint.model import JointModel
from cocensor.joint.problem import STARTS, JointProblem
from cocensor.joint.settings import AskedTimeKind, Family, resolve_family
from cocensor.outcomes import Survival

FAMILIES = ("independence", "clayton", "frank", "gumbel", "joe")
#: Half the 95 % quantile of χ² with one degree of freedom: τ within this of the maximum are not told apart.
CUT = 1.9207
#: Margins of another form than assumed pass for a weak dependence: less than this is no reason to leave independence.
MIN_GAIN = 5.0
_FOLDS = 5
# Cross-validation fits every family six times; with this many subjects one validation part tells as much.
_ENOUGH_TO_SPLIT = 20_000
_VALIDATION_SHARE = 0.3
# Subjects times covariates squared: up to here the profile, some 45 fits to all subjects, takes seconds.
_QUICK_PROFILE = 10_000_000
_FEW_COVARIATES = 10
_DEFAULT_TAUS = np.round(np.arange(-0.9, 0.91, 0.1), 10)


def select_copula(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    families: Sequence[str | type[Copula]] = FAMILIES,
    *,
    margins: MarginForm = "spline",
    penalty: float | None = None,
    penalised: bool = False,
    min_gain: float = MIN_GAIN,
    starts: Sequence[float] = STARTS,
    knots: int = 3,
    time_kind: AskedTimeKind = "auto",
    folds: int | None = None,
    seed: Seed = 0,
) -> CopulaChoice:
    r"""Choose the copula family whose joint model predicts outcomes best that it has not seen.

    Each family is fitted to the training part with the same margins (:func:`fit_joint`) and judged by the mean negative
    log-likelihood of the validation part. Independence is always among the candidates, and it stays unless a
    family beats it clearly. :func:`evaluate` and the command line choose by this function and its defaults.

    Parameters
    ----------
    X, y : covariates (or None) and outcomes
    X_val, y_val : optional
        A validation part. Without one the judgement is by 5-fold cross-validation, with models fitted to all subjects;
        from 20,000 subjects on, a random 30 % of them are the validation part.
    families : sequence of str or class
    margins, starts, knots, time_kind
        As in :func:`fit_joint`.
    penalty : float, optional
        λ as in :func:`fit_joint`. By default 2/n: two units of the log-likelihood of all subjects. The paper's 0.01,
        whatever n, draws τ to 0.3 where 0.5 is true; without any, a few hundred subjects take any τ.
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

    Returns
    -------
    CopulaChoice

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton
    >>> data = SyntheticDesign(n=4000, n_features=2, copula=Clayton.from_tau(0.7)).draw(1)
    >>> choice = select_copula(data.X, data.y, families=("clayton", "frank"), margins="weibull")
    >>> choice.best
    JointModel(Clayton(theta=...), margins='weibull', n=4000, covariates=2)
    """
    outcomes = Survival.coerce(y)
    _check_parts(X, X_val, y_val, folds, len(outcomes))
    if check_number(min_gain, "min_gain") < 0:
        raise ValueError(f"min_gain must not be negative, but is {min_gain:g}.")
    resolved = _families(families)
    if y_val is None and folds is None and len(outcomes) >= _ENOUGH_TO_SPLIT:
        X, outcomes, X_val, y_val = _random_parts(X, outcomes, as_generator(seed))
        how = f"random validation part of {len(y_val):,} subjects"
    elif y_val is None:
        folds = _FOLDS if folds is None else int(folds)
        how = f"{folds}-fold cross-validation"
    else:
        how = "validation part"
    weight = 2.0 / len(outcomes) if penalty is None else penalty
    settings: dict[str, Any] = {"margins": margins, "penalty": weight, "knots": knots, "time_kind": time_kind}
    problem = JointProblem.of(X, outcomes, **settings)
    # All parts are judged by the same likelihood.
    settings["time_kind"] = problem.time_kind
    models = _fit_all(problem, resolved, starts)
    if y_val is not None:
        seen = Survival.coerce(y_val, "y_val")
        refuse_zero(seen.time, "y_val")
        next(iter(models.values())).covariates(X_val, len(seen), "X_val", "y_val")
        n_judged = len(seen)
        validation = {name: -model.loglik(X_val, seen) / n_judged for name, model in models.items()}
        if penalised:
            for name, model in models.items():
                validation[name] += weight * _distance(model) ** 2
    else:
        assert folds is not None
        n_judged = len(outcomes)
        validation = _cross_validated(X, outcomes, resolved, settings, starts, folds, seed, penalised)
    if np.isinf(list(validation.values())).all():
        raise ValueError(
            f"no family can be chosen: by {how}, {'y' if y_val is None else 'y_val'} has a likelihood of 0 under "
            "every one of them, because some times or covariates are far from those fitted to."
        )
    preferred = min(
        models,
        # Independence first, so that a tie is its.
        key=lambda name: (round(validation[name], 9), name != "independence"),
    )
    gain = n_judged * (validation["independence"] - validation[preferred])
    chosen = preferred if gain >= min_gain else "independence"
    return CopulaChoice(
        best=models[chosen],
        preferred=preferred,
        gain=gain,
        min_gain=min_gain,
        models=models,
        validation=validation,
        how=how,
        problem=problem,
        like=X if X is not None and column_names(X) is not None else None,
    )


@dataclass(frozen=True, eq=False)
class CopulaChoice:
    """What :func:`select_copula` found; takes the place of a copula in adjustments.

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
    """

    best: JointModel
    preferred: str
    gain: float
    min_gain: float
    models: dict[str, JointModel]
    validation: dict[str, float]
    how: str
    problem: JointProblem
    like: Any

    @property
    def copula(self) -> Copula:
        """The chosen copula."""
        return self.best.copula

    @property
    def profile_is_quick(self) -> bool:
        """Whether :meth:`profile` takes seconds rather than minutes."""
        n, p = self.problem.likelihood.n, self.best.event.beta.size
        return n * max(p, _FEW_COVARIATES) ** 2 <= _QUICK_PROFILE

    @cached_property
    def table(self) -> Any:
        """One row per family, as the kind of frame that the covariates came in."""

        def column(read: Any) -> list[float]:
            return [float(read(model)) for model in self.models.values()]

        return make_frame(
            {
                "family": list(self.models),
                "theta": column(lambda model: model.copula.theta),
                "theta_se": column(lambda model: model.theta_se_),
                "tau": column(lambda model: model.copula.tau),
                "tau_se": column(lambda model: model.tau_se_),
                "train_nll": column(lambda model: -model.loglik_ / model.n_),
                "validation_nll": [self.validation[name] for name in self.models],
                "converged": [model.converged_ for model in self.models.values()],
                "chosen": [name == self.copula.name for name in self.models],
            },
            like=self.like,
        )

    def profile(
        self, taus: npt.ArrayLike | None = None, progress: Callable[[int, int], None] | None = None
    ) -> DependenceProfile:
        """The training likelihood at fixed τ, with margins fitted at each, for every family.

        ``taus`` are Kendall's τ, by default from −0.9 to 0.9; a family takes part where it reaches them. Independence
        (τ = 0) is always among them. ``progress`` is called with the number of finished fits and of all.
        """
        grid = _DEFAULT_TAUS if taus is None else as_vector(taus, "taus", single=True)
        if (np.abs(grid) >= 1).any():
            raise ValueError(
                f"taus must lie strictly between -1 and 1, but one is {grid[np.abs(grid) >= 1][0]:g}."
            )
        grid = np.unique(np.append(grid, 0.0))
        families = {name: copula_families()[name] for name in self.models if name != "independence"}
        if not families:
            raise ValueError("families has only independence: there is no τ to profile over.")
        walks = {name: walks_from_independence(family, grid) for name, family in families.items()}
        report = progress or (lambda done, total: None)
        done, total = 0, sum(len(walk) for both in walks.values() for walk in both)
        report(done, total)
        at_zero = self.problem.loglik(self.problem.independence, Independence())
        found: dict[str, tuple[FloatArray, FloatArray]] = {}
        notes: list[Note] = []
        for name, family in families.items():
            values = {0.0: at_zero}
            for tau in chain(*walks[name]):
                copula = family.from_tau(tau)
                minimum = self.problem.margins_at(copula)
                values[float(tau)] = self.problem.loglik(minimum, copula)
                if not minimum.converged:
                    text = f"the margins with the {name} copula did not converge at τ = {tau:g}."
                    notes.append(Note("caution", text))
                    warnings.warn(text, ConvergenceWarning, stacklevel=2)
                done += 1
                report(done, total)
            ordered = sorted(values)
            found[name] = np.array(ordered), np.array([values[tau] for tau in ordered])
        return DependenceProfile(
            found, at_zero, self.problem.likelihood.n, self.like, choice=self, notes=tuple(notes)
        )

    def summary(self) -> str:
        """The table, the choice and its caveat, as text."""
        from cocensor.words import caveat_of

        lines = [
            f"Mean negative log-likelihood of {self.problem.likelihood.n:,} subjects by {self.how} "
            f"({self.best.event.name} margins, times {self.best.time_kind_}: {self.best.time_kind_reason_})",
            "",
            f"{'family':<14}{'θ':>10}{'τ':>8}{'training':>12}{'validation':>12}",
        ]
        for name, model in self.models.items():
            mark = "  ← chosen" if name == self.copula.name else ""
            lines.append(
                f"{name:<14}{model.copula.theta:10.4g}{model.copula.tau:8.3f}"
                f"{-model.loglik_ / model.n_:12.5f}{self.validation[name]:12.5f}{mark}"
            )
        return "\n".join([*lines, "", caveat_of(self)])

    def __repr__(self) -> str:
        return f"CopulaChoice({self.copula!r}, of {', '.join(self.models)}, by {self.how})"


@dataclass(frozen=True, eq=False)
class DependenceProfile:
    """The profile likelihood over τ, family by family."""

    #: For each family the τ and the log-likelihood, margins fitted at each.
    curves: dict[str, tuple[FloatArray, FloatArray]]
    independence: float
    n: int
    like: Any = None
    #: The choice that it belongs to, if any.
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
        """One row per family and τ; ``difference`` is the log-likelihood less the largest of all."""
        top = self.best[2]
        rows = [
            (
                name,
                float(tau),
                copula_families()[name].from_tau(float(tau)).theta,
                float(value),
                float(value) - top,
            )
            for name, curve in self.curves.items()
            for tau, value in zip(*curve, strict=True)
        ]
        names = ("family", "tau", "theta", "loglik", "difference")
        return make_frame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), like=self.like)

    def supported(self, family: str) -> tuple[float, float]:
        """The smallest and largest τ that the likelihood of a family does not tell from its best (95 %)."""
        taus, values = self.curves[family]
        inside = taus[values >= values.max() - CUT]
        return float(inside.min()), float(inside.max())

    @property
    def statement(self) -> str:
        """What the profile says, and the choice beside it where they differ, in words."""
        from cocensor.words import profile_in_words

        return profile_in_words(self)

    def to_dict(self) -> dict[str, Any]:
        """The profile as JSON can hold it; ``difference`` is the log-likelihood less the largest of all."""
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
            "notes": [asdict(note) for note in self.notes],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves; returns the axes (see :class:`~cocensor.plots.ProfileLikelihoodDisplay`)."""
        from cocensor.plots import ProfileLikelihoodDisplay

        return ProfileLikelihoodDisplay.from_profile(self).plot(ax=ax)

    def __repr__(self) -> str:
        return f"DependenceProfile({', '.join(self.curves)})"


def _check_parts(X: Any, X_val: Any, y_val: Any, folds: int | None, n: int) -> None:
    if X is None and X_val is not None:
        raise ValueError("X_val must be None where X is.")
    if (y_val is None) != (X_val is None) and X is not None:
        raise ValueError("X_val and y_val belong together: give both or neither.")
    if folds is None:
        return
    if y_val is not None:
        raise ValueError("folds must be None beside a validation part.")
    if check_number(folds, "folds", lower=1) != int(folds) or folds > n:
        raise ValueError(f"folds must be a whole number from 2 to the sample size, but is {folds}.")


def _random_parts(X: Any, y: Survival, rng: np.random.Generator) -> tuple[Any, Survival, Any, Survival]:
    """A random training and validation part."""
    left_out = rng.random(len(y)) < _VALIDATION_SHARE
    kept, left = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    return take_rows(X, kept), y[kept], take_rows(X, left), y[left]


def _families(families: Sequence[Family]) -> dict[str, type[Copula]]:
    if not isinstance(families, list | tuple) or not families:
        raise ValueError(f"families must be a list or tuple of families, but is {families!r}.")
    return {"independence": Independence} | {
        family.name: family for family in (_free_family(each) for each in families)
    }


def _free_family(family: Family) -> type[Copula]:
    if isinstance(family, Copula):
        raise ValueError(f"families must not fix θ, but one is {family!r}.")
    if isinstance(family, str):
        check_choice(family.lower(), "families", tuple(copula_families()))
    return resolve_family(family)[0]


def _fit_all(
    problem: JointProblem, families: dict[str, type[Copula]], starts: Sequence[float]
) -> dict[str, JointModel]:
    return {
        name: problem.fit(family, 0.0 if family is Independence else None, starts)
        for name, family in families.items()
    }


def _cross_validated(
    X: Any,
    y: Survival,
    families: dict[str, type[Copula]],
    settings: dict[str, Any],
    starts: Sequence[float],
    folds: int,
    seed: Seed,
    penalised: bool,
) -> dict[str, float]:
    """The mean negative log-likelihood of the part left out, over all folds."""
    fold = _balanced_folds(y, folds, as_generator(seed))
    total = dict.fromkeys(families, 0.0)
    for k in range(folds):
        kept, left = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        try:
            problem = JointProblem.of(take_rows(X, kept), y[kept], **settings)
        except ValueError as error:
            raise ValueError(
                f"fold {k + 1} of {folds} cannot be left out: {error} Take fewer folds or a validation part."
            ) from error
        for name, model in _fit_all(problem, families, starts).items():
            nll = -model.loglik(take_rows(X, left), y[left])
            total[name] += nll + (
                left.size * settings["penalty"] * _distance(model) ** 2 if penalised else 0.0
            )
    return {name: nll / len(y) for name, nll in total.items()}


def _balanced_folds(y: Survival, folds: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """A fold for each subject: events, dropouts and ends of study are dealt out in turn, in random order."""
    kind = y.event.astype(np.int8)
    if y.administrative is not None:
        kind = kind + 2 * y.administrative.astype(np.int8)
    order = np.lexsort((rng.random(len(y)), kind))
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % folds
    return fold


def _distance(model: JointModel) -> float:
    return model.copula.theta - model.copula.independence_theta
