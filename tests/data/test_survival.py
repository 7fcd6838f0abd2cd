import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from sksurv.util import Surv

from cocensor import Survival
from tests.refusals import refuses
from tests.strategies import outcomes

TIME, EVENT = [5.0, 3.0, 3.0, 8.0], [True, True, False, False]


@pytest.mark.parametrize(
    ("time", "event"),
    [
        (TIME, [1, 1, 0, 0]),
        (tuple(TIME), (1.0, 1.0, 0.0, 0.0)),
        (np.array(TIME, dtype=np.float32), np.array(EVENT)),
        (pd.Series(TIME), pd.Series(EVENT)),
        (pd.Series([5, 3, 3, 8], dtype="Int64"), pd.Series([1, 1, 0, 0], dtype="Int8")),
        (pl.Series(TIME), pl.Series([1, 1, 0, 0])),
        (pa.chunked_array([TIME]), pa.chunked_array([EVENT])),
        (torch.tensor(TIME, requires_grad=True), torch.tensor(EVENT)),
    ],
    ids=["list", "tuple", "numpy", "pandas", "pandas-nullable", "polars", "pyarrow", "torch"],
)
def test_built_from_what_users_have(time, event):
    y = Survival(time, event)
    assert y.time.dtype == np.float64
    assert y.event.dtype == bool
    np.testing.assert_array_equal(y.time, TIME)
    np.testing.assert_array_equal(y.event, EVENT)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_from_frame(library):
    frame = library({"t": TIME, "e": EVENT, "end": [False, False, False, True]})
    y = Survival.from_frame(frame, time="t", event="e", administrative="end")
    np.testing.assert_array_equal(y.time, TIME)
    np.testing.assert_array_equal(y.event, EVENT)
    np.testing.assert_array_equal(y.administrative, [False, False, False, True])
    with pytest.raises(ValueError, match="'died'.*'t', 'e', 'end'"):
        Survival.from_frame(frame, time="t", event="died")


def test_coerce_takes_scikit_survival_arrays_and_tuples():
    y = Survival.coerce(Surv.from_arrays(EVENT, TIME))
    np.testing.assert_array_equal(y.time, TIME)
    np.testing.assert_array_equal(y.event, EVENT)
    assert Survival.coerce(y) is y
    assert len(Survival.coerce((TIME, EVENT))) == 4
    with pytest.raises(TypeError, match="^y_test .* list"):
        Survival.coerce(TIME, "y_test")
    with pytest.raises(ValueError, match="one boolean and one numeric field"):
        Survival.coerce(np.zeros(2, dtype=[("a", float), ("b", float)]))


@pytest.mark.parametrize(
    ("time", "event", "message"),
    [
        ([1, np.nan], [1, 0], "time must be finite, but row 1 is nan"),
        ([np.inf, 1], [1, 0], "time must be finite, but row 0 is inf"),
        ([1, 2, -3.5], [1, 0, 1], "time must not be negative, but row 2 is -3.5"),
        ([1, 2], [1, 2], "event must be 0 or 1 .*competing events.*, but row 1 is 2"),
        ([1, 2], [1, np.nan], "event must be 0 or 1, but row 1 is nan"),
        ([1, 2], ["yes", "no"], "event must be boolean or 0/1"),
        ([1, 2, 3], [1, 0], "event has length 2, but time has length 3"),
        ([], [], "time is empty"),
        ([[1, 2]], [1, 0], "time must be one-dimensional"),
        ([1, 2], [[1, 0]], "event must be one-dimensional"),
        (["a", "b"], [1, 0], "time must be numeric"),
        ([1, None], [1, 0], "time must be numeric, but row 1 is None"),
        (
            np.array([1.0, np.complex128(1 + 2j)], dtype=object),
            [1, 0],
            "time must be numeric, but row 1 is .1.2j.",
        ),
        (np.array([np.complex64(3)], dtype=object), [1], "time must be numeric, but row 0 is"),
        (pl.Series([1.0, None]), [1, 0], "time is missing in row 1"),
        (pd.Series([1, None], dtype="Int64"), [1, 0], "time is missing in row 1"),
        (pd.Series([1.0, np.nan]), [1, 0], "time is missing in row 1"),
        ([[1], [1, 2]], [1, 0], "time must be a rectangular array"),
        (np.ma.array([1.0, 9.0], mask=[False, True]), [1, 0], "time is missing in row 1"),
        ([10**400, 2], [1, 0], "time must be numeric, but row 0 is 1000"),
        ([1, 2], np.array([1, pd.NA], dtype=object), "event must be boolean or 0/1, but row 1 is <NA>"),
        ([1, 2], pd.Series(["0", "1"], dtype="category"), "event must be boolean or 0/1, but row 0 is '0'"),
    ],
)
def test_refusals_name_argument_and_row(time, event, message):
    with pytest.raises(ValueError, match=message):
        Survival(time, event)


def test_administrative_is_censoring():
    with pytest.raises(ValueError, match="^administrative .*event.* row 1"):
        Survival([1, 2], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="administrative has length 1"):
        Survival([1, 2], [0, 1], [1])


def test_frozen_and_independent_of_the_input():
    time = np.array(TIME)
    y = Survival(time, EVENT)
    time[0] = 99.0
    assert y.time[0] == 5.0
    with pytest.raises(ValueError, match="read-only"):
        y.time[0] = 1.0
    with pytest.raises(AttributeError):
        y.time = time


