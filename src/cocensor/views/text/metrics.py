"""Metrics in words: what each tells, and several in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cocensor.data.times import with_unit
from cocensor.metrics import Metric
from cocensor.metrics.single_time import label_without_time, time_in_name
from cocensor.views.text.names import listed

_BRIER = (
    "Brier score",
    "The mean squared distance between the predicted probability of being event-free and what happened, 1 or 0. The "
    "integrated score is its mean over time up to the horizon. 0 is perfect; predicting 50 % for everybody gives 0.25.",
)
_CALIBRATION = (
    "Calibration",
    "Whether, of those with a predicted chance of 30 %, 30 % have the event. The calibration curve shows the share "
    "with the event by what was predicted; on the diagonal the two are the same. The integrated calibration index "
    "(ICI) is the mean distance between them over the subjects, E50 the median, and E90 what a tenth of the subjects "
    "exceeds. 0 is perfect, but noise keeps every one of them above 0: small differences close to 0 mean little.",
)
_DECOMPOSITION = (
    "Parts of the Brier score",
    "Miscalibration is how much of the Brier score would go if the predicted chances were set right without changing "
    "their order; discrimination is how much a model that is set right gains over one and the same chance for "
    "everybody.",
)
#: By the name of a metric without a time: what it is called, and what it tells.
_MEANINGS = {
    "ibs": _BRIER,
    "brier": _BRIER,
    "ils": (
        "Log score",
        "The mean of minus the logarithm of the probability that was given to what happened. It punishes confident "
        "errors harder than the Brier score does.",
    ),
    "auc": (
        "AUC",
        "The chance that, of two subjects of whom one had the event by a time and the other is still event-free, the "
        "first was given the greater risk. ½ is guessing, 1 is perfect. The ROC curve behind it shows the true "
        "positive rate at each false positive rate; the mean AUC weights each time by its events. It rewards ranking "
        "only: predicted chances that are all far too high do not change it.",
    ),
    "concordance": (
        "Concordance",
        "The chance that, of two subjects, the one whose event comes first was given the greater risk, up to the "
        "horizon. ½ is guessing, 1 is perfect. It rewards ranking only: a model can order subjects well although its "
        "predicted chances are far off, so it should not be the only basis for choosing one.",
    ),
    "ici": _CALIBRATION,
    "e50": _CALIBRATION,
    "e90": _CALIBRATION,
    "d_calibration": (
        "D-calibration",
        "If a model is right, events fall evenly on the levels of its curves: a tenth of the subjects has the event "
        "while the curve falls from 1 to 0.9, and so on. The error is the share of subjects in the wrong cell; a small "
        "p-value says that chance alone does not explain it. A model that predicts the same for everybody can pass.",
    ),
    "net_benefit": (
        "Net benefit",
        "What it is worth to treat those whose predicted risk reaches a threshold: the share of events that are found, "
        "minus the unnecessary treatments, weighted by the odds of the threshold. Treating nobody has a net benefit of "
        "0. A model is of use at a threshold where it is above both treating everybody and treating nobody.",
    ),
    "miscalibration": _DECOMPOSITION,
    "discrimination": _DECOMPOSITION,
    "absolute_error": (
        "Restricted absolute error",
        "How far, on average, predicted times are from those of the events, up to the horizon, in units of time.",
    ),
}


class Doing(NamedTuple):
    """What the best model does by a metric, and a better one, and several better ones."""

    is_best: str
    beats: str
    beat: str


#: Who is best, in short.
IN_SHORT = Doing("is best", "beats", "beat")
_PREDICTS = Doing("predicts best", "predicts better than", "predict better than")
_RANKS = Doing("ranks subjects best", "ranks subjects better than", "rank subjects better than")
_IS_CALIBRATED = Doing("is best calibrated", "is better calibrated than", "are better calibrated than")
_HELPS = Doing("has the greatest net benefit", "has more net benefit than", "have more net benefit than")
_CURVE_DISTANCE = "distance between predicted risks and observed frequencies"
#: By the name of a metric without a time: what the best model does, and what the metric is in half a sentence.
_BRIEFLY = {
    "ibs": (_PREDICTS, "the mean squared error of the predicted probabilities over time"),
    "brier": (_PREDICTS, "the mean squared error of the predicted probabilities"),
    "ils": (_PREDICTS, "how little probability was given to what happened, on a logarithmic scale"),
    "auc": (
        _RANKS,
        "the chance that a subject with the event was given a greater risk than one still without it",
    ),
    "concordance": (
        _RANKS,
        "the chance that, of two subjects, the one whose event comes first was given the greater risk",
    ),
    "ici": (_IS_CALIBRATED, f"the mean {_CURVE_DISTANCE}"),
    "e50": (_IS_CALIBRATED, f"the median {_CURVE_DISTANCE}"),
    "e90": (_IS_CALIBRATED, f"the {_CURVE_DISTANCE} that a tenth of the subjects exceeds"),
    "d_calibration": (_IS_CALIBRATED, "how unevenly events fall on the levels of the predicted curves"),
    "net_benefit": (_HELPS, "the share of events that treatment by risk finds, minus unnecessary treatments"),
    "miscalibration": (_IS_CALIBRATED, "the part of the Brier score that is due to wrong levels of risk"),
    "discrimination": (_RANKS, "the part of the Brier score that is gained by separating subjects"),
    "absolute_error": (_PREDICTS, "the mean distance between predicted and true times of the event"),
}


def doing(metric: Metric) -> Doing:
    """What the best model does by a metric."""
    return _BRIEFLY[metric.family][0] if metric.family in _BRIEFLY else IN_SHORT


def briefly(metric: Metric, named: str = "This") -> str:
    """What a metric is and which of its values are better, in a sentence; ``named`` is what it is called there."""
    better = f"{metric.direction} is better"
    if metric.family not in _BRIEFLY:
        return f"{better.capitalize()}."
    return f"{named} is {_BRIEFLY[metric.family][1]}; {better}."


def meanings(metrics: Iterable[Metric]) -> list[tuple[str, str]]:
    """What metrics are called and what they tell, each once; of one that is not known, its range and direction."""
    return list(dict.fromkeys(_meaning(each) for each in metrics))


def _meaning(metric: Metric) -> tuple[str, str]:
    if metric.family in _MEANINGS:
        return _MEANINGS[metric.family]
    low, high = metric.range
    within = f"From {low:g} to {high:g}; {metric.direction}" if abs(low) + abs(high) < float("inf") else ""
    return metric.label, f"{within or metric.direction.capitalize()} is better."


def metrics_in_words(metrics: Sequence[Metric]) -> str:
    """Metrics as in a sentence, with the times of the same one together."""
    times: dict[tuple[str, str | None], list[str]] = {}
    for each in metrics:
        label = label_without_time(each)
        found = times.setdefault((label, each.unit), [])
        found += [] if each.at is None or label == each.label else [time_in_name(each.at)]
    return listed(
        [f"{label} at {with_unit(at, unit)}" if at else label for (label, unit), at in times.items()]
    )
