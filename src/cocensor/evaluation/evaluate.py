"""The main job: models × adjustments × metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import FitWarning, FloatArray, Progress, check_number, collected, column_names
from cocensor.adjustments import Fitted, Oracle
from cocensor.adjustments.copula import assumed_copula
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula, Independence
from cocensor.curves import Predictions, TimeGrid, as_predictions
from cocensor.evaluation.alarms import find_alarms
from cocensor.evaluation.asked_metrics import (
    DEFAULT_METRICS,
    as_metrics,
    as_scored_times,
    as_single_times,
    at_single_times,
    default_metrics,
    default_times,
    ranked_across_folds,
    scorable,
    unscored,
)
from cocensor.evaluation.data import ABOUT_INTERVALS, AssumedCopula, EvaluationData, Resampling
from cocensor.evaluation.hint import CopulaHint, hinted
from cocensor.evaluation.judge import judge_among
from cocensor.evaluation.options import (
    SETS,
    AskedAdjustment,
    as_adjustments,
    as_folds,
    check_copula,
    labelled_adjustments,
    made_adjustment,
    rest_on_given_copula,
    usable_covariates,
)
from cocensor.evaluation.result import Evaluation
from cocensor.evaluation.scores import scores_under
from cocensor.evaluation.times import (
    HorizonRule,
    met_by_steps,
    outside_horizon,
    times_of_samples,
    within_predictions,
)
from cocensor.evaluation.truth import TRUTH, as_true_times
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric
from cocensor.outcomes import Survival, TimeAxis, ended_by_reason, unmarked_end


def evaluate(
    models: Mapping[str, Any],
    y_test: Any,
    x_test: Any = None,
    *,
    y_train: Any = None,
    x_train: Any = None,
    adjustments: AskedAdjustment | Sequence[AskedAdjustment] | Mapping[str, AskedAdjustment] = "default",
    metrics: str | Metric | Sequence[str | Metric] = "default",
    times: npt.ArrayLike | None = None,
    at: npt.ArrayLike | None = None,
    horizon: HorizonRule = None,
    copula: Any = None,
    covariates: str | int | Sequence[str | int] | None = "all",
    folds: Any = None,
    true_times: npt.ArrayLike | None = None,
    confidence_level: float | None = 0.95,
    time_name: str | None = None,
    time_unit: str | None = None,
    n_resamples: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Score models under several assumptions about the censoring, on one and the same interval of time.

    Parameters
    ----------
    models : dict
        By name: :class:`Predictions`, a pair ``(times, array)`` whose curves run straight from time to time (for
        steps make :class:`Predictions`), an array (n_test, n_times) at ``times``, a frame with times in its columns or
        its index, what scikit-survival's ``predict_survival_function`` returns, or a fitted estimator of
        scikit-survival, lifelines, pycox or :mod:`cocensor.learners`, which then predicts for ``x_test``. An array
        (n_test,) is a risk score, the greater the riskier: metrics of order alone, ``"auc"`` and ``"concordance"``,
        score it. With one time, such as ``(12.0, array)``, it is a prediction at this time alone: metrics at this time
        score it, no others do, and it does not move the horizon. A model whose predictions are refused has no scores,
        and a note says why; a ``ValueError`` in the place of a model is such a refusal. The others are scored without
        it.
    y_test : Survival, structured array or tuple
        Test outcomes. For out-of-fold predictions give all subjects once.
    x_test : array or data frame, optional
        Covariates: for adjustments that are given them, and for estimators that have yet to predict.
    y_train, x_train : optional
        The training sample, from which adjustments learn; for intervals it has no subject in common with the test
        sample, or is the same. Without it they learn from the test sample, as R's riskRegression does.
    adjustments : "default", or names, objects, or a dict of these
        By default IPCW, and imputation given the predictions of all models and the covariates, where there are any:
        the judge. ``"paper"`` adds the paper's IBS-Dep and CG-Q, which are biased even if censoring is independent:
        they are shown, and no verdict counts them. Names are those of :func:`adjustment_names`; objects may be fitted
        already, such as the :attr:`~Evaluation.judge` of another evaluation of the same subjects.
    metrics : "default", or names or :func:`cocensor.metric` objects
        ``"default"`` is the integrated Brier score, the AUC over time and at single times, concordance, and the
        integrated calibration index at single times. Verdicts are by the first metric.
    times : array-like, optional
        Times that scores over time are averaged over; by default 100 of them, equally spaced from 0 to the horizon.
    at : float or array-like, optional
        Single times, on the grid or not: metrics at single times, such as ``"brier"``, are scored at each, instead of
        at the last time, and are called "brier at 12"; ``"auc"`` is scored at each beside its mean over time. For
        ``metrics="default"`` it is by default the quartiles of the observed event times, and a note says which.
    horizon : "t_max", number or {"at_risk": share}, optional
        By default the largest time at which at least 5 % are at risk, in the training as in the test sample, and up to
        which all predictions are known.
    copula : None, Copula, CopulaChoice or "select"
        The dependence of event and dropout given the predictions and any covariates, for adjustments by name
        that rest on a copula: none by default, that is, independence. Data cannot check it: see
        :meth:`Evaluation.sensitivity`, and :meth:`Evaluation.copula_hint` for the one that fits best. With a given or
        selected copula the verdict rests on it.
    covariates : "all", names or numbers of columns, or None
        Which columns adjustments may be given; estimators predict from all of ``x_test``. Texts and categories become
        indicators of their levels. None goes on without.
    folds : array-like, optional
        For out-of-fold predictions, one label per test subject: the fold that it was left out in. The risk scores of
        models that were fitted to different folds are not on one scale, and the judge centres them per fold; AUC and
        concordance rank them as they are.
    true_times : array-like, optional
        For simulated or semi-synthetic data, the event time of every test subject, censored ones included. Scores by
        them are :attr:`Evaluation.truth`: they stand beside the others, and no verdict counts them.
    confidence_level : float or None
        Of the intervals of scores and differences. They are about the given, trained models in the population of the
        test sample, up to the horizon, and assume that the copula is correct. None computes none.
    time_name, time_unit : str, optional
        What time is called, such as "rfstime", and its unit, such as "days": for tables, axes and sentences. Nothing is
        converted.
    n_resamples : int, optional
        Take errors and intervals from so many bootstrap samples instead, at 95 % if ``confidence_level`` is None; see
        :meth:`Evaluation.bootstrap`.
    seed : int
        Of the bootstrap.
    progress : callable, optional
        Called with the number of finished adjustments and of all; then with those of resamples, if there are any.

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
    >>> result = cc.evaluate({"all": full, "one": part}, test.y, test.X, y_train=train.y, x_train=train.X,
    ...                      copula=cc.Clayton(2.0))
    >>> round(float(result.score("all", metric="ibs", adjustment="ipcw")), 4)
    0.1147
    >>> print(result.ranking().statement)
    Under IPCW, the data cannot tell all and one apart. Under imputation, one beats all.
    """
    test = Survival.coerce(y_test, "y_test")
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    by_default = isinstance(metrics, str) and metrics == "default"
    asked_metrics = as_metrics(DEFAULT_METRICS if by_default else metrics)
    asked_at = as_single_times(at, asked_metrics)
    asked_times = None if times is None else as_scored_times(times, asked_metrics)
    oracle = None if true_times is None else Oracle(as_true_times(true_times, test))
    if confidence_level is not None:
        confidence_level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    time_axis = TimeAxis(time_name, time_unit)
    resampling = None if n_resamples is None else Resampling(n_resamples, seed)
    if asked_times is not None and horizon is not None:
        raise ValueError("horizon must be None where times are given: they end where it lies.")
    check_copula(copula)
    asked, as_a_set = as_adjustments(adjustments), isinstance(adjustments, str) and adjustments in SETS
    given = Samples(test, x_test, train, x_train, as_folds(folds, len(test)))
    samples, notes = usable_covariates(given, covariates, asked)
    if isinstance(copula, Copula | CopulaChoice):
        # Refuses a copula that an adjustment cannot rest on.
        labelled_adjustments(asked, assumed_copula(copula), as_a_set)
    other = {} if train is None or train.equals(test) else {"training sample": train}
    notes += unmarked_end({"test sample": test, **other}) + ended_by_reason({"test sample": test, **other})
    grid, ends = times_of_samples(samples, asked_times, horizon)
    _check_names(models)
    predictions, faults = _predictions(models, x_test, asked_times, len(test), notes)
    if asked_times is not None or horizon is not None:
        predictions, short = _reaching(predictions, ends.time, "horizon" if asked_times is None else "times")
        faults |= short
    if not predictions:
        raise next(iter(faults.values()))
    grid, ends = within_predictions(samples, predictions, grid, ends)
    faults |= outside_horizon(predictions, ends)
    predictions = {name: each for name, each in predictions.items() if name not in faults}
    if not predictions:
        raise next(iter(faults.values()))
    notes += [Note("missing", str(fault), model=name) for name, fault in faults.items()]
    if asked_times is None:
        grid = met_by_steps(grid, predictions, ends)
    if folds is not None:
        notes += ranked_across_folds(predictions)
    if asked_at is None and by_default:
        asked_at, said = default_times(test, grid, predictions, time_axis)
        notes += said
    if asked_at and asked_at[-1] > ends.time:
        raise ValueError(f"at must not pass {ends.time:g}, {ends.reason}, but has {asked_at[-1]:g}.")
    if by_default:
        asked_metrics = default_metrics(asked_at or (), predictions)
    scored, left_out = scorable(
        at_single_times(asked_metrics, asked_at or ()), predictions, TimeGrid.of(grid), by_default, faults
    )
    notes += [*left_out, *unscored(scored, predictions, TimeGrid.of(grid))]
    data = EvaluationData(
        predictions,
        samples,
        TimeGrid.of(grid),
        tuple(each.in_unit(time_unit) for each in scored),
        tuple(models),
        covariates,
        confidence_level,
        time_axis,
    )
    if train is None:
        text = (
            "There is no training sample: adjustments and the reference curve are estimated from "
            "the test sample."
        )
        notes.append(Note("decision", text))
    if confidence_level is not None:
        notes.append(ABOUT_INTERVALS)
    assumed = AssumedCopula(Independence(), "unused")
    if rest_on_given_copula(asked):
        assumed = _assumed(copula, asked, data, notes)
    elif copula is not None:
        text = "The copula is not used: no adjustment given by name depends on one."
        notes.append(Note("caution", text))
    made, not_made = labelled_adjustments(asked, assumed.copula, as_a_set)
    report = progress or (lambda done, total: None)
    report(0, len(made))
    results = {}
    for done, (name, (label, each)) in enumerate(made.items(), start=1):
        results[name] = scores_under(data, name, label, each)
        report(done, len(made))
    if not any(each.answered for each in results.values()):
        reason = next(note for each in results.values() for note in each.notes_of("missing"))
        raise ValueError(f"no adjustment can score any model: {reason}")
    template = next((x for x in (x_train, x_test) if x is not None and column_names(x) is not None), None)
    truth = None if oracle is None else scores_under(data, TRUTH, TRUTH, oracle)
    found = Evaluation(data, results, assumed, ends, (*notes, *not_made), template, truth=truth)
    found = replace(found, alarms=find_alarms(found))
    if resampling is None:
        return found
    return found.bootstrap(resampling.n_resamples, seed=resampling.seed, progress=progress)


