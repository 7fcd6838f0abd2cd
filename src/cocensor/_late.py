"""Modules that take long to import, imported when they are first used: ``from cocensor._late import special``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Late(ModuleType):
    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import narwhals as narwhals
    from scipy import special as special
else:
    narwhals, special = _Late("narwhals"), _Late("scipy.special")
