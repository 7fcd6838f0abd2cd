import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cocensor import Survival
from tests.refusals import refuses

TIME, EVENT, ENDED = [5.0, 3.0, 3.0, 8.0, 9.0], [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]
WHY = [None, "moved away", "too ill", None, "moved away"]


@pytest.mark.parametrize(
    "reason",
    [
        WHY,
        tuple(WHY),
        [np.nan, " moved away", "too ill ", "the study ended", "moved away"],
        np.array(WHY, dtype=object),
        np.array(["", "moved away", "too ill", "", "moved away"]),
        pd.Series(WHY),
        pd.Series(WHY, dtype="category"),
        pl.Series(WHY),
        pa.chunked_array([WHY]),
    ],
    ids=lambda each: f"{type(each).__module__.split('.')[0]}-{getattr(each, 'dtype', type(each).__name__)}",
)
def test_a_text_for_each_dropout_and_none_for_others(reason):
    y = Survival(TIME, EVENT, ENDED, reason)
    assert y.reason.tolist() == WHY
    assert y.reasons == ("moved away", "too ill")


def test_codes_are_spelt():
    assert Survival([1, 2], [0, 0], reason=[1.0, 2]).reasons == ("1", "2")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, "", "  "])
def test_a_dropout_without_a_reason_is_refused(missing):
    refuses(lambda: Survival(TIME, EVENT, ENDED, [*WHY[:4], missing]), "reason", "row 4", "unknown")


@pytest.mark.parametrize("library", [pd.Series, pl.Series, lambda values: pa.chunked_array([values])])
def test_missing_in_a_column(library):
    refuses(lambda: Survival(TIME, EVENT, reason=library(WHY)), "reason", "row 3")


@pytest.mark.parametrize(
    ("reason", "parts"),
    [
        (WHY[:2], ("length 2",)),
        ("moved", ("str",)),
        ({"a": 1}, ("dict",)),
        (3, ("int",)),
        (np.array([WHY]), ("(1, 5)",)),
    ],
)
def test_what_is_no_column(reason, parts):
    refuses(lambda: Survival(TIME, EVENT, reason=reason), "reason", *parts)


def test_reasons_stay_with_their_subjects():
    y = Survival(TIME, EVENT, ENDED, WHY)
    assert y[[4, 2, 2, 0]].reason.tolist() == ["moved away", "too ill", "too ill", None]
    assert y[y.event].reasons == ()
    assert pickle.loads(pickle.dumps(y)).reason.tolist() == WHY
    assert Survival.coerce((TIME, EVENT, ENDED, WHY)).reason.tolist() == WHY
    with pytest.raises(ValueError, match="read-only"):
        y.reason[1] = "another"
    assert "reasons=2" in repr(y)
    assert "reasons" not in repr(Survival(TIME, EVENT, ENDED))


def test_subjects_are_the_same_whether_or_not_reasons_are_named():
    y = Survival(TIME, EVENT, ENDED, WHY)
    assert y.equals(Survival(TIME, EVENT, ENDED))
    assert not y.equals(Survival(TIME, EVENT, None, ["a"] * 5))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_reasons_from_a_frame(library):
    frame = library({"t": TIME, "e": EVENT, "end": ENDED, "why": WHY})
    y = Survival.from_frame(frame, time="t", event="e", administrative="end", reason="why")
    assert y.reason.tolist() == WHY
