"""Fits to many subjects start from where a fit to some of them has ended: from there it is a few steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cocensor._checks import FloatArray
from cocensor.joint.likelihood import Likelihood
from cocensor.joint.margins import informative
from cocensor.joint.predictors import Drift, Standardised

if TYPE_CHECKING:
    from cocensor.joint.problem import JointProblem

# About so many go first, of at least twice as many subjects.
_SCOUTS = 25_000
# They have so many events, and dropouts, for each parameter.
_FEWEST = 20
# How much of the changes with time is tried.
_SHARES = (1.0, 0.9, 0.7, 0.4, 0.0)


def scouts_of(problem: JointProblem, barrier: float) -> JointProblem | None:
    """The same problem for some of its subjects, with the same parameters; None where that is no help."""
    every = len(problem.sample) // _SCOUTS
    if problem.included is not None or problem.sample_weight is not None or every < 2:
        return None
    rows = np.arange(0, len(problem.sample), every)
    sample, design = problem.sample[rows], problem.design[rows]
    y = sample[np.flatnonzero(informative(sample.time))]
    for basis, happened in zip(problem.bases, (y.event, y.dropout), strict=True):
        if basis.present and happened.sum() < _FEWEST * (basis.size + len(design.ridge_of_effects)):
            return None
    Z = Standardised(design.matrix, problem.centre, problem.scale)
    likelihood = Likelihood(sample, Z, problem.bases, problem.ends, barrier, problem.drift)
    return replace(problem, sample=sample, y=y, design=design, likelihood=likelihood)


def risen(likelihood: Likelihood, drift: Drift | None, point: FloatArray) -> FloatArray:
    """Parameters with as much of the changes of effects with time as leaves the hazards of all subjects rising."""
    if drift is None:
        return point
    n_drifts = len(drift.varying)
    changes = np.concatenate([np.arange(size) >= size - n_drifts for size in likelihood.sizes])
    tried = (np.where(changes, share, 1.0) * point for share in _SHARES)
    return next((each for each in tried if np.isfinite(likelihood.barrier_at(each))), point)
