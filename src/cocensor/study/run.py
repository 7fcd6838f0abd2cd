"""The main job: models × adjustments × metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, Progress, library_of, read_only
from cocensor._namespaces import is_foreign, kind_of
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, one_blas_thread
from cocensor.adjustments import Adjustment, Fitted, Oracle
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.data import Sample, Survival
from cocensor.data.border import as_predictions, predict
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric
from cocensor.metrics.scoring import chosen_adjustment
from cocensor.study.checks import find_checks, read_as_steps
from cocensor.study.data import AssumedCopula, EvaluationData, SuggestedCopula, suggest_copula
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import imputation_among
from cocensor.study.plan import AskedAdjustment, HorizonRule, Plan, given_fits
from cocensor.study.prepare import as_folds, as_true_times, prepared, times_of_samples, usable_samples
from cocensor.study.scores import AdjustmentScores, Scoring, about_intervals, fits_under, scores_of
from cocensor.warnings import FitWarning, collected

_ONE_EACH = "every subject counts once, and as independent of the others"
#: By argument that users may look for, why it is not there.
NOT_YET = {
    **dict.fromkeys(("weights", "sample_weight", "groups", "clusters", "cluster", "strata"), _ONE_EACH),
    **dict.fromkeys(("entry", "landmark"), "every subject is under observation from time 0 on"),
    "cause": "there is one event, and all else is censoring",
}
#: The name of the scores by the true event times.
TRUTH = "truth"
#: Adjustments that were fitted elsewhere, by name.
Fits = Mapping[str, Fitted]


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
    margin: float | Mapping[str, float] | None = None,
    progress: Progress | None = None,
    **unsupported: Never,
) -> Evaluation:
    """Score models under several assumptions about the censoring, on one and the same interval of time.

    Parameters
    ----------
    models : dict
        By name: :class:`Predictions`, a pair ``(times, array)``, an array (n_test, n_times) at ``times``, a frame with
        times in its columns or its index, what scikit-survival's ``predict_survival_function`` returns, or a fitted
        estimator of scikit-survival, lifelines or pycox, which then predicts for ``x_test``.
        An array (n_test,) is a risk score, the higher the riskier: metrics of order alone, ``"auc"`` and
        ``"concordance"``, score it. With one time, such as ``(12.0, array)``, it is a prediction at this time alone:
        metrics at this time score it, no others do, and it does not move the horizon. A model whose predictions are
        refused, or a ``ValueError`` in the place of a model, has no scores, and a note says why.
    y_test : Survival, structured array or tuple
        Test outcomes. For out-of-fold predictions give all subjects once.
    x_test : array or data frame, optional
        Covariates: for adjustments that are given them, and for estimators that have yet to predict.
    y_train, x_train : optional
        The training sample, from which adjustments learn; for intervals it has no subject in common with the test
        sample, or is the same. Without it they learn from the test sample, as R's riskRegression does.
    adjustments : "default", or names, objects, or a dict of these
        By default IPCW, and imputation given the predictions of all models and the covariates, where there are any:
        the imputation model. ``"paper"`` adds the paper's IBS-Dep and CG-Q, which are biased even if censoring is
        independent: they are shown, and no verdict counts them. Names are those of :func:`adjustment_names`; objects
        may be fitted already, such as ``result.results["imputation"].fitted`` of another evaluation of these subjects.
    metrics : "default", or names or :func:`cocensor.metric` objects
        ``"default"`` is the integrated Brier score, the AUC over time and at single times, concordance, and the
        integrated calibration index at single times. Verdicts are by the first metric.
    times : array-like, optional
        Times that scores over time are averaged over; by default 100 of them, equally spaced from 0 to the horizon.
        The last of them is the horizon, and a note says where it would have been without.
    at : float or array-like, optional
        Single times, on the grid or not: metrics at single times, such as ``"brier"``, are scored at each, instead of
        at the last time, and are called "brier at 12"; so is ``"auc"``, whose mean is over time. For
        ``metrics="default"`` it is by default the quartiles of the observed event times, and a note says which.
    horizon : "t_max", number or {"at_risk": share}, optional
        By default the largest time at which at least 5 % are at risk, in the training as in the test sample, and up to
        which all predictions are known.
    copula : None, Copula, CopulaChoice or "select"
        The dependence of event and dropout given the predictions and any covariates, for adjustments by name that rest
        on a copula, and for the verdict; by default independence. Data cannot check it: see
        :meth:`Evaluation.sensitivity`, and :meth:`Evaluation.suggest_copula` for the one that fits best.
    covariates : "all", names or numbers of columns, or None
        Which columns adjustments may be given; estimators predict from all of ``x_test``. Texts and categories become
        indicators of their levels in the sample that an adjustment is fitted to. None goes on without.
    folds : array-like, optional
        For out-of-fold predictions, one label per test subject: the fold that it was left out in. The risk scores of
        models that were fitted to different folds are not on one scale, and imputation centres them per fold; AUC and
        concordance rank them as they are.
    true_times : array-like, optional
        For simulated or semi-synthetic data, the event time of every test subject, censored ones included. Scores by
        them are :attr:`Evaluation.truth`: they stand beside the others, and no verdict counts them.
    confidence_level : float or None
        Of the intervals of scores and differences; None for no intervals. They are about the given, trained models in
        the population of the test sample, up to the horizon, and take the copula as correct where a score rests on it.
    time_name, time_unit : str, optional
        What time is called, such as "rfstime", and its unit, such as "days", wherever shown; nothing is converted.
    n_resamples, seed : int, optional
        Take errors and intervals from so many bootstrap samples instead, at 95 % if ``confidence_level`` is None; see
        :meth:`Evaluation.bootstrap`.
    margin : float or dict, optional
        The margin of relevance, in units of the metric: for the first metric, or by metric. A difference whose interval
        lies within ± the margin is equivalent, even if the interval leaves out 0. By default 1% of the score of the
        reference curve; a metric without a reference score has none.
    progress : callable, optional
        Called with the number of finished adjustments and of all; then with those of resamples, if there are any.
    **unsupported
        What is not there, or not yet, such as ``weights``, ``groups`` and ``entry``: refused in a sentence.

    Returns
    -------
    Evaluation

    Notes
    -----
    Between its times a curve is a line, in whatever form it is given. It is a step function where it is known to be
    one (predictions of scikit-survival's models, of lifelines' Cox model and of ours) or where
    ``Predictions(times, array, interpolation="step")`` says so. Where nothing says which, a note says what steps would
    give, if that moves the first score under the primary adjustment by more than a tenth of its standard error (without
    standard errors, by more than 1 %).

    A frame or column of pandas whose labels are those of ``x_test``, or of ``y_test``, is put into their order; one
    without labels, or merely numbered, is taken by position, with a note where it matters; other labels are refused.

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
    >>> result.compare("all", "one")
    all − one = 0.0037 (95% CI 0.0012 to 0.0062), p = 0.0035
    """
    for name in unsupported:
        if name in NOT_YET:
            raise TypeError(f"{name} is not supported yet: {NOT_YET[name]}.")
        raise TypeError(f"evaluate() got an unexpected keyword argument {name!r}.")
    plan = Plan.of(
        adjustments=adjustments,
        metrics=metrics,
        times=times,
        at=at,
        horizon=horizon,
        copula=copula,
        covariates=covariates,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        seed=seed,
        time_name=time_name,
        time_unit=time_unit,
        margin=margin,
    )
    return run(
        plan,
        models,
        y_test,
        x_test,
        y_train=y_train,
        x_train=x_train,
        folds=folds,
        true_times=true_times,
        fits=given_fits(adjustments),
        choice=copula if isinstance(copula, CopulaChoice) else None,
        progress=progress,
    )


@one_blas_thread
def run(
    plan: Plan,
    models: Mapping[str, Any],
    y_test: Any,
    x_test: Any = None,
    *,
    y_train: Any = None,
    x_train: Any = None,
    folds: Any = None,
    weights: Any = None,
    train_weights: Any = None,
    true_times: npt.ArrayLike | None = None,
    fits: Fits | None = None,
    choice: CopulaChoice | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Run a plan; the other arguments are those of :func:`evaluate`.

    ``weights`` are sampling weights, of scores and of fits; ``fits`` are adjustments of the plan that were fitted
    elsewhere, by name, and ``choice`` is what chose its copula.
    """
    test = Survival.coerce(y_test, "y_test")
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    oracle = None if true_times is None else Oracle(as_true_times(true_times, test))
    given = Samples.of(test, x_test, train, x_train, as_folds(folds, len(test)), weights, train_weights)
    fits = dict(fits or {})
    unfitted = {planned.name: planned.adjustment for planned in plan.adjustments}
    samples, notes = usable_samples(given, plan.covariates, {**unfitted, **fits})
    times = times_of_samples(plan, samples)
    given_times = None if plan.times is None else np.array(plan.times)
    predicted = _predictions(models, x_test, given_times, test, notes)
    data = prepared(plan, samples, predicted, times, notes)
    library = library_of(x_train) or library_of(x_test)
    data, start = assuming(plan, replace(data, library=library), fits, choice, notes)
    adjustments, left_out = plan.under(data.assumed.copula)
    notes += left_out
    finished = ProgressCount(len(adjustments), progress)
    results: dict[str, AdjustmentScores] = {}
    for name, (label, adjustment) in adjustments.items():
        fitted, start = fits_under(data, name, label, fits.get(name, adjustment), start)
        results[name] = scores_of(Scoring(data, name), fitted)
        finished.count()
    truth = None
    if oracle is not None:
        truth = scores_of(Scoring(data, TRUTH), fits_under(data, TRUTH, TRUTH, oracle)[0])
    evaluation = build_evaluation(plan, data, results, notes, truth)
    if plan.n_resamples is None:
        return evaluation
    return evaluation.bootstrap(plan.n_resamples, seed=plan.seed, progress=progress)


