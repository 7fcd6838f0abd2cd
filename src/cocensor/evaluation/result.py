"""What an evaluation found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cocensor._files import write_whole
from cocensor._notes import Note
from cocensor._validation import (
    FitWarning,
    Progress,
    as_tuple,
    check_choice,
    collected,
    escaped,
    make_frame,
)
from cocensor.adjustments import IPCW, Fitted
from cocensor.copulas.walks import as_taus
from cocensor.evaluation.data import AssumedCopula, EvaluationData, Horizon
from cocensor.evaluation.hint import CopulaHint, hinted
from cocensor.evaluation.judge import judge_among, preference
from cocensor.evaluation.judge_fit import JudgeFit, judge_fit
from cocensor.evaluation.scores import AdjustmentScores, Score
from cocensor.joint import DependenceProfile
from cocensor.metrics import Metric

if TYPE_CHECKING:
    from cocensor.sensitivity import MarginCurves, Sensitivity


@dataclass(frozen=True, eq=False)
class Ranking:
    """The rank of each model under each adjustment (1 is best), and what that says."""

    table: Any
    statement: str

    def __repr__(self) -> str:
        return escaped(f"{self.statement}\n\n{self.table}")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What :func:`evaluate` returns: scores of models under several assumptions about the censoring.

    Attributes
    ----------
    data : EvaluationData
        Predictions, samples, times and metrics.
    results : dict of AdjustmentScores
        By adjustment: its label, what it is, its fits, its scores, and notes.
    assumed : AssumedCopula
        What adjustments by name that rest on a copula were given, and where it is from.
    horizon : Horizon
        The end of the interval that scores are averaged over, and why.
    notes : tuple of Note
        What was decided on the way; each of the ``results`` has its own.
    """

    data: EvaluationData
    results: dict[str, AdjustmentScores]
    assumed: AssumedCopula
    horizon: Horizon
    notes: tuple[Note, ...]
    #: A frame of the library that tables are made with; None for pandas or pyarrow.
    template: Any = None
    _analyses: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.data.models

    @property
    def times(self) -> Any:
        """The times that every score is computed at."""
        return self.data.grid.times

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(metric.name for metric in self.data.metrics)

    @property
    def primary(self) -> str:
        """The adjustment that answers come from unless another is named.

        Imputation given as much as there is, else the first adjustment that rests on a copula; one that does not vote
        (:attr:`Adjustment.votes`) comes last.
        """
        return _first_choice([each for each in self.results.values() if each.answered])

    @property
    def preferred(self) -> str:
        """The adjustment that would be primary if all of them had scores."""
        return _first_choice(list(self.results.values()))

    @property
    def voting(self) -> tuple[str, ...]:
        """The adjustments that ranks, statements and the headline count: those that vote, or all if none can."""
        able = [name for name, each in self.results.items() if each.adjustment.votes]
        return tuple(able if any(self.results[name].answered for name in able) else self.results)

    @property
    def judge(self) -> Fitted | None:
        """The fitted imputation that judges all models alike; None where the evaluation has none.

        Given as an adjustment of another evaluation of the same test subjects, it judges models that were added later
        by the same standard: ``adjustments={"ipcw": "ipcw", "imputed": result.judge}``.
        """
        fitted = [
            next(iter(each.fits.values()))
            for each in self.results.values()
            if each.fits and "predictions" in each.adjustment.needs
        ]
        found = judge_among(fitted)
        return found if isinstance(found, Fitted) else None

    # --- numbers ---------------------------------------------------------------------------------------

    def metric(self, name: str | None = None) -> Metric:
        """A metric of the evaluation by name, by default its first."""
        if name is None:
            return self.data.metrics[0]
        check_choice(name, "metric", self.metrics)
        return next(each for each in self.data.metrics if each.name == name)

    def under(self, adjustment: str | None = None) -> AdjustmentScores:
        """All scores under an adjustment, by default the primary one."""
        if adjustment is None:
            return self.results[self.primary]
        check_choice(adjustment, "adjustment", tuple(self.results))
        return self.results[adjustment]

    def under_ipcw(self, metric: str | None = None) -> AdjustmentScores | None:
        """All scores under IPCW, the marginal one rather than one given covariates; None where it has no score."""
        by = self.metric(metric).name
        found = [
            each for each in self.results.values() if isinstance(each.adjustment, IPCW) and each.values[by]
        ]
        return min(found, key=lambda each: len(each.adjustment.needs), default=None)

    def score(self, model: str, metric: str | None = None, adjustment: str | None = None) -> Score:
        """One score, by default by the first metric and under the primary adjustment.

        Its ``value`` is NaN where the adjustment gives none.
        """
        check_choice(model, "model", self.models)
        by, found = self.metric(metric).name, self.under(adjustment)
        missing = (*found.notes_of("missing"), *(note for note in self.notes if note.kind == "missing"))
        notes = tuple(note for note in missing if note.model in (None, model))
        value = found.value(by, model)
        return Score(model, by, found.name, value, notes if np.isnan(value) else ())

    def skill(self, model: str, metric: str | None = None, adjustment: str | None = None) -> float:
        """The share of the way from the reference curve's score to the best there is; NaN if unknown."""
        by, found = self.metric(metric), self.under(adjustment)
        base = found.reference.get(by.name)
        value = self.score(model, by.name, found.name).value
        return np.nan if base is None else by.skill(value, base.value)

    def ranks(self, metric: str | None = None, adjustment: str | None = None) -> dict[str, int]:
        """The rank of every model that has a score; equal scores share the better rank.

        Nothing ranks by an adjustment that does not vote where there is one that does.
        """
        by, found = self.metric(metric), self.under(adjustment)
        if found.name not in self.voting:
            return {}
        return by.ranks({model: found.value(by.name, model) for model in self.models})

    def table(self) -> Any:
        """One row per metric, adjustment and model: score, skill, rank, and whether it is the best."""
        rows = [
            (
                metric,
                name,
                model,
                self.score(model, metric, name).value,
                self.skill(model, metric, name),
                ranked.get(model),
                ranked.get(model) == 1,
            )
            for metric in self.metrics
            for name in self.results
            for ranked in (self.ranks(metric, name),)
            for model in self.models
        ]
        return self._frame(("metric", "adjustment", "model", "score", "skill", "rank", "best"), rows)

    def ranking(self, metric: str | None = None) -> Ranking:
        """The rank of each model under each adjustment, and whether the winner changes."""
        from cocensor.words import winners_in_words

        by = {name: self.ranks(metric, name) for name in self.voting}
        rows = [(model, *(ranked.get(model) for ranked in by.values())) for model in self.models]
        return Ranking(self._frame(("model", *by), rows), winners_in_words(self, self.metric(metric).name))

    def curves(self, metric: str | None = None) -> Any:
        """The values of a metric over time: one row per adjustment, model and time."""
        by = self.metric(metric)
        rows = [
            (name, model, float(t), float(value))
            for name, each in self.results.items()
            for model, found in each.values[by.name].items()
            if found.curve is not None
            for t, value in zip(self.times, found.curve, strict=True)
        ]
        if not rows:
            raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
        return self._frame(("adjustment", "model", "time", "value"), rows)

    # --- further analyses --------------------------------------------------------------------------------

    def sensitivity(
        self,
        families: str | Sequence[str] | None = None,
        taus: Any = None,
        adjustments: str | Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> Sensitivity:
        """Every score over a grid of copula families and Kendall's τ; see :func:`cocensor.sensitivity.sensitivity`.

        It is computed once, and then part of the report.

        Parameters
        ----------
        families : str or sequence of str, optional
            By default Clayton, Frank, Gumbel, Joe and Gaussian.
        taus : array-like, optional
            By default 0, 0.1, ..., 0.9.
        adjustments : str or sequence of str, optional
            Of those evaluated; by default all that rest on a copula.
        progress : callable, optional
            Called with the number of finished grid points and of all.
        """
        from cocensor.sensitivity import FAMILIES, TAUS, sensitivity

        grid = tuple(as_taus(TAUS if taus is None else taus).tolist())
        chosen = FAMILIES if families is None else as_tuple(families, "families", str)
        key = (
            "sensitivity",
            chosen,
            grid,
            None if adjustments is None else as_tuple(adjustments, "adjustments", str),
        )
        return self._computed_once(key, lambda: sensitivity(self, *key[1:], progress=progress))

    def judge_fit(self, copula: Any = None) -> JudgeFit:
        """Observed events and dropouts against those that the joint model expects, by decile of score and period.

        Of the primary adjustment, or of the first that has a joint model of the test outcomes. See :class:`JudgeFit`.

        Parameters
        ----------
        copula : Copula, family or name, optional
            By default the one that the adjustment rests on; under another the margins are fitted anew.
        """
        judge = self._joint
        if judge is None or judge.judge_fit is None:
            if any(each.adjustment.needs & {"prediction", "predictions"} for each in first):
                raise ValueError(
                    "y_test has no joint model: none could be fitted, or nobody's status had to be imputed."
                )
            raise ValueError("adjustments must have one that is given predictions, such as 'imputed'.")
        if copula is None:
            return replace(judge.judge_fit, template=self.template)

        def moved() -> JudgeFit:
            made = {id(each): each.with_copula(copula) for each in judge.fits.values()}
            fit = judge_fit(self.data, {name: made[id(each)] for name, each in judge.fits.items()})
            assert fit is not None  # as under the first copula
            return replace(fit, template=self.template)

        return self._computed_once(("judge_fit", judge.name, copula), moved)

    def copula_hint(self) -> CopulaHint:
        """Which copula fits best, given what the judge conditions on: a hint, on which no score rests.

        Without a judge, given the covariates of the sample that adjustments learn from. It is computed once, and then
        part of the report.
        """
        if self.assumed.hint is not None:
            return self.assumed.hint
        found: CopulaHint = self._computed_once("hint", lambda: hinted(self.data.samples, self.judge))
        return found

    def dependence_profile(self, progress: Progress | None = None) -> DependenceProfile:
        """The likelihood over τ behind :meth:`copula_hint`; computed once, and then part of the report."""
        choice = self.copula_hint().choice
        if choice is None:
            raise ValueError(f"no copula could be selected: {self.copula_hint().notes[0]}")
        with collected(FitWarning):  # they are among the notes of the profile
            return self._computed_once("profile", lambda: choice.profile(progress=progress))

    def survival_curves(self, progress: Progress | None = None) -> MarginCurves:
        """The survival curve of the sample by Kaplan–Meier, and by Copula-Graphic under other dependences.

        It is computed once, and then part of the report.
        """
        from cocensor.sensitivity import margin_curves

        return self._computed_once("survival", lambda: margin_curves(self, progress=progress))

    def computed(self, analysis: Literal["sensitivity", "profile", "survival", "hint", "judge_fit"]) -> Any:
        """An analysis that has been asked for, the last one of its kind; None where there is none yet.

        The fit of the judge is there unasked, under the copula that the scores rest on.
        """
        if analysis == "judge_fit":
            return None if self._joint is None else self._joint.judge_fit
        if analysis == "hint" and self.assumed.hint is not None:
            return self.assumed.hint
        found = [value for key, value in self._analyses.items() if key == analysis or key[0] == analysis]
        return found[-1] if found else None

    @property
    def _joint(self) -> AdjustmentScores | None:
        """The primary adjustment, or the first, that has a joint model of the test outcomes."""
        first = [self.results[self.primary], *self.results.values()]
        return next((each for each in first if each.judge_fit is not None), None)

    # --- views -------------------------------------------------------------------------------------------

    def plot(self, ax: Any = None) -> Any:
        """Values of the first metric along time; returns the axes (see :class:`~cocensor.plots.ScoreCurveDisplay`)."""
        from cocensor.plots import ScoreCurveDisplay

        return ScoreCurveDisplay.from_evaluation(self).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and all that they rest on, as JSON can hold them, with the analyses computed so far."""
        from cocensor.evaluation.numbers import all_numbers

        return all_numbers(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """:meth:`to_dict` as text, also written to ``path`` if there is one."""
        # A surrogate that is escaped in the text of JSON is the same surrogate.
        text = escaped(json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """The report, one file that needs no network, with the analyses computed so far."""
        from cocensor.report import write_report

        return write_report(self, Path(path), title)

    def __repr__(self) -> str:
        from cocensor.words import evaluation_as_text

        return escaped(evaluation_as_text(self))

    def _repr_html_(self) -> str:
        from cocensor.words import evaluation_as_html

        return escaped(evaluation_as_html(self))

    def _computed_once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What is kept under ``key``; what was asked for last comes last."""
        self._analyses[key] = self._analyses.pop(key) if key in self._analyses else compute()
        return self._analyses[key]

    def _frame(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Any:
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), template=self.template)


def _first_choice(results: Sequence[AdjustmentScores]) -> str:
    """The name of the adjustment that answers should come from."""
    return min(results, key=lambda each: preference(each.adjustment)).name
