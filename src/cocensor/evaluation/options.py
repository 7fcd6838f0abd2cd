"""What is asked of an evaluation, checked before any model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._validation import (
    Covariates,
    as_tuple,
    check_length,
    check_same_order,
    chosen_covariates,
    read_only,
    row_labels,
    to_numpy,
)
from cocensor.adjustments import (
    Adjustment,
    Fitted,
    Imputation,
    adjustment,
    adjustment_label,
    needs_copula,
)
from cocensor.adjustments.samples import Samples
from cocensor.copulas import ArchimedeanCopula, Copula, Independence
from cocensor.joint import CopulaChoice
from cocensor.outcomes import Survival

#: An adjustment by name, as it is, or fitted already.
AskedAdjustment = str | Adjustment | Fitted
#: Adjustments that are asked for together; "default" where none in particular are.
SETS = {"default": ("ipcw", "imputed"), "paper": ("ipcw", "imputed", "dep", "cg_q")}
_ARCHIMEDEAN = ("dep", "cg_q")
_ONE_EACH = "every subject counts once, and as independent of the others"
#: Why what users may look for is not there, by argument.
NOT_YET = {
    **dict.fromkeys(("weights", "sample_weight", "groups", "clusters", "cluster", "strata"), _ONE_EACH),
    **dict.fromkeys(("entry", "landmark"), "every subject is under observation from time 0 on"),
    "cause": "there is one event, and all else is censoring",
}


def refuse_keywords(given: Mapping[str, Any]) -> None:
    """Refuse arguments that there are not, or not yet."""
    for name in given:
        if name in NOT_YET:
            raise TypeError(f"{name} is not supported yet: {NOT_YET[name]}.")
        raise TypeError(f"evaluate() got an unexpected keyword argument {name!r}.")


def check_copula(copula: Any) -> None:
    """Refuse what cannot say which copula to assume."""
    if copula is None or isinstance(copula, Copula | CopulaChoice) or copula == "select":
        return
    raise ValueError(
        f"copula must be 'select', a copula, what select_copula returned, or None, but is {copula!r}."
    )


def as_folds(folds: Any, n: int) -> npt.NDArray[Any] | None:
    """Labels of the fold that each of ``n`` test subjects was left out in."""
    if folds is None:
        return None
    check_length(folds, "folds", n, "y_test")
    labels = to_numpy(folds, "folds")
    if labels.ndim != 1:
        raise ValueError(f"folds must have one label per test subject, but its shape is {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"folds has no label in row {int(np.argmax(np.isnan(labels)))}.")
    return read_only(labels)


def usable_covariates(
    samples: Samples, asked: Any, adjustments: Mapping[str, AskedAdjustment]
) -> tuple[Samples, list[Note]]:
    """The samples with the covariates that adjustments may be given, and what becomes of them.

    Covariates that cannot be used are refused where they are named or an adjustment would use them; else nobody misses
    them.
    """
    x_test, x_train = samples.x_test, samples.x_train
    if samples.y_train is None and x_train is not None:
        raise ValueError("y_train is needed where x_train is given.")
    if x_train is not None and x_test is None:
        raise ValueError("x_test is needed where x_train is given.")
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
        check_same_order(row_labels(x), y.labels, (name, of))
    if asked is not None and not isinstance(asked, str) and not parts:
        raise ValueError("x_test is needed where covariates are named.")
    tables: dict[str, Covariates] = {}
    reading = [each for each in adjustments.values() if _reads_covariates(each)]
    if parts and asked is not None:
        try:
            names = [name for _, name, _, _ in parts]
            tables = dict(
                zip(names, chosen_covariates(asked, [(x, name) for x, name, _, _ in parts]), strict=True)
            )
        except ValueError:
            if reading or not (isinstance(asked, str) and asked == "all"):
                raise
    usable = replace(samples, x_test=tables.get("x_test"), x_train=tables.get("x_train"))
    _check_needs(usable, adjustments)
    fitted_to = {"x_test" if fitted_to_test(each, usable) else "x_train" for each in reading}
    return usable, about_levels({name: each for name, each in tables.items() if name in fitted_to})


def about_levels(tables: Mapping[str, Covariates]) -> list[Note]:
    """Notes on the indicators that become of categories in the samples fitted to, by name."""
    texts: dict[str, list[str]] = {}
    for name, table in tables.items():
        for k in table.levels:
            levels = table.levels_seen(k)
            if len(levels) < 2:
                continue
            text = (
                f"Covariate {table.labels[k]!r} is categorical: it enters as indicators of its {len(levels)} "
                f"levels; {levels[0]!r} is the reference."
            )
            texts.setdefault(text, []).append(name)
    return [
        Note("decision", text if len(names) == len(tables) else f"{text.removesuffix('.')} (in {names[0]}).")
        for text, names in texts.items()
    ]


def fitted_to_test(each: AskedAdjustment, samples: Samples) -> bool:
    """Whether an adjustment is fitted to the test sample, or, fitted already, is applied to it alone."""
    made = made_adjustment(each, Independence())
    needs = made.needs if isinstance(made, Adjustment) else made.adjustment.needs
    return bool(samples.y_train is None or isinstance(made, Fitted) or needs & {"prediction", "predictions"})


def _reads_covariates(each: AskedAdjustment) -> bool:
    """Whether an adjustment is given covariates, where there are any."""
    made = made_adjustment(each, Independence())
    if isinstance(made, Fitted):
        return "covariates" in made.adjustment.needs
    return "covariates" in made.needs or (isinstance(made, Imputation) and "everything" in made.given)


def _check_needs(samples: Samples, adjustments: Mapping[str, AskedAdjustment]) -> None:
    """Refuse an adjustment that needs covariates where the sample that it learns from has none."""
    for name, each in adjustments.items():
        made = made_adjustment(each, Independence())
        needs = made.needs if isinstance(made, Adjustment) else made.adjustment.needs
        by_test = fitted_to_test(each, samples)
        lacking = "x_test" if samples.x_test is None else "x_train"
        if "covariates" in needs and (samples.x_test if by_test else samples.x_train) is None:
            raise ValueError(
                f"covariates are needed for the adjustment {name!r}: there are none in {lacking}."
            )


def _is_outcome(x: Any) -> bool:
    """Whether covariates are outcomes, which the order of scikit-survival's arguments invites."""
    if isinstance(x, Survival):
        return True
    names = x.dtype.names if isinstance(x, np.ndarray) else None
    return names is not None and len(names) == 2 and any(x.dtype[each].kind == "b" for each in names)