def assuming(
    plan: Plan, data: EvaluationData, fits: Fits, choice: CopulaChoice | None, notes: list[Note]
) -> tuple[EvaluationData, Fitted | None]:
    """Return the data with the copula that the plan assumes; and a fit that others may start from, if there is one."""
    start: Fitted | None = None
    assumed = AssumedCopula(origin="independence" if plan.takes_copula else "unused")
    if plan.copula is not None and not plan.takes_copula:
        notes.append(noted("copula_unused"))
    elif choice is not None:
        assumed = AssumedCopula(choice.copula, "selected", SuggestedCopula(choice, "own"))
    elif isinstance(plan.copula, Copula):
        assumed = AssumedCopula(plan.copula, "given")
    elif plan.copula == "select":
        shared, start = _fitted_imputation(plan, data, fits)
        hint = suggest_copula(data.samples, shared)
        if hint.choice is None:
            notes.append(noted("no_copula_selected", why=str(hint.notes[0])))
        else:
            notes += hint.notes
            assumed = AssumedCopula(hint.choice.copula, "selected", hint)
    copula = assumed.copula
    if not copula.is_independence:
        notes += [noted("copula_assumed", family=copula.name, tau=float(copula.tau), origin=assumed.origin)]
    return replace(data, assumed=assumed), start


