"""What an evaluation found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._files import check_path, write_whole
from cocensor._validation import check_choice, escaped, make_frame
from cocensor.adjustments import Adjustment, JointConditional
from cocensor.copulas import Copula
from cocensor.evaluation.question import REFERENCE, Curves, Question, Scores
from cocensor.joint import CopulaChoice

if TYPE_CHECKING:
    from cocensor.sensitivity import Sensitivity

REFERENCE_LABEL = "Kaplan–Meier curve of the training sample, the same for everybody"
#: Preferred first: imputation that is the same for all models, then that given each model's own prediction.
_GIVEN = ("covariates", "prediction")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores under one adjustment.

    ``moves`` says whether another copula would change them. A model that the adjustment cannot score is missing in
    ``curves`` and ``scores``; ``notes`` say why.
    """

    label: str
    adjustment: Adjustment
    moves: bool
    curves: Curves
    scores: Scores
    notes: tuple[str, ...]
    #: Those of the notes that were warnings.
    warned: tuple[str, ...] = ()

    @property
    def cautions(self) -> tuple[str, ...]:
        """What must not be overlooked: warnings, and scores that are missing."""
        return tuple(note for note in self.notes if note in self.warned or note.startswith("No score"))


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
    models : tuple of str
    times : array
        The times of all scores; ``horizon`` is the last, and ``horizon_reason`` says why.
    scored : dict of Scored
        By adjustment: its label, what it is, its scores, and notes.
    copula : Copula
        What adjustments by name that rest on a copula were given; ``copula_from`` is "selected", "given",
        "independence", or "unused" where there are none.
    choice : CopulaChoice or None
        What :func:`select_copula` found.
    notes : tuple of str
        What was decided on the way.
    """

    question: Question
    scored: dict[str, Scored]
    copula: Copula
    choice: CopulaChoice | None
    copula_from: str
    horizon_reason: str
    came_as: dict[str, str]
    notes: tuple[str, ...]
    like: Any = None
    _sensitivities: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(name for name in self.question.curves if name != REFERENCE)

    @property
    def times(self) -> Any:
        """The times that every score is computed at."""
        return self.question.times

    @property
    def horizon(self) -> float:
        """The end of the interval that scores are averaged over."""
        return float(self.times.max())

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(metric.name for metric in self.question.metrics)

    @property
    def primary(self) -> str:
        """The adjustment that the sensitivity analysis is told by: given covariates, else given the prediction.

        Without either, the first that rests on a copula.
        """
        answered = [name for name, each in self.scored.items() if any(map(named, each.scores.values()))]
        moving = [name for name in answered if self.scored[name].moves]

        def preferred(name: str) -> int:
            adjustment = self.scored[name].adjustment
            return _GIVEN.index(adjustment.given) if isinstance(adjustment, JointConditional) else len(_GIVEN)

        return min(moving or answered, key=preferred)

    # --- numbers ---------------------------------------------------------------------------------------

    def score(self, model: str, adjustment: str, metric: str | None = None) -> float:
        """One score; NaN where the adjustment gives none."""
        check_choice(adjustment, "adjustment", tuple(self.scored))
        check_choice(model, "model", self.models)
        return self.scored[adjustment].scores[self._metric(metric)].get(model, np.nan)

    def skill(self, model: str, adjustment: str, metric: str | None = None) -> float:
        """The share of the reference curve's score that a model saves under the same adjustment."""
        score = self.score(model, adjustment, metric)
        base = self.scored[adjustment].scores[self._metric(metric)].get(REFERENCE, np.nan)
        return 1.0 - score / base if base else np.nan

    def ranks(self, adjustment: str, metric: str | None = None) -> dict[str, int]:
        """The rank of every model that has a score; equal scores share the better rank."""
        check_choice(adjustment, "adjustment", tuple(self.scored))
        return ranks(self.scored[adjustment].scores[self._metric(metric)])

    def table(self) -> Any:
        """One row per metric, adjustment and model: score, skill, rank, and whether it is the best."""
        rows = [
            (
                metric,
                name,
                model,
                self.score(model, name, metric),
                self.skill(model, name, metric),
                ranked.get(model),
                ranked.get(model) == 1,
            )
            for metric in self.metrics
            for name in self.scored
            for ranked in (self.ranks(name, metric),)
            for model in self.models
        ]
        columns = ("metric", "adjustment", "model", "score", "skill", "rank", "best")
        return self._frame(columns, rows)

    def ranking(self, metric: str | None = None) -> Ranking:
        """The rank of each model under each adjustment, and whether the winner changes."""
        by = {name: self.ranks(name, metric) for name in self.scored}
        rows = [(model, *(ranked.get(model) for ranked in by.values())) for model in self.models]
        statement = self.winners_in_words(self._metric(metric))
        return Ranking(self._frame(("model", *by), rows), statement)

    def winners_in_words(self, metric: str | None = None, called: Callable[[str], str] = str) -> str:
        """Which model is best under which adjustment, metric by metric unless one is named.

        ``called`` makes a name of a model what a sentence may hold.
        """
        if len(self.models) == 1:
            return f"There is one model, {called(self.models[0])}, and nothing to rank."
        if metric is None and len(self.metrics) > 1:
            return " ".join(
                f"By the {each.label}: {self.winners_in_words(each.name, called)}"
                for each in self.question.metrics
            )
        labels: dict[str, list[str]] = {}
        silent = []
        for name, each in self.scored.items():
            best = [called(model) for model, rank in self.ranks(name, metric).items() if rank == 1]
            if not best:
                silent.append(each.label)
                continue
            said = "is best" if len(best) == 1 else "are equally good and best"
            labels.setdefault(f"{listed(best)} {said}", []).append(each.label)
        if not labels:
            return "No adjustment could score a model."
        more = f"; {listed(silent)} {'has' if len(silent) == 1 else 'have'} no score" if silent else ""
        if len(labels) == 1:
            [(said, under)] = labels.items()
            return f"{said} under {listed(under) if silent else 'every adjustment'}{more}."
        parts = "; ".join(f"{said} under {listed(under)}" for said, under in labels.items())
        return f"The best model depends on what is assumed about the censoring: {parts}{more}."

    def brier_curves(self) -> Any:
        """The Brier score at each time: one row per adjustment, model and time."""
        if "ibs" not in self.metrics:
            raise ValueError(f"metrics must have 'ibs' for Brier curves, but are {', '.join(self.metrics)}.")
        rows = [
            (name, model, float(t), float(value))
            for name, each in self.scored.items()
            for model in self.models
            if model in each.curves["ibs"]
            for t, value in zip(self.times, each.curves["ibs"][model], strict=True)
        ]
        return self._frame(("adjustment", "model", "time", "brier_score"), rows)

    def sensitivity(
        self,
        families: str | Sequence[str] | None = None,
        taus: Any = None,
        adjustments: str | Sequence[str] | None = None,
        progress: Any = None,
    ) -> Sensitivity:
        """Every score over a grid of copula families and Kendall's τ; see :func:`cocensor.sensitivity.sensitivity`.

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
        from cocensor.sensitivity import FAMILIES, TAUS, as_taus, sensitivity

        grid = tuple(as_taus(TAUS if taus is None else taus).tolist())
        chosen = FAMILIES if families is None else as_names(families)
        key = chosen, grid, None if adjustments is None else as_names(adjustments)
        if key not in self._sensitivities:
            self._sensitivities[key] = sensitivity(self, *key, progress=progress)
        return self._sensitivities[key]

    # --- out -------------------------------------------------------------------------------------------

    def plot(self, ax: Any = None) -> Any:
        """Brier curves of all models; returns the axes (see :class:`~cocensor.plots.BrierCurveDisplay`)."""
        from cocensor.plots import BrierCurveDisplay

        return BrierCurveDisplay.from_evaluation(self).plot(ax=ax)

    def to_dict(self, sensitivity: Sensitivity | None = None) -> dict[str, Any]:
        """All numbers and all that they rest on, as JSON can hold them; with a sensitivity analysis, that too."""
        from cocensor.evaluation.numbers import all_numbers

        everything = all_numbers(self)
        if sensitivity is not None:
            self._check_own(sensitivity)
            everything["sensitivity"] = sensitivity.to_dict()
        return everything

    def to_json(
        self, path: str | os.PathLike[str] | None = None, sensitivity: Sensitivity | None = None
    ) -> str:
        """:meth:`to_dict` as text, also written to ``path`` if there is one."""
        # A surrogate that is escaped in the text of JSON is the same surrogate.
        text = escaped(json.dumps(self.to_dict(sensitivity), ensure_ascii=False, allow_nan=False, indent=1))
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(
        self,
        path: str | os.PathLike[str],
        sensitivity: Sensitivity | None = None,
        title: str | None = None,
    ) -> Path:
        """The report, one file that needs no network; without a ``sensitivity`` the default one is computed."""
        from cocensor.report import write_report

        check_path(path)  # before what takes long
        if sensitivity is not None:
            self._check_own(sensitivity)
        return write_report(self, Path(path), sensitivity or self.sensitivity(), title)

    def _check_own(self, sensitivity: Sensitivity) -> None:
        if sensitivity.evaluation.question is not self.question:
            raise ValueError("sensitivity must be that of this evaluation, but is of another.")

    def __repr__(self) -> str:
        size = _counted(len(self.models), "model"), _counted(len(self.question.y_test), "test subject")
        lines = [
            f"Evaluation of {size[0]} on {size[1]} until {self.horizon:g} ({self.horizon_reason}); "
            f"{self.copula_in_words()}.",
            "",
        ]
        for metric in self.question.metrics:
            lines += [
                f"{metric.label} (smaller is better, * best), skill against Kaplan–Meier",
                *self._text(metric.name),
                "",
            ]
        return escaped("\n".join([*lines, self.winners_in_words(), *self._said()]))

    def _said(self) -> list[str]:
        """What must not be overlooked, and what was decided on the way."""
        return [
            *(f"{each.label}: {note}" for each in self.scored.values() for note in each.cautions),
            *self.notes,
        ]

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(line)}</p>" for line in repr(self).splitlines()[:1]]
        for metric in self.question.metrics:
            head = "".join(f"<th>{escape(each.label)}</th>" for each in self.scored.values())
            body = "".join(
                f"<tr><th>{escape(model)}</th>"
                + "".join(f"<td>{escape(cell)}</td>" for cell in self._cells(model, metric.name))
                + "</tr>"
                for model in self.models
            )
            parts.append(
                f"<table><caption>{escape(metric.label)}</caption><thead><tr><th></th>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>"
            )
        parts += [f"<p>{escape(line)}</p>" for line in (self.winners_in_words(), *self._said())]
        return escaped("".join(parts))

    def _text(self, metric: str) -> list[str]:
        table = [["", *(each.label for each in self.scored.values())]]
        table += [[model, *self._cells(model, metric)] for model in self.models]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]

    def _cells(self, model: str, metric: str) -> list[str]:
        cells = []
        for name in self.scored:
            score = self.score(model, name, metric)
            if np.isnan(score):
                cells.append("–")
                continue
            best = "*" if self.ranks(name, metric)[model] == 1 else " "
            skill = self.skill(model, name, metric)
            saved = f"({round(100 * skill):+d} %)" if np.isfinite(skill) else "(–)"
            cells.append(f"{score:.4f}{best} {saved}")
        return cells

    def _metric(self, metric: str | None) -> str:
        if metric is None:
            return self.metrics[0]
        check_choice(metric, "metric", self.metrics)
        return metric

    def _frame(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Any:
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), like=self.like)

    def copula_in_words(self) -> str:
        """What adjustments by name assume about event and dropout."""
        if self.copula_from == "unused":
            return "no adjustment takes a copula from here"
        if self.copula.is_independence:
            said = "event and dropout are taken for independent"
        else:
            said = f"{type(self.copula).__name__} copula, τ = {self.copula.tau:.2g}"
        return said + {"selected": ", as selected: a hint, not a measurement", "given": ", as given"}.get(
            self.copula_from, ""
        )

    @cached_property
    def profile(self) -> Any:
        """The profile likelihood of the selection over τ; None where no copula was selected."""
        return None if self.choice is None else self.choice.profile()


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """1 for the smallest score, without the reference; equal scores share the better rank."""
    of_models = named(scores)
    return {
        model: 1 + sum(other < score for other in of_models.values()) for model, score in of_models.items()
    }


def as_names(values: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several."""
    return (values,) if isinstance(values, str) else tuple(values)


def named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the models, without the reference."""
    return {name: value for name, value in values.items() if name != REFERENCE}


def listed(names: Sequence[str]) -> str:
    """Names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
