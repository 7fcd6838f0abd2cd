"""Names as they stand in the sentences of the report."""

from __future__ import annotations

from collections.abc import Iterable

from cocensor.evaluation import Evaluation
from cocensor.evaluation.evaluation import listed
from cocensor.metrics import Metric

#: Around names that users gave, whatever their script: Unicode's first strong isolate and its end.
ISOLATE = "\u2068", "\u2069"
# Those and their like, which inside of a name would end its isolation or turn the words after it around.
_TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


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


def and_metric(evaluation: Evaluation, metric: Metric) -> str:
    """The metric after the adjustment that something is told by, where there are several metrics."""
    return f" and the {metric.label}" if len(evaluation.metrics) > 1 else ""


def is_best(models: tuple[str, ...]) -> str:
    """That one model is best, or several alike."""
    return f"{models_listed(models)} {'is best' if len(models) == 1 else 'are equally good and best'}"