def as_adjustments(asked: Any) -> dict[str, AskedAdjustment]:
    """Adjustments by name, as objects or as names of known ones."""
    if isinstance(asked, str) and asked in SETS:
        asked = SETS[asked]
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
            raise ValueError(
                f"adjustments must have strings other than 'model' as names, but one is {name!r}."
            )
        made_adjustment(each, Independence())  # refuses what is none
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
    asked: Mapping[str, AskedAdjustment], copula: Copula, as_a_set: bool
) -> tuple[dict[str, tuple[str, Adjustment | Fitted]], list[Note]]:
    """By name what each is called, and the adjustment; and what was left out of a set that was asked for as one."""
    notes = []
    left = [name for name in asked if as_a_set and name in _ARCHIMEDEAN]
    if left and not isinstance(copula, ArchimedeanCopula):
        named = " and ".join(map(adjustment_label, left))
        notes.append(Note("decision", f"{named} are left out, because they need an Archimedean copula."))
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
        f"{field.name}={getattr(each, field.name)!r}"
        for field in fields(kind)
        if not _is_as_without(kind, field.name, field.default)
    ]
    return f"{type(each).__name__}({', '.join(set_apart)})"


def _is_as_without(each: Any, name: str, default: Any) -> bool:
    """Whether an adjustment would be the same if a setting had its default, which may depend on the others."""
    try:
        return bool(replace(each, **{name: default}) == each)
    except (TypeError, ValueError):
        return False


def _takes_copula(name: str) -> bool:
    try:
        return needs_copula(name)
    except KeyError:
        return False  # refused by name elsewhere
