"""Learners by name, with the paper's hyperparameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from cocensor._checks import check_choice
from cocensor.paper.learners.base import Learner
from cocensor.paper.learners.cox import CoxLearner
from cocensor.paper.learners.deepsurv import DeepSurv
from cocensor.paper.learners.mtlr import MTLR
from cocensor.paper.learners.trees import GBSA, RSF

Preset = Literal["text", "published"]
_LEARNERS: dict[str, type[Learner]] = {kind.name: kind for kind in (CoxLearner, GBSA, RSF, DeepSurv, MTLR)}
_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "text": {},
    "published": {"gbsa": {"max_depth": 3}, "rsf": {"max_depth": 3}},
}


def learners() -> list[str]:
    """The names of the learners.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from cocensor.paper.learners import learners
    >>> learners()
    ['coxph', 'gbsa', 'rsf', 'deepsurv', 'mtlr']
    """
    return list(_LEARNERS)


def learner(name: str, *, preset: Preset = "text", **changes: Any) -> Learner:
    """A learner by name, with the hyperparameters of the paper and ``changes`` to them.

    Parameters
    ----------
    name : str
        One of :func:`learners`.
    preset : {"text", "published"}
        The hyperparameters in the paper's text, which are the defaults of the classes, or those behind its published
        numbers: there the trees of ``"gbsa"`` and ``"rsf"`` have depth 3 in the place of 1.
    **changes
        Hyperparameters to set otherwise.

    Returns
    -------
    Learner

    Examples
    --------
    >>> from cocensor.paper.learners import learner
    >>> learner("coxph")
    CoxLearner(ridge=0.01, ties='breslow', max_iter=100)
    >>> learner("rsf", preset="published", n_estimators=20).max_depth
    3
    >>> learner("gbsa", depth=3)
    Traceback (most recent call last):
    ValueError: depth is no hyperparameter of 'gbsa'; it has n_estimators, max_depth, min_samples_split, ...
    """
    kind = _LEARNERS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"name must be one of {', '.join(_LEARNERS)}, but is {name!r}.")
    check_choice(preset, "preset", tuple(_PRESETS))
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # all learners are dataclasses
    for change in changes:
        if change not in names:
            raise ValueError(f"{change} is no hyperparameter of {name!r}; it has {', '.join(names)}.")
    return kind(**{**_PRESETS[preset].get(name, {}), **changes})
