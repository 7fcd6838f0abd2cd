"""Choosing a copula family by likelihood, and saying what the likelihood cannot know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import (
    Seed,
    as_generator,
    check_choice,
    check_number,
    column_names,
    take_rows,
)
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.joint.choice import CopulaChoice
from cocensor.joint.margins import MarginForm, refuse_zero
from cocensor.joint.model import JointModel
from cocensor.joint.problem import STARTS, JointProblem
from cocensor.joint.settings import AskedTimeKind, Family, resolve_family
from cocensor.outcomes import Survival

CANDIDATES = ("independence", "clayton", "frank", "gumbel", "joe")
#: Margins of another form than assumed pass for a weak dependence: less than this is no reason to leave independence.
MIN_GAIN = 5.0
_FOLDS = 5
# Cross-validation fits every family six times; with this many subjects one validation part tells as much.
_ENOUGH_TO_SPLIT = 20_000
_VALIDATION_SHARE = 0.3


def select_copula(
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    families: Sequence[str | type[Copula]] = CANDIDATES,
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
        template=X if X is not None and column_names(X) is not None else None,
    )


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
