"""Parts are worked on in threads and merged in their order."""

import threading
import time

import numpy as np
import pytest

from cocensor import _parallel
from cocensor.scale.reduce import reduce_parts

VALUES = np.random.default_rng(1).normal(size=(23, 50))


def added(one, other):
    return one + other


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_same_sum_to_the_last_bit_however_many_threads(monkeypatch, cores):
    def work(part):
        time.sleep(0.002 * (part % 3))  # so that they end in another order
        return VALUES[part]

    monkeypatch.setattr(_parallel, "n_cores", lambda: cores)
    expected = VALUES[0].copy()
    for row in VALUES[1:]:
        expected += row
    np.testing.assert_array_equal(reduce_parts(work, range(23), added), expected)


def test_a_state_waits_unmerged_in_no_more_places_than_there_are_threads(monkeypatch):
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)
    held, most, lock = 0, 0, threading.Lock()

    def work(part):
        nonlocal held, most
        with lock:
            held += 1
            most = max(most, held)
        time.sleep(0.03 if part == 0 else 0.0)
        return 1

    def merge(one, other):
        nonlocal held
        with lock:
            held -= 1
        return one + other

    assert reduce_parts(work, range(12), merge) == 12
    assert most <= 3  # the sum, and one for each thread


def test_progress_is_told_at_the_start_and_after_each_part():
    told = []
    reduce_parts(float, range(3), added, progress=lambda *counts: told.append(counts))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_one_part_is_merged_with_nothing():
    assert reduce_parts(float, [7], None) == 7


def test_no_parts_are_refused():
    with pytest.raises(ValueError, match="parts"):
        reduce_parts(float, [], added)


def test_what_a_part_raises_comes_out_and_the_others_are_left(monkeypatch):
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)
    begun = []

    def work(part):
        begun.append(part)
        if part == 3:
            raise ValueError("c.parquet is broken")
        return part

    with pytest.raises(ValueError, match="c.parquet is broken"):
        reduce_parts(work, range(1000), added)
    assert len(begun) < 1000


def test_an_interruption_ends_the_work(monkeypatch):
    monkeypatch.setattr(_parallel, "n_cores", lambda: 2)

    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        reduce_parts(float, range(1000), added, progress=interrupt)
    assert set(threading.enumerate()) <= before


def test_threads_within_a_part_are_none_beyond_the_cores():
    assert reduce_parts(lambda part: _parallel.n_cores(), range(4), max) == 1
    assert _parallel.n_cores() >= 1
    with _parallel.one_core():
        assert _parallel.n_cores() == 1
