"""Hypothesis strategies and parameter lists that several tests share."""

import numpy as np
from hypothesis import strategies as st

import cocensor as cc

ARCHIMEDEAN = [
    f for f in cc.copulas.copula_families().values() if issubclass(f, cc.copulas.ArchimedeanCopula)
]


FAMILIES = tuple(cc.copulas.copula_families().values())


def members(families=FAMILIES, taus=(-0.99, -0.5, 0.0, 1e-6, 0.25, 0.5, 0.9, 0.99)):
    """Members of all families at the taus that each reaches."""
    result = []
    for family in families:
        lower, upper = family.tau_range
        result += [family.from_tau(tau) for tau in taus if tau == 0 or lower < tau < upper]
    return result


def member_id(copula):
    return f"{copula.name}-tau={copula.tau:.2g}"


@st.composite
def outcomes(draw, min_size=1, max_size=40, administrative=False, grid=8):
    """Outcomes with heavy ties: times on a coarse grid, any mix of events and censorings."""
    n = draw(st.integers(min_size, max_size))
    time = draw(st.lists(st.integers(0, grid), min_size=n, max_size=n))
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    if not administrative:
        return cc.Survival(np.array(time) / 2.0, event)
    ended = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))) & ~event
    return cc.Survival(np.array(time) / 2.0, event, ended)


@st.composite
def archimedean(draw):
    family = draw(st.sampled_from(ARCHIMEDEAN))
    lower, upper = family.tau_range
    if upper == 0:
        return family()
    tau = draw(st.floats(max(lower, -0.99) if lower < 0 else 0.0, 0.99))
    return family.from_tau(tau)


def cox_predictions(train, test, *columns):
    """What a Cox model of some columns of the training part predicts for the test part."""
    rows = list(columns)
    return cc.CoxPH().fit(train.X[:, rows], train.y).predict_survival_function(test.X[:, rows])
