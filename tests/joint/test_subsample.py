"""Fits to many subjects start from a fit to some of them, and end where others do."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.joint import fit as problems
from cocensor.joint.fit import JointProblem
from cocensor.simulate import SyntheticDesign

N = 3000


def problem(subsampled, monkeypatch, **settings):
    monkeypatch.setattr(problems, "_SUBSAMPLE", N // 4 if subsampled else 10**9)
    data = SyntheticDesign(n=N, n_features=3, copula=cc.Clayton.from_tau(0.4)).draw(4)
    design = cc.joint.design.Design(data.X, varying=(0, 2), **settings)
    found = JointProblem.of(design, data.y, margins="spline", penalty=0.01)
    assert (found._before is not None) == subsampled
    return found


@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton.from_tau(0.5), cc.Frank.from_tau(-0.2)])
def test_the_optimum_is_the_same(copula, monkeypatch):
    alone, scouted = (problem(subsampled, monkeypatch).margins_at(copula) for subsampled in (False, True))
    assert scouted.converged
    assert N * scouted.value == pytest.approx(N * alone.value, abs=1e-7)
    errors = np.sqrt(np.diag(np.linalg.inv(N * alone.at.hessian)))
    np.testing.assert_allclose((scouted.point - alone.point) / errors, 0.0, atol=1e-3)


def test_ridges_are_chosen_by_all_subjects(monkeypatch):
    shrunk = {"ridges": ("all",) * 3, "varying_ridge": "time"}
    alone, scouted = (problem(subsampled, monkeypatch, **shrunk) for subsampled in (False, True))
    before = scouted._before.ridge
    moved = [
        np.abs(np.log(each[each > 0] / alone.ridge[alone.ridge > 0])) for each in (scouted.ridge, before)
    ]
    assert (moved[0] < 0.1).all()
    assert moved[1].max() > 0.1


def test_a_start_that_bends_a_hazard_down_is_bent_less(monkeypatch):
    whole = problem(False, monkeypatch)
    point = whole.independence.point.copy()
    last = whole.likelihood.sizes[0] - 1
    point[last] = 3.0
    assert np.isneginf(whole.likelihood.barrier_at(point))
    found = problems.risen(whole.likelihood, point)
    assert np.isfinite(whole.likelihood.barrier_at(found))
    assert found[: last - 1] == pytest.approx(point[: last - 1])
