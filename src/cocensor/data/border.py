"""Predictions from whatever a user has: arrays, frames, step functions, or fitted models of other packages."""

from __future__ import annotations

from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_table, naming, to_numpy
from cocensor._late import narwhals as nw
from cocensor.data.curves import after_start
from cocensor.data.ids import row_labels
from cocensor.data.predictions import (
    Interpolation,
    Predicted,
    Predictions,
    PredictionsAt,
    Probabilities,
    RiskScores,
    on_times,
)
from cocensor.data.probabilities import count_rounded
from cocensor.data.steps import are_step_functions
from cocensor.data.times import TimeGrid

_NO_RISKS = "columns hold survival probabilities, not scikit-survival's risks; a risk score has one number per subject."
_METHODS = ("predict_survival_function", "predict_surv_df", "predict")


def as_predictions(
    estimate: Any,
    n: int,
    *,
    times: FloatArray | None = None,
    X: Any = None,
    labels: Any = None,
    name: str = "estimate",
    risk: bool = False,
    column: bool = False,
) -> Predicted:
    """Return the checked predictions of one model for ``n`` subjects.

    ``estimate`` is :class:`Predictions`, a pair ``(times, array)``, an array at ``times`` in any order, step functions
    of scikit-survival, a frame as of :meth:`Predictions.from_frame`, or a fitted estimator, which predicts for ``X``.
    Frames and columns of pandas are put into the order of the ``labels``. One number per subject is enough with
    ``risk``, as a risk score, and with ``column``, as the probability at the one of ``times``.
    """
    if isinstance(estimate, type):
        raise TypeError(f"{name} must be a fitted {estimate.__name__}, but is the class itself.")
    if isinstance(estimate, Predicted):
        predicted: Predicted | None = estimate
    elif isinstance(estimate, np.ndarray) and estimate.dtype.kind in "biuf":
        predicted = None
    elif nw.dependencies.is_into_dataframe(estimate) and _method(estimate) is None:
        predicted = Predictions.from_frame(estimate, n, times=times, labels=labels, name=name)
        if isinstance(predicted, RiskScores) and not risk:
            raise ValueError(f"{name} must have survival curves, but is a frame with a risk score.")
    else:
        with naming(name):
            predicted = _recognised(estimate, X, labels)
    if predicted is None:
        n_axes = _n_axes(estimate) if risk else None
        try:
            if n_axes == 1:
                predicted = RiskScores(estimate, name=name)
            else:
                predicted = _at_times(estimate, n, times, name, column)
        except ValueError as error:
            if n_axes != 2:
                raise
            raise ValueError(f"{str(error).removesuffix('.')}: {_NO_RISKS}") from error
        if (own := row_labels(estimate)) is not None:
            with naming(name):
                predicted = predicted.in_order_of(labels, own)
    if len(predicted) != n:
        kind = "number" if isinstance(predicted, RiskScores) else "curve"
        raise ValueError(f"{name} must have one {kind} per test subject, {n}, but has {len(predicted)}.")
    return predicted


def predict(model: Any, X: Any) -> Predicted:
    """Return what a fitted estimator of scikit-survival, lifelines, pycox or the paper predicts for ``X``."""
    kind, method = type(model).__name__, _method(model)
    if method is None:
        raise TypeError(f"{kind} has no method that predicts survival curves.")
    if X is None:
        raise ValueError(f"x_test is needed: {kind} is a fitted model and predicts from covariates.")
    source = f"{kind}.{method}"
    try:
        predicted = getattr(model, method)(X)
    except AttributeError as error:
        raise ValueError(f"{kind} is not fitted, or does not predict: {error}") from error
    except Exception as error:  # whatever a model of another package raises
        raise ValueError(f"{source} failed for x_test: {error}") from error
    if isinstance(predicted, Predictions):
        # Beyond what it was fitted to, a model knows nothing.
        curves = predicted.times, predicted.probabilities, predicted.interpolation
        return on_times(*curves, source=source, n_rounded=predicted.n_rounded)
    if are_step_functions(predicted):
        return Predictions.from_step_functions(predicted).changed(source=source)
    if nw.dependencies.is_into_dataframe(predicted):
        between = _between_times(model)
        if method != "predict" and predicted.shape == (len(X), len(X)) and hasattr(predicted, "index"):
            # As many times as subjects: lifelines and pycox have the times in the index.
            return Predictions(predicted.index, predicted.to_numpy().T, between, source=source)
        return Predictions.from_frame(predicted, len(X), interpolation=between).changed(source=source)
    instead = {
        1: f", one number per subject: give model.{method}(x_test) in place of the model, as a risk score that is "
        "higher for a higher risk",
        2: f": give a pair (times, model.{method}(x_test))",
    }.get(_n_axes(predicted), "")
    gave = f"but gave {type(predicted).__name__}{instead}"
    raise TypeError(f"{source} must give step functions, Predictions or a frame, {gave}.")


