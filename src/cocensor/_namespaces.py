"""The functions that take an array: numpy's, as a rule; for others those of their library, by the array-API standard.

Formulas that are written as ``xp = namespace(x)`` and ``xp.exp(x)`` hold for numpy's arrays and jets, for tensors of
torch, arrays of CuPy and whatever else keeps to the standard, and for plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from cocensor._checks import need
from cocensor._jets import Jet

Array = Any  # an array of any library
Function = TypeVar("Function", bound=Callable[..., Any])
_NUMPYS = (np.ndarray, np.generic, Jet)
#: Of plain numbers: what formulas ask for of a parameter.
_NUMBERS = SimpleNamespace(
    abs=abs,
    exp=math.exp,
    expm1=math.expm1,
    log=lambda x: math.log(x) if x > 0 else -math.inf,
    log1p=lambda x: math.log1p(x) if x > -1 else -math.inf,
    where=lambda condition, a, b: a if condition else b,
)
_LIBRARIES: dict[type, Any] = {}


def is_foreign(values: Any) -> bool:
    """Whether something is an array of another library than numpy."""
    if isinstance(values, _NUMPYS):
        return False
    # Torch's marks come first: asked for CuPy's, a tensor with a graph raises.
    return (
        (hasattr(values, "detach") and hasattr(values, "device"))
        or hasattr(values, "__array_namespace__")
        or hasattr(values, "__cuda_array_interface__")
    )


def namespace(*arrays: Any) -> Any:
    """The functions for some arrays and numbers: of another library where one of them is, else numpy's.

    Plain numbers alone have functions that return plain numbers.
    """
    functions: Any = _NUMBERS
    for array in arrays:
        if isinstance(array, _NUMPYS):
            functions = np
        elif not isinstance(array, float | int):
            kind = type(array)
            if kind not in _LIBRARIES:
                _LIBRARIES[kind] = _compat(array).array_namespace(array)
            return _LIBRARIES[kind]
    return functions


def _compat(array: Array) -> Any:
    return need("array_api_compat", f"an array of type {kind_of(array)}", "array-api-compat", "arrays")


def quiet(function: Function) -> Function:
    """Silence numpy in a formula that is right where it divides by 0 or takes the logarithm of it."""

    @wraps(function)
    def called(x: Any, *others: Any) -> Any:
        if isinstance(x, _NUMPYS):
            with np.errstate(all="ignore"):
                return function(x, *others)
        return function(x, *others)

    return cast(Function, called)


def at_least(x: Any, low: float) -> Any:
    """``x``, and ``low`` where it is below."""
    return namespace(x).clip(x, low, None) if is_foreign(x) else np.maximum(x, low)


def at_most(x: Any, high: float) -> Any:
    """``x``, and ``high`` where it is above."""
    return namespace(x).clip(x, None, high) if is_foreign(x) else np.minimum(x, high)


class Place(NamedTuple):
    """The library, the device and the precision of arrays of another library than numpy, and what these are called."""

    xp: Any
    device: Any
    dtype: Any
    kind: str

    @classmethod
    def of(cls, array: Array, name: str) -> Place:
        """Return the place of an array of floats in single or double precision."""
        xp = namespace(array)
        if not xp.isdtype(array.dtype, (xp.float32, xp.float64)):
            raise ValueError(f"{name} must be of type float32 or float64, but is {array.dtype}.")
        return cls(xp, _compat(array).device(array), array.dtype, kind_of(array))

    def same(self, other: Place) -> bool:
        """Whether arrays at both can meet."""
        return self.xp is other.xp and self.device == other.device and self.dtype == other.dtype

    def __str__(self) -> str:
        return f"{self.kind} of {str(self.dtype).rpartition('.')[2]} on {self.device}"

    def put(self, values: npt.NDArray[Any]) -> Array:
        """An array of numpy there: numbers in its precision, whole ones and truth values as they are."""
        dtype = self.dtype if values.dtype.kind == "f" else None
        # What is read-only would be warned about.
        return self.xp.asarray(np.array(values), dtype=dtype, device=self.device)

    @property
    def exact(self) -> Any:
        """The type that sums are taken in: double precision, where the device has it."""
        return self.dtype if str(self.device).partition(":")[0] == "mps" else self.xp.float64


class Placing(NamedTuple):
    """Puts what is known of subjects, and of sorted times, to where arrays of another library are."""

    place: Place
    order: npt.NDArray[np.intp]  # for each column of these arrays the place of its time among the sorted ones

    def subjects(self, values: npt.NDArray[Any]) -> Array:
        """One value for each subject."""
        return self.place.put(values)

    def times(self, values: npt.NDArray[Any]) -> Array:
        """One value for each of the sorted times, for each column."""
        return self.place.put(values[self.order])


def kind_of(array: Any) -> str:
    """Return the library and the class of an array, for messages."""
    kind = type(array)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
