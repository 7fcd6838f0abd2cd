"""Right-censored outcomes, validated once and frozen, and samples of them with all that is known of subjects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import (
    NO_COMPETING_EVENTS,
    BoolArray,
    FloatArray,
    as_flags,
    as_frame,
    as_times,
    as_vector,
    as_weights,
    broadcast,
    check_length,
    column_values,
    listed,
    read_only,
    refuse_at,
    refuse_first,
    spelled,
    to_numpy,
)
from cocensor._late import narwhals as nw
from cocensor._notes import Note, noted
from cocensor._numerics import in_bins
from cocensor.data.dates import from_dates, from_follow_up
from cocensor.data.ids import check_same_order, is_numbered, row_labels
from cocensor.data.risk_table import RiskTable

# Censorings look like an unmarked end of study where the last tenth has 10, and a quarter of all, at 5 times the rate.
_LAST, _LEAST, _SHARE, _RATE = 0.1, 10, 0.25, 5.0
_ENDED = re.compile(
    r"administrative|\b(end|close) of (the )?(study|trial|follow)|\bdata (lock|cut)|\bstudy (end|clos)", re.I
)


@dataclass(frozen=True, eq=False, repr=False)
class Survival:
    r"""Right-censored outcomes :math:`(t_i, \delta_i)`, validated once and frozen.

    With latent event time :math:`E_i` and dropout time :math:`C_i`, a subject shows :math:`t_i = \min(E_i, C_i)` and
    :math:`\delta_i = 1[E_i \le C_i]`. A censored subject may be marked as *administratively* censored (end of the
    study): then only :math:`C_i > t_i` is known of its dropout, and that end is taken to be independent of E and C.

    Parameters
    ----------
    time : array-like of shape (n,)
        Observed times, finite and not negative. A zero time is allowed: an event at zero makes
        :math:`S(0) < 1`; what cannot use one (a density, a logarithm of time) says so.
    event : array-like of shape (n,)
        True or 1 where the event was observed, False or 0 where it was not.
    administrative : array-like of shape (n,), optional
        True where the follow-up ended with the study; never together with ``event``.
    reason : array-like of shape (n,), optional
        Why each dropout left, such as "moved away": a text for each. Nothing is read of those who did not drop out.

    Notes
    -----
    At one time events come first, then dropouts, then administrative censorings. Lists, numpy arrays, columns of
    pandas, polars and pyarrow frames, and torch tensors are taken, and copied; see also :meth:`from_frame`,
    :meth:`coerce` and, for an end of study that no column marks, :meth:`from_dates` and :meth:`from_follow_up`.

    Examples
    --------
    >>> from cocensor import Survival
    >>> y = Survival([5.0, 3.0, 3.0, 8.0], [1, 1, 0, 0])
    >>> y
    Survival(n=4, events=2, censored=50.0%, times 3 to 8)
    >>> y.risk_table.at_risk.tolist()
    [4, 2, 1]
    """

    time: FloatArray
    event: BoolArray
    administrative: BoolArray | None = None
    reason: npt.NDArray[np.object_] | None = None
    #: The index of ``time``, where it is a column of pandas: predictions with these labels are put into its order.
    labels: Any = field(default=None, init=False)

    def __init__(self, time: Any, event: Any, administrative: Any = None, reason: Any = None) -> None:
        times = as_vector(time, "time", copy=True, negative=False)
        if not times.size:
            raise ValueError("time is empty: at least one subject is needed.")
        times += 0.0  # -0.0 becomes 0.0
        events = as_flags(event, "event", NO_COMPETING_EVENTS)
        check_length(events, "event", times.size, "time")
        labels, others = row_labels(time), row_labels(event)
        if labels is not None and others is not None:
            check_same_order(labels, others, ("time", "event"))
        flags = None
        if administrative is not None:
            flags = as_flags(administrative, "administrative")
            check_length(flags, "administrative", times.size, "time")
            refuse_first(flags & events, flags, "administrative must be false where event is true")
            flags = read_only(flags)
        vars(self).update(time=read_only(times), event=read_only(events), administrative=flags, labels=labels)
        vars(self).update(reason=None if reason is None else read_only(as_reasons(reason, self.dropout)))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        time: str,
        event: str,
        administrative: str | None = None,
        reason: str | None = None,
    ) -> Survival:
        """Outcomes from the named columns of a pandas, polars or pyarrow frame.

        Examples
        --------
        >>> import pandas as pd
        >>> from cocensor import Survival
        >>> frame = pd.DataFrame({"months": [5.0, 3.0], "died": [True, False]})
        >>> Survival.from_frame(frame, time="months", event="died")
        Survival(n=2, events=1, censored=50.0%, times 3 to 5)
        """
        from cocensor.data.tables import Columns, Table

        return Columns(event, time, administrative, reason=reason).read(Table.of(frame, "frame"))

    @classmethod
    def trusted(
        cls,
        time: FloatArray,
        event: BoolArray,
        administrative: BoolArray | None = None,
        reason: npt.NDArray[np.object_] | None = None,
        labels: Any = None,
    ) -> Survival:
        """Return outcomes of arrays that were checked already, and belong to the caller."""
        outcomes = object.__new__(cls)
        columns = {"time": time, "event": event, "administrative": administrative, "reason": reason}
        arrays = {name: array if array is None else read_only(array) for name, array in columns.items()}
        vars(outcomes).update(arrays, labels=labels)  # a frozen dataclass assigns its fields this way
        return outcomes

    @classmethod
    def joined(cls, parts: Sequence[Survival]) -> Survival:
        """Return the outcomes of several parts of one sample, which have the same columns."""
        if len(parts) == 1:
            return parts[0]
        columns: Any = zip(*(part._columns for part in parts), strict=True)
        joined: Any = [None if own[0] is None else np.concatenate(own) for own in columns]
        return cls.trusted(*joined)

    @classmethod
    def from_dates(
        cls,
        entry: Any,
        exit: Any,
        event: Any,
        data_lock: Any,
        *,
        unit: Literal["days", "weeks", "months", "years"] = "days",
        date_format: str | None = None,
        reason: Any = None,
    ) -> Survival:
        r"""Outcomes from the days on which subjects entered and left, and the day of the data lock.

        A time is :math:`\text{exit} - \text{entry}`. Whoever is censored on the day of the data lock was censored by
        the end of the study, whoever is censored before it dropped out.

        Parameters
        ----------
        entry, exit : array-like of shape (n,)
            Days: texts in ISO form such as "2021-03-31" or in that of ``date_format``, dates of Python, or columns of
            dates of any frame. Where the event was not seen, ``exit`` is the last day under observation. A time of day
            is refused, but for midnight.
        event : array-like of shape (n,)
            True or 1 where the event was observed.
        data_lock : date, or array-like of shape (n,)
            The last day that data tell of, of all subjects or of each: who was still under observation then has it as
            ``exit``. An ``exit`` after it is refused.
        unit : {"days", "weeks", "months", "years"}
            Of the times; a month is 30.4375 days and a year 365.25.
        date_format : str, optional
            How texts spell dates, in the directives of :meth:`datetime.datetime.strptime`: "%d/%m/%Y" for "31/03/2021".
        reason : array-like of shape (n,), optional
            Why each dropout left.

        Examples
        --------
        >>> from cocensor import Survival
        >>> entry, exit = ["2020-01-01", "2020-03-01", "2020-07-01"], ["2020-01-31", "2020-05-01", "2020-12-31"]
        >>> y = Survival.from_dates(entry, exit, [1, 0, 0], data_lock="2020-12-31")
        >>> y.time.tolist(), y.administrative.tolist()
        ([30.0, 61.0, 183.0], [False, False, True])
        """
        check_same_order(row_labels(entry), row_labels(exit), ("entry", "exit"))
        check_same_order(row_labels(entry), row_labels(event), ("entry", "event"))
        outcomes = cls(*from_dates(entry, exit, event, data_lock, unit, date_format), reason)
        return cls.trusted(*outcomes._columns, row_labels(entry))

    @classmethod
    def from_follow_up(cls, time: Any, event: Any, follow_up: Any, *, reason: Any = None) -> Survival:
        r"""Outcomes of subjects for each of whom it is known how long the study would have observed them.

        Whoever is censored at the time :math:`t_i \ge f_i` was censored by the end of the study, whoever is censored
        before dropped out. Times that differ by at most 1e-6 of :math:`f_i`, the rounding of single precision, are the
        same; a time beyond that is refused.

        Parameters
        ----------
        time, event : array-like of shape (n,)
            As of :class:`Survival`.
        follow_up : float, or array-like of shape (n,)
            The time :math:`f_i` at which the study would have ended for each subject, or one for all.
        reason : array-like of shape (n,), optional
            Why each dropout left.

        Examples
        --------
        >>> from cocensor import Survival
        >>> Survival.from_follow_up([2.0, 5.0, 4.0], [1, 0, 0], follow_up=[6.0, 5.0, 5.5]).administrative
        array([False,  True, False])
        """
        check_same_order(row_labels(time), row_labels(event), ("time", "event"))
        outcomes = cls(*from_follow_up(time, event, follow_up), reason)
        return cls.trusted(*outcomes._columns, row_labels(time))

    @classmethod
    def from_latent(cls, event_time: Any, dropout_time: Any, study_end: Any = None) -> Survival:
        r"""Outcomes that a study shows of latent times: the first of event, dropout and end of the study.

        Ties go to the event, then to the dropout. Simulations use it, where all three are known.

        Examples
        --------
        >>> from cocensor import Survival
        >>> Survival.from_latent([2.0, 5.0, 9.0], [3.0, 4.0, 9.5], study_end=8.0).administrative
        array([False, False,  True])
        """
        latent = {"event_time": event_time, "dropout_time": dropout_time}
        e, c = broadcast(**{name: as_times(times, name) for name, times in latent.items()})
        time = np.minimum(e, c)
        if study_end is None:
            return cls(time, e <= c)
        end, _ = broadcast(study_end=as_times(study_end, "study_end"), event_time=time)
        ended = end < time
        return cls(np.where(ended, end, time), (e <= c) & ~ended, ended)

    @classmethod
    def coerce(cls, y: Any, name: str = "y") -> Survival:
        """``y`` itself, or built from a scikit-survival structured array or a tuple.

        A structured array has one boolean field (the event) and one numeric field (the time); a tuple is
        ``(time, event)``, ``(time, event, administrative)`` or ``(time, event, administrative, reason)``.

        Examples
        --------
        >>> import numpy as np
        >>> from cocensor import Survival
        >>> y = np.array([(True, 5.0), (False, 3.0)], dtype=[("cens", bool), ("time", float)])
        >>> Survival.coerce(y)
        Survival(n=2, events=1, censored=50.0%, times 3 to 5)
        """
        if isinstance(y, cls):
            return y
        if isinstance(y, tuple) and len(y) in (2, 3, 4):
            return cls(*y)
        names = getattr(getattr(y, "dtype", None), "names", None)
        if names is not None:
            flags = [field for field in names if y.dtype[field].kind == "b"]
            numbers = [field for field in names if y.dtype[field].kind in "iuf"]
            if len(flags) == 1 and len(numbers) == 1:
                return cls(y[numbers[0]], y[flags[0]])
            rule = f"{name} must have one boolean and one numeric field"
            raise ValueError(f"{rule}, but its fields are {y.dtype.descr}.")
        rule = f"{name} must be a Survival, a structured array or a tuple (time, event)"
        raise TypeError(f"{rule}, but is of type {type(y).__name__}{what_to_write(y, name)}.")

    def __len__(self) -> int:
        return int(self.time.size)

    def __getitem__(self, rows: Any) -> Survival:
        """The outcomes of some rows: a slice, a mask or indices (repeats allowed, as in a bootstrap)."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        if not index.size:
            raise ValueError("time is empty: at least one subject is needed.")
        columns = (*self._columns, self.labels)
        chosen: Any = [None if column is None else column[index] for column in columns]
        return Survival.trusted(*chosen)

    def equals(self, other: Survival) -> bool:
        """Whether these are the same outcomes, subject by subject; why dropouts left does not tell subjects apart."""
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("time", "event", "dropout")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Survival, self._columns

    @property
    def _columns(self) -> tuple[FloatArray, BoolArray, BoolArray | None, npt.NDArray[np.object_] | None]:
        return self.time, self.event, self.administrative, self.reason

    def __repr__(self) -> str:
        censored = 100.0 * (1.0 - self.n_events / len(self))
        ended = "" if self.administrative is None else f", administrative={int(self.administrative.sum())}"
        why = "" if self.reason is None else f", reasons={len(self.reasons)}"
        return (
            f"Survival(n={len(self)}, events={self.n_events}, censored={censored:.1f}%{ended}{why}, "
            f"times {self.time.min():g} to {self.t_max:g})"
        )

    @cached_property
    def n_events(self) -> int:
        """The number of observed events."""
        return int(np.count_nonzero(self.event))

    @property
    def dropout(self) -> BoolArray:
        """Who was censored otherwise than by the end of the study."""
        return ~self.event if self.administrative is None else ~self.event & ~self.administrative

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of dropouts, the most frequent first; empty where none are named."""
        given = [] if self.reason is None else sorted(self.reason[self.dropout].tolist())
        return tuple(reason for reason, _ in Counter(given).most_common())

    @cached_property
    def t_max(self) -> float:
        """The largest observed time."""
        return float(self.time.max())

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Indices that sort the times; rows tied in time keep their order."""
        return read_only(np.argsort(self.time, kind="stable"))

    @cached_property
    def risk_table(self) -> RiskTable:
        """Distinct times with the numbers at risk, of events and of censorings; sorted only once."""
        # A time that is not negative leaves its sign bit unused, and the bits of such floats order as integers do.
        # Shifted left, they make room for "censored" in the lowest bit: one sort of plain integers orders by time,
        # events first, in less than half the time of an argsort. Ordered by bins before, they take half of that again.
        keys = self.time.view(np.uint64) << np.uint64(1)
        keys |= ~self.event
        bins = in_bins(self.time, self.time.min(), self.time.max())
        if bins is not None:
            keys = keys[np.argsort(bins, kind="stable")]
        keys.sort(kind="stable")
        censored = (keys & np.uint64(1)).astype(bool)
        keys >>= np.uint64(1)
        times = keys.view(np.float64)
        n = times.size
        count: type[np.signedinteger[Any]] = np.int32 if n < 2**31 else np.int64
        first = np.flatnonzero(np.concatenate(([True], times[1:] != times[:-1])))
        at_risk = (n - first).astype(count)
        if first.size == n:
            leaving, events = censored.astype(count), (~censored).astype(count)
        else:
            times = times[first]
            leaving = np.add.reduceat(censored, first, dtype=count)
            events = -np.diff(at_risk, append=0) - leaving
        if self.administrative is None:
            return RiskTable(times, at_risk, events, leaving, None)
        ends = np.searchsorted(times, np.sort(self.time[self.administrative]))
        ended = np.bincount(ends, minlength=times.size).astype(count)
        return RiskTable(times, at_risk, events, leaving - ended, ended)

    def weighted_risk_table(self, sample_weight: Any) -> RiskTable:
        """Return the risk table for case weights, where a subject of weight w counts w times; who has 0 is left out.

        Examples
        --------
        >>> from cocensor import Survival
        >>> y = Survival([5.0, 3.0, 3.0, 8.0], [1, 1, 0, 0])
        >>> y.weighted_risk_table([2, 1, 0, 0.5]).at_risk.tolist()
        [3.5, 2.5, 0.5]
        """
        weight = as_weights(sample_weight, len(self))
        kept = weight > 0
        times, row = np.unique(self.time[kept], return_inverse=True)
        ends = np.zeros_like(self.event) if self.administrative is None else self.administrative
        totals = [np.bincount(row, (weight * kind)[kept]) for kind in (self.event, self.dropout, ends)]
        # Summed in the order in which RiskTable takes them off again: who leaves last leaves exactly nobody.
        at_risk = np.cumsum(np.column_stack(totals).ravel()[::-1])[::-1][:: len(totals)]
        events, dropouts, ended = totals
        return RiskTable(times, at_risk, events, dropouts, None if self.administrative is None else ended)


