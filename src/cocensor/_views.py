"""How a result is shown: the only way up, from results to the rooms that draw and write them.

Results import no view. They hand themselves over by name, so that a view is imported when it is first asked for, and
no room below knows one.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def view(name: str) -> Any:
    """A function or class of :mod:`cocensor.views` by its place, such as ``"html.write_report"``."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"cocensor.views.{module}"), attribute)
