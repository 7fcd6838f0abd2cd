"""Covariates as an adjustment is fitted to them."""

from __future__ import annotations

from typing import Any

from cocensor._checks import FloatArray, check_length
from cocensor._notes import Note, noted
from cocensor.data.covariates import Encoding


def encoded(x: Any, name: str, n: int, of: str) -> tuple[Encoding, FloatArray, tuple[Note, ...]]:
    """How the covariates of the ``n`` subjects fitted to are encoded, their columns, and what was left out of these."""
    encoding = Encoding.of(x, name)
    check_length(x, name, n, of)
    if not encoding.sources:
        raise ValueError(f"{name} must vary in at least one column, but is the same for all subjects.")
    left_out = list(encoding.left_out)
    notes = (noted("constant_covariates", sample=name, columns=left_out),) if left_out else ()
    return encoding, encoding.matrix(x, name), notes
