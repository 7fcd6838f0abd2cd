"""The bootstrap: scores of subjects drawn with replacement, with everything fitted to them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event

import numpy as np

from cocensor._checks import FloatArray, Progress
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads
from cocensor._warnings import FitWarning, HorizonWarning, collected
from cocensor.adjustments.samples import Resample
from cocensor.inference import Estimates
from cocensor.study.data import REFERENCE, EvaluationData, ResampledData, Resampling
from cocensor.study.scores import AdjustmentScores, merged, scores_in_resample

# Of the resamples, how many without a score lead to a caution, and how many leave no interval.
_MANY_FAILED, _TOO_MANY_FAILED = 0.05, 0.5
_GIVEN_FITTED = "the adjustment was given fitted, and cannot be fitted again."


def bootstrapped(
    data: EvaluationData,
    results: Mapping[str, AdjustmentScores],
    how: Resampling,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> dict[str, AdjustmentScores]:
    """The same scores with the errors of a bootstrap, for every adjustment from the same resamples.

    Each resample has a generator of its own: what is drawn does not depend on the number of threads.
    """
    found = {
        name: _Replicates.of(each, how.n_resamples)
        for name, each in results.items()
        if each.answered and not _cannot_be_refitted(each)
    }
    data.at_the_times  # noqa: B018 - computed once, before threads ask for it
    resamples = ProgressCount(how.n_resamples, progress)

    def score(number: int, seed: np.random.SeedSequence, stopped: Event) -> None:
        if stopped.is_set():
            return
        drawn = ResampledData.of(data, Resample.draw(data.samples, np.random.default_rng(seed)))
        for name, replicates in found.items():
            if stopped.is_set():
                return
            replicates.keep(number, scores_in_resample(drawn, results[name]))
        resamples.count()

    seeds = np.random.SeedSequence(how.seed).spawn(how.n_resamples)
    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        in_threads([partial(score, *each) for each in enumerate(seeds)], n_jobs)
    return {
        name: found[name].scores(tuple(data.predictions), how) if name in found else _without(each, how)
        for name, each in results.items()
    }


def _cannot_be_refitted(scores: AdjustmentScores) -> bool:
    """Whether it came fitted, and not to the test subjects."""
    return scores.given_fitted and any(fitted.design is None for fitted, _ in scores.served)


def _without(scores: AdjustmentScores, how: Resampling) -> AdjustmentScores:
    """Scores that a bootstrap cannot give errors."""
    errors = {
        metric: Estimates(
            tuple(values), np.array(list(values.values())), np.empty((0, len(values))), missing=missing
        )
        for metric, values in _values(scores).items()
        for missing in [dict.fromkeys(values, _GIVEN_FITTED)]
    }
    return replace(scores, errors=errors, batches={}, resampling=how)


def _values(scores: AdjustmentScores) -> dict[str, dict[str, float]]:
    """By metric, those of the models and of the reference."""
    found = {}
    for metric, values in scores.values.items():
        found[metric] = {name: each.value for name, each in values.items()}
        if metric in scores.reference:
            found[metric][REFERENCE] = scores.reference[metric].value
    return found


@dataclass(frozen=True, eq=False)
class _Replicates:
    """The scores under one adjustment in all resamples, by metric (resamples, models and the reference)."""

    of_all: AdjustmentScores
    names: dict[str, tuple[str, ...]]
    values: dict[str, FloatArray]
    #: By resample, why there was none.
    reasons: dict[int, tuple[Note, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, scores: AdjustmentScores, n: int) -> _Replicates:
        names = {metric: tuple(values) for metric, values in _values(scores).items()}
        return cls(scores, names, {metric: np.full((n, len(each)), np.nan) for metric, each in names.items()})

    def keep(self, number: int, scores: AdjustmentScores) -> None:
        """Those of one resample."""
        for metric, values in _values(scores).items():
            self.values[metric][number] = [values.get(name, np.nan) for name in self.names[metric]]
        self.reasons[number] = tuple(dict.fromkeys(scores.notes_of("missing")))

    def scores(self, models: tuple[str, ...], how: Resampling) -> AdjustmentScores:
        """The scores of all subjects with the standard errors of the resamples."""
        own = self.of_all.name
        notes = [noted("resampled", adjustment=own, n=how.n_resamples, seed=how.seed)]
        errors, cautions = {}, list[Note]()
        for metric, values in _values(self.of_all).items():
            replicates = self.values[metric]
            failed = dict(zip(values, np.isnan(replicates).sum(axis=0), strict=True))
            missing = {
                name: f"only {how.n_resamples - count} of {how.n_resamples} resamples have a score{self._why}"
                for name, count in failed.items()
                if count > _TOO_MANY_FAILED * how.n_resamples
            }
            known = np.array(list(values.values()))
            errors[metric] = Estimates(
                tuple(values), known, np.empty((0, known.size)), None, replicates, missing
            )
            cautions += [
                noted(
                    "resamples_failed",
                    adjustment=own,
                    model=name,
                    share=count / how.n_resamples,
                    why=self._most_common,
                )
                for name, count in failed.items()
                if count > _MANY_FAILED * how.n_resamples and name != REFERENCE
            ]
        notes += merged(cautions, models)
        before = () if self.of_all.resampling is None else self.of_all.resampling.notes
        return replace(
            self.of_all,
            errors=errors,
            batches={},
            resampling=replace(how, notes=tuple(notes)),
            notes=(
                *(note for note in self.of_all.notes if note not in before and note.code != "no_interval"),
                *notes,
            ),
        )

    @property
    def _most_common(self) -> str | None:
        """The reason that came most often, the first of these."""
        reasons = Counter(note for number in sorted(self.reasons) for note in self.reasons[number])
        return str(reasons.most_common(1)[0][0]) if reasons else None

    @property
    def _why(self) -> str:
        return "." if self._most_common is None else f": {self._most_common}"
