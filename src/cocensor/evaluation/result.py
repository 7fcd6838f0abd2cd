"""What an evaluation found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cocensor._files import write_whole
from cocensor._validation import (
    FitWarning,
    Progress,
    as_tuple,
    as_vector,
    collected,
    escaped,
    to_numpy,
)
from cocensor.adjustments import Fitted
from cocensor.copulas.walks import as_taus
from cocensor.evaluation.hint import CopulaHint, hinted
from cocensor.evaluation.judge import judge_among
from cocensor.evaluation.judge_fit import JudgeFit, judge_fit
from cocensor.evaluation.resampled import Resampled
from cocensor.evaluation.scores import AdjustmentScores
from cocensor.joint import DependenceProfile

if TYPE_CHECKING:
    from cocensor.sensitivity import Bounds, MarginCurves, PlausibleTau, Sensitivity

#: What an evaluation can be asked for beyond its scores.
Analysis = Literal[
    "bounds",
    "hint",
    "judge_fit",
    "plausible_tau",
    "profile",
    "sensitivity",
    "survival",
]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The ranks of the models under each adjustment, and what they say.

    Attributes
    ----------
    table : frame
        The rank of each model by its score (1 is best); equal scores share the better rank.
    ranges : frame or None
        The ranks compatible with the data, such as "1–2": from 1 plus the number of models that are clearly better,
        to the number of models less those that are clearly worse, each pair by the interval of its difference.
        Models whose ranges overlap may tie. None where no intervals were asked for.
    statement : str
        Who is best, and who cannot be distinguished, under which adjustment.
    """

    table: Any
    ranges: Any
    statement: str

    def __repr__(self) -> str:
        tables = (
            [self.table]
            if self.ranges is None
            else [self.table, "Ranks compatible with the data:", self.ranges]
        )
        return escaped("\n\n".join(map(str, [self.statement, *tables])))


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Resampled):
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
    truth : AdjustmentScores or None
        For simulated data, the scores by the true event times; no verdict counts them.
    alarms : tuple of Alarm
        Nonsense among predictions and outcomes. A model with one that disqualifies is none of the ``contenders``: it
        has scores, but no rank, and is not called best.

    Notes
    -----
    All methods name things alike: ``metric`` is one of ``metrics``, by default the first; ``adjustment`` is the label
    of one of the ``results``, by default the ``primary`` one; ``at`` is a single time; ``model`` is one of ``models``;
    ``progress`` is called with the number of finished steps and of all.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
    >>> round(float(result.score("good")), 4), result.ranks()
    (0.1044, {'good': 1, 'flat': 2})
    >>> comparison = result.compare("good", "flat")
    >>> round(comparison.difference, 4), round(comparison.standard_error, 4)
    (-0.1081, 0.0448)
    """

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

    def ranking(self, metric: str | None = None) -> Ranking:
        """The ranks of the models under each adjustment, which of them the data leave open, and who ties with whom."""
        from cocensor.words import winners_in_words

        by = {name: self.ranks(metric, name) for name in self.voting}
        ranges = None
        if self.confidence_level is not None:
            ranges = self._by_model({name: self._rank_ranges(metric, name) for name in by})
        return Ranking(self._by_model(by), ranges, winners_in_words(self, self.metric(metric).name))

    def _by_model(self, by: dict[str, dict[str, Any]]) -> Any:
        rows = [(model, *(column.get(model) for column in by.values())) for model in self.models]
        return self._frame(("model", *by), rows)

    def _rank_ranges(self, metric: str | None, adjustment: str) -> dict[str, str]:
        """By model the ranks that are left open by the intervals of its differences from the others."""
        models, direction = list(self.ranks(metric, adjustment)), self.metric(metric).direction
        low, high = dict.fromkeys(models, 1), dict.fromkeys(models, len(models))
        for a, b in combinations(models, 2):
            pair = self.compare(a, b, metric, adjustment)
            better = pair.better(direction, self._level)
            if better is not None:
                high[better] -= 1
                low[b if better == a else a] += 1
        return {m: f"{low[m]}–{high[m]}" if low[m] < high[m] else f"{low[m]}" for m in models}

    # --- further analyses --------------------------------------------------------------------------------

    def sensitivity(
        self,
        families: str | Sequence[str] | None = None,
        taus: Any = None,
        adjustments: str | Sequence[str] | None = None,
        *,
        hazard_ratios: Any = None,
        hazard_ratio_by: Any = None,
        plausible: Any = None,
        progress: Progress | None = None,
    ) -> Sensitivity:
        """Every score over copula families and Kendall's τ, and over the hazard ratio after dropout.

        It is computed once, and then part of the report. See :func:`cocensor.sensitivity.sensitivity`.

        Parameters
        ----------
        families : str or sequence of str, optional
            By default "clayton", "frank", "gumbel", "joe", "gaussian" and "hazard_ratio".
        taus : array-like, optional
            By default tenths from -0.3, or from the lower end of the plausible range where that lies below, to 0.9;
            families take part where they reach.
        adjustments : str or sequence of str, optional
            Of those evaluated; by default all that rest on a copula.
        hazard_ratios : array-like, optional
            Of the event after a dropout, against those alike who are still under observation; by default 0.5, 1, 1.5,
            2, 3 and 5.
        hazard_ratio_by : array-like or str, optional
            Whose ratio moves alone, beside that of everybody: a label for each test subject, the name of a column of
            numbers in ``x_test``, or "reason", the default where ``y_test`` names at least two.
        plausible : (float, float), optional
            From which to which τ the dependence is held plausible; by default up to 0.2, or up to three times what all
            covariates together induce.
        progress : callable, optional
            Called with the number of finished grid points and of all.
        """
        from cocensor.sensitivity import FAMILIES, as_ratios, default_taus, sensitivity

        asked: dict[str, Any] = {
            "families": FAMILIES if families is None else as_tuple(families, "families", str),
            "taus": tuple(as_taus(default_taus(self, plausible) if taus is None else taus).tolist()),
            "adjustments": None if adjustments is None else as_tuple(adjustments, "adjustments", str),
            "hazard_ratios": None if hazard_ratios is None else tuple(as_ratios(hazard_ratios).tolist()),
        }
        by = hazard_ratio_by
        if not (by is None or isinstance(by, str)):
            by = tuple(map(str, to_numpy(by, "hazard_ratio_by").tolist()))
        held = None if plausible is None else tuple(as_vector(plausible, "plausible").tolist())
        key = ("sensitivity", *asked.values(), by, held)
        return self._computed_once(
            key,
            lambda: sensitivity(
                self, **asked, hazard_ratio_by=hazard_ratio_by, plausible=held, progress=progress
            ),
        )

    def bounds(self, metric: str | None = None, at: float | None = None) -> Bounds:
        """Bounds of scores and differences, whatever the dependence; see :class:`~cocensor.sensitivity.Bounds`.

        They are computed once for each metric, and then part of the report.

        Parameters
        ----------
        metric : str, optional
            By default the first of the evaluation. A mean of losses (such as ``"ibs"``, ``"brier"`` or
            ``"net_benefit"``), or the AUC at one time.
        at : float, optional
            Asks for the value at one time.
        """
        from cocensor.sensitivity import find_bounds

        by = self.metric(metric, at)
        by.grid(self.data.grid)  # refuses a time past the horizon
        key = ("bounds", by.name, by.at, self.confidence_level)
        return self._computed_once(key, lambda: find_bounds(self, by))

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
            if any(each.adjustment.needs & {"prediction", "predictions"} for each in self.results.values()):
                raise ValueError(
                    "y_test has no joint model: none could be fitted, or nobody's status had to be imputed."
                )
            raise ValueError(
                "adjustments must include one that conditions on predictions, such as 'imputed'."
            )
        if copula is None:
            return replace(judge.judge_fit, template=self.template)

        def moved() -> JudgeFit:
            made = {id(each): each.with_copula(copula) for each in judge.fits.values()}
            fit = judge_fit(self.data.learning, {name: made[id(each)] for name, each in judge.fits.items()})
            assert fit is not None  # as under the first copula
            return replace(fit, template=self.template)

        return self._computed_once(("judge_fit", judge.name, copula), moved)

    def copula_hint(self) -> CopulaHint:
        """Which copula fits best, given the predictions and any covariates: a hint, on which no score depends.

        Without a judge, given the covariates of the sample that adjustments learn from. It is computed once, and then
        part of the report.
        """
        if self.assumed.hint is not None:
            return self.assumed.hint
        found: CopulaHint = self._computed_once(
            "hint", lambda: hinted(self.data.learning.samples, self.judge)
        )
        return found

    def dependence_profile(self, progress: Progress | None = None) -> DependenceProfile:
        """The likelihood over τ behind :meth:`copula_hint`; computed once, and then part of the report."""
        choice = self.copula_hint().choice
        if choice is None:
            raise ValueError(f"no copula could be selected: {self.copula_hint().notes[0]}")
        with collected(FitWarning):  # they are among the notes of the profile
            return self._computed_once("profile", lambda: choice.profile(progress=progress))

    def plausible_tau(self, progress: Progress | None = None) -> PlausibleTau:
        """Which dependence the measured covariates would induce, had they not been measured: benchmarks of τ.

        Of the training sample where it has covariates, else of the test sample; see :func:`cocensor.plausible_tau`.
        It is computed once, and then part of the report.
        """
        from cocensor.sensitivity import plausible_tau

        samples = self.data.samples
        x, y = samples.x_train, samples.y_train
        if x is None or y is None:
            x, y = samples.x_test, samples.y_test
        if x is None:
            raise ValueError("x_test is needed: benchmarks of dependence are made of covariates.")
        return self._computed_once(
            "plausible_tau", lambda: replace(plausible_tau(x, y, progress=progress), template=self.template)
        )

    def survival_curves(self, progress: Progress | None = None) -> MarginCurves:
        """The survival curve of the sample by Kaplan–Meier, and by Copula-Graphic under other dependences.

        It is computed once, and then part of the report.
        """
        from cocensor.sensitivity import margin_curves

        return self._computed_once("survival", lambda: margin_curves(self, progress=progress))

    def computed(self, analysis: Analysis) -> Any:
        """An analysis that has been asked for, the last one of its kind; None where there is none yet.

        The fit of the judge is there unasked, under the copula that the scores rest on.
        """
        if analysis == "judge_fit":
            return None if self._joint is None else self._joint.judge_fit
        if analysis == "hint" and self.assumed.hint is not None:
            return self.assumed.hint
        found = self.all_computed(analysis)
        return found[-1] if found else None

    def all_computed(self, analysis: str) -> list[Any]:
        """All analyses of a kind that have been asked for, the last one last."""
        return [value for key, value in self._analyses.items() if key == analysis or key[0] == analysis]

    @property
    def _joint(self) -> AdjustmentScores | None:
        """The primary adjustment, or the first, that has a joint model of the test outcomes."""
        first = [self.results[self.primary], *self.results.values()]
        return next((each for each in first if each.judge_fit is not None), None)

    # --- views -------------------------------------------------------------------------------------------

    def plot(self, ax: Any = None, *, at_risk: bool = True) -> Any:
        """Values of the first metric along time; returns the axes (see :class:`~cocensor.plots.ScoreCurveDisplay`).

        Parameters
        ----------
        ax : Axes, optional
            Of Matplotlib, to draw into; by default a new figure.
        at_risk : bool
            Whether numbers at risk stand below the axis.
        """
        from cocensor.plots import ScoreCurveDisplay

        return ScoreCurveDisplay.from_evaluation(self).plot(ax=ax, at_risk=at_risk)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and all that they rest on, as JSON can hold them, with the analyses computed so far."""
        from cocensor.evaluation.numbers import all_numbers

        return all_numbers(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """:meth:`to_dict` as text, also written to ``path`` if there is one."""
        from cocensor.evaluation.numbers import as_json

        text = as_json(self.to_dict())
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """The report, one file that needs no network, with the analyses computed so far.

        Parameters
        ----------
        path : path
            Where it is written; a file there is replaced.
        title : str, optional
            Its heading.

        Returns
        -------
        Path
        """
        from cocensor.report import write_report

        return write_report(self, Path(path), title)

    def __repr__(self) -> str:
        from cocensor.words import evaluation_as_text

        return escaped(evaluation_as_text(self))

    def _repr_html_(self) -> str:
        from cocensor.words import evaluation_as_html

        return escaped(evaluation_as_html(self))
