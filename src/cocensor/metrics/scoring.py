"""What the scores share: from a user's arguments to a status, and the mean over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, check_choice
from cocensor.adjustments import Adjustment, Status, adjustment
from cocensor.adjustments.status import Loss
from cocensor.copulas import Copula

Integration = Literal["trapezoid", "step"]


def scores(
    loss: Loss,
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    how: str | Adjustment,
    x_train: Any,
    x_test: Any,
    copula: Copula | None,
) -> Any:
    """The mean loss at each time; for a dict of models a dict, with one fit, and one status where it can be."""
    if not isinstance(how, Adjustment):
        how = adjustment(how, copula=copula)
    elif copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    fitted = how if how.is_fitted else how.copy().fit(y_train, x_train)

    def status(of: Any) -> Status:
        return fitted.status(y_test, times, x_test, of)

    if not isinstance(estimate, Mapping):
        return status(estimate).mean(loss, estimate)
    if not estimate:
        raise ValueError("estimate is empty: at least one model is needed.")
    shared = None if "estimate" in fitted.needs else status(None)
    found = {}
    for name, each in estimate.items():
        try:
            found[name] = (shared or status(each)).mean(loss, each)
        except ValueError as error:
            raise ValueError(f"model {name!r}: {error}") from error
    return found


def time_average(times: npt.ArrayLike, values: Any, integration: Integration) -> Any:
    r"""The mean of scores over time, :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2}`, whatever the order of the times.

    ``"trapezoid"`` joins the scores by lines; ``"step"`` holds each until the next time.
    """
    check_choice(integration, "integration", ("trapezoid", "step"))
    if isinstance(values, dict):
        return {name: time_average(times, each, integration) for name, each in values.items()}
    given = np.atleast_1d(np.asarray(times, dtype=np.float64))
    order = np.argsort(given, kind="stable")
    t, v = given[order], np.asarray(values)[order]
    if t[-1] == t[0]:
        raise ValueError("times must span an interval to be averaged over, but hold a single time.")
    if np.isnan(v).any():
        raise ValueError(
            f"times must not pass {t[np.argmax(np.isnan(v))]:g}, from where the adjustment gives no score."
        )
    heights: FloatArray = v[:-1] if integration == "step" else 0.5 * (v[1:] + v[:-1])
    return float(heights @ np.diff(t) / (t[-1] - t[0]))
