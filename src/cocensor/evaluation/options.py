"""What is asked of an evaluation, checked before any model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import (
    FloatArray,
    as_matrix,
    as_times,
    as_tuple,
    as_vector,
    check_length,
    column_names,
    read_only,
)
from cocensor.adjustments import Adjustment, Fitted, adjustment, adjustment_label, needs_copula
from cocensor.adjustments.samples import Samples
from cocensor.copulas import ArchimedeanCopula, Copula, Independence
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric, metric
from cocensor.outcomes import Survival

#: An adjustment by name, as it is, or fitted already.
AskedAdjustment = str | Adjustment | Fitted
#: The adjustments of an evaluation that is asked for none in particular.
DEFAULT = ("ipcw", "dep", "cg_q", "imputed_prediction", "imputed_covariates")
_ARCHIMEDEAN = ("dep", "cg_q")


def as_metrics(metrics: Any) -> tuple[Metric, ...]:
    """Metrics by name or as they are, each once."""
    listed = as_tuple(metrics, "metrics", str, Metric)
    if not listed:
        raise ValueError("metrics is empty: at least one is needed.")
    found = tuple(each if isinstance(each, Metric) else metric(each) for each in listed)
    if len({each.name for each in found}) < len(found):
        raise ValueError(f"metrics must differ, but are {', '.join(each.name for each in found)}.")
    return found


def as_interval(times: npt.ArrayLike) -> FloatArray:
    """Times to score at: a copy, in any order, that spans an interval."""
    grid = as_times(as_vector(times, "times", copy=True), "times")
    if not grid.size or grid.min() == grid.max():
        raise ValueError(f"times must span an interval, but are {grid.tolist()}.")
    return read_only(grid)


def check_copula(copula: Any) -> None:
    """Refuse what cannot say which copula to assume."""
    if copula is None or isinstance(copula, Copula | CopulaChoice) or copula == "select":
        return
    raise ValueError(
        f"copula must be 'select', a copula, what select_copula returned, or None, but is {copula!r}."
    )


def usable_covariates(samples: Samples) -> tuple[Samples, list[Note]]:
    """The samples with covariates that an adjustment can use, or without any and a note why."""
    x_test, x_train = samples.x_test, samples.x_train
    if samples.y_train is None and x_train is not None:
        raise ValueError("y_train is needed where x_train is given.")
    if x_train is not None and x_test is None:
        raise ValueError("x_test is needed where x_train is given.")
    without = Samples(samples.y_test, None, samples.y_train, None)
    parts = [
        (x, name, y, of)
        for x, name, y, of in (
            (x_test, "x_test", samples.y_test, "y_test"),
            (x_train, "x_train", samples.y_train, "y_train"),
        )
        if x is not None and y is not None
    ]
    for x, name, y, of in parts:
        if _is_outcome(x):
            raise TypeError(
                f"{name} must be covariates, but is an outcome: training outcomes go in as y_train=."
            )
        check_length(x, name, len(y), of)
    if not parts:
        return without, []
    if samples.y_train is not None and x_train is None:
        text = "Covariates serve the predictions only: the training sample has none (x_train)."
        return without, [Note("decision", text)]
    try:
        shapes = [as_matrix(x, name).shape for x, name, _, _ in parts]
    except ValueError as error:
        return without, [Note("decision", f"Covariates serve the predictions only: {error}")]
    names = [column_names(x) for x, *_ in parts]
    if len(parts) == 2 and (shapes[0][1] != shapes[1][1] or (None not in names and names[0] != names[1])):
        raise ValueError(
            f"x_test must have the columns of x_train, {names[1] or shapes[1][1]}, but has "
            f"{names[0] or shapes[0][1]}."
        )
    return samples, []


def _is_outcome(x: Any) -> bool:
    """Whether covariates are outcomes, which the order of scikit-survival's arguments invites."""
    if isinstance(x, Survival):
        return True
    names = x.dtype.names if isinstance(x, np.ndarray) else None
    return names is not None and len(names) == 2 and any(x.dtype[each].kind == "b" for each in names)