def _recognised(estimate: Any, X: Any, labels: Any) -> Predicted | None:
    """Return the predictions of all that says itself what its times are; None for what may be an array."""
    if _method(estimate) is not None:
        return predict(estimate, X)
    if are_step_functions(estimate):
        return Predictions.from_step_functions(estimate)
    if isinstance(estimate, tuple) and len(estimate) == 2:
        table, times = as_table(estimate[1], "probabilities"), to_numpy(estimate[0], "times")
        source = "array with its times"
        if times.size == 1:
            predicted: Probabilities = PredictionsAt(times.ravel()[0], table, source)
        else:
            curves = Predictions(times, table, source=source)
            kept = after_start(curves.times, curves.probabilities)
            predicted = on_times(*kept, source=source, n_rounded=curves.n_rounded)
        return predicted.in_order_of(labels, row_labels(estimate[1]))
    if hasattr(estimate, "fit"):
        kind = type(estimate).__name__
        raise TypeError(f"{kind} has no method that predicts survival curves, or is not fitted.")
    return None


def _n_axes(values: Any) -> int:
    """Return the number of axes of an array, or what can be one; −1 for lists of unequal length."""
    try:
        return np.ndim(values)
    except ValueError:
        return -1


def _method(model: Any) -> str | None:
    """Return the method that predicts survival curves; None for what is no model."""
    return next((method for method in _METHODS if callable(getattr(model, method, None))), None)


def _at_times(estimate: Any, n: int, times: FloatArray | None, name: str, column: bool) -> Probabilities:
    """Return the curves of an array whose columns are the times of the evaluation."""
    table = as_table(estimate, name)
    table = table[:, None] if column and table.ndim == 1 else table
    shaped = f"{name} must have one row per test subject and one column per time"
    if table.ndim != 2:
        why = "one number per subject is not a survival curve"
        if times is not None and table.shape == (n,) and times.size == 1:
            why = f"with one number per subject the time is a number too, {times[0]:g} and not [{times[0]:g}]"
        raise ValueError(f"{shaped}, but its shape is {table.shape}: {why}.")
    if times is None:
        pair = "give times=, or a pair (times, array) as the model"
        raise ValueError(f"{name} is an array and needs its times: {pair}.")
    if table.shape != (n, times.size):
        why = (
            f": {len(table)} rows and {n} columns for {n} test subjects: transposed? give a row per subject."
        )
        end = why if table.shape[1] == n else "."
        raise ValueError(f"{shaped}, ({n}, {times.size}), but its shape is {table.shape}{end}")
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float64)
    grid = TimeGrid.of(times)
    curves = table if grid.place is None else grid.sorted_table(table, name)
    rounded = count_rounded(curves, name, grid.sorted)
    return on_times(grid.sorted, curves, source="array at the times", n_rounded=rounded)


def _between_times(model: Any) -> Interpolation | None:
    """Return what holds between the times of a frame that a model predicts; None where it is not known.

    Models of lifelines have steps, and so has Cox's model; lines have parametric ones, and Cox's with such a baseline.
    """
    kinds = type(model).__mro__
    parametric = any("Parametric" in kind.__name__ for kind in kinds)
    if parametric or getattr(model, "baseline_estimation_method", "breslow") != "breslow":
        return "linear"
    steps = any(kind.__module__.startswith("lifelines.") or "Cox" in kind.__name__ for kind in kinds)
    return "step" if steps else None
