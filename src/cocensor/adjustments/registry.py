"""Adjustments by name."""

from __future__ import annotations

from collections.abc import Callable

from cocensor.adjustments.base import Adjustment
from cocensor.adjustments.conditional import ConditionalStatus
from cocensor.adjustments.dependent_ipcw import DependentIPCW
from cocensor.adjustments.ipcw import IPCW
from cocensor.adjustments.joint_conditional import JointConditional
from cocensor.adjustments.margin_time import MarginTime
from cocensor.copulas import ArchimedeanCopula, Copula

_PLAIN: dict[str, Callable[[], Adjustment]] = {
    "ipcw": IPCW,
    "ipcw_cox": lambda: IPCW(censoring="cox"),
    "margin_km": MarginTime,
}
_LABELS = {
    "ipcw": "IPCW",
    "ipcw_cox": "IPCW (Cox)",
    "margin_km": "Dep (KM)",
    "margin": "Dep (CG)",
    "dep": "IBS-Dep",
    "cg_q": "CG-Q",
    "conditional": "given the censoring",
    "given_covariates": "given covariates",
    "given_prediction": "given the prediction",
    "dependent_ipcw": "dependent IPCW",
}
_WITH_COPULA: dict[str, Callable[[ArchimedeanCopula], Adjustment]] = {
    "margin": MarginTime,
    "dep": lambda copula: MarginTime(copula, weighting="uncertainty"),
    "cg_q": lambda copula: ConditionalStatus(copula, given="event_free"),
    "conditional": lambda copula: ConditionalStatus(copula, given="censoring"),
    "given_covariates": lambda copula: JointConditional("covariates", copula),
    "given_prediction": lambda copula: JointConditional("prediction", copula),
    "dependent_ipcw": DependentIPCW,
}


def adjustments() -> list[str]:
    """The names of the adjustments.

    Examples
    --------
    >>> adjustments()
    ['ipcw', 'ipcw_cox', 'margin_km', 'margin', 'dep', 'cg_q', 'conditional', 'given_covariates',
    'given_prediction', 'dependent_ipcw']
    """
    return [*_PLAIN, *_WITH_COPULA]


def label(name: str) -> str:
    """What an adjustment is called in tables and figures."""
    return _LABELS[name]


def needs_copula(name: str) -> bool:
    """Whether the adjustment of this name rests on a copula."""
    return name in _WITH_COPULA


def adjustment(name: str, *, copula: Copula | None = None) -> Adjustment:
    """An adjustment by name; those that rest on a copula need ``copula``.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> adjustment("dep", copula=Clayton(2.0))
    MarginTime(Clayton(theta=2.0), weighting='uncertainty', curve='step')
    """
    if not isinstance(name, str):
        raise TypeError(f"adjustment must be an Adjustment or a name, but is of type {type(name).__name__}.")
    if name in _PLAIN:
        if copula is not None:
            raise ValueError(f"copula must be None for the adjustment {name!r}, but is {copula!r}.")
        return _PLAIN[name]()
    if name in _WITH_COPULA:
        if copula is None:
            raise ValueError(f"copula is needed for the adjustment {name!r}.")
        return _WITH_COPULA[name](copula)  # type: ignore[arg-type]  # refuses others in one sentence
    raise ValueError(f"adjustment must be one of {', '.join(adjustments())}, but is {name!r}.")
