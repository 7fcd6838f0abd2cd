"""Names of models, adjustments, copulas and metrics as they stand in sentences, and the verbs of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cocensor.copulas import Copula
from cocensor.data.times import with_unit
from cocensor.metrics import Metric
from cocensor.metrics.base import label_without_time, time_in_name
from cocensor.study.evaluation import Evaluation

#: Around names that users gave, whatever their script: Unicode's first strong isolate and its end.
ISOLATE = "\u2068", "\u2069"
# Those and their like, which inside of a name would end its isolation or turn the words after it around.
_TURNS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def capital(sentence: str) -> str:
    """A clause at the start of a sentence."""
    return sentence[:1].upper() + sentence[1:]


def plural(n: int, what: str) -> str:
    """A number of things."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def have(names: Sequence[str]) -> str:
    """The verb after one name, or several."""
    return "has" if len(names) == 1 else "have"


def model_name(model: str) -> str:
    """A model's name, whose script does not move the words around it."""
    return model.translate(_TURNS).join(ISOLATE)


def shortened(name: str, most: int = 40) -> str:
    """A long name by its start and its end, which may be all that tells it from others."""
    return name if len(name) <= most else f"{name[: most - 14].rstrip()}…{name[-12:].lstrip()}"


def in_a_line(name: str) -> str:
    """A name for a terminal, where a line break would tear a table apart."""
    return " ".join(name.splitlines())


@dataclass(frozen=True)
class Names:
    """Names of models and families; of more models than ``most``, a sentence names the first and counts the others."""

    model: Callable[[str], str] = str
    family: Callable[[str], str] = str
    most: int = 4

    def models(self, names: Iterable[str]) -> str:
        """Models as in a sentence."""
        named = [self.model(name) for name in names]
        if len(named) > self.most:
            named[self.most - 1 :] = [f"{len(named) - self.most + 1} others"]
        return listed(named)

    def families(self, names: Iterable[str]) -> str:
        """Families as in a sentence."""
        return listed([self.family(name) for name in names])

    def have_best_score(self, models: Sequence[str]) -> str:
        """A clause on the best score of one model, or of several alike; others may be as good."""
        return f"{self.models(models)} {'has' if len(models) == 1 else 'share'} the best score"


BARE = Names(in_a_line)
ON_PAGE = Names(model_name, str.capitalize)


def copula_name(copula: Copula) -> str:
    """A copula as in a sentence."""
    if copula.is_independence:
        return "independence"
    return f"the {copula.name.capitalize()} copula with τ = {copula.tau:.2g}"


def quoted(evaluation: Evaluation, adjustment: str) -> str:
    """The label of an adjustment inside of a sentence."""
    return as_noun(evaluation.results[adjustment].label)


def as_noun(label: str) -> str:
    """A label inside of a sentence: a phrase stands in quotes, one word without."""
    return f"“{label}”" if " " in label else label


def and_metric(evaluation: Evaluation) -> str:
    """The first metric after the adjustment that something is judged by, where there are several metrics."""
    first, *others = evaluation.data.metrics
    return f" and the {first.label}" if others else ""


class Doing(NamedTuple):
    """Verbs of the best model by a metric, of a better one, and of several better ones."""

    is_best: str
    beats: str
    beat: str


#: Who is best, in short.
IN_SHORT = Doing("is best", "beats", "beat")
#: By what a metric is about.
_DOING = {
    "overall": Doing("predicts best", "predicts better than", "predict better than"),
    "discrimination": Doing("ranks subjects best", "ranks subjects better than", "rank subjects better than"),
    "calibration": Doing("is best calibrated", "is better calibrated than", "are better calibrated than"),
    "benefit": Doing(
        "has the greatest net benefit", "has more net benefit than", "have more net benefit than"
    ),
}


def doing(metric: Metric) -> Doing:
    """The verbs of a metric."""
    return IN_SHORT if metric.kind is None else _DOING[metric.kind]


def briefly(metric: Metric, named: str = "This") -> str:
    """A sentence on a metric and its better values; ``named`` is what it is called there."""
    better = f"{metric.direction} is better"
    return f"{named} is {metric.in_brief}; {better}." if metric.in_brief else f"{better.capitalize()}."


def meanings(metrics: Iterable[Metric]) -> list[tuple[str, str]]:
    """The names of metrics and what they measure, each once; of one without explanation, its range and direction."""
    return list(dict.fromkeys(map(_meaning, metrics)))


def _meaning(metric: Metric) -> tuple[str, str]:
    if metric.explanation is not None:
        return metric.explanation
    low, high = metric.range
    within = f"From {low:g} to {high:g}; {metric.direction}" if abs(low) + abs(high) < float("inf") else ""
    return metric.label, f"{within or metric.direction.capitalize()} is better."


def metrics_in_words(metrics: Sequence[Metric]) -> str:
    """Metrics as in a sentence, with the times of the same one together."""
    times: dict[tuple[str, str | None], list[str]] = {}
    for metric in metrics:
        name = label_without_time(metric)
        own = times.setdefault((name, metric.unit), [])
        own += [] if metric.at is None or name == metric.label else [time_in_name(metric.at)]
    return listed([f"{name} at {with_unit(at, unit)}" if at else name for (name, unit), at in times.items()])
