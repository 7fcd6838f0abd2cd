"""Covariates as an adjustment is fitted to them."""

from __future__ import annotations

from typing import Any

from cocensor._notes import Note
from cocensor._validation import Encoding, FloatArray, check_length


def encoded(x: Any, name: str, n: int, of: str) -> tuple[Encoding, FloatArray, tuple[Note, ...]]:
    """How the covariates of the ``n`` subjects fitted to are encoded, their columns, and what was left out of these."""
    encoding = Encoding.of(x, name)
    check_length(x, name, n, of)
    if not encoding.sources:
        raise ValueError(f"{name} must vary in at least one column, but is the same for all subjects.")
    left_out = ", ".join(encoding.left_out)
    notes = (Note("decision", f"Left out because constant in {name}: {left_out}."),) if left_out else ()
    return encoding, encoding.matrix(x, name), notes
