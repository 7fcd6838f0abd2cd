"""Work in threads."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from cocensor._parallel import in_threads, one_core
from cocensor.curves import Predictions, checks


def test_jobs_of_a_job_start_no_threads_of_their_own():
    def job(stopped):
        [inner] = in_threads([lambda stopped: threading.current_thread()])
        return inner is threading.current_thread()

    assert in_threads([job, job], n_threads=2) == [True, True]


def test_what_the_caller_has_set_for_numpy_holds_in_threads():
    with np.errstate(over="raise"):
        assert in_threads([lambda stopped: np.geterr()["over"]] * 2, n_threads=2) == ["raise"] * 2


@pytest.mark.skipif(
    not any(each["user_api"] == "blas" for each in threadpool_info()), reason="no BLAS with threads"
)
def test_matrix_products_get_their_threads_back_with_the_last_that_took_them():
    def n_threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = n_threads()
    first, second = one_core(), one_core()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(n_threads()) == {1}  # the other is still at it
    second.__exit__(None, None, None)
    assert n_threads() == before


def test_of_curves_checked_in_threads_the_first_that_is_none_is_named(monkeypatch):
    monkeypatch.setattr(checks, "_WORTH_THREADS", 1)
    monkeypatch.setattr(checks, "_LOT_ROWS", 10)
    table = np.tile([0.9, 0.5, 0.1], (1000, 1))
    table[[123, 456], 1] = 0.95
    for order in "CF":
        with pytest.raises(ValueError, match="row 123 rises from 0.9 to 0.95 at time 2"):
            Predictions([1.0, 2.0, 3.0], np.array(table, order=order))
    table[[123, 456], 1] = 0.9 + 5e-7
    table[7, 0] = 1.0 + 1e-7
    for order in "CF":
        assert Predictions([1.0, 2.0, 3.0], np.array(table, order=order)).n_rounded == 1
