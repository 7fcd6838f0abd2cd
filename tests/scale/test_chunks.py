"""Chunks in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.scale.scan import Batch, hashed
from tests.refusals import refuses

TIMES = [1.0, 2.0, 3.0]


def chunk(n, seed=0, x=True, **options):
    rng = np.random.default_rng(seed)
    curves = np.sort(rng.random((n, 3)), axis=1)[:, ::-1]
    models = {"cox": cc.Predictions(TIMES, curves, **options), "score": rng.normal(size=n)}
    y = cc.Survival(rng.exponential(2.0, n), rng.random(n) < 0.5)
    return (models, y, rng.normal(size=(n, 2))) if x else (models, y)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_chunks_come_back_in_batches(monkeypatch, order, dtype):
    monkeypatch.setattr("cocensor.scale.scan._FEWEST", 4)
    monkeypatch.setattr("cocensor.scale.scan._BATCH_VALUES", 12)
    made = [chunk(n, seed=n) for n in (10, 1, 5)]
    given = [
        (
            {
                "cox": (TIMES, models["cox"].probabilities.astype(dtype, order=order)),
                "score": models["score"],
            },
            y,
            x,
        )
        for models, y, x in made
    ]
    scan = cc.scale.scan_chunks(given)
    for each in (scan, pickle.loads(pickle.dumps(scan))):
        batches = [batch for part in each.parts for batch in each.batches(part)]
        assert [len(batch) for batch in batches] == [4, 4, 2, 1, 4, 1]
        got = Batch.joined(batches)
        assert got.rows.tolist() == list(range(16))
        assert np.array_equal(got.key, hashed(np.arange(16)))
        table = np.concatenate([models["cox"][1] for models, _, _ in given])
        assert got.predictions["cox"].probabilities.dtype == dtype
        assert np.array_equal(got.predictions["cox"].probabilities, table)
        assert np.array_equal(
            got.predictions["score"].risk, np.concatenate([m["score"] for m, _, _ in given])
        )
        assert np.array_equal(got.y.time, np.concatenate([y.time for _, y, _ in given]))
        assert np.array_equal(got.x, np.concatenate([x for _, _, x in given]))
    assert scan.n == 16
    assert scan.covariates == ("x0", "x1")
    assert scan.grid("cox").tolist() == TIMES
    assert scan.grid("score") is None


def test_some_columns_of_some_models():
    scan = cc.scale.scan_chunks([chunk(6, tail="last")])
    (batch,) = scan.batches(scan.parts[0], {"cox": np.array([0, 2])})
    assert list(batch.predictions) == ["cox"]
    assert batch.predictions["cox"].times.tolist() == [1.0, 3.0]
    assert batch.predictions["cox"].tail == "last"
    (batch,) = scan.batches(scan.parts[0], {})
    assert batch.predictions == {}


def test_predictions_are_not_copied():
    models, y = chunk(50, x=False)
    scan = cc.scale.scan_chunks([(models, y)])
    (batch,) = scan.batches(scan.parts[0])
    assert np.shares_memory(batch.predictions["cox"].probabilities, models["cox"].probabilities)


def test_categories_of_all_chunks_are_read_as_they_are():
    frames = [
        pd.DataFrame({"site": sites, "age": range(len(sites))}) for sites in (["b", "a"], ["c", "b", "b"])
    ]
    scan = cc.scale.scan_chunks([(*chunk(len(frame), x=False), frame) for frame in frames])
    x = np.concatenate([batch.x for part in scan.parts for batch in scan.batches(part, {})])
    assert scan.covariates == ("site", "age")
    assert x.tolist() == [["b", 0], ["a", 1], ["c", 0], ["b", 1], ["b", 2]]


def test_chunks_that_do_not_fit_together_are_named():
    first = chunk(4)
    models, y, x = chunk(3, seed=1)
    refuses(lambda: cc.scale.scan_chunks([]), "chunks", "empty")
    refuses(lambda: cc.scale.scan_chunks(first), "chunks[0]", "dict")
    refuses(lambda: cc.scale.scan_chunks({"cox": 1}), "chunks", "dict")
    refuses(lambda: cc.scale.scan_chunks([first, (models, y)]), "chunks[1]", "covariates")
    refuses(lambda: cc.scale.scan_chunks([first, ({"cox": models["cox"]}, y, x)]), "chunks[1]", "'score'")
    other = cc.Predictions([1.0, 2.5], models["cox"].probabilities[:, :2])
    refuses(
        lambda: cc.scale.scan_chunks([first, (models | {"cox": other}, y, x)]),
        "chunks[1]",
        "times of 'cox'",
        "2.5",
    )
    refuses(
        lambda: cc.scale.scan_chunks([first, (models | {"cox": models["score"]}, y, x)]),
        "chunks[1]",
        "a risk score",
    )
    refuses(lambda: cc.scale.scan_chunks([first, chunk(3, tail="zero")]), "chunks[1]", "tail", "'zero'")
    refuses(
        lambda: cc.scale.scan_chunks([first, chunk(3, interpolation="step")]),
        "chunks[1]",
        "interpolation",
        "'step'",
    )
    ended = cc.Survival(y.time, y.event, ~y.event)
    refuses(lambda: cc.scale.scan_chunks([first, (models, ended, x)]), "chunks[1]", "administrative")
    refuses(lambda: cc.scale.scan_chunks([first, (models, y, x[:2])]), "chunks[1]", "length 2")
    refuses(lambda: cc.scale.scan_chunks([first, (models, y, x[:, :1])]), "chunks[1]")
    refuses(
        lambda: cc.scale.scan_chunks([first, (models | {"cox": (TIMES, np.full((3, 3), 7.0))}, y, x)]),
        "chunks[1]",
        "7.0",
    )
    refuses(lambda: cc.scale.scan_chunks([({}, y, x)]), "chunks[0]", "no models")
    refuses(lambda: cc.scale.scan_chunks([(models, [1.0, 2.0], x)]), "chunks[0]")
