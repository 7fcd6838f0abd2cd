"""Refusals that say what the numbers may be."""

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.data.border import as_predictions

TIMES = np.arange(1.0, 22.0)
CURVES = np.exp(-np.outer(np.linspace(0.01, 0.1, 95), TIMES))


def refused(estimate, **how):
    return said_of(lambda: as_predictions(estimate, len(CURVES), **how))


def said_of(call):
    with pytest.raises(ValueError, match=r"must|transposed") as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("kind", ["pair", "array", "frame", "predictions"])
@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (100 * CURVES, "in percent? divide by 100."),
        (1 - CURVES, "are these risks? give 1 − risk; cumulative hazards H? give exp(−H)."),
        (-np.log(CURVES), "they look like cumulative hazards H, which rise: give S = exp(−H)."),
        (100 - 100 * CURVES, "in percent? divide by 100."),
        (-CURVES, None),
        (1000 * CURVES, None),
        (CURVES[:, [1, 0, *range(2, 21)]], None),
    ],
)
def test_numbers_that_are_no_survival(values, hint, kind):
    if kind == "predictions":
        said = said_of(lambda: cc.Predictions(TIMES, values))
    elif kind == "array":
        said = refused(values, times=TIMES)
    else:
        said = refused((TIMES, values) if kind == "pair" else pd.DataFrame(values, columns=TIMES))
    assert said.endswith(hint) if hint is not None else "?" not in said


def test_rows_and_columns_that_are_swapped():
    turned, n, m = CURVES.T, len(CURVES), len(TIMES)
    assert f"{m} rows and {n} columns for {n} test subjects: transposed?" in refused(turned, times=TIMES)
    assert "transposed?" in refused((TIMES, turned))
    frame = pd.DataFrame(turned, index=[f"t{k}" for k in range(m)], columns=[f"s{k}" for k in range(n)])
    assert f"{m} rows and {n} columns for {n} test subjects: transposed?" in refused(frame)
    assert "transposed?" not in refused(CURVES[:, :5], times=TIMES)
    assert "transposed?" not in refused((TIMES, CURVES[:, :5]))
