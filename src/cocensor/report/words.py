"""Names as they stand in the sentences of the report."""

from __future__ import annotations

from collections.abc import Iterable

from cocensor.evaluation.evaluation import listed

#: Around names that users gave, whatever their script: Unicode's first strong isolate and its end.
ISOLATE = "\u2068", "\u2069"


def family_name(name: str) -> str:
    """A family as in a sentence."""
    return name.capitalize()


def families_listed(names: Iterable[str]) -> str:
    """Families as in a sentence."""
    return listed(list(map(family_name, names)))


def model_name(model: str) -> str:
    """A model's name, whose script does not move the words around it."""
    return model.join(ISOLATE)


def models_listed(models: Iterable[str]) -> str:
    """Models' names as in a sentence."""
    return listed(list(map(model_name, models)))


def is_best(models: tuple[str, ...]) -> str:
    """That one model is best, or several alike."""
    return f"{models_listed(models)} {'is best' if len(models) == 1 else 'are equally good and best'}"
