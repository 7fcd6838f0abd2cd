"""The options that say when subjects had the event, dropped out or reached the end of the study."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import typer

from cocensor._notes import Note
from cocensor._validation import NO_COMPETING_EVENTS, FloatArray, check_choice
from cocensor.cli.files import Table
from cocensor.evaluation.truth import as_true_times
from cocensor.outcomes import UNITS, Survival, TimeAxis, check_date_format, is_date

OUTCOMES = "Outcomes"
_STILL = ": for subjects still under observation, give the data lock"
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column: the observed time of event or censoring. Or give dates: --entry, --exit and --data-lock.",
        rich_help_panel=OUTCOMES,
    ),
]
Event = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Column: TRUE or 1 if the event was observed, FALSE or 0 if not.",
        rich_help_panel=OUTCOMES,
    ),
]
Administrative = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column: TRUE or 1 if censored by the end of the study, not by dropout.",
        rich_help_panel=OUTCOMES,
    ),
]
FollowUp = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help=(
            "Instead of --administrative, a column: the time at which the study would have ended "
            "for each subject. Subjects censored then count as censored by the end of the study."
        ),
        rich_help_panel=OUTCOMES,
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Instead of --time, a column: the date of entry, such as 2021-03-31 or as --date-format says.",
        rich_help_panel=OUTCOMES,
    ),
]
Exit = Annotated[
    str | None,
    typer.Option(
        "--exit",
        metavar="COLUMN",
        help="With --entry, a column: the date of the event, or the last date under observation.",
        rich_help_panel=OUTCOMES,
    ),
]
DataLock = Annotated[
    str | None,
    typer.Option(
        metavar="DATE|COLUMN",
        help=(
            "With --entry: the date of the data lock, one for all or a column. Subjects censored on "
            "it count as censored by the end of the study."
        ),
        rich_help_panel=OUTCOMES,
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="The unit of --time, such as months, as tables and axes show it; nothing is converted. With --entry: "
        "days, weeks, months (30.4375 days) or years (365.25 days), by default days. The times of predictions are in "
        "it too.",
        rich_help_panel=OUTCOMES,
    ),
]
DateFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="With --entry: how dates are written where that is not as 2021-03-31, such as %d/%m/%Y for 31/03/2021.",
        rich_help_panel=OUTCOMES,
    ),
]
Reason = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column: the reason for each dropout, as text; empty for other subjects.",
        rich_help_panel=OUTCOMES,
    ),
]
TrueTime = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Simulated data: the column of the test sample with the true event times, those of censored subjects "
        "included. Scores by them are shown beside the others.",
        rich_help_panel=OUTCOMES,
    ),
]


def true_times_of(test: Table, column: str, y: Survival) -> FloatArray:
    """``--true-time``: the event time of each test subject."""
    values = test.numbers(column)
    with test.named():
        return as_true_times(values, y, f"column {column!r}")


@dataclass(frozen=True)
class OutcomeColumns:
    """Where outcomes are in a table: times, or dates that times come from."""

    event: str
    time: str | None = None
    administrative: str | None = None
    follow_up: str | None = None
    entry: str | None = None
    exit: str | None = None
    data_lock: str | None = None
    time_unit: str | None = None
    reason: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        dates = self._given("entry", "exit", "data_lock")
        if self.time is None and not dates:
            raise ValueError("--time COLUMN is needed, or dates: --entry, --exit and --data-lock.")
        if self.time is not None and dates:
            delayed = " (delayed entry is not supported yet)" if dates == ["--entry"] else ""
            raise ValueError(f"--time and {dates[0]} are two ways to give times: use one of them{delayed}.")
        if dates and len(dates) < 3:
            raise ValueError(
                f"--entry, --exit and --data-lock must be given together, but only {' and '.join(dates)} came."
            )
        if self.date_format is not None and not dates:
            raise ValueError(
                f"--date-format must come with --entry, --exit and --data-lock, but is {self.date_format!r}."
            )
        check_date_format(self.date_format, "--date-format")
        ends = self._given("data_lock", "follow_up", "administrative")
        if len(ends) > 1:
            raise ValueError(
                f"{ends[0]} and {ends[1]} are two ways to mark the end of the study: use one of them."
            )
        if self.time_unit is not None:
            if dates:
                check_choice(self.time_unit, "--time-unit", tuple(UNITS))
            elif not self.time_unit.strip():
                raise ValueError("--time-unit must not be empty.")

    @property
    def time_axis(self) -> TimeAxis:
        """What time is called, and its unit; a column that is called as a unit is in it unless another is named."""
        if self.time is None:
            return TimeAxis(unit=self.time_unit or "days")
        return TimeAxis(self.time, self.time_unit or self._unit_in_name)

    @property
    def notes(self) -> list[Note]:
        """A caution where a column is called as one unit, and said to be in another."""
        unit, named = self.time_unit, self._unit_in_name
        if unit is None or named is None or unit.lower() == named:
            return []
        text = (
            f"Times are in {unit}, as --time-unit says, although their column is called {self.time!r}: nothing was "
            "converted."
        )
        return [Note("caution", text)]

    @property
    def _unit_in_name(self) -> str | None:
        """The unit that the column of times is called by."""
        name = "" if self.time is None else self.time.strip().lower()
        return name if name in UNITS else None

    @property
    def by_option(self) -> dict[str, str | None]:
        """The columns by the option that names them."""
        lock = None if self._single_lock else self.data_lock
        return {
            "time": self.time,
            "event": self.event,
            "administrative": self.administrative,
            "follow-up": self.follow_up,
            "entry": self.entry,
            "exit": self.exit,
            "data-lock": lock,
            "reason": self.reason,
        }

    def read(self, table: Table, *, training: bool = False) -> Survival:
        """The outcomes in a table; one for training may do without reasons."""
        events = table.flags(self.event, NO_COMPETING_EVENTS)
        unnamed = self.reason is None or (training and self.reason not in table.data.column_names)
        why = None if unnamed else table.sparse(str(self.reason))
        if self.entry is not None and self.exit is not None:
            days = table.column(self.entry), table.column(self.exit, _STILL)
            lock = self._lock(table)
            unit: Any = self.time_unit or "days"
            with table.named():
                return Survival.from_dates(
                    *days, events, lock, unit=unit, date_format=self.date_format, reason=why
                )
        times = table.numbers(str(self.time))
        ended = None if self.administrative is None else table.flags(self.administrative)
        planned = None if self.follow_up is None else table.numbers(self.follow_up)
        with table.named():
            if planned is not None:
                return Survival.from_follow_up(times, events, planned, reason=why)
            return Survival(times, events, ended, why)

    @property
    def _single_lock(self) -> bool:
        return self.data_lock is not None and is_date(self.data_lock, self.date_format)

    def _lock(self, table: Table) -> Any:
        """The date of the data lock, or its column."""
        if self.data_lock is None or self._single_lock:
            return self.data_lock
        if self.data_lock not in table.data.column_names:
            raise ValueError(
                f"--data-lock must be a date such as {date(2021, 12, 31):{self.date_format or '%Y-%m-%d'}}, or a "
                f"column of {table.path}, but is {self.data_lock!r}."
            )
        return table.column(self.data_lock)

    def _given(self, *names: str) -> list[str]:
        """Of these options, those that are given."""
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name) is not None]
