"""The status that is imputed from margins, and what the subjects that these were fitted to add to scores by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cocensor._numerics import hazard_from_survival
from cocensor._validation import BoolArray, FloatArray, IntArray, Rows, Side, refuse_first, row_blocks
from cocensor.adjustments.gradient import Functionals
from cocensor.adjustments.status import Group, Status, Weights
from cocensor.curves import TimeGrid
from cocensor.estimators import CopulaGraphic
from cocensor.estimators.pull_back import MarginGradient, PullBack
from cocensor.estimators.slopes import ChanceSlopes, of_dropout, of_end, of_last, of_step, of_survival
from cocensor.outcomes import Survival

_SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False)
class MarginsAt:
    """The margins where imputation reads them: S_E at the sorted times, and by subject S_E and S_C at its censoring.

    ``before`` and ``after`` are S_C before and after it; without ``dropout`` they are not read. ``last`` says where
    everybody has dropped out by then.
    """

    dropout: bool
    s_t: FloatArray
    s_c: FloatArray
    before: FloatArray
    after: FloatArray
    last: BoolArray

    @classmethod
    def of(
        cls, margin: CopulaGraphic, y: Survival, grid: TimeGrid, asked: BoolArray, *, dropout: bool
    ) -> MarginsAt:
        """Of those ``asked`` for; others have 1."""
        n = len(y)
        s_t = np.asarray(margin.predict(grid.sorted, tail="last"))
        s_c, before, after = np.ones(n), np.ones(n), np.ones(n)
        s_c[asked] = margin.predict(y.time[asked], tail="last")
        if (s_c == 0).any():
            rule = "y_test must not be censored after the training curve has reached 0"
            refuse_first(s_c == 0, y.time, rule)
        if not dropout:
            return cls(False, s_t, s_c, before, after, np.zeros(n, dtype=bool))
        c = np.minimum(y.time, margin.t_max_)  # held there, where the tail allows it
        dropped, ended = asked & y.dropout, asked & ~y.dropout
        if dropped.any():
            before[dropped], after[dropped] = margin.dropout_limits(c[dropped])
        before[ended], after[ended] = (margin.dropout_survival(c[ended], side) for side in _SIDES)
        last = after == 0
        # Where everybody had dropped out by an end of study, the last moment before that stands in.
        after[ended & last] = before[ended & last]
        return cls(True, s_t, s_c, before, after, last)


class ImputedFromMargins(Status):
    """The answer of imputation given nothing: groups in which nothing is imputed, and others in which it is."""

    def __init__(
        self,
        grid: TimeGrid,
        y: Survival,
        known: tuple[Group, ...],
        imputed: tuple[Group, ...],
        at: MarginsAt,
        margin: CopulaGraphic,
        sample: Survival,
    ) -> None:
        super().__init__(grid, len(y), (*known, *imputed))
        self.y, self.imputed, self.at, self.margin, self._sample = y, imputed, at, margin, sample

    @property
    def sample(self) -> Survival:
        """The outcomes that the margins were fitted to."""
        return self._sample

    def pull_back(self, functionals: Functionals) -> Iterator[tuple[Rows, FloatArray]]:
        r"""What each subject of the ``sample`` adds by way of the two margins.

        By the chain rule :math:`\dot q = q\,[\dot\ell(t) - \dot\ell(c)]` with the log ℓ of a chance
        (:mod:`~cocensor.estimators.slopes`): gradients by the margins at each censoring, block by block, and by S_E at
        the times, summed over subjects (:class:`~cocensor.estimators.pull_back.PullBack`).
        """
        pull = PullBack(self._sample, self.margin)
        chain = _Chain(self, functionals, pull)
        rows, n_times = self.grid.sorted[-1:], self.grid.sorted.size
        return pull(
            chain.at_censorings,
            chain.at_times,
            stop=int(pull.row(rows)[0]) + 1,
            size=functionals.size,
            width=n_times,
        )


class _Asked(NamedTuple):
    """Test subjects in the order of their censorings, whose chances have the same form.

    ``rows`` are those of the margins at the censorings; ``early`` says which come before the first step of S_C.
    """

    subjects: Rows
    rows: IntArray
    cut: IntArray
    early: BoolArray
    chance: Weights
    slopes: ChanceSlopes


class _Chain:
    """Gradients of functionals by the margins, from their gradients by the weights."""

    def __init__(self, status: ImputedFromMargins, functionals: Functionals, pull: PullBack) -> None:
        self._functionals, self._at, self._copula = functionals, status.at, status.margin.copula
        dropouts = status.sample.time[status.sample.dropout]
        self._first_step = int(pull.row(dropouts.min(initial=np.inf, keepdims=True))[0])
        self._time_rows = pull.row(status.grid.sorted)
        self._n_times = int(np.count_nonzero(status.at.s_t))  # from where S_E is 0 it stays there
        self._asked = list(self._kinds(status, pull))
        # By S_E at each time, and by S_C after its first step: known once all subjects were asked.
        self._by_time = np.zeros((len(functionals.gradients), status.grid.sorted.size))
        self._by_first_step = np.zeros(functionals.size)

    def _kinds(self, status: ImputedFromMargins, pull: PullBack) -> Iterator[_Asked]:
        at, y = status.at, status.y
        step, everyone = at.before > at.after, np.ones(status.n, dtype=bool)
        kinds: tuple[tuple[BoolArray, ChanceSlopes], ...] = ((everyone, of_survival),)
        if at.dropout:
            kinds = (
                (at.last, of_last),
                (~at.last & ~y.dropout, of_end),
                (~at.last & y.dropout & step, of_step),
                (~at.last & y.dropout & ~step, of_dropout),
            )
        for group in status.imputed:
            rows = pull.row(y.time[group.rows])
            order = np.argsort(rows, kind="stable")
            for mask, slopes in kinds:
                taken = order[mask[group.rows[order]]]
                subjects = group.rows[taken]
                early = y.dropout[subjects] & (rows[taken] < self._first_step)
                yield _Asked(subjects, rows[taken], group.cut[taken], early, group.after, slopes)

    def at_censorings(self, rows: slice) -> MarginGradient:
        """By the margins at the censorings that fall on some rows of theirs."""
        event, before, after = (np.zeros((rows.stop - rows.start, self._functionals.size)) for _ in range(3))
        for kind in self._asked:
            first, last = np.searchsorted(kind.rows, (rows.start, rows.stop))
            for part in row_blocks(last - first, self._n_times):
                some = slice(first + part.start, first + part.stop)
                at = kind.rows[some] - rows.start
                starts = np.flatnonzero(np.diff(at, prepend=-1))
                for total, values in zip((event, before, after), self._of(kind, some), strict=True):
                    if values is not None:
                        total[at[starts]] += np.add.reduceat(values, starts, axis=0)
        return MarginGradient(event, before, after) if self._at.dropout else MarginGradient(event)

    def at_times(self, rows: slice) -> MarginGradient:
        """By S_E at the times, and by S_C after its first step where that stands in."""
        event = np.zeros((rows.stop - rows.start, self._functionals.size))
        weights = self._functionals.time_weights
        for k in np.flatnonzero((self._time_rows >= rows.start) & (self._time_rows < rows.stop)):
            event[self._time_rows[k] - rows.start] += np.outer(self._by_time[:, k], weights[k]).ravel()
        if not rows.start <= self._first_step < rows.stop:
            return MarginGradient(event)
        after = np.zeros_like(event)
        after[self._first_step - rows.start] = self._by_first_step
        return MarginGradient(event, None, after)

    def _of(
        self, kind: _Asked, some: slice
    ) -> tuple[FloatArray | None, FloatArray | None, FloatArray | None]:
        """By S_E at the censorings of some subjects, and by S_C before and after these, (subjects, functionals)."""
        at, subjects, cut = self._at, kind.subjects[some], kind.cut[some]
        columns = slice(int(cut[0]), self._n_times)
        if columns.start >= columns.stop:
            return None, None, None
        q, _ = kind.chance.block(subjects, columns).dense()
        q = q * (cut[:, None] <= np.arange(columns.start, columns.stop))
        x_t = hazard_from_survival(at.s_t[columns])
        x_c, before, after = (
            hazard_from_survival(each[subjects])[:, None] for each in (at.s_c, at.before, at.after)
        )
        at_t = kind.slopes(self._copula, np.maximum(x_t, x_c), before, after)
        at_c = kind.slopes(self._copula, x_c, before, after)
        gains = []
        for m, gradient in enumerate(self._functionals.gradients):
            found = gradient.of_subjects(subjects).part(columns)
            gains.append((found.event_free - found.event) * q)
            self._by_time[m, columns] += np.einsum("ij,ij->j", gains[-1], at_t.event)

        def summed(slope: FloatArray) -> FloatArray:
            weights = self._functionals.time_weights[columns]
            return np.concatenate([(gain * slope) @ weights for gain in gains], axis=1)

        by_before = None if at_t.before is None or at_c.before is None else summed(at_t.before - at_c.before)
        by_after = None if at_t.after is None or at_c.after is None else summed(at_t.after - at_c.after)
        if by_after is not None:
            early = kind.early[some]
            self._by_first_step += by_after[early].sum(axis=0)
            by_after[early] = 0.0
        return summed(-at_c.event), by_before, by_after
