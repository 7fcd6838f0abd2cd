"""The main job: models × adjustments × metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never

import numpy.typing as npt

from cocensor._notes import Note
from cocensor._parallel import one_blas_thread
from cocensor._validation import FloatArray, Progress
from cocensor.adjustments import Oracle
from cocensor.adjustments.samples import Samples
from cocensor.curves import Predictions, as_predictions, subject_labels
from cocensor.evaluation.data import Resampling
from cocensor.evaluation.options import AskedAdjustment, as_folds, refuse_keywords
from cocensor.evaluation.request import Request, brought_to_numpy, concluded, matching_note, rounded
from cocensor.evaluation.result import Evaluation
from cocensor.evaluation.scores import scores_under
from cocensor.evaluation.times import HorizonRule
from cocensor.evaluation.truth import TRUTH, as_true_times
from cocensor.metrics import Metric
from cocensor.outcomes import Survival, TimeAxis


@one_blas_thread
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
    **unsupported: Never,
) -> Evaluation:
    """Score models under several assumptions about the censoring, on one and the same interval of time.

    Parameters
    ----------
    models : dict
        By name: :class:`Predictions`, a pair ``(times, array)``, an array (n_test, n_times) at ``times``, a frame with
        times in its columns or its index, what scikit-survival's ``predict_survival_function`` returns, or a fitted
        estimator of scikit-survival, lifelines, pycox or :mod:`cocensor.learners`, which then predicts for ``x_test``.
        An array (n_test,) is a risk score, the greater the riskier: metrics of order alone, ``"auc"`` and
        ``"concordance"``, score it. With one time, such as ``(12.0, array)``, it is a prediction at this time alone:
        metrics at this time score it, no others do, and it does not move the horizon. A model whose predictions are
        refused has no scores, and a note says why; a ``ValueError`` in the place of a model is such a refusal. The
        others are scored without it.
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
        The last of them is the horizon, and a note says where it would have been without.
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
        indicators of their levels in the sample that an adjustment is fitted to. None goes on without.
    folds : array-like, optional
        For out-of-fold predictions, one label per test subject: the fold that it was left out in. The risk scores of
        models that were fitted to different folds are not on one scale, and the judge centres them per fold; AUC and
        concordance rank them as they are.
    true_times : array-like, optional
        For simulated or semi-synthetic data, the event time of every test subject, censored ones included. Scores by
        them are :attr:`Evaluation.truth`: they stand beside the others, and no verdict counts them.
    confidence_level : float or None
        Of the intervals of scores and differences. They are about the given, trained models in the population of the
        test sample, up to the horizon, and assume that the copula is correct where a score rests on one. None computes
        none.
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
    **unsupported
        What is not there, or not yet, such as ``weights``, ``groups`` and ``entry``: refused in a sentence.

    Returns
    -------
    Evaluation

    Notes
    -----
    Between its times a curve is a line, in whatever form it is given. It is a step function where it is known to be
    one (predictions of scikit-survival's models, of lifelines' Cox model and of ours) or where
    ``Predictions(times, array, interpolation="step")`` says so. Where nothing says which, a note tells what steps would
    give, if that moves the first score under the primary adjustment by more than a tenth of its standard error (without
    standard errors, by more than 1 %).

    A frame or column of pandas whose labels are those of ``x_test``, or of ``y_test``, is put into their order; one
    that is merely numbered, or has no labels, is taken by position; one that has other labels is refused. A note says
    which, where it matters.

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
    refuse_keywords(unsupported)
    test = Survival.coerce(y_test, "y_test")
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    time_axis = TimeAxis(time_name, time_unit)
    request = Request.of(adjustments, metrics, times, at, horizon, copula, confidence_level, time_axis)
    oracle = None if true_times is None else Oracle(as_true_times(true_times, test))
    resampling = None if n_resamples is None else Resampling(n_resamples, seed)
    given = Samples(test, x_test, train, x_train, as_folds(folds, len(test)))
    samples, notes = request.samples(given, covariates)
    scored = request.times_of(samples)
    _check_names(models)
    predictions, faults = _predictions(models, x_test, request.times, test, notes)
    data, ends = request.data(samples, predictions, faults, scored, tuple(models), covariates, notes)
    assumed = request.assumed(data, notes)
    made = request.made(assumed, notes)
    report = progress or (lambda done, total: None)
    report(0, len(made))
    results = {}
    for done, (name, (label, each)) in enumerate(made.items(), start=1):
        results[name] = scores_under(data, name, label, each)
        report(done, len(made))
    truth = None if oracle is None else scores_under(data, TRUTH, TRUTH, oracle)
    found = concluded(data, results, assumed, ends, notes, (x_train, x_test), truth)
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
    models: Mapping[str, Any], x_test: Any, times: FloatArray | None, y: Survival, notes: list[Note]
) -> tuple[dict[str, Predictions], dict[str, Exception]]:
    """The predictions of every model by name, and why a model has none."""
    found, faults = dict[str, Predictions](), dict[str, Exception]()
    given: dict[str, Any] = {"times": times, "X": x_test, "labels": subject_labels(x_test, y.labels)}
    for name, model in models.items():
        try:
            if isinstance(model, ValueError):
                raise model
            found[name] = as_predictions(model, len(y), name=f"models[{name!r}]", risk=True, **given)
        except (TypeError, ValueError) as fault:
            faults[name] = fault
            continue
        notes += [*brought_to_numpy(model, name), *rounded(found[name].n_rounded, name)]
        notes += matching_note(found[name].matched, name)
    return found, faults
