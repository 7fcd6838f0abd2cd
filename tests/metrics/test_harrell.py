"""Harrell's concordance against other packages."""

import warnings

import numpy as np
import pytest

import cocensor as cc
from tests.metrics.ranked import data_set, drawn
from tests.refusals import refuses


@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.CensoringWarning"
)  # that it depends on the censoring is known
@pytest.mark.parametrize("tied", [False, True])
def test_harrells_of_scikit_survival_and_lifelines(tied):
    from lifelines.utils import concordance_index
    from sksurv.metrics import concordance_index_censored

    rng = np.random.default_rng(10)
    for n in (2, 3, 10, 37, 200):
        for _ in range(10):
            y, _, x, _ = drawn(rng, n, tied)
            time = np.ceil(4 * y.time) if tied else y.time
            later = (time[:, None] < time) | ((time[:, None] == time) & ~y.event)
            if not (y.event[:, None] & later).any():
                refuses(lambda y=y, time=time, x=x: cc.harrell_concordance((time, y.event), x), "y", "pair")
                continue
            found = cc.harrell_concordance((time, y.event), x)
            expected = concordance_index_censored(y.event, time, x)[0]
            assert found == pytest.approx(expected, abs=1e-14)
            assert found == pytest.approx(concordance_index(time, -x, y.event), abs=1e-14)


@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.CensoringWarning"
)  # that it depends on the censoring is known
@pytest.mark.parametrize("name", ["whas500", "gbsg2", "veterans_lung_cancer"])
def test_harrells_on_real_data(name):
    from sksurv.metrics import concordance_index_censored

    event, time, numbers = data_set(name)
    for risk in numbers.T:
        expected = concordance_index_censored(event, time, risk)[0]
        assert cc.harrell_concordance((time, event), risk) == pytest.approx(expected, abs=1e-14)


def test_harrells_warns_of_censoring_and_says_what_it_needs():
    with pytest.warns(cc.warnings.CensoringWarning, match="1 of 3"):
        cc.harrell_concordance(([1.0, 2.0, 3.0], [1, 0, 1]), [3.0, 2.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        assert cc.harrell_concordance(([1.0, 2.0, 3.0], [1, 1, 1]), [3.0, 2.0, 1.0]) == 1.0
    assert not caught
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), [1.0]), "estimate", "1")
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), np.ones((2, 3))), "estimate", "(2, 3)")
    refuses(lambda: cc.harrell_concordance(([1.0, 2.0], [1, 1]), [np.nan, 1.0]), "estimate", "nan")
