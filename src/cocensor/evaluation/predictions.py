"""Predicted survival curves from whatever a user has: arrays, curves, or fitted models of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, as_table, as_times, as_vector, check_curves, row_blocks
from cocensor.adjustments.estimate import are_step_functions
from cocensor.curves import Interpolation, SurvivalCurves, evaluate_step_functions

# Curves on another grid are read once, if all that is read together stays below this many bytes.
_READ_ONCE = 512 * 2**20


@dataclass(frozen=True, eq=False)
class Prediction:
    """What one model predicts for the test subjects: curves, step functions, or an array at the evaluation's times."""

    curves: Any
    came_as: str

    @property
    def end(self) -> float:
        """Up to when the predictions are known; curves that say what they do beyond are known for good."""
        if isinstance(self.curves, SurvivalCurves):
            return float(self.curves.times[-1]) if self.curves.tail is None else np.inf
        if are_step_functions(self.curves):
            return min(_last_time(each) for each in self.curves)
        return np.inf

    @property
    def times(self) -> FloatArray:
        """The times of the curves themselves, sorted; none where it is an array at the evaluation's."""
        if isinstance(self.curves, SurvivalCurves):
            return self.curves.times
        if are_step_functions(self.curves):
            return np.unique(np.concatenate(list({id(each.x): each.x for each in self.curves}.values())))
        return np.empty(0)

    def __len__(self) -> int:
        return len(self.curves)


def predictions(models: Any, x_test: Any, times: FloatArray | None, n: int) -> dict[str, Prediction]:
    """The predictions of every model by name; each kind of model is recognised once, here."""
    if not isinstance(models, Mapping):
        raise TypeError(
            f"models must be a dict of names and predictions, but is of type {type(models).__name__}."
        )
    if not models:
        raise ValueError("models is empty: at least one is needed.")
    found = {}
    for name, model in models.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"models must have texts as names, but one is {name!r}.")
        try:
            found[name] = _prediction(model, x_test, times)
        except AttributeError as error:
            raise ValueError(f"models[{name!r}] is not fitted, or does not predict: {error}") from error
        except Exception as error:  # whatever a model of another package raises
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"models[{name!r}]: {error}") from error
        if len(found[name]) != n:
            raise ValueError(
                f"models[{name!r}] must predict one curve per test subject, {n}, but predicts {len(found[name])}."
            )
    return found


def predicted_curves(model: Any, X: Any) -> tuple[Any, str] | None:
    """What a fitted estimator predicts for ``X``, and how it was asked; None for what is no estimator."""
    for method in ("predict_survival_function", "predict_surv_df", "predict"):
        if not callable(getattr(model, method, None)):
            continue
        if X is None:
            raise ValueError(f"x_test is needed: {type(model).__name__} is a model that has yet to predict.")
        predicted = getattr(model, method)(X)
        return _curves(predicted, model, method), f"{type(model).__name__}.{method}"
    return None


def _prediction(model: Any, x_test: Any, times: FloatArray | None) -> Prediction:
    if isinstance(model, SurvivalCurves):
        return Prediction(model, "curves")
    if isinstance(model, tuple) and len(model) == 2:
        grid, table = as_times(as_vector(model[0], "times"), "times"), as_table(model[1], "probabilities")
        return Prediction(SurvivalCurves(grid, table, interpolation="linear"), "array with its times")
    found = predicted_curves(model, x_test)
    if found is not None:
        return Prediction(*found)
    if are_step_functions(model):
        return Prediction(model, "step functions")
    if hasattr(model, "fit"):
        raise TypeError(
            f"{type(model).__name__} has no method that predicts survival curves, or is not fitted."
        )
    table = as_table(model, "an array")
    if times is None:
        raise ValueError(
            "an array of probabilities needs its times: give times=, or a pair (times, array) as the model."
        )
    if table.ndim != 2 or table.shape[1] != times.size:
        raise ValueError(
            f"an array must have one column for each of the {times.size} times, but its shape is {table.shape}."
        )
    return Prediction(table, "array at the times of the evaluation")


def _curves(predicted: Any, model: Any, method: str) -> Any:
    if isinstance(predicted, SurvivalCurves):
        return replace(predicted, tail=None)  # beyond what it was fitted to, a model knows nothing
    if are_step_functions(predicted):
        return predicted
    if nw.dependencies.is_into_dataframe(predicted):  # lifelines and pycox: a row per time
        between: Interpolation = "linear" if _is_smooth(model) else "step"
        return SurvivalCurves.from_frame(predicted, interpolation=between, tail=None)
    raise TypeError(
        f"{method} of {type(model).__name__} must give step functions, SurvivalCurves or a frame with a row per time, "
        f"but gave {type(predicted).__name__}."
    )


def _last_time(function: Any) -> float:
    """The end of what a step function was learned from, as scikit-survival has it."""
    domain = getattr(function, "domain", None)
    return float(function.x[-1] if domain is None or domain[1] is None else domain[1])


def _is_smooth(model: Any) -> bool:
    """Whether a model of lifelines has curves without steps: a parametric one, or Cox's with such a baseline."""
    parametric = any("Parametric" in kind.__name__ for kind in type(model).__mro__)
    return parametric or getattr(model, "baseline_estimation_method", "breslow") != "breslow"


def read_at(found: Mapping[str, Prediction], times: FloatArray) -> dict[str, Any]:
    """The predictions as arrays at ``times`` where these together are small, so that no curve is read twice."""
    size = sum(
        8 * len(each) * times.size for each in found.values() if not isinstance(each.curves, np.ndarray)
    )
    return {
        name: _array(each.curves, times) if size <= _READ_ONCE else each.curves
        for name, each in found.items()
    }


def _array(curves: Any, times: FloatArray) -> npt.NDArray[Any]:
    if isinstance(curves, np.ndarray) and not are_step_functions(curves):
        return curves
    if not isinstance(curves, SurvivalCurves):
        return evaluate_step_functions(curves, times)
    if np.array_equal(times, curves.times):
        return curves.probabilities
    values = np.empty((len(curves), times.size))
    for rows in row_blocks(*values.shape):
        values[rows] = curves.evaluate(times, np.arange(rows.start, rows.stop))
    return values


def check_probabilities(name: str, read: Any, times: FloatArray) -> None:
    """Refuse what is no survival probability at once, rather than under the first adjustment that reads it."""
    if not isinstance(read, np.ndarray) or are_step_functions(read):
        return
    order = np.argsort(times, kind="stable")
    for rows in row_blocks(*read.shape):
        block = np.asarray(read[rows][:, order], dtype=np.float64)
        check_curves(block, f"models[{name!r}]", times[order], np.arange(rows.start, rows.stop))
