"""What time is called, how it is said, and how many are at risk."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.data.times import TimeAxis, shown_time
from tests.refusals import refuses


@pytest.mark.parametrize(
    ("name", "unit", "label"),
    [
        ("rfstime", "days", "rfstime (days)"),
        ("months", "months", "months"),
        ("Months", "months", "Months"),
        ("days", "months", "days (months)"),
        (None, "months", "months"),
        ("rfstime", None, "rfstime"),
        (None, None, "time"),
    ],
)
def test_an_axis_is_called_by_name_and_unit(name, unit, label):
    assert TimeAxis(name, unit).label == label


def test_a_time_is_said_with_its_unit():
    months, bare = TimeAxis("t", "months"), TimeAxis("t")
    assert (months.said(12.0), bare.said(12.0)) == ("12 months", "12")
    assert (months.named(12.0), bare.named(12.0)) == ("12 months", "time 12")
    assert (months.said(3.0, 6.5, 9.0), bare.said(3.0, 6.5)) == ("3, 6.5 and 9 months", "3 and 6.5")
    assert months.said(1.0) == "1 month"
    assert TimeAxis(unit="cycles").said(1.0) == "1 cycles"  # nobody knows the singular of any unit


@pytest.mark.parametrize(
    ("t", "shown"),
    [
        (15.8289, "15.83"),
        (9.78431, "9.784"),
        (10227.0, "10227"),
        (10226.7, "10227"),
        (0.0, "0"),
        (5e-7, "5e-07"),
    ],
)
def test_a_time_has_four_digits_and_whole_ones_all(t, shown):
    assert shown_time(t) == shown


@pytest.mark.parametrize("argument", ["time_name", "time_unit"])
@pytest.mark.parametrize(
    ("value", "part"), [(12, "int"), (["a"], "list"), (b"days", "bytes"), ("  ", "'  '")]
)
def test_names_and_units_are_texts(argument, value, part):
    def call():
        cc.evaluate({"m": np.ones((2, 2))}, ([1.0, 2.0], [1, 1]), times=[0.5, 1.0], **{argument: value})

    refuses(call, argument, part)


@pytest.mark.parametrize("unit", [None, "months"])
@pytest.mark.parametrize(
    "end", [1e-200, 1e-9, 0.3, 0.9, 1.0, 5.99, 15.83, 61.0, 365.0, 2659.0, 1e12, 1.7e308]
)
def test_marks_are_a_handful_of_round_times(unit, end):
    marks = np.array(TimeAxis(unit=unit).marks(0.0, end))
    steps = np.diff(marks)
    assert marks[0] == 0
    assert 3 <= marks.size <= 7
    assert 0 <= end - marks[-1] < steps[0] * (1 + 1e-9)
    np.testing.assert_allclose(steps, steps[0])
    assert len(f"{steps[0]:g}".replace(".", "").strip("0").split("e")[0].strip("0")) <= (2 if unit else 1)


def test_marks_of_months_are_parts_and_multiples_of_years():
    months = TimeAxis(unit="months")
    assert months.marks(0.0, 61.0) == [0.0, 12.0, 24.0, 36.0, 48.0, 60.0]
    assert months.marks(0.0, 15.83) == [0.0, 3.0, 6.0, 9.0, 12.0, 15.0]
    assert TimeAxis().marks(100.0, 102.0) == [100.0, 100.5, 101.0, 101.5, 102.0]
    assert TimeAxis().marks(2.0, 2.0) == [2.0]


@pytest.mark.parametrize("administrative", [None, [0, 0, 0, 1, 0, 1, 0, 0]])
def test_numbers_at_risk_are_a_count_of_times_not_before(administrative):
    y = cc.Survival([2, 2, 2, 3, 5, 5, 7, 7], [1, 0, 1, 0, 1, 0, 1, 0], administrative)
    t = np.array([0.0, 1.0, 2.0, 2.5, 3.0, 5.0, 6.0, 7.0, 7.5])
    found = y.risk_table.at_risk_at(t)
    np.testing.assert_array_equal(found, [(y.time >= each).sum() for each in t])
    assert (found[0], found[-1]) == (8, 0)


def test_weights_at_risk_add_up():
    y, weight = cc.Survival([1, 2, 2, 4], [1, 1, 0, 0]), np.array([0.5, 2.0, 0.0, 1.0])
    found = y.weighted_risk_table(weight).at_risk_at([0.0, 2.0, 3.0, 5.0])
    np.testing.assert_allclose(found, [3.5, 3.0, 1.0, 0.0])
