"""Work in threads."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import cocensor as cc
from cocensor._cached import cached_property
from cocensor._parallel import in_threads, one_core
from cocensor.data import Predictions
from cocensor.simulate import SyntheticDesign

has_blas = pytest.mark.skipif(
    not any(each["user_api"] == "blas" for each in threadpool_info()), reason="no BLAS with threads"
)
DATA = SyntheticDesign(n=300, n_features=3).draw(0)
HORIZON = float(np.quantile(DATA.y.time, 0.7))
CURVES = np.exp(-np.outer(np.exp(DATA.X @ [0.3, 0.2, 0.1]), np.linspace(0.1, 1.0, 9)))
MODELS = {"all": (np.linspace(0.1, 1.0, 9) * HORIZON, CURVES)}


def n_blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_jobs_of_a_job_start_no_threads_of_their_own():
    def job(stopped):
        [inner] = in_threads([lambda stopped: threading.current_thread()])
        return inner is threading.current_thread()

    assert in_threads([job, job], n_threads=2) == [True, True]


def test_what_the_caller_has_set_for_numpy_holds_in_threads():
    with np.errstate(over="raise"):
        assert in_threads([lambda stopped: np.geterr()["over"]] * 2, n_threads=2) == ["raise"] * 2


def test_threads_do_not_wait_for_the_cached_properties_of_other_instances():
    class Slow:
        @cached_property
        def met(self):
            both.wait(60)  # for the other thread to come here too
            return object()

    both, instances = threading.Barrier(2), [Slow(), Slow()]
    first, second = in_threads([lambda stopped, each=each: each.met for each in instances], n_threads=2)
    assert first is instances[0].met
    assert second is instances[1].met
    assert first is not second


def test_threads_that_ask_one_instance_at_once_get_the_same():
    class Slow:
        @cached_property
        def met(self):
            both.wait(60)
            return object()

    both, instance = threading.Barrier(2), Slow()
    first, second = in_threads([lambda stopped: instance.met] * 2, n_threads=2)
    assert first is second is instance.met


def evaluated():
    return cc.evaluate(MODELS, DATA.y, DATA.X)


@has_blas
@pytest.mark.parametrize(
    "call",
    [
        evaluated,
        lambda: cc.fit_joint(DATA.X, DATA.y, cc.Clayton(1.0)),
        lambda: cc.select_copula(DATA.X, DATA.y, families=("clayton",), folds=2),
        lambda: cc.CoxPH().fit(DATA.X, DATA.y),
        lambda: cc.Imputation("covariates", cc.Clayton(1.0)).fit(DATA.y, DATA.X),
        lambda: cc.plausible_tau(DATA.X, DATA.y),
        lambda: cc.integrated_brier_score(
            DATA.y,
            DATA.y,
            CURVES,
            MODELS["all"][0],
            adjustment="imputation",
            x_test=DATA.X,
            return_influence=True,
        ),
    ],
)
def test_fits_keep_to_one_blas_thread(monkeypatch, call):
    seen = set()

    def watched(name):
        original = getattr(np.linalg, name)

        def counted(*args, **options):
            seen.update(n_blas_threads())
            return original(*args, **options)

        monkeypatch.setattr(np.linalg, name, counted)

    for name in ("cholesky", "eigh", "inv", "pinv", "qr", "solve"):
        watched(name)
    with threadpool_limits(2, user_api="blas"):
        call()
        assert n_blas_threads() == {2}
    assert seen == {1}


@has_blas
@pytest.mark.parametrize("analysis", ["sensitivity", "benchmarks", "suggest_copula"])
def test_analyses_of_an_evaluation_keep_to_one_blas_thread(monkeypatch, analysis):
    result = evaluated()
    options = {"families": ["frank"], "taus": [0.0, 0.2]} if analysis == "sensitivity" else {}
    test_fits_keep_to_one_blas_thread(monkeypatch, lambda: getattr(result, analysis)(**options))


@has_blas
def test_matrix_products_get_their_threads_back_with_the_last_that_took_them():
    with threadpool_limits(2, user_api="blas"):
        first, second = one_core(), one_core()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert n_blas_threads() == {1}  # the other is still at it
        second.__exit__(None, None, None)
        assert n_blas_threads() == {2}


def test_of_curves_checked_in_threads_the_first_that_is_none_is_named(monkeypatch):
    table = np.tile([0.9, 0.5, 0.1], (1000, 1))
    table[[123, 456], 1] = 0.95
    for order in "CF":
        with pytest.raises(ValueError, match="row 123 rises from 0.9 to 0.95 at time 2"):
            Predictions([1.0, 2.0, 3.0], np.array(table, order=order))
    table[[123, 456], 1] = 0.9 + 5e-7
    table[7, 0] = 1.0 + 1e-7
    for order in "CF":
        assert Predictions([1.0, 2.0, 3.0], np.array(table, order=order)).n_rounded == 1