@dataclass(frozen=True, eq=False)
class Sample:
    """Outcomes, and by subject what else is known.

    Attributes
    ----------
    y : Survival
    x : array, frame or Covariates, optional
        Covariates.
    weight : array, optional
        Sampling weights, of mean 1 where they are above 0; None for 1 each.
    cluster : array, optional
        Labels of the cluster that each subject belongs to; None where all are independent of each other.
    folds : array, optional
        Labels of the fold that each subject's prediction comes from, where predictions are out-of-fold.
    train : Sample, optional
        The training sample beside a test sample, where an adjustment may learn from both.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Survival
    >>> from cocensor.data import Sample
    >>> sample = Sample(Survival([1.0, 2.0, 3.0], [1, 0, 1]), x=np.array([[0.5], [1.5], [2.5]]))
    >>> len(sample), sample[np.array([2, 2])].x[:, 0]
    (3, array([2.5, 2.5]))
    """

    y: Survival
    x: Any = field(default=None, repr=False)
    weight: FloatArray | None = field(default=None, repr=False)
    cluster: npt.NDArray[Any] | None = field(default=None, repr=False)
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)
    train: Sample | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("weight", "cluster", "folds"):
            if getattr(self, name) is not None:
                check_length(getattr(self, name), name, len(self.y), "y")

    def __len__(self) -> int:
        return len(self.y)

    @property
    def counted(self) -> BoolArray:
        """Who has a weight above 0."""
        return np.ones(len(self), dtype=bool) if self.weight is None else self.weight > 0

    @property
    def t_max(self) -> float:
        """The largest observed time, of those with a weight."""
        return self.y.t_max if self.weight is None else float(self.y.time[self.counted].max())

    @property
    def risk_table(self) -> RiskTable:
        """The risk table, by weight where there are weights."""
        return self.y.risk_table if self.weight is None else self.y.weighted_risk_table(self.weight)

    @property
    def labels(self) -> Any:
        """The labels of test subjects: of their covariates, or of their outcomes where only these say more."""
        labels, of_outcomes = row_labels(self.x), self.y.labels
        if labels is None or of_outcomes is None or is_numbered(of_outcomes):
            return of_outcomes if labels is None else labels
        if is_numbered(labels):
            return of_outcomes
        check_same_order(labels, of_outcomes, ("x_test", "y_test"))
        return labels

    def __getitem__(self, rows: Any) -> Self:
        """Some subjects, repeats allowed."""
        columns = {own.name: getattr(self, own.name) for own in fields(self) if own.name != "train"}
        some: dict[str, Any] = {name: None if own is None else own[rows] for name, own in columns.items()}
        return type(self)(**some, train=self.train)