def _fitted_imputation(plan: Plan, data: EvaluationData, fits: Fits) -> tuple[Fitted | None, Fitted | None]:
    """Return the shared imputation at independence, None if it cannot be; and again if others may start there."""
    shared = imputation_among([fits.get(planned.name, planned.adjustment) for planned in plan.adjustments])
    if shared is None or isinstance(shared, Fitted):
        return shared, None
    try:
        with collected(FitWarning) as warned:  # noted when it scores
            fitted = data.samples.fit(shared, data.predictions)
    except ValueError:
        return None, None
    return fitted, None if warned else fitted


def build_evaluation(
    plan: Plan,
    data: EvaluationData,
    results: dict[str, AdjustmentScores],
    notes: Sequence[Note],
    truth: AdjustmentScores | None = None,
) -> Evaluation:
    """Return the evaluation with its checks."""
    if not any(scores.answered for scores in results.values()):
        reason = next(note for scores in results.values() for note in scores.notes_of("missing"))
        raise ValueError(f"no adjustment can score any model: {reason}")
    about = [] if data.confidence_level is None else [about_intervals(results)]
    evaluation = Evaluation(plan, data, results, (*notes, *about), truth=truth)
    notes = (*evaluation.notes, *read_as_steps(evaluation))
    return replace(evaluation, checks=find_checks(evaluation), notes=notes)


