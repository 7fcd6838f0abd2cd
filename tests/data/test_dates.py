from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cocensor import Survival
from tests.refusals import refuses

ENTRY = ["2020-01-01", "2020-02-28", "2020-03-01", "2020-07-01", "2020-06-30"]
EXIT = ["2020-01-31", "2020-03-01", "2020-03-01", "2020-12-31", "2020-12-31"]
EVENT = [True, False, False, False, True]
LOCK = "2020-12-31"
DAYS = [30.0, 2.0, 0.0, 183.0, 184.0]  # 2020 is a leap year
ENDED = [False, False, False, True, False]


def made(entry=ENTRY, exit=EXIT, event=EVENT, data_lock=LOCK, **more):
    return Survival.from_dates(entry, exit, event, data_lock, **more)


def with_row(values, row, value):
    return [value if k == row else each for k, each in enumerate(values)]


def test_times_are_days_and_whoever_is_censored_at_the_lock_was_censored_by_the_end_of_the_study():
    y = made()
    np.testing.assert_array_equal(y.time, DAYS)
    np.testing.assert_array_equal(y.event, EVENT)
    np.testing.assert_array_equal(y.administrative, ENDED)


DATES = [date.fromisoformat(text) for text in ENTRY]
MIDNIGHTS = [datetime(d.year, d.month, d.day) for d in DATES]


@pytest.mark.parametrize(
    "entry",
    [
        tuple(ENTRY),
        np.array(ENTRY),
        np.array(ENTRY, dtype=object),
        [f" {text}T00:00:00 " for text in ENTRY],
        [f"{text} 00:00:00.000" for text in ENTRY],
        DATES,
        MIDNIGHTS,
        [np.datetime64(text) for text in ENTRY],
        np.array(ENTRY, dtype="datetime64[D]"),
        np.array(ENTRY, dtype="datetime64[ns]"),
        pd.Series(ENTRY, index=list("edcba")),
        pd.Series(ENTRY, dtype="category"),
        pd.Series(pd.to_datetime(ENTRY)),
        pd.Series(pd.to_datetime(ENTRY)).dt.tz_localize("Australia/Sydney"),
        pd.to_datetime(ENTRY),
        pd.Series(DATES),
        pl.Series(ENTRY),
        pl.Series(DATES),
        pl.Series(MIDNIGHTS),
        pa.chunked_array([DATES]),
        pa.chunked_array([ENTRY]),
        pa.array(DATES),
    ],
    ids=lambda each: f"{type(each).__module__.split('.')[0]}-{getattr(each, 'dtype', type(each).__name__)}",
)
def test_dates_of_every_kind(entry):
    np.testing.assert_array_equal(made(entry).time, DAYS)


@pytest.mark.parametrize(
    "lock",
    [
        date(2020, 12, 31),
        np.datetime64("2020-12-31"),
        pd.Timestamp("2020-12-31"),
        [LOCK] * 5,
        pd.Series(pd.to_datetime([LOCK] * 5)),
    ],
)
def test_the_data_lock_is_one_date_or_one_of_each_subject(lock):
    np.testing.assert_array_equal(made(data_lock=lock).administrative, ENDED)


def test_subjects_may_have_locks_of_their_own():
    y = made(data_lock=[LOCK, "2020-03-01", "2020-03-02", "2021-01-01", LOCK])
    np.testing.assert_array_equal(y.administrative, [False, True, False, False, False])


@pytest.mark.parametrize(("unit", "days"), [("weeks", 7), ("months", 30.4375), ("years", 365.25)])
def test_units(unit, days):
    np.testing.assert_allclose(made(unit=unit).time, np.array(DAYS) / days, rtol=1e-15)


def test_no_end_of_study_is_known_not_to_be_one():
    assert not made(data_lock="2021-06-30").administrative.any()


@pytest.mark.parametrize("name", ["entry", "exit"])
@pytest.mark.parametrize(
    "value",
    [
        "31.03.2020",
        "3/31/20",
        "2020-3-31",
        "20200331",
        "2020-02-30",
        "2020-03-31T08:30",
        "soon",
        "",
        43921,
        7.5,
    ],
)
def test_what_is_no_iso_date_is_refused_with_its_row(name, value):
    values = {"entry": ENTRY, "exit": EXIT}[name]
    refuses(lambda: made(**{name: with_row(values, 3, value)}), name, "row 3", repr(value), "2021-03-31")


def test_a_time_of_day_is_refused_and_not_cut_off():
    refuses(lambda: made(with_row(MIDNIGHTS, 1, datetime(2020, 2, 28, 9, 30))), "entry", "row 1", "09:30")
    nanoseconds = np.array(with_row(ENTRY, 1, "2020-02-28T09:30"), dtype="datetime64[ns]")
    refuses(lambda: made(nanoseconds), "entry", "row 1", "09:30")


@pytest.mark.parametrize(
    "exits",
    [
        with_row(EXIT, 3, None),
        with_row(EXIT, 3, float("nan")),
        with_row(EXIT, 3, pd.NaT),
        with_row(EXIT, 3, pd.NA),
        pd.Series(pd.to_datetime(with_row(EXIT, 3, None))),
        pl.Series(with_row(EXIT, 3, None)),
        np.array(with_row(EXIT, 3, "NaT"), dtype="datetime64[D]"),
    ],
)
def test_whoever_is_still_under_observation_has_the_data_lock_as_exit(exits):
    refuses(lambda: made(exit=exits), "exit", "row 3", "data lock", "still under observation")