def _check_names(models: Any) -> None:
    """Refuse models without a name each."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict of names and predictions, but is of type {type(models).__name__}."
        )
    if not models:
        raise ValueError("models is empty: at least one is needed.")
    for name in models:
        if not isinstance(name, str) or not name:
            raise TypeError(f"models must have strings as names, but one is {name!r}.")


def _predictions(
    models: Mapping[str, Any], x_test: Any, times: FloatArray | None, n: int, notes: list[Note]
) -> tuple[dict[str, Predictions], dict[str, Exception]]:
    """The predictions of every model by name, and why a model has none."""
    found, faults = dict[str, Predictions](), dict[str, Exception]()
    for name, model in models.items():
        try:
            if isinstance(model, ValueError):
                raise model
            found[name] = as_predictions(model, n, times=times, X=x_test, name=f"models[{name!r}]", risk=True)
        except (TypeError, ValueError) as fault:
            faults[name] = fault
            continue
        rounded = found[name].n_rounded
        if rounded:
            text = f"{rounded} probabilities lie outside [0, 1] by less than 1e-6: they are read as 0 or 1."
            notes.append(Note("decision", text, model=name))
    return found, faults


def _reaching(
    predictions: Mapping[str, Predictions], end: float, asked: str
) -> tuple[dict[str, Predictions], dict[str, Exception]]:
    """The predictions that are known up to ``end``, which was asked for by ``asked``, and why others are left out."""
    faults: dict[str, Exception] = {
        name: ValueError(
            f"{asked} must not pass {each.end:g}, the end of models[{name!r}], but {_asks(asked)} {end:g}."
        )
        for name, each in predictions.items()
        if each.only_at is None and each.end < end
    }
    return {name: each for name, each in predictions.items() if name not in faults}, faults


def _asks(asked: str) -> str:
    return "reach" if asked == "times" else "is"


def _assumed(
    copula: Any, asked: Mapping[str, AskedAdjustment], data: EvaluationData, notes: list[Note]
) -> AssumedCopula:
    """The copula for adjustments that are given by name, and where it is from."""
    if copula is None:
        return AssumedCopula(Independence(), "independence")
    if isinstance(copula, CopulaChoice):
        found = AssumedCopula(copula.copula, "selected", CopulaHint(copula, "own"))
    elif isinstance(copula, Copula):
        found = AssumedCopula(copula, "given")
    else:
        hint = hinted(data.samples, _fitted_judge(asked, data))
        if hint.choice is None:
            text = f"No copula could be selected, and independence is assumed: {hint.notes[0]}"
            notes.append(Note("decision", text))
            return AssumedCopula(Independence(), "independence")
        notes += hint.notes
        found = AssumedCopula(hint.choice.copula, "selected", hint)
    if not found.copula.is_independence:
        named = f"a {found.copula.name.capitalize()} copula with τ = {found.copula.tau:.2g}"
        why = "The data cannot check this, and the answer may differ at independence."
        notes.append(Note("caution", f"The answer assumes {named}, as {found.origin}. {why}"))
    return found


def _fitted_judge(asked: Mapping[str, AskedAdjustment], data: EvaluationData) -> Fitted | None:
    """The judge at independence, before anything is scored; None where there is none, or it cannot be fitted."""
    judge = judge_among(made_adjustment(each, Independence()) for each in asked.values())
    if judge is None or isinstance(judge, Fitted):
        return judge
    try:
        with collected(FitWarning):  # noted when it scores
            return data.samples.fit(judge, data.predictions)
    except ValueError:
        return None