def unmarked_end(samples: Mapping[str, Survival]) -> list[Note]:
    """Return a caution where censorings pile up at the end of follow-up and none is marked as administrative.

    It is given where the last tenth of follow-up, up to the largest time, has at least 10 censorings and at least a
    quarter of all, and their rate per time at risk is there at least 5 times that before. Dropout at a steady rate does
    not look like that. Ends of study that are spread out, as where subjects enter over years, are not found.
    """
    shares = {}
    for name, y in samples.items():
        start, n = (1.0 - _LAST) * y.t_max, len(y) - y.n_events
        late = int(np.count_nonzero(~y.event & (y.time > start)))
        if y.administrative is None and late >= max(_LEAST, _SHARE * n):
            before, after = np.minimum(y.time, start).sum(), np.maximum(y.time - start, 0.0).sum()
            if late * before >= _RATE * (n - late) * after:
                shares[name] = late / n
    return [noted("unmarked_end", shares=shares)] if shares else []


def ended_by_reason(samples: Mapping[str, Survival]) -> list[Note]:
    """Return a caution for each reason for dropout that reads like the end of the study."""
    return [
        noted("reason_reads_as_end", reason=reason, sample=name)
        for name, y in samples.items()
        for reason in y.reasons
        if _ENDED.search(reason)
    ]