def _predictions(
    models: Mapping[str, Any], x_test: Any, times: FloatArray | None, y: Survival, notes: list[Note]
) -> dict[str, Predicted | Exception]:
    """Return the predictions of every model by name, or why it has none; refuse models without a name."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict of names and predictions, but is of type {type(models).__name__}."
        )
    if not models:
        raise ValueError("models is empty: at least one is needed.")
    for name in models:
        if not isinstance(name, str) or not name:
            raise TypeError(f"models must have strings as names, but one is {name!r}.")
    predicted: dict[str, Predicted | Exception] = {}
    given: dict[str, Any] = {"times": times, "X": x_test, "labels": Sample(y, x_test).labels}
    for name, model in models.items():
        try:
            if isinstance(model, ValueError):
                raise model
            read = as_predictions(model, len(y), name=f"models[{name!r}]", risk=True, **given)
        except (TypeError, ValueError) as fault:
            predicted[name] = fault
            continue
        predicted[name] = read
        source = model[1] if isinstance(model, tuple) and len(model) == 2 else model
        if is_foreign(source):
            notes.append(noted("from_another_library", model=name, kind=kind_of(source)))
        if read.n_rounded:
            notes.append(noted("rounded", model=name, n=read.n_rounded))
        if read.matched is not None:
            notes.append(noted(f"matched_by_{read.matched}", model=name))
    return predicted


class FoldError(ValueError):
    """A fold cannot be scored. With ``error_score="raise"`` scikit-learn lets it through, else the fold is NaN.

    See Also
    --------
    survival_scorer : Its scorer raises it.
    """


def survival_scorer(
    metric: str | Metric = "ibs",
    adjustment: str | Adjustment | Fitted = "imputation",
    *,
    copula: Copula | None = None,
    covariates: str | int | Sequence[str | int] | None = "all",
    times: npt.ArrayLike | None = None,
    horizon: HorizonRule = None,
    y_train: Any = None,
    x_train: Any = None,
) -> Scorer:
    """A scorer for ``cross_val_score`` and ``GridSearchCV``: higher is better, so that a loss is negated.

    All folds are scored on one interval, which ``times``, ``horizon`` or ``y_train`` must fix.

    Parameters
    ----------
    metric, adjustment, copula, covariates
        As in :func:`evaluate`; one of each. By default candidates are scored by imputation given their own prediction,
        as one is seen at a time, and the covariates; without a copula, at independence.
    times : array-like, optional
        Times to score at; by default 100, equally spaced from 0 to the horizon.
    horizon : number, or with ``y_train`` also "t_max" or {"at_risk": share}
        By default the largest time with at least 5 % of ``y_train`` at risk.
    y_train, x_train : outcomes and covariates, optional
        What an adjustment learns from that is not given predictions; by default the fold that is scored.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, the score as a float.

    Examples
    --------
    >>> import cocensor as cc
    >>> from sklearn.model_selection import cross_val_score
    >>> from sksurv.datasets import load_whas500
    >>> from sksurv.linear_model import CoxPHSurvivalAnalysis
    >>> X, y = load_whas500()
    >>> frank = cc.Frank.from_tau(0.3)
    >>> scorer = cc.survival_scorer(copula=frank, horizon=1000.0)
    >>> scores = cross_val_score(CoxPHSurvivalAnalysis(), X[["age", "bmi"]].astype(float), y, scoring=scorer, cv=3)
    >>> bool((scores < 0).all())
    True
    """
    plan = Plan.of(metrics=[metric], times=times, horizon=horizon)
    [chosen] = plan.metrics
    if plan.times is not None:
        grid = read_only(np.array(plan.times))
    elif y_train is not None or isinstance(plan.horizon, float):
        sample = ([plan.horizon], [True]) if y_train is None else y_train
        grid, _ = times_of_samples(plan, Samples.of(Survival.coerce(sample, "y_train")))
    else:
        raise ValueError("times, a horizon or y_train is needed: all folds must share one interval of time.")
    under = chosen_adjustment(adjustment, copula)
    needs = under.needs if isinstance(under, Adjustment) else frozenset()
    if x_train is not None and y_train is None:
        raise ValueError("y_train is needed where x_train is given.")
    if "covariates" in needs and y_train is not None and x_train is None:
        raise ValueError("x_train is needed beside y_train for an adjustment given covariates.")
    chosen.grid(TimeGrid.of(grid))  # refuses a time past the last
    return Scorer(chosen, under, grid, y_train, x_train, covariates)


@dataclass(frozen=True, eq=False, repr=False)
class Scorer:
    """What :func:`survival_scorer` returns."""

    metric: Metric
    adjustment: Adjustment | Fitted
    times: FloatArray
    y_train: Any
    x_train: Any
    covariates: Any = "all"

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Return the score of ``estimator`` for ``X``; higher is better."""
        try:
            test = Survival.coerce(y, "y")
            train = None if self.y_train is None else Survival.coerce(self.y_train, "y_train")
            last = min(y.t_max for y in (test, train) if y is not None)
            if self.times.max() > last:
                raise ValueError(f"the times reach {self.times.max():g}, and its last time is {last:g}.")
            given = Samples.of(test, X, train, self.x_train)
            samples, _ = usable_samples(given, self.covariates, {repr(self.adjustment): self.adjustment})
            models = {"": predict(estimator, X)}
            fitted = samples.fit(self.adjustment, models)
            status = samples.weights(fitted, self.metric.grid(TimeGrid.of(self.times)))
            value = self.metric.evaluate(status, models)[""].value
            if not np.isfinite(value):
                raise ValueError(f"the {self.metric.label} is not defined: {self.metric.undefined}.")
            return value if self.metric.direction == "higher" else -value
        except (TypeError, ValueError) as error:
            subjects = f" of {len(X)} subjects" if hasattr(X, "__len__") else ""
            raise FoldError(f"a fold{subjects} cannot be scored: {error}") from error

    def __repr__(self) -> str:
        return f"survival_scorer({self.metric.name!r}, {self.adjustment!r}, until {self.times.max():g})"
