"""The main job: models × adjustments × metrics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._numerics import settled
from cocensor._validation import (
    ConvergenceWarning,
    FloatArray,
    HorizonWarning,
    as_matrix,
    as_times,
    as_vector,
    check_length,
    collected,
    column_names,
    read_only,
    take_rows,
)
from cocensor.adjustments import Adjustment, MarginTime, adjustment
from cocensor.adjustments.registry import label, needs_copula
from cocensor.copulas import ArchimedeanCopula, Copula, Independence
from cocensor.estimators import KaplanMeier
from cocensor.evaluation.evaluation import Evaluation, Scored, named
from cocensor.evaluation.predictions import Prediction, check_probabilities, predictions, read_at
from cocensor.evaluation.question import REFERENCE, Question
from cocensor.joint import CopulaChoice, select_copula
from cocensor.metrics import Metric, metric, time_grid
from cocensor.outcomes import Survival

Horizon = str | float | Mapping[str, float] | None
Progress = Callable[[int, int], None]
_AT_RISK = 0.05
DEFAULT_HORIZON = {"at_risk": _AT_RISK}
N_TIMES = 100
# Cross-validation fits every family six times; with this many subjects one validation part tells as much.
_ENOUGH_TO_SPLIT = 20_000
_VALIDATION_SHARE = 0.3
# Margins of another form than assumed pass for a weak dependence: less than this is no reason to leave independence.
_GAIN = 5.0

_DEFAULT = ("ipcw", "dep", "cg_q", "given_prediction", "given_covariates")
_ARCHIMEDEAN = ("dep", "cg_q")


def evaluate(
    models: Mapping[str, Any],
    y_train: Any,
    y_test: Any,
    x_train: Any = None,
    x_test: Any = None,
    *,
    adjustments: str | Sequence[str | Adjustment] | Mapping[str, str | Adjustment] = "default",
    metrics: str | Metric | Sequence[str | Metric] = "ibs",
    times: npt.ArrayLike | None = None,
    horizon: Horizon = None,
    copula: Any = "select",
    progress: Progress | None = None,
) -> Evaluation:
    """Score models under several assumptions about the censoring, on one and the same interval of time.

    Parameters
    ----------
    models : dict
        By name: :class:`SurvivalCurves`, a pair ``(times, array)`` whose curves run straight from time to time (for
        steps make :class:`SurvivalCurves`), an array (n_test, n_times) at ``times``, what scikit-survival's
        ``predict_survival_function`` returns, or a fitted estimator of scikit-survival, lifelines,
        pycox or :mod:`cocensor.learners`, which then predicts for ``x_test``.
    y_train, y_test : Survival, structured array or tuple
        Training outcomes, from which adjustments learn, and test outcomes.
    x_train, x_test : array or data frame, optional
        Covariates: for the adjustment given covariates, and for estimators that have yet to predict.
    adjustments : "default", or names, objects, or a dict of these
        By default: IPCW, the paper's IBS-Dep and its CG-Q, imputation given the prediction, and given covariates where
        there are any. Names are those of :func:`cocensor.adjustments`.
    metrics : "ibs", or several names or :func:`cocensor.metric` objects
    times : array-like, optional
        Times to score at; by default 100 of them, equally spaced from 0 to the horizon.
    horizon : "t_max", number or {"at_risk": share}, optional
        By default the largest time at which at least 5 % are at risk, in the training as in the test sample, and up to
        which all predictions are known.
    copula : "select", Copula, CopulaChoice or None
        For adjustments by name that rest on one: chosen by :func:`select_copula` on the training sample (by
        cross-validation; from 20,000 subjects on by a validation part, fitted to the rest), given, or independence. A
        selected copula is a hint: look at :meth:`Evaluation.sensitivity`. It takes 5 units of held-out log-likelihood
        to leave independence.
    progress : callable, optional
        Called with the number of finished adjustments and of all.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=2000, n_features=4, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:1000], data[1000:]
    >>> full = cc.CoxPH().fit(train.X, train.y).predict_survival_function(test.X)
    >>> part = cc.CoxPH().fit(train.X[:, :1], train.y).predict_survival_function(test.X[:, :1])
    >>> result = cc.evaluate({"all": full, "one": part}, train.y, test.y, train.X, test.X, copula=cc.Clayton(2.0))
    >>> print(result)
    Evaluation of 2 models on 1,000 test subjects until 22.0677 (the largest time with at least 5 % at risk in the
    training and in the test sample); Clayton copula, τ = 0.5, as given.
    <BLANKLINE>
    integrated Brier score (smaller is better, * best), skill against Kaplan–Meier
    ...
    >>> print(result.ranking().statement)
    The best model depends on ...
    """
    train, test = Survival.coerce(y_train, "y_train"), Survival.coerce(y_test, "y_test")
    chosen_metrics = _metrics(metrics)
    given_times = None if times is None else as_grid(times)
    if given_times is not None and horizon is not None:
        raise ValueError("horizon must be None where times are given: they end where it lies.")
    notes: list[str] = []
    found = predictions(models, x_test, given_times, len(test))
    covariates = _covariates(x_train, x_test, train, test, notes)
    asked = _asked_for(adjustments, covariates[0] is not None, notes)
    grid, reason = _grid(train, test, found, given_times, horizon)
    read = read_at(found, grid)
    for name, array in read.items():
        check_probabilities(name, array, grid)
    needed = any(isinstance(each, str) and needs_copula(each) for each in asked.values())
    used, choice, origin = (
        _copula(copula, covariates[0], train, notes) if needed else (Independence(), None, "unused")
    )
    made = _made(asked, used, adjustments == "default", notes)
    reference = np.asarray(KaplanMeier().fit(train).predict(grid, tail="last"))
    everybody = np.broadcast_to(reference, (len(test), grid.size))
    question = Question(
        curves={name: each.curves for name, each in found.items()} | {REFERENCE: everybody},
        read=read | {REFERENCE: everybody},
        y_train=train,
        y_test=test,
        x_train=covariates[0],
        x_test=covariates[1],
        times=grid,
        metrics=chosen_metrics,
    )
    report = progress or (lambda done, total: None)
    report(0, len(made))
    scored = {}
    for done, (name, (shown, each)) in enumerate(made.items(), start=1):
        with collected(HorizonWarning, ConvergenceWarning) as warned:
            answer = question.answer(each)
        moves = each.rests_on_copula and not each.is_fitted
        said = tuple(dict.fromkeys((*answer.notes, *warned)))
        scored[name] = Scored(shown, each, moves, answer.curves, answer.scores, said, tuple(warned))
        report(done, len(made))
    if not any(named(values) for each in scored.values() for values in each.scores.values()):
        raise ValueError(f"no adjustment can score any model: {next(iter(scored.values())).notes[0]}")
    return Evaluation(
        question=question,
        scored=scored,
        copula=used,
        choice=choice,
        copula_from=origin,
        horizon_reason=reason,
        came_as={name: each.came_as for name, each in found.items()},
        notes=tuple(notes),
        like=next((x for x in (x_train, x_test) if x is not None and column_names(x) is not None), None),
    )


def as_grid(times: npt.ArrayLike) -> FloatArray:
    """Times to score at: a copy, in any order, that spans an interval."""
    grid = as_times(as_vector(times, "times", copy=True), "times")
    if not grid.size or grid.min() == grid.max():
        raise ValueError(f"times must span an interval, but are {grid.tolist()}.")
    return read_only(grid)


def _metrics(metrics: Any) -> tuple[Metric, ...]:
    listed = (metrics,) if isinstance(metrics, str | Metric) else tuple(metrics)
    if not listed:
        raise ValueError("metrics is empty: at least one is needed.")
    found = tuple(each if isinstance(each, Metric) else metric(each) for each in listed)
    if len({each.name for each in found}) < len(found):
        raise ValueError(f"metrics must differ, but are {', '.join(each.name for each in found)}.")
    return found


def _covariates(
    x_train: Any, x_test: Any, train: Survival, test: Survival, notes: list[str]
) -> tuple[Any, Any]:
    """Covariates that an adjustment can use: numbers in both samples, or None with a note why not."""
    if x_train is None or x_test is None:
        if x_train is not None:
            raise ValueError("x_test is needed where x_train is given.")
        return None, None
    for x, name, y, of in ((x_train, "x_train", train, "y_train"), (x_test, "x_test", test, "y_test")):
        check_length(x, name, len(y), of)
    try:
        shapes = [as_matrix(x, name).shape for x, name in ((x_train, "x_train"), (x_test, "x_test"))]
    except ValueError as error:
        notes.append(f"Covariates serve the predictions only, as they are no numbers: {error}")
        return None, None
    names = column_names(x_train), column_names(x_test)
    if shapes[0][1] != shapes[1][1] or (None not in names and names[0] != names[1]):
        raise ValueError(
            f"x_test must have the columns of x_train, {names[0] or shapes[0][1]}, but has "
            f"{names[1] or shapes[1][1]}."
        )
    return x_train, x_test


def _grid(
    train: Survival,
    test: Survival,
    found: Mapping[str, Prediction],
    times: FloatArray | None,
    horizon: Horizon,
) -> tuple[FloatArray, str]:
    """The times to score at, and why they end where they do."""
    known = min(each.end for each in found.values())
    if times is not None:
        short = min(found, key=lambda name: found[name].end)
        if times.max() > known:
            raise ValueError(
                f"times must not pass {known:g}, the end of models[{short!r}], but reach {times.max():g}."
            )
        time_grid(train, test, n=2, horizon=float(times.max()))  # warns where next to nobody is left
        return times, "the times were given"
    if horizon is None:
        end = float(time_grid(train, test, n=2, horizon=DEFAULT_HORIZON)[-1])
        reason = f"the largest time with at least {100 * _AT_RISK:g} % at risk in the training and in the test sample"
        if known < end:
            end, reason = known, "the largest time up to which all predictions are known"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HorizonWarning)  # it comes with the grid
            end = float(time_grid(train, test, n=2, horizon=horizon)[-1])
        reason = _asked(horizon)
    if end > known:
        raise ValueError(
            f"horizon must not pass {known:g}, the end of the shortest predictions, but is {end:g}."
        )
    grid = time_grid(train, test, n=N_TIMES, horizon=end)
    end = min(float(grid[-1]), known)
    for each in found.values():
        if each.times.size:  # a step that rounding puts behind a grid time has happened there
            grid = np.maximum(grid, settled(grid, each.times))
    return np.minimum(grid, end), reason


def _asked(horizon: Horizon) -> str:
    if isinstance(horizon, Mapping):
        share = f"{100 * horizon['at_risk']:g} %"
        return (
            f"the largest time with at least {share} at risk in the training and in the test sample, as asked"
        )
    return "the last time that both samples reach, as asked" if horizon == "t_max" else "as asked"


def _copula(copula: Any, x: Any, y: Survival, notes: list[str]) -> tuple[Copula, CopulaChoice | None, str]:
    """The copula for adjustments that are given by name, the selection behind it, and where it is from."""
    if copula is None:
        return Independence(), None, "independence"
    if isinstance(copula, CopulaChoice):
        return copula.copula, copula, "selected"
    if isinstance(copula, Copula):
        return copula, None, "given"
    if not isinstance(copula, str) or copula != "select":
        raise ValueError(
            f"copula must be 'select', a copula, what select_copula returned, or None, but is {copula!r}."
        )
    try:
        with collected(ConvergenceWarning) as warned:
            choice, n_judged = _selected(x, y)
    except ValueError as error:
        notes.append(f"No copula could be selected, so that independence stands in: {error}")
        return Independence(), None, "independence"
    notes += warned
    gain = n_judged * (choice.validation["independence"] - choice.validation[choice.copula.name])
    if gain < _GAIN and not choice.copula.is_independence:
        notes.append(
            f"The {choice.copula.name} copula with τ = {choice.copula.tau:.2g} foretells held-out outcomes better than "
            f"independence by {gain:.1f} log-likelihood units only: independence is taken."
        )
        return Independence(), choice, "selected"
    return choice.copula, choice, "selected"


def selection_penalty(n: int) -> float:
    """The weight of (θ − independence)² beside the mean log-likelihood: two units of the likelihood of all subjects.

    The paper's 0.01, whatever n, draws τ to 0.3 where 0.5 is true; without any, a few hundred subjects take any τ.
    """
    return 2.0 / n


def _selected(x: Any, y: Survival) -> tuple[CopulaChoice, int]:
    """By cross-validation, or with many subjects by a random validation part; and how many it is judged by."""
    penalty = selection_penalty(len(y))
    if len(y) < _ENOUGH_TO_SPLIT:
        return select_copula(x, y, penalty=penalty), len(y)
    left_out = np.random.default_rng(0).random(len(y)) < _VALIDATION_SHARE
    kept, left = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    found = select_copula(take_rows(x, kept), y[kept], take_rows(x, left), y[left], penalty=penalty)
    return found, left.size


def _asked_for(asked: Any, with_covariates: bool, notes: list[str]) -> dict[str, str | Adjustment]:
    """Adjustments by name, as objects or as names of known ones."""
    if isinstance(asked, str) and asked == "default":
        asked = [name for name in _DEFAULT if with_covariates or name != "given_covariates"]
    if isinstance(asked, str | Adjustment):
        asked = [asked]
    if not isinstance(asked, Mapping):
        listed = [(each if isinstance(each, str) else repr(each), each) for each in asked]
        asked = dict(listed)
        if len(asked) < len(listed):
            raise ValueError("adjustments must differ in how they read: give a dict with a name for each.")
    if not asked:
        raise ValueError("adjustments is empty: at least one is needed.")
    for name, each in asked.items():
        if not isinstance(name, str) or name in ("", "model"):
            raise ValueError(f"adjustments must have texts other than 'model' as names, but one is {name!r}.")
        known = each if isinstance(each, Adjustment) else named_adjustment(each, Independence())
        if "covariates" in known.needs and not with_covariates:
            why = f": {notes[0]}" if notes else "."
            raise ValueError(f"x_train and x_test are needed for the adjustment {name!r}{why}")
    return dict(asked)


def _made(
    asked: Mapping[str, str | Adjustment], copula: Copula, by_default: bool, notes: list[str]
) -> dict[str, tuple[str, Adjustment]]:
    """What each is called, and the adjustment."""
    left = [name for name in asked if by_default and name in _ARCHIMEDEAN]
    if left and not isinstance(copula, ArchimedeanCopula):
        notes.append(f"{' and '.join(map(label, left))} are left out: they need an Archimedean copula.")
        asked = {name: each for name, each in asked.items() if name not in left}
    labels = {
        name: label(name) if isinstance(each, str) and name == each else name for name, each in asked.items()
    }
    shown = [each.casefold() for each in labels.values()]
    return {
        # Two that would be called the same go by their names.
        name: (
            labels[name] if shown.count(labels[name].casefold()) == 1 else name,
            named_adjustment(each, copula),
        )
        for name, each in asked.items()
    }


def named_adjustment(each: str | Adjustment, copula: Copula | None) -> Adjustment:
    """An adjustment by name, at a copula if it rests on one, or as it is.

    Whoever is censored after all training subjects counts as event-free until then.
    """
    if isinstance(each, Adjustment):
        return each
    made = adjustment(each, copula=copula if isinstance(each, str) and needs_copula(each) else None)
    if isinstance(made, MarginTime):
        made.beyond = "last"
    return made
