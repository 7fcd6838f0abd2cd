"""Predictions are matched to the test subjects by labels where both have such, else by position."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from cocensor.data import Predictions
from cocensor.data.border import as_predictions
from tests.refusals import refuses

N, TIMES = 40, np.array([2.0, 4.0, 8.0])
RATE = np.linspace(0.02, 0.4, N)
TABLE = np.exp(-np.outer(RATE, TIMES))
SHUFFLED = np.random.default_rng(1).permutation(N)
SPLIT = np.random.default_rng(2).choice(200, N, replace=False)  # as train_test_split leaves an index
TEXTS = [f"p{k}" for k in SPLIT]
Y = np.random.default_rng(3).exponential(1 / RATE), np.ones(N, bool)
# The index of x_test, and that of a frame with the same rows in the same order.
INDEXES = {
    "split": SPLIT,
    "shuffled": SHUFFLED,
    "texts": TEXTS,
    "range": None,
    "from 400": range(400, 400 + N),
}


def frame(index):
    return pd.DataFrame(TABLE, index=index, columns=TIMES)


def x_with(index):
    return pd.DataFrame({"x": RATE}, index=index)


def scored(model, x, y=Y, metrics="ibs"):
    return cc.evaluate({"m": model}, y, x, adjustments="ipcw", metrics=metrics)


def how(result):
    return result.data.predictions["m"].matched, [
        note.text for note in result.notes if note.about.model == "m" and "test subjects by" in note.text
    ]


EXPECTED = scored((TIMES, TABLE), None).score("m").value


@pytest.mark.parametrize("turned", [False, True], ids=["row per subject", "column per subject"])
@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_a_sorted_frame_has_the_score_of_the_frame(index, turned):
    x, own = x_with(index), frame(index)
    order = np.random.default_rng(4).permutation(N)
    for given, expected in ((own, None), (own.sort_index(), "labels"), (own.iloc[order], "labels")):
        result = scored(given.T if turned else given, x)
        assert result.score("m").value == pytest.approx(EXPECTED, rel=1e-12)
        # A range that is sorted is what it was.
        in_order = given.index.equals(x.index)
        assert how(result)[0] == (None if in_order else expected)
        assert len(how(result)[1]) == (not in_order)


@pytest.mark.parametrize("index", ["split", "shuffled", "texts", "from 400"])
def test_a_frame_without_an_index_of_its_own_is_taken_by_position(index):
    result = scored(frame(None), x_with(INDEXES[index]))
    assert result.score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    matched, notes = how(result)
    assert matched == "position"
    assert "by position" in notes[0]


@pytest.mark.parametrize("x", [RATE[:, None], pl.DataFrame({"x": RATE}), None, x_with(None)])
def test_where_the_test_subjects_have_no_labels_frames_are_taken_by_position(x):
    for index in (SPLIT, TEXTS, None):
        assert scored(frame(index), x).score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    wide = pl.DataFrame(TABLE, schema=[str(t) for t in TIMES])
    assert scored(wide, x_with(SPLIT)).score("m").value == pytest.approx(EXPECTED, rel=1e-12)


def test_outcomes_have_labels_too():
    columns = pd.DataFrame({"t": Y[0], "e": Y[1]}, index=TEXTS)
    for y in (
        (columns["t"], columns["e"]),
        cc.Survival(columns["t"], columns["e"]),
        cc.Survival.from_frame(columns, time="t", event="e"),
        cc.Survival.from_frame(columns, time="t", event="e")[:],
        cc.Survival.from_follow_up(columns["t"], columns["e"], 1e6),
    ):
        for x in (None, RATE[:, None], x_with(None), x_with(TEXTS)):
            result = scored(frame(TEXTS).sort_index(), x, y)
            assert result.score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    turned = x_with(TEXTS).iloc[::-1]
    refuses(lambda: scored(frame(TEXTS), turned, (columns["t"], columns["e"])), "x_test", "y_test", "row 0")
    entry = pd.Series(["2018-01-01"] * N, index=TEXTS)
    assert list(cc.Survival.from_dates(entry, entry.to_numpy(), Y[1], "2020-01-01").labels) == TEXTS


def test_columns_of_the_same_subjects_in_another_order_are_refused():
    time, event, x = pd.Series(Y[0], TEXTS), pd.Series(Y[1], TEXTS), x_with(TEXTS)
    day = pd.Series(["2018-01-01"] * N, index=TEXTS)
    for made in (
        lambda: cc.Survival(time, event[::-1]),
        lambda: cc.Survival.from_follow_up(time, event[::-1], 1e6),
        lambda: cc.Survival.from_dates(day, day, event[::-1], "2020-01-01"),
    ):
        refuses(made, "event", "same order", "row 0")
    training = {"y_train": (time[::-1], event[::-1]), "x_train": x}
    refuses(
        lambda: cc.evaluate({"m": (TIMES, TABLE)}, (time, event), x, **training),
        "x_train",
        "y_train",
        "row 0",
    )


def test_risk_scores_and_pairs_with_an_index():
    x = x_with(TEXTS)
    risk = pd.Series(RATE, index=TEXTS)
    expected = scored(RATE, None, metrics="auc").score("m").value
    assert 0.5 < expected < 1
    for given in (risk, risk.sort_index(), risk.reset_index(drop=True)):
        found = scored(given, x, metrics="auc").score("m").value
        assert found == pytest.approx(expected, rel=1e-12)
    pair = scored((TIMES, frame(TEXTS).sort_index()), x)
    assert pair.score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    refuses(
        lambda: scored(pd.Series(RATE, index=[*TEXTS[1:], "q"]), x), "models['m']", "labels", f"{TEXTS[0]!r}"
    )


@pytest.mark.parametrize(
    ("index", "parts"),
    [
        ([*TEXTS[:-1], "q"], [f"none for {TEXTS[-1]!r}:"]),
        ([*TEXTS[:-2], "q", "r"], [f"none for {TEXTS[-2]!r} and 1 more:"]),
        ([*TEXTS[:-1], TEXTS[0]], [f"none for {TEXTS[-1]!r}:"]),
        ([f"q{k}" for k in range(N)], [f"none for {TEXTS[0]!r} and {N - 1} more:", "other subjects?"]),
    ],
)
def test_some_of_the_labels_are_refused(index, parts):
    for given in (frame(index), frame(index).T):
        if given.columns.is_unique:
            refuses(lambda given=given: scored(given, x_with(TEXTS)), "models['m']", "labels", *parts)


def test_labels_that_come_twice_identify_nobody():
    twice = [TEXTS[0], TEXTS[0], *TEXTS[2:]]
    assert scored(frame(twice), x_with(twice)).score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    refuses(lambda: scored(frame(twice).iloc[::-1], x_with(twice)), "models['m']", "comes twice")


def test_numbers_in_the_header_of_a_file_are_texts():
    x = x_with(SPLIT)
    read = frame(SPLIT).sort_index().T
    read.columns = read.columns.astype(str)
    assert scored(read, x).score("m").value == pytest.approx(EXPECTED, rel=1e-12)


def test_a_score_function_warns_where_it_reorders():
    x, mixed = x_with(TEXTS), frame(TEXTS).sort_index()
    expected = cc.brier_score(None, Y, (TIMES, TABLE), 4.0)
    with pytest.warns(cc.warnings.PredictionWarning, match="order of the test subjects"):
        found = cc.brier_score(None, Y, mixed, 4.0, x_test=x)
    assert found == pytest.approx(expected, rel=1e-12)
    assert cc.brier_score(None, Y, frame(None), 4.0, x_test=x) == pytest.approx(expected, rel=1e-12)


def test_chunks_match_by_labels_as_well():
    halves = [slice(0, 20), slice(20, N)]
    x, own = x_with(TEXTS), frame(TEXTS)
    y = cc.Survival(*Y)
    scan = cc.scale.scan_chunks(
        [({"m": own.iloc[part].sort_index()}, y[part], x.iloc[part]) for part in halves]
    )
    found = scan.evaluate(adjustments="ipcw", metrics="ibs")
    assert found.score("m").value == pytest.approx(EXPECTED, rel=1e-12)
    assert [note.text for note in scan.notes if "by their labels" in note.text]


def test_from_frame_takes_labels():
    sorted_frame = frame(TEXTS).sort_index()
    for given in (sorted_frame, sorted_frame.T):
        curves = Predictions.from_frame(given, N, labels=TEXTS, interpolation="step")
        np.testing.assert_array_equal(curves.probabilities, TABLE)
    np.testing.assert_array_equal(as_predictions(sorted_frame, N).probabilities, sorted_frame.to_numpy())
    by_time = sorted_frame.T.reset_index(names="time")
    for given in (by_time, pl.from_pandas(by_time), pa.Table.from_pandas(by_time, preserve_index=False)):
        curves = Predictions.from_frame(given, N, time="time", labels=TEXTS)
        np.testing.assert_array_equal(curves.probabilities, TABLE)