def sampling_weights(values: Any, n: int, name: str, of: str) -> FloatArray | None:
    """Return the sampling weights of ``n`` subjects, None where all are equal.

    They are scaled to mean 1 of those above 0: whoever has a weight of 0 counts as little as who is not there.
    """
    weights = as_weights(values, n, name, of)
    return None if np.ptp(weights) == 0 else read_only(weights / weights[weights > 0].mean())


def fit_weighted(model: Any, name: str, x: Any, y: Any, weight: FloatArray | None) -> None:
    """Fit a model that is not ours, called ``name``; by ``sample_weight`` where subjects have weights."""
    if weight is None:
        model.fit(x, y)
    elif "sample_weight" in signature(model.fit).parameters:
        model.fit(x, y, sample_weight=weight)
    else:
        raise TypeError(
            f"{name} must take sample_weight in fit where subjects have weights, but is {model!r}."
        )


def structured(time: FloatArray, happens: BoolArray) -> npt.NDArray[Any]:
    """Return times and what happens at them as scikit-survival takes outcomes."""
    array = np.empty(time.size, dtype=[("event", bool), ("time", np.float64)])
    array["event"], array["time"] = happens, time
    return array


def as_reasons(
    values: Any, dropout: BoolArray, name: str = "reason", first: int = 0
) -> npt.NDArray[np.object_]:
    """Return a text for each dropout, None for all others; refusals count rows from ``first`` on."""
    values = column_values(values, name)
    check_length(values, name, dropout.size, "time")
    reasons = np.full(dropout.size, None, dtype=object)
    for row in np.flatnonzero(dropout):
        reasons[row] = "" if values[row] is None else spelled(values[row]).strip()
        if not reasons[row]:
            rule = f"{name} must be given for each dropout, if only as 'unknown'"
            refuse_at((first + int(row),), values[row], rule)
    return reasons


