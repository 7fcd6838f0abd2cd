"""Who is drawn: by hash, whatever the batches and their order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import cocensor as cc
from cocensor.data.covariates import Covariates
from cocensor.data.predictions import RiskScores
from cocensor.scale.files import hashed_texts
from cocensor.scale.passes import Drawn
from cocensor.scale.scan import Batch, hashed


def numbered(n, first=0):
    rows = np.arange(first, first + n)
    y = cc.Survival(1.0 + rows, rows % 2)
    curves = cc.Predictions([1.0, 2.0], np.column_stack([1 / (1 + rows), 0.5 / (1 + rows)]), tail="last")
    return Batch(rows, y, Covariates(rows[:, None] * 2.0), {"cox": curves, "risk": risk(rows)}, hashed(rows))


def risk(rows):
    return RiskScores(-1.0 * rows)


def text_keys(texts):
    content = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, content)])
    return hashed_texts(offsets, np.frombuffer(b"".join(content), dtype=np.uint8))


def test_hash_is_the_published_splitmix64():
    # Its first values from the seed 1234567, as in the test data of Steele, Lea and Flood's generator.
    golden, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    z = (1234567 + golden) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    assert z ^ (z >> 31) == 6457827717110365317
    # Row k has the value k + 1 of the generator seeded with 0.
    assert hashed(np.array([0, 1, 2, 3])).tolist() == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
        0xF88BB8A8724C81EC,
    ]


def test_hash_of_a_number_does_not_depend_on_its_type():
    numbers = np.array([0, 1, 200, 77])
    for kind in (np.uint8, np.int16, np.int32, np.uint64):
        assert np.array_equal(hashed(numbers.astype(kind)), hashed(numbers))


def test_texts_have_the_same_hash_beside_any_others():
    texts = ["a", "", "subject-000001", "subject-000002", "日本語", "a\0", "x" * 100]
    together = text_keys(texts)
    assert len(set(together.tolist())) == len(texts)
    assert together.tolist() == [int(text_keys([text])[0]) for text in texts]
    assert text_keys(texts[::-1]).tolist() == together[::-1].tolist()
    # Pinned: the same on every machine and in every version.
    assert f"{text_keys(['subject-000001'])[0]:016x}" == "8a656ad5f8b34ff6"


@pytest.mark.parametrize(
    "make", [lambda n: hashed(np.arange(n)), lambda n: text_keys(list(map(str, range(n))))]
)
def test_draws_are_uniform_over_rows(make):
    n, k = 200_000, 20_000
    drawn = np.argsort(make(n))[:k]
    counts = np.bincount(drawn * 100 // n, minlength=100)
    assert chisquare(counts).pvalue > 1e-3
    bits = np.unpackbits(make(n).view(np.uint8)).reshape(n, 64).sum(0)
    assert np.abs(bits - n / 2).max() < 5 * np.sqrt(n / 4)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 450), st.lists(st.integers(1, 399), max_size=6), st.randoms())
def test_draw_depends_on_nothing_but_the_keys(n, k, cuts, random):
    whole = numbered(n)
    bounds = sorted({0, n, *(cut for cut in cuts if cut < n)})
    pieces = [whole[start:stop] for start, stop in pairwise(bounds)]
    random.shuffle(pieces)
    workers = [Drawn(k, n) for _ in range(3)]
    for j, piece in enumerate(pieces):
        workers[j % 3].update(piece)
    for worker in workers[1:]:
        workers[0].merge(worker)
    drawn = workers[0].result()
    expected = np.sort(np.argsort(whole.key)[:k])
    assert np.array_equal(drawn.rows, expected)
    assert np.array_equal(drawn.y.time, 1.0 + expected)
    assert np.array_equal(drawn.x[:, 0], 2.0 * expected)
    assert np.array_equal(drawn.predictions["cox"].probabilities[:, 0], 1 / (1 + expected))
    assert np.array_equal(drawn.predictions["risk"].risk, -1.0 * expected)
    assert drawn.predictions["cox"].tail == "last"


def test_little_more_than_what_is_drawn_is_held():
    drawn = Drawn(1000, 100_000)
    for first in range(0, 100_000, 5000):
        drawn.update(numbered(5000, first))
    assert sum(map(len, drawn._held)) < 1500
    assert len(drawn.result()) == 1000


def test_equal_keys_are_told_apart_by_row_number():
    batch = numbered(6)
    same = Batch(batch.rows, batch.y, batch.x, batch.predictions, np.full(6, 7, dtype=np.uint64))
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]):
        drawn = Drawn(2, 6)
        for row in order:
            drawn.update(same[np.array([row])])
        assert drawn.result().rows.tolist() == [0, 1]


def test_nothing_to_draw_from_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        Drawn(2, 5).result()
