"""Names as they stand in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Around names that users gave, whatever their script: Unicode's first strong isolate and its end.
ISOLATE = "\u2068", "\u2069"
# Those and their like, which inside of a name would end its isolation or turn the words after it around.
_TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def listed(names: Sequence[str]) -> str:
    """Names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, what: str) -> str:
    """A number of things."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def family_name(name: str) -> str:
    """A family as in a sentence."""
    return name.capitalize()


def families_listed(names: Iterable[str]) -> str:
    """Families as in a sentence."""
    return listed(list(map(family_name, names)))


def model_name(model: str) -> str:
    """A model's name, whose script does not move the words around it."""
    return model.translate(_TURNS).join(ISOLATE)


def models_listed(models: Iterable[str]) -> str:
    """Models' names as in a sentence."""
    return listed(list(map(model_name, models)))


def is_best(models: tuple[str, ...]) -> str:
    """That one model is best, or several alike."""
    return f"{models_listed(models)} {'is best' if len(models) == 1 else 'are equally good and best'}"
