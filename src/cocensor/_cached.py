"""Values that are computed once for each instance."""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801 - as in functools
    """As ``functools.cached_property`` of Python 3.12, without the lock that all instances share in Python 3.11.

    With that lock, threads that fit different samples would wait for each other. Threads that ask one instance at once
    may compute the same twice; they all get what the first of them has kept.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        if instance is None:
            return self
        kept = vars(instance)
        name = self.attrname
        assert name is not None  # set where a class is made
        # Not a data descriptor: what is kept is found before this is asked again.
        return kept[name] if name in kept else kept.setdefault(name, self.func(instance))
