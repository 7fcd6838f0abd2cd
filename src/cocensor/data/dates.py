"""Times, and who was censored by the end of the study, from dates or from the follow-up that was planned."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np

from cocensor._checks import (
    NO_COMPETING_EVENTS,
    BoolArray,
    FloatArray,
    IntArray,
    as_flags,
    as_vector,
    check_choice,
    check_length,
    column_values,
    refuse_at,
)

UNITS = {"days": 1.0, "weeks": 7.0, "months": 30.4375, "years": 365.25}  # days in each unit of time
# A date in ISO form; midnight after it is how software writes a date as a time.
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ]00:00(:00(\.0+)?)?)?")
_FORMS = "in ISO form, such as 2021-03-31, or in the form that date_format (--date-format) names, such as %d/%m/%Y,"
_STILL = ", and the data lock for subjects still under observation"
_ROUNDING = 1e-6  # times are the same up to the rounding of single precision


def from_dates(
    entry: Any,
    exit: Any,
    event: Any,
    data_lock: Any,
    unit: str,
    date_format: str | None = None,
    called: Callable[[str], str] = str,
    first: int = 0,
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return times in ``unit``, events, and who was still under observation on the day of the data lock.

    Refusals name an argument as it is ``called``, and count rows from ``first`` on.
    """
    check_choice(unit, "unit", tuple(UNITS))
    check_date_format(date_format)
    events = as_flags(event, "event", NO_COMPETING_EVENTS)
    began = _days(entry, called("entry"), date_format, first)
    left = _days(exit, called("exit"), date_format, first, _STILL)
    if data_lock is None or isinstance(data_lock, str | date | np.datetime64):
        lock = np.full(began.size, _day(data_lock, (), "data_lock", date_format))
    else:
        lock = _days(data_lock, called("data_lock"), date_format, first)
    for name, values in (("exit", left), ("event", events), ("data_lock", lock)):
        check_length(values, name, began.size, "entry")
    for row in np.flatnonzero(left < began)[:1]:
        rule = f"{called('exit')} must not be before entry, {_iso(began[row])}"
        refuse_at((first + int(row),), _iso(left[row]), rule)
    for row in np.flatnonzero(left > lock)[:1]:
        raise ValueError(
            f"{called('exit')} must not be after data_lock, {_iso(lock[row])}, but row {first + row} is "
            f"{_iso(left[row])!r}: give a later data_lock, or the data_lock as exit and event as false."
        )
    return (left - began) / UNITS[unit], events, ~events & (left == lock)


def from_follow_up(
    time: Any, event: Any, follow_up: Any, called: Callable[[str], str] = str, first: int = 0
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return times, events, and who was under observation for as long as was planned; refusals as of dates."""
    times, events = as_vector(time, "time", negative=False), as_flags(event, "event", NO_COMPETING_EVENTS)
    check_length(events, "event", times.size, "time")
    planned = as_vector(follow_up, "follow_up", single=True, negative=False)
    planned = planned if np.ndim(follow_up) else np.full(times.size, planned[0])
    check_length(planned, "follow_up", times.size, "time")
    for row in np.flatnonzero(times > planned * (1 + _ROUNDING))[:1]:
        rule = f"{called('time')} must not pass {called('follow_up')}, {planned[row]:g}"
        refuse_at((first + int(row),), times[row], rule)
    return times, events, ~events & (times >= planned * (1 - _ROUNDING))


def check_date_format(date_format: Any, name: str = "date_format") -> None:
    """Refuse a format from which a date cannot be read again."""
    day = datetime(2021, 3, 31)
    try:
        if date_format is None or datetime.strptime(day.strftime(date_format), date_format) == day:
            return
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must have day, month and year, such as '%d/%m/%Y', but is {date_format!r}.")


def as_date(text: str, date_format: str | None = None) -> date | None:
    """Return the date of a text in ISO form, or in another where that is named; None of what is no date."""
    match = _ISO_DATE.fullmatch(text.strip())
    try:
        if date_format is not None:
            return datetime.strptime(text.strip(), date_format)
        return date(*map(int, match.groups()[:3])) if match else None
    except ValueError:  # a 13th month
        return None


def _days(values: Any, name: str, date_format: str | None, first: int, missing: str = "") -> IntArray:
    """Return dates as numbers of days."""
    rows = enumerate(column_values(values, name), start=first)
    return np.array([_day(value, (row,), name, date_format, missing) for row, value in rows], dtype=np.int64)


def _day(value: Any, place: tuple[int, ...], name: str, date_format: str | None, missing: str = "") -> int:
    """Return a date as the number of its day; where it is ``missing``, that ends the rule."""
    if value is None:
        refuse_at(place, value, f"{name} must be a date{missing}")
    day: Any = value.astype("datetime64[us]").item() if isinstance(value, np.datetime64) else value
    if date_format is not None and isinstance(day, int | np.integer) and not isinstance(day, bool):
        number = as_date(str(day), date_format)  # 20181217, of which files make a number
        day = day if number is None or number.strftime(date_format) != str(day) else number
    if isinstance(day, str):
        day = as_date(day, date_format)
    if isinstance(day, datetime):
        day = day.date() if day == day.replace(hour=0, minute=0, second=0, microsecond=0) else None
    if not isinstance(day, date):
        shown = value if isinstance(value, str) or not isinstance(value, date | np.datetime64) else str(value)
        form = _FORMS if date_format is None else f"in the form {date_format}"
        refuse_at(place, shown, f"{name} must be a date {form} without a time of day")
    return day.toordinal()


def _iso(day: Any) -> str:
    return date.fromordinal(int(day)).isoformat()
