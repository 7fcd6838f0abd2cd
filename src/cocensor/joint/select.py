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
from cocensor.joint.fit import STARTS, Family, JointProblem, Times, resolve_family
from cocensor.joint.margins import Margins
from cocensor.joint.model import JointModel, refuse_zero
from cocensor.outcomes import Survival

FAMILIES = ("independence", "clayton", "frank", "gumbel", "joe")
#: Half the 95 % quantile of χ² with one degree of freedom: τ within this of the maximum are not told apart.
CUT = 1.9207
_DEFAULT_TAUS = np.round(np.arange(-0.9, 0.91, 0.1), 10)


def select_copula(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    families: Sequence[str | type[Copula]] = FAMILIES,
    *,
    margins: Margins = "weibull",
    penalty: float = 0.01,
    penalised: bool = False,
    starts: Sequence[float] = STARTS,
    knots: int = 3,
    times: Times = "auto",
    folds: int = 5,
    seed: Seed = 0,
) -> CopulaChoice:
    r"""Choose the copula family whose joint model predicts outcomes best that it has not seen.

    Each family is fitted to the training part with the same margins (:func:`fit_joint`) and judged by the mean negative
    log-likelihood of the validation part. Independence is always among the candidates, and it stays unless a
    family beats it. Without a validation part the judgement is by cross-validation, and the models returned are
    fitted to all subjects.

    Parameters
    ----------
    X, y, X_val, y_val : covariates (or None) and outcomes
        The training and the validation part; ``X_val`` and ``y_val`` both None for cross-validation.
    families : sequence of str or class
    margins, penalty, starts, knots, times
        As in :func:`fit_joint`.
    penalised : bool
        Add the penalty to the validation likelihood, as the paper does.
    folds, seed : int
        Of the cross-validation; folds are balanced in events, dropouts and ends of study.

    Returns
    -------
    CopulaChoice

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton
    >>> data = SyntheticDesign(n=4000, n_features=2, copula=Clayton.from_tau(0.7)).draw(1)
    >>> choice = select_copula(data.X, data.y, families=("clayton", "frank"), penalty=0.001)
    >>> choice.best
    JointModel(Clayton(theta=...), margins='weibull', n=4000, covariates=2)
    """
    outcomes = Survival.coerce(y)
    if X is None and X_val is not None:
        raise ValueError("X_val must be None where X is.")
    if (y_val is None) != (X_val is None) and X is not None:
        raise ValueError("X_val and y_val belong together: give both or neither.")
    if y_val is None and (check_number(folds, "folds", lower=1) != int(folds) or folds > len(outcomes)):
        raise ValueError(f"folds must be a whole number from 2 to the sample size, but is {folds}.")
    resolved = _families(families)
    settings: dict[str, Any] = {"margins": margins, "penalty": penalty, "knots": knots, "times": times}
    problem = JointProblem.of(X, outcomes, **settings)
    # All parts are judged by the same likelihood.
    settings["times"] = problem.times
    models = _fit_all(problem, resolved, starts)
    if y_val is not None:
        seen = Survival.coerce(y_val, "y_val")
        refuse_zero(seen.time, "y_val")
        next(iter(models.values())).covariates(X_val, len(seen), "X_val", "y_val")
        validation = {name: -model.loglik(X_val, seen) / len(seen) for name, model in models.items()}
        if penalised:
            for name, model in models.items():
                validation[name] += penalty * _distance(model) ** 2
    else:
        validation = _cross_validated(X, outcomes, resolved, settings, starts, int(folds), seed, penalised)
    best = min(
        models,
        # Independence first, so that a tie is its.
        key=lambda name: (round(validation[name], 9), name != "independence"),
    )
    return CopulaChoice(
        best=models[best],
        models=models,
        validation=validation,
        how="validation part" if y_val is not None else f"{int(folds)}-fold cross-validation",
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
    models : dict of JointModel
        By family.
    table : frame
        Family, θ and τ with their standard errors, mean negative log-likelihood of the training and of the
        validation part, lower is better.
    """

    best: JointModel
    models: dict[str, JointModel]
    validation: dict[str, float]
    how: str
    problem: JointProblem
    like: Any

    @property
    def copula(self) -> Copula:
        """The chosen copula."""
        return self.best.copula

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
        grid = _DEFAULT_TAUS if taus is None else as_vector(np.atleast_1d(taus), "taus")
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
            f"({self.best.event.name} margins, times {self.best.times_}: {self.best.times_reason_})",
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