def test_what_is_cached_cannot_be_altered():
    y = Survival(TIME, EVENT)
    for array in (y.order, y.risk_table.events, y.risk_table.times):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for twin in (pickle.loads(pickle.dumps(y)), copy.deepcopy(y)):
        np.testing.assert_array_equal(twin.time, y.time)
        assert not twin.time.flags.writeable


def test_half_precision_tensors():
    y = Survival(torch.tensor(TIME, dtype=torch.bfloat16), torch.tensor(EVENT))
    np.testing.assert_array_equal(y.time, TIME)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("died", [[True, False, False], [1, 0, 0], [1.0, 0.0, 0.0], [1, None, 0]], ids=str)
def test_a_frame_is_told_the_call_with_its_own_columns(library, died):
    frame = library({"died": died, "ward": ["a", "b", "a"], "months": [5.0, 1.0, 3.0]})
    call = "Survival.from_frame(y_test, time='months', event='died')"
    refuses(lambda: Survival.coerce(frame, "y_test"), "y_test must", f"write {call}.", kind=TypeError)
    if None not in died:
        assert len(eval(call, {"Survival": Survival, "y_test": frame})) == 3


def test_a_frame_whose_columns_leave_a_choice_is_told_their_names():
    frame = pd.DataFrame({"died": [1, 0], "months": [5.0, 3.0], "age": [60, 70]})
    refuses(lambda: Survival.coerce(frame), "from_frame(y, time=…, event='died')", "'months', 'age'")
    refuses(lambda: Survival.coerce(frame[["months", "age"]]), "time=…, event=…")
    refuses(lambda: Survival.coerce(frame.assign(male=[True, False])), "event=…")
    refuses(lambda: Survival.coerce(frame.iloc[:, [0, 0]]), "two columns of the same name")
    refuses(lambda: Survival.coerce(pd.DataFrame(np.eye(9))), "8")


@pytest.mark.parametrize("made", [np.array, torch.tensor])
def test_an_array_of_two_columns_is_told_which_holds_the_times(made):
    table = made([[5.0, 1.0], [3.0, 0.0]])
    for y, call in ((table, "Survival(y[:, 0], y[:, 1])"), (table[:, [1, 0]], "Survival(y[:, 1], y[:, 0])")):
        refuses(lambda y=y: Survival.coerce(y), f"write {call}.", kind=TypeError)
        assert eval(call, {"Survival": Survival, "y": y}).time.tolist() == [5.0, 3.0]
    either = made([[1.0, 1.0], [1.0, 0.0]])
    refuses(
        lambda: Survival.coerce(either, "y_train"),
        "Survival(y_train[:, 0], y_train[:, 1]) if",
        kind=TypeError,
    )
    refuses(lambda: Survival.coerce(made([[1.0, 2.0, 3.0]])), "y must", kind=TypeError)


def test_frames_that_cannot_be_read():
    with pytest.raises(TypeError, match="^frame .*ndarray"):
        Survival.from_frame(np.zeros((2, 2)), time="t", event="e")
    with pytest.raises(ValueError, match="^frame .*two columns"):
        Survival.from_frame(pd.DataFrame([[1, 2]], columns=["t", "t"]), time="t", event="e")
    with pytest.raises(ValueError, match=r"\(2,\) .*\(3,\)"):
        Survival.from_latent([1, 2], [3, 4, 5])


def test_zero_and_negative_zero_are_one_time():
    y = Survival([-0.0, 0.0, 1.0], [1, 0, 1])
    np.testing.assert_array_equal(y.risk_table.times, [0.0, 1.0])


def test_order_of_exits_from_latent_times():
    y = Survival.from_latent([3, 3, 5, 2], [3, 9, 4, 9], study_end=[3, 3, 4, 1])
    np.testing.assert_array_equal(y.time, [3, 3, 4, 1])
    np.testing.assert_array_equal(y.event, [True, True, False, False])
    np.testing.assert_array_equal(y.administrative, [False, False, False, True])


@given(outcomes(administrative=True))
def test_risk_table_counts_what_a_direct_count_gives(y):
    table = y.risk_table
    np.testing.assert_array_equal(table.times, np.unique(y.time))
    for j, t in enumerate(table.times):
        here = y.time == t
        assert table.at_risk[j] == np.sum(y.time >= t)
        assert table.events[j] == np.sum(here & y.event)
        assert table.administrative[j] == np.sum(here & y.administrative)
        assert table.dropouts[j] == np.sum(here & ~y.event & ~y.administrative)
    np.testing.assert_array_equal(y.time[y.order], np.sort(y.time))


def test_risk_table_keeps_every_bit_of_the_times():
    rng = np.random.default_rng(0)
    time = np.concatenate((rng.exponential(size=1000), [5e-324, 1.7e308, 0.0, 1e-310]))
    y = Survival(time, rng.random(time.size) < 0.5)
    np.testing.assert_array_equal(y.risk_table.times, np.sort(time))


def test_rows_can_be_taken():
    y = Survival(TIME, EVENT, [0, 0, 1, 0])
    part = y[[2, 2, 0]]
    np.testing.assert_array_equal(part.time, [3, 3, 5])
    np.testing.assert_array_equal(part.administrative, [True, True, False])
    assert len(y[y.event]) == 2
    assert repr(y) == "Survival(n=4, events=2, censored=50.0%, administrative=1, times 3 to 8)"
