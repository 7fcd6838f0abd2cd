"""Adjustments by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from cocensor._checks import as_choice
from cocensor.adjustments.aipcw import AIPCW
from cocensor.adjustments.base import Adjustment
from cocensor.adjustments.dependent_ipcw import DependentIPCW
from cocensor.adjustments.imputation import Imputation
from cocensor.adjustments.ipcw import IPCW
from cocensor.adjustments.margin_time import MarginTime
from cocensor.copulas import Copula, Independence


class _Entry(NamedTuple):
    label: str
    make: Callable[..., Adjustment]
    with_copula: bool


_REGISTRY: dict[str, _Entry] = {
    "ipcw": _Entry("IPCW", IPCW, False),
    "ipcw_cox": _Entry("IPCW (Cox)", partial(IPCW, "cox"), False),
    "aipcw": _Entry("AIPCW", AIPCW, False),
    "margin_km": _Entry("Dep (KM, paper)", MarginTime, False),
    "margin": _Entry("Dep (CG, paper)", MarginTime, True),
    "dep": _Entry("IBS-Dep (paper)", partial(MarginTime, weighting="uncertainty"), True),
    "cg_q": _Entry("CG-Q (paper)", partial(Imputation, (), conditioning="event_free"), True),
    "imputation_margins": _Entry("imputation from margins", partial(Imputation, ()), True),
    "imputation": _Entry("imputation", partial(Imputation, "everything"), True),
    "imputation_covariates": _Entry("imputation given covariates", partial(Imputation, "covariates"), True),
    "imputation_prediction": _Entry(
        "imputation given the prediction", partial(Imputation, "prediction"), True
    ),
    "dependent_ipcw": _Entry("dependent IPCW", DependentIPCW, True),
}
_BUILT_IN = frozenset(_REGISTRY)


def register_adjustment(
    name: str, make: Callable[..., Adjustment], *, label: str | None = None, with_copula: bool = False
) -> None:
    """Make an adjustment of your own known by name, wherever adjustments are named.

    Parameters
    ----------
    name : str
        A name that is not taken.
    make : callable
        Makes the adjustment, from a copula if ``with_copula``, else from nothing.
    label : str, optional
        What it is called in tables and figures; by default its name.
    with_copula : bool
        Whether ``make`` takes a copula.

    Examples
    --------
    >>> from cocensor import IPCW, adjustment
    >>> from cocensor.adjustments import register_adjustment, unregister_adjustment
    >>> register_adjustment("floored", lambda: IPCW(min_probability=0.05), label="IPCW, floored")
    >>> adjustment("floored").min_probability
    0.05
    >>> unregister_adjustment("floored")
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name must be a string such as 'my_weights', but is {name!r}.")
    if name in _REGISTRY:
        raise ValueError(f"name must not be taken, but {name!r} is an adjustment already.")
    _REGISTRY[name] = _Entry(label or name, make, with_copula)


def unregister_adjustment(name: str) -> None:
    """Forget an adjustment that was registered.

    Parameters
    ----------
    name : str
        That of :func:`register_adjustment`.

    See Also
    --------
    register_adjustment : Has an example of both.
    """
    if name in _BUILT_IN or name not in _REGISTRY:
        raise ValueError(f"name must be that of an adjustment that was registered, but is {name!r}.")
    del _REGISTRY[name]


def adjustment_names() -> list[str]:
    """The names of the adjustments.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from cocensor.adjustments import adjustment_names
    >>> adjustment_names()
    ['ipcw', 'ipcw_cox', 'aipcw', 'margin_km', 'margin', 'dep', 'cg_q', 'imputation_margins', 'imputation',
    'imputation_covariates', 'imputation_prediction', 'dependent_ipcw']
    """
    return list(_REGISTRY)


def adjustment_name(name: str, argument: str = "adjustment") -> str:
    """The name of the adjustment that has this name or label."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be an Adjustment or a name, but is of type {type(name).__name__}.")
    return as_choice(name, argument, {key: entry.label for key, entry in _REGISTRY.items()})


def adjustment_label(name: str) -> str:
    """Return what an adjustment is called in tables and figures."""
    return _REGISTRY[adjustment_name(name)].label


def needs_copula(name: str) -> bool:
    """Whether the adjustment of this name rests on a copula."""
    return _REGISTRY[adjustment_name(name)].with_copula


def adjustment(name: str, *, copula: Copula | None = None) -> Adjustment:
    """An adjustment by name.

    Parameters
    ----------
    name : str
        One of :func:`adjustment_names`, or what it is called in tables.
    copula : Copula, optional
        The dependence of event and dropout, for adjustments that rest on one; independence by default.

    Returns
    -------
    Adjustment

    Examples
    --------
    >>> from cocensor import Clayton, adjustment
    >>> adjustment("dep", copula=Clayton(2.0))
    MarginTime(copula=Clayton(theta=2.0), weighting='uncertainty', interpolation='step', tail='last')
    """
    entry = (isinstance(name, str) and _REGISTRY.get(name)) or _REGISTRY[adjustment_name(name)]
    if entry.with_copula:
        return entry.make(Independence() if copula is None else copula)
    if copula is not None:
        raise ValueError(f"copula must be None for the adjustment {name!r}, but is {copula!r}.")
    return entry.make()
