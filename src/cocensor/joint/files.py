"""Joint models as JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, as_vector
from cocensor._files import write_whole
from cocensor.copulas import copula_families
from cocensor.data.covariates import Encoding
from cocensor.joint.margins import Basis, Margin
from cocensor.joint.model import JointModel, Start

_FORMAT = "cocensor joint model, version 4"
_PLAIN = (
    "loglik_",
    "nll_",
    "penalty",
    "theta_fixed",
    "converged_",
    "theta_se_",
    "tau_se_",
    "names_",
    "columns_",
    "time_kind_",
    "time_kind_reason_",
    "n_",
    "t_max_",
)


def save(model: JointModel, path: str | os.PathLike[str]) -> None:
    """Write a model; numbers keep all their digits."""
    content = {
        "format": _FORMAT,
        "copula": {"family": model.copula.name, "theta": model.copula.theta},
        "event": _margin_to_json(model.event),
        "dropout": _margin_to_json(model.dropout),
        "starts": [{k: _number(v) for k, v in asdict(start).items()} for start in model.starts_],
        "covariance": [[_number(v) for v in row] for row in model.covariance_],
        "encoding": None if model.encoding_ is None else _encoding_to_json(model.encoding_),
        "ends": None if model.ends_ is None else model.ends_.tolist(),
        **{name: _number(getattr(model, name)) for name in _PLAIN},
    }
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
        model = JointModel(
            copula=copula_families()[content["copula"]["family"]](content["copula"]["theta"]),
            event=_margin_from_json(content["event"]),
            dropout=_margin_from_json(content["dropout"]),
            starts_=tuple(Start(**_read(Start, each)) for each in content["starts"]),
            covariance_=np.array(content["covariance"], dtype=np.float64),
            encoding_=None if content["encoding"] is None else _encoding_from_json(content["encoding"]),
            ends_=None if content["ends"] is None else _vector(content["ends"]),
            **_read(JointModel, content, _PLAIN),
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"path must name a saved joint model, but {path} is damaged: {str(error).rstrip('.')}."
        ) from None
    _check_loaded(model, path)
    return model


def _number(value: Any) -> Any:
    """JSON has no NaN and no tuples of numpy's."""
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return list(value) if isinstance(value, tuple) else value


def _read(kind: type[Any], content: dict[str, Any], names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The fields of a dataclass from JSON, each of its type."""
    return {
        each.name: _READERS.get(str(each.type), _text)(content[each.name])
        for each in fields(kind)
        if names is None or each.name in names
    }


def _of_type(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{str(value)[:20]!r} is no {kind.__name__}")
    return value


_text = partial(_of_type, str)


def _vector(values: Any) -> FloatArray:
    return as_vector(_of_type(list, values), "a list of numbers")


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(map(_text, _of_type(list, values)))


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,  # which reads "nan" and "inf" as well
    "int": partial(_of_type, int),
    "int | float": lambda value: value if type(value) is int else _of_type(float, value),
    "bool": partial(_of_type, bool),
    "tuple[str, ...]": _texts,
    "tuple[str, ...] | None": lambda values: None if values is None else _texts(values),
}


def _check_loaded(model: JointModel, path: Any) -> None:
    """Refuse a file whose parts do not belong together."""
    p, size = model.event.beta.size, len(model.names_)
    encoding = model.encoding_
    fits = [
        encoding is None or len(encoding.sources) == p,
        model.covariance_.shape == (size, size),
        size == _n_parameters(model),
    ]
    for margin in (model.event, model.dropout):
        basis = margin.basis
        fits += [margin.coef.size == basis.size, margin.beta.size == (p if basis.present else 0)]
        fits += [
            margin.gamma.size == (len(margin.varying) if basis.present else 0),
            all(0 <= i < p for i in margin.varying) and margin.varying == model.event.varying,
        ]
        fits += [
            bool((np.diff(basis.knots) > 0).all()),
            bool(np.isfinite(np.concatenate((margin.coef, margin.beta, margin.gamma))).all()),
        ]
        if all(fits) and basis.present:
            fits.append(bool((basis.slope_bounds() @ margin.coef > 0).all()))
    fits.append(model.time_kind_ == ("continuous" if model.ends_ is None else "grouped"))
    fits.append(model.ends_ is None or bool((np.diff(model.ends_) > 0).all()))
    if not all(fits):
        raise ValueError(
            f"path must name a saved joint model, but the parts of {path} do not belong together."
        )


def _n_parameters(model: JointModel) -> int:
    margins = (model.event, model.dropout)
    return sum(m.coef.size + m.beta.size + m.gamma.size for m in margins) + (not model.theta_fixed)


def _encoding_to_json(encoding: Encoding) -> dict[str, Any]:
    return {
        "columns": list(encoding.columns),
        "is_named": encoding.is_named,
        "levels": [[k, list(levels)] for k, levels in encoding.levels.items()],
        "sources": [list(source) for source in encoding.sources],
    }


def _encoding_from_json(content: dict[str, Any]) -> Encoding:
    columns = _texts(content["columns"])
    levels = {_of_type(int, k): _texts(known) for k, known in content["levels"]}
    sources = tuple((_of_type(int, k), None if of is None else _text(of)) for k, of in content["sources"])
    if any(not (0 <= k < len(columns) and (of in levels[k] if of else k not in levels)) for k, of in sources):
        raise ValueError("columns and levels do not belong together")
    return Encoding(columns, _of_type(bool, content["is_named"]), levels, sources)


def _margin_to_json(margin: Margin) -> dict[str, list[Any]]:
    return {
        "knots": margin.basis.knots.tolist(),
        "coef": margin.coef.tolist(),
        "beta": margin.beta.tolist(),
        "varying": list(margin.varying),
        "gamma": margin.gamma.tolist(),
    }


def _margin_from_json(content: dict[str, list[Any]]) -> Margin:
    knots, coef, beta, gamma = (_vector(content[name]) for name in ("knots", "coef", "beta", "gamma"))
    varying = tuple(_of_type(int, i) for i in _of_type(list, content["varying"]))
    return Margin(Basis(knots, present=coef.size > 0), coef, beta, varying, gamma)
