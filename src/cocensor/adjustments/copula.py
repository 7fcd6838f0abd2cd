"""The copula that an adjustment assumes."""

from __future__ import annotations

from typing import Any

from cocensor.copulas import Independence
from cocensor.joint import CopulaChoice, JointModel


def assumed_copula(copula: Any) -> Any:
    """Independence for None; the copula of what :func:`select_copula` or :func:`fit_joint` returned."""
    if copula is None:
        return Independence()
    return copula.copula if isinstance(copula, CopulaChoice | JointModel) else copula
