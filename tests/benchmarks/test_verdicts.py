"""The study of verdicts counts right and wrong winners."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.verdicts import KINDS, counts, limit, population, rows_of


def test_a_winner_is_right_where_its_true_score_is_lower():
    of_pair = {"n": 500, "tau": 0.1, "margin": 0.01, "equivalent": 0}
    rows = [
        of_pair | {"truth": -0.02} | dict.fromkeys(KINDS, 1),
        of_pair | {"truth": 0.02} | dict.fromkeys(KINDS, 1),
    ]
    rows += [of_pair | {"truth": 0.02, "equivalent": 1} | dict.fromkeys(KINDS, 0)]
    [cell] = counts(pd.DataFrame(rows)).to_dict("records")
    assert (cell["pairs"], cell["equivalent"], cell["equivalent wrong"]) == (3, 1, 1)
    assert all((cell[f"{kind} right"], cell[f"{kind} wrong"]) == (1, 1) for kind in KINDS)


def test_the_limit_shrinks_towards_two_and_a_half_per_cent():
    assert limit(400) == pytest.approx(2.5 + 200 * np.sqrt(0.025 * 0.975 / 400))
    assert limit(1e9) == pytest.approx(2.5, abs=1e-2)


def test_the_population_has_falling_true_curves():
    _, curves = population("linear")
    assert (np.diff(curves, axis=1) <= 1e-12).all()
    assert curves[:, 0].min() > 0.9
    assert curves[:, -1].max() < 0.1


@pytest.mark.slow
def test_a_unit_has_a_row_for_each_pair():
    rows = pd.DataFrame(list(rows_of({"law": "linear", "tau": 0.2, "n": 500, "seed": 0})))
    assert len(rows) == 15
    apart = rows[rows["truth"].abs() > 0.03]  # a Cox model of two of four covariates against others
    assert (apart["settled"] * apart["truth"] <= 0).all()
    assert (apart["settled"] != 0).any()