def test_order_of_dates():
    refuses(lambda: made(exit=with_row(EXIT, 1, "2020-02-01")), "exit", "row 1", "2020-02-01", "2020-02-28")
    for row in (3, 4):  # a censoring and an event
        late = with_row(EXIT, row, "2021-02-01")
        refuses(lambda late=late: made(exit=late), "exit", f"row {row}", "2021-02-01", LOCK)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"data_lock": "31.12.2020"}, ("data_lock", "'31.12.2020'")),
        ({"data_lock": None}, ("data_lock", "None")),
        ({"data_lock": pd.NaT}, ("data_lock",)),
        ({"data_lock": [LOCK]}, ("data_lock", "length 1")),
        ({"data_lock": 5}, ("data_lock", "int")),
        ({"unit": "fortnights"}, ("unit", "'fortnights'")),
        ({"exit": EXIT[:3]}, ("exit", "length 3")),
        ({"event": EVENT[:3]}, ("event", "length 3")),
        ({"entry": "2020-01-01"}, ("entry", "str")),
        ({"entry": np.array([ENTRY])}, ("entry", "one-dimensional")),
        ({"entry": [], "exit": [], "event": np.array([], dtype=bool)}, ("empty",)),
    ],
)
def test_other_refusals(arguments, parts):
    refuses(lambda: made(**arguments), *parts)


def test_reasons_of_dropouts_and_of_nobody_else():
    y = made(reason=["died", "moved away", "side effects", "end of study", "died"])
    assert y.reason.tolist() == [None, "moved away", "side effects", None, None]


def test_follow_up():
    y = Survival.from_follow_up([2.0, 5.0, 4.0, 0.0], [1, 0, 0, 0], [6.0, 5.0, 5.5, 0.0], reason=list("abcd"))
    np.testing.assert_array_equal(y.time, [2, 5, 4, 0])
    np.testing.assert_array_equal(y.administrative, [False, True, False, True])
    assert y.reasons == ("c",)
    np.testing.assert_array_equal(
        Survival.from_follow_up([2.0, 5.0], [1, 0], 5.0).administrative, [False, True]
    )


def test_follow_up_in_single_precision_is_the_same_time():
    planned = np.array([0.1, 12.3, 4567.8])
    for off in (planned.astype(np.float32), planned * (1 + 5e-7)):
        y = Survival.from_follow_up(off, [0, 0, 0], planned)
        assert y.administrative.all()
        np.testing.assert_array_equal(y.time, off)
    assert not Survival.from_follow_up(planned * (1 - 1e-5), [0, 0, 0], planned).administrative.any()


def test_nothing_happens_after_the_follow_up():
    for event in ([0, 0], [0, 1]):
        refuses(
            lambda event=event: Survival.from_follow_up([3.0, 7.5], event, [3.0, 7.0]),
            "time",
            "row 1",
            "7.5",
            "7",
        )
    refuses(lambda: Survival.from_follow_up([3.0, 7.5], [0, 0], [8.0]), "follow_up", "length 1")
    refuses(lambda: Survival.from_follow_up([3.0], [0], [np.nan]), "follow_up", "row 0")


def test_dates_in_another_form():
    entry, exit = ["31/01/2020", "01/03/2020"], ["01/03/2020", date(2020, 5, 1)]
    y = Survival.from_dates(entry, exit, [1, 0], "31/12/2020", date_format="%d/%m/%Y")
    assert y.time.tolist() == [30.0, 61.0]
    refuses(
        lambda: Survival.from_dates(entry, exit, [1, 0], "31/12/2020"), "entry", "date_format", "'31/01/2020'"
    )
    turned = {"data_lock": "12/31/2020", "date_format": "%m/%d/%Y"}
    refuses(
        lambda: Survival.from_dates(entry, exit, [1, 0], **turned),
        "entry",
        "%m/%d/%Y",
        "row 0 is '31/01/2020'",
    )
    for form in ("%d/%m", "%Q", "", 3):
        given = {"data_lock": "31/12/2020", "date_format": form}
        refuses(
            lambda given=given: Survival.from_dates(entry, exit, [1, 0], **given), "date_format", repr(form)
        )
    timed = {"data_lock": "31/12/2020 00", "date_format": "%d/%m/%Y %H"}
    assert Survival.from_dates(["01/01/2020 00"], ["02/01/2020 00"], [1], **timed).time.tolist() == [1.0]
    refuses(
        lambda: Survival.from_dates(["01/01/2020 05"], ["02/01/2020 00"], [1], **timed),
        "entry",
        "time of day",
    )


def test_dates_of_digits_may_be_numbers_where_these_say_the_same():
    y = Survival.from_dates(
        [20180101, 20180201], [20180301, 20181217], [1, 0], "20200101", date_format="%Y%m%d"
    )
    np.testing.assert_array_equal(y.time, [59.0, 319.0])
    # 01012018 without its first digit could be 10 January.
    days = [1012018], [2012018], [1], "31122020"
    refuses(lambda: Survival.from_dates(*days, date_format="%d%m%Y"), "entry", "1012018")