def what_to_write(y: Any, name: str) -> str:
    """Return the end of a refusal of ``y``: the call for a frame, or for an array of two columns, else nothing."""
    if nw.dependencies.is_into_dataframe(y):
        frame = as_frame(y, name)
        numeric = [own for own in frame.iter_columns() if own.dtype.is_numeric() or own.dtype == nw.Boolean]
        flags = [own.name for own in numeric if _are_flags(own.drop_nulls().to_numpy())]
        times = [own.name for own in numeric if own.name not in flags]
        time, event = (repr(names[0]) if len(names) == 1 else "…" for names in (times, flags))
        unsure = frame.columns and "…" in (time, event)
        rest = f", where its columns are {listed(frame.columns)}" if unsure else ""
        return f": write Survival.from_frame({name}, time={time}, event={event}){rest}"
    if getattr(y, "ndim", None) != 2 or y.shape[1] != 2:
        return ""
    first, second = map(_are_flags, to_numpy(y, name).T)
    places = (1, 0) if first and not second else (0, 1)
    rest = " if its first column holds the times" if first == second else ""
    return f": write Survival({name}[:, {places[0]}], {name}[:, {places[1]}]){rest}"


def _are_flags(values: Any) -> bool:
    return bool(np.isin(values, (0, 1)).all())
