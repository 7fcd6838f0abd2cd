"""Values that are computed once for each instance."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801 - as in functools
    """As ``functools.cached_property`` of Python 3.12, without the lock that all instances share in Python 3.11.

    With that lock, threads that fit different samples would wait for each other. Threads that ask one instance at once
    may compute the same twice; they all get what the first of them has kept.
    """

    if not TYPE_CHECKING:  # the types are those of functools

        def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            kept, name = vars(instance), self.attrname
            # Not a data descriptor: what is kept is found before this is asked again.
            return kept[name] if name in kept else kept.setdefault(name, self.func(instance))
