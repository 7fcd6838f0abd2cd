"""Joint models as JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from cocensor._files import write_whole
from cocensor.copulas import Copula, copula_families
from cocensor.joint.model import JointModel

_FORMAT = "cocensor joint model, version 5"


def save(model: JointModel, path: str | os.PathLike[str]) -> None:
    """Write a model; numbers keep all their digits."""
    content = {"format": _FORMAT, **_encoded(model)}
    write_whole(path, json.dumps(content, indent=1, allow_nan=False))


def load(path: str | os.PathLike[str]) -> JointModel:
    """Read a model that :func:`save` has written."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
        raise ValueError(f"path must name a saved joint model, but {path} is not JSON: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"path must name a saved joint model, but {path} is not one.")
    try:
        model: JointModel = _decoded(JointModel, content)
        belongs = _belongs_together(model)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"path must name a saved joint model, but {path} is damaged: {str(error).rstrip('.')}."
        ) from None
    if not belongs:
        raise ValueError(
            f"path must name a saved joint model, but the parts of {path} do not belong together."
        )
    return model


def _encoded(value: Any) -> Any:
    """What JSON can hold of a value: it has no NaN, and texts alone as keys."""
    if isinstance(value, Copula):
        return {"family": value.name, "theta": value.theta}
    if is_dataclass(value):
        return {field.name: _encoded(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return [[key, _encoded(item)] for key, item in value.items()]
    if isinstance(value, np.ndarray | list | tuple):
        return [_encoded(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return value


def _decoded(kind: Any, value: Any) -> Any:
    """The value of a type that was encoded."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Copula:
        return copula_families()[value["family"]](value["theta"])
    if hasattr(kind, "__dataclass_fields__"):
        types = get_type_hints(kind)
        return kind(**{name: _decoded(types[name], value[name]) for name in types})
    if type(None) in arguments:
        return None if value is None else _decoded(arguments[0], value)
    if origin is Literal:
        return _decoded(str, value)
    if origin is np.ndarray:
        return np.array(_decoded(list, value), dtype=np.float64)
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(_decoded(arguments[0], item) for item in _decoded(list, value))
    if origin is tuple:
        return tuple(_decoded(*pair) for pair in zip(arguments, value, strict=True))
    if origin is Mapping:
        of_key, of_item = arguments
        return {_decoded(of_key, key): _decoded(of_item, item) for key, item in _decoded(list, value)}
    if kind is float:
        return float(value)  # which reads "nan" and "inf" as well
    if type(value) not in (arguments or (kind,)):
        raise TypeError(f"{str(value)[:20]!r} is no {kind.__name__ if isinstance(kind, type) else kind}")
    return value


def _belongs_together(model: JointModel) -> bool:
    """Whether the parts of a file do."""
    p, size, encoding = model.event.beta.size, len(model.names_), model.encoding_
    margins = (model.event, model.dropout)
    n_parameters = sum(margin.coef.size + margin.beta.size + margin.gamma.size for margin in margins)
    fits = [
        model.covariance_.shape == (size, size),
        size == n_parameters + (not model.theta_fixed),
        model.time_kind_ == ("continuous" if model.ends_ is None else "grouped"),
        model.ends_ is None or bool((np.diff(model.ends_) > 0).all()),
    ]
    if encoding is not None:
        known, columns = encoding.levels, range(len(encoding.columns))
        fits.append(len(encoding.sources) == p)
        fits += [
            k in columns and (level in known[k] if level else k not in known) for k, level in encoding.sources
        ]
    for margin in margins:
        basis, varying = margin.basis, margin.varying
        fits += [
            margin.coef.shape == (basis.size,),
            margin.beta.shape == (p if basis.present else 0,),
            margin.gamma.shape == (len(varying) if basis.present else 0,),
            all(0 <= i < p for i in varying) and varying == model.event.varying,
            bool((np.diff(basis.knots) > 0).all()),
            bool(np.isfinite(np.concatenate((margin.coef, margin.beta, margin.gamma))).all()),
        ]
        if all(fits) and basis.present:
            fits.append(bool((basis.slope_bounds() @ margin.coef > 0).all()))
    return all(fits)