def as_adjustments(asked: Any, with_covariates: bool, why_not: str) -> dict[str, AskedAdjustment]:
    """Adjustments by name, as objects or as names of known ones; ``why_not`` says why there are no covariates."""
    if isinstance(asked, str) and asked == "default":
        asked = [name for name in DEFAULT if with_covariates or name != "imputed_covariates"]
    if not isinstance(asked, Mapping):
        several = as_tuple(asked, "adjustments", str, Adjustment, Fitted)
        listed = [(each if isinstance(each, str) else repr(each), each) for each in several]
        asked = dict(listed)
        if len(asked) < len(listed):
            raise ValueError("adjustments must differ: give a dict with a name for each.")
    if not asked:
        raise ValueError("adjustments is empty: at least one is needed.")
    for name, each in asked.items():
        if not isinstance(name, str) or name in ("", "model"):
            raise ValueError(f"adjustments must have texts other than 'model' as names, but one is {name!r}.")
        made = made_adjustment(each, Independence())
        needs = made.needs if isinstance(made, Adjustment) else made.adjustment.needs
        if "covariates" in needs and not with_covariates:
            raise ValueError(f"covariates are needed for the adjustment {name!r}{why_not}")
    return dict(asked)


def rest_on_given_copula(asked: Mapping[str, AskedAdjustment]) -> bool:
    """Whether any takes its copula from the evaluation."""
    return any(isinstance(each, str) and needs_copula(each) for each in asked.values())


def made_adjustment(each: AskedAdjustment, copula: Copula | None) -> Adjustment | Fitted:
    """An adjustment by name, at a copula if it rests on one, or as it is."""
    if isinstance(each, Adjustment | Fitted):
        return each
    return adjustment(each, copula=copula if isinstance(each, str) and _takes_copula(each) else None)


def labelled_adjustments(
    asked: Mapping[str, AskedAdjustment], copula: Copula, by_default: bool
) -> tuple[dict[str, tuple[str, Adjustment | Fitted]], list[Note]]:
    """By name what each is called, and the adjustment; and what was left out."""
    notes = []
    left = [name for name in asked if by_default and name in _ARCHIMEDEAN]
    if left and not isinstance(copula, ArchimedeanCopula):
        named = " and ".join(map(adjustment_label, left))
        notes.append(Note("decision", f"{named} are left out: they need an Archimedean copula."))
        asked = {name: each for name, each in asked.items() if name not in left}
    labels = {name: _label(name, each) for name, each in asked.items()}
    shown = [each.casefold() for each in labels.values()]
    return {
        # Two that would be called the same go by their names.
        name: (
            labels[name] if shown.count(labels[name].casefold()) == 1 else name,
            made_adjustment(each, copula),
        )
        for name, each in asked.items()
    }, notes


def _label(name: str, each: AskedAdjustment) -> str:
    """What an adjustment is called: by the name that it was given, else by what sets it apart."""
    if isinstance(each, str):
        return adjustment_label(name) if name == each else name
    return _in_short(each) if name == repr(each) else name


def _in_short(each: Adjustment | Fitted) -> str:
    """An adjustment with the settings alone that are not the default."""
    if isinstance(each, Fitted):
        return f"{_in_short(each.adjustment)}, fitted"
    kind: Any = each
    if not is_dataclass(kind):
        return repr(each)
    set_apart = [
        f"{field.name}={value!r}"
        for field in fields(kind)
        if repr(value := getattr(each, field.name)) != repr(field.default)
    ]
    return f"{type(each).__name__}({', '.join(set_apart)})"


def _takes_copula(name: str) -> bool:
    try:
        return needs_copula(name)
    except KeyError:
        return False  # refused by name elsewhere
