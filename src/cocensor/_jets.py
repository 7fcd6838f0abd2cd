"""Formulas that differentiate themselves: numbers with their first and second derivatives.

A likelihood needs the derivatives of what the copulas write as plain numpy formulas. Handed :class:`Jet` objects
instead of arrays, the same formulas return the value, the gradient and the Hessian in a few variables, by the chain
rule and so exactly, whatever the family. Elementary functions that numpy does not have are made to take jets by
:func:`differentiable`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from cocensor._late import special

Derivative = Any  # an array, a float, or None for a derivative that is 0 throughout
Function = TypeVar("Function", bound=Callable[..., Any])


class Jet:
    """Arrays with their derivatives in m variables; ``second`` holds the pairs (i, j), i ≤ j, row by row.

    Where first derivatives are enough, ``second`` is empty, and stays so.
    """

    __slots__ = ("first", "second", "value")

    def __init__(self, value: Any, first: list[Derivative], second: list[Derivative]) -> None:
        self.value, self.first, self.second = value, first, second

    @classmethod
    def variable(cls, value: Any, index: int, m: int, *, order: Literal[1, 2] = 2) -> Jet:
        """Return the variable number ``index`` of ``m``."""
        first: list[Derivative] = [1.0 if i == index else None for i in range(m)]
        return cls(value, first, [None] * len(_pairs(m)) if order == 2 else [])

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the variables of each second derivative that is carried."""
        return _pairs(len(self.first)) if self.second else ()

    def apply(self, value: Any, slope: Any, curvature: Any) -> Jet:
        """Return a function of this, from the value, slope and curvature that it has here."""
        bent = [_times(curvature, d) for d in self.first] if self.second else []
        second = [
            _plus(_times(slope, dd), _times(bent[i], self.first[j]))
            for dd, (i, j) in zip(self.second, self.pairs, strict=True)
        ]
        return Jet(value, [_times(slope, d) for d in self.first], second)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        if ufunc.__name__ in _DERIVATIVES:
            x = self.value
            value = ufunc(x)
            return self.apply(value, *_DERIVATIVES[ufunc.__name__](x, value))
        return _RULES[ufunc](*inputs) if ufunc in _RULES else NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _where(*args) if function is np.where else NotImplemented

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.first, self.second)
        first = list(map(_plus, self.first, other.first))
        return Jet(self.value + other.value, first, list(map(_plus, self.second, other.second)))

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Any) -> Jet:
        return self + (-other)

    def __rsub__(self, other: Any) -> Jet:
        return -self + other

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return self.apply(self.value * other, other, None)
        a, b = self, other
        first = [_plus(_times(a.value, e), _times(b.value, d)) for d, e in zip(a.first, b.first, strict=True)]
        second = []
        for k, (i, j) in enumerate(a.pairs):
            mixed = _plus(_times(a.first[i], b.first[j]), _times(a.first[j], b.first[i]))
            own = _plus(_times(a.value, b.second[k]), _times(b.value, a.second[k]))
            second.append(_plus(own, mixed))
        return Jet(a.value * b.value, first, second)

    def __truediv__(self, other: Any) -> Jet:
        return self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Jet:
        inverse = 1.0 / self.value
        return self.apply(inverse, -inverse * inverse, 2.0 * inverse**3) * other

    def __abs__(self) -> Jet:
        return self * np.sign(self.value)

    __radd__ = __add__
    __rmul__ = __mul__

    # Comparisons are about the values.
    def __lt__(self, other: Any) -> Any:
        return self.value < value_of(other)

    def __gt__(self, other: Any) -> Any:
        return self.value > value_of(other)


def value_of(x: Any) -> Any:
    """Return the value of a jet; anything else is its own value."""
    return x.value if isinstance(x, Jet) else x


