"""The bootstrap: scores of subjects drawn with replacement, with everything fitted to them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np

from cocensor._checks import Progress
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
        name: _Replicates(each, how)
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
        name: found[name].scores(tuple(data.predictions)) if name in found else _without(each, how)
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


class _Replicates:
    """The scores under one adjustment in all resamples, by metric (resamples, models and the reference)."""

    def __init__(self, scores: AdjustmentScores, how: Resampling) -> None:
        self.of_all, self.how, self.own = scores, how, _values(scores)
        self.values = {
            metric: np.full((how.n_resamples, len(own)), np.nan) for metric, own in self.own.items()
        }
        #: By resample, why there was none.
        self.reasons: dict[int, tuple[Note, ...]] = {}

    def keep(self, number: int, scores: AdjustmentScores) -> None:
        """Those of one resample."""
        for metric, values in _values(scores).items():
            self.values[metric][number] = [values.get(name, np.nan) for name in self.own[metric]]
        self.reasons[number] = tuple(dict.fromkeys(scores.notes_of("missing")))

    def scores(self, models: tuple[str, ...]) -> AdjustmentScores:
        """The scores of all subjects with the standard errors of the resamples."""
        before, n = self.of_all, self.how.n_resamples
        reasons = Counter(note for number in sorted(self.reasons) for note in self.reasons[number])
        why = str(reasons.most_common(1)[0][0]) if reasons else None
        errors, cautions = {}, list[Note]()
        for metric, own in self.own.items():
            failed = dict(zip(own, np.isnan(self.values[metric]).sum(axis=0), strict=True))
            missing = {
                name: f"only {n - count} of {n} resamples have a score{'.' if why is None else f': {why}'}"
                for name, count in failed.items()
                if count > _TOO_MANY_FAILED * n
            }
            known = np.array(list(own.values()))
            errors[metric] = Estimates(
                tuple(own), known, np.empty((0, known.size)), None, self.values[metric], missing
            )
            cautions += [
                noted("resamples_failed", adjustment=before.name, model=name, share=count / n, why=why)
                for name, count in failed.items()
                if count > _MANY_FAILED * n and name != REFERENCE
            ]
        notes = (
            noted("resampled", adjustment=before.name, n=n, seed=self.how.seed),
            *merged(cautions, models),
        )
        of_resamples = () if before.resampling is None else before.resampling.notes
        kept = [note for note in before.notes if note not in of_resamples and note.code != "no_interval"]
        return replace(
            before,
            errors=errors,
            batches={},
            resampling=replace(self.how, notes=notes),
            notes=(*kept, *notes),
        )
