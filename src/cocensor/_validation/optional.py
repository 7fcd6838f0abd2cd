"""Packages that are there only if an extra was installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(module: str, who: str, package: str, extra: str) -> Any:
    """Import what an extra brings, or say in one sentence how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        message = f"{who} needs {package}: pip install 'cocensor[{extra}]'."
        raise ModuleNotFoundError(message, name=error.name) from None