def differentiable(derivatives: Callable[[Any], tuple[Any, Any]]) -> Callable[[Function], Function]:
    """Let an elementary function of one argument take jets; ``derivatives`` are its slope and curvature."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def lifted(x: Any) -> Any:
            return x.apply(function(x.value), *derivatives(x.value)) if isinstance(x, Jet) else function(x)

        return cast(Function, lifted)

    return decorate


def compose(value: Any, slopes: list[Any], curvatures: list[Any], arguments: list[Any]) -> Jet:
    """Return a function of several jets or numbers, from its value, gradient and Hessian (pairs, row by row)."""
    some = next(argument for argument in arguments if isinstance(argument, Jet))
    first: list[Derivative] = [None] * len(some.first)
    second: list[Derivative] = [None] * len(some.pairs)
    for slope, jet in zip(slopes, arguments, strict=True):
        if isinstance(jet, Jet):
            first = [_plus(total, _times(slope, d)) for total, d in zip(first, jet.first, strict=True)]
            second = [_plus(total, _times(slope, d)) for total, d in zip(second, jet.second, strict=True)]
    for curvature, (k, other) in zip(curvatures, _pairs(len(arguments)), strict=True):
        a, b = arguments[k], arguments[other]
        if not (isinstance(a, Jet) and isinstance(b, Jet)):
            continue
        for at, (i, j) in enumerate(some.pairs):
            cross = _times(a.first[i], b.first[j])
            if k != other:
                cross = _plus(cross, _times(a.first[j], b.first[i]))
            second[at] = _plus(second[at], _times(curvature, cross))
    return Jet(value, first, second)


@cache
def _pairs(m: int) -> tuple[tuple[int, int], ...]:
    return tuple((i, j) for i in range(m) for j in range(i, m))


def _plus(a: Derivative, b: Derivative) -> Derivative:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _times(a: Derivative, b: Derivative) -> Derivative:
    return None if a is None or b is None else a * b


def _where(condition: npt.NDArray[np.bool_], a: Any, b: Any) -> Jet:
    jet = a if isinstance(a, Jet) else b
    zero = Jet(0.0, [None] * len(jet.first), [None] * len(jet.second))
    a, b = (part if isinstance(part, Jet) else zero + part for part in (a, b))

    def pick(x: Derivative, y: Derivative) -> Derivative:
        none = x is None and y is None
        return None if none else np.where(condition, 0.0 if x is None else x, 0.0 if y is None else y)

    parts = [list(map(pick, *both)) for both in ((a.first, b.first), (a.second, b.second))]
    return Jet(np.where(condition, a.value, b.value), parts[0], parts[1])


def _logaddexp(a: Any, b: Any) -> Jet:
    gap = b - a
    share = special.expit(gap.value)
    return gap.apply(np.logaddexp(0.0, gap.value), share, share * (1.0 - share)) + a


def _of_logarithm(x: Any) -> tuple[Any, Any]:
    inverse = 1.0 / x
    return inverse, -inverse * inverse


def _of_log_ndtr(x: Any, value: Any) -> tuple[Any, Any]:
    slope = np.exp(-0.5 * x**2 - value) / np.sqrt(2.0 * np.pi)
    return slope, -slope * (x + slope)


def _of_ndtri_exp(x: Any, value: Any) -> tuple[Any, Any]:
    slope = np.exp(x + 0.5 * value**2) * np.sqrt(2.0 * np.pi)
    return slope, slope * (1.0 + slope * value)


# Slope and curvature of a function of one argument, from the argument and the value.
_DERIVATIVES: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "exp": lambda x, value: (value, value),
    "expm1": lambda x, value: (value + 1.0, value + 1.0),
    "log": lambda x, value: _of_logarithm(x),
    "log1p": lambda x, value: _of_logarithm(1.0 + x),
    "sqrt": lambda x, value: (0.5 / value, -0.25 / (value * x)),
    "log_ndtr": _of_log_ndtr,
    "ndtri_exp": _of_ndtri_exp,
}
_RULES: dict[Any, Callable[..., Any]] = {
    np.add: lambda a, b: a + b if isinstance(a, Jet) else b + a,
    np.subtract: lambda a, b: a - b if isinstance(a, Jet) else -b + a,
    np.multiply: lambda a, b: a * b if isinstance(a, Jet) else b * a,
    np.divide: lambda a, b: a / b if isinstance(a, Jet) else b.__rtruediv__(a),
    np.negative: lambda a: -a,
    np.maximum: lambda a, b: _where(value_of(a) >= value_of(b), a, b),
    np.minimum: lambda a, b: _where(value_of(a) <= value_of(b), a, b),
    np.greater: lambda a, b: value_of(a) > value_of(b),
    np.less: lambda a, b: value_of(a) < value_of(b),
    np.logaddexp: _logaddexp,
}
