import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.views.plots import LatentTimesDisplay, OutcomesDisplay


def test_latent_times_show_who_is_seen():
    sample = SyntheticDesign(n=300, copula=cc.Clayton(2.0)).draw(0)
    ax = LatentTimesDisplay.from_simulation(sample).plot()
    assert ax.get_title() == "clayton, τ = 0.5"
    drawn = [len(points.get_offsets()) for points in ax.collections]
    assert drawn == [150, 150]
    plt.close(ax.figure)
    ended = SyntheticDesign(n=300, study_end=8.0, hidden=1.0).draw(0)
    display = LatentTimesDisplay.from_simulation(ended)
    assert display.event.sum() == ended.y.n_events
    assert display.end <= 12.0
    assert display.title.endswith("given the hidden covariate")


def test_outcomes_show_the_curve_over_the_counts():
    y = cc.Survival([1.0, 2.0, 2.5, 4.0], [1, 0, 1, 1])
    display = OutcomesDisplay.from_outcomes(y, n_bins=4)
    np.testing.assert_array_equal(display.events, [0, 1, 1, 1])
    np.testing.assert_array_equal(display.censored, [0, 0, 1, 0])
    ax = display.plot()
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata()[-2:], [0.0, 0.0])
    assert ax.get_title() == "n = 4, 25% censored"
    plt.close(ax.figure)
    nobody = OutcomesDisplay.from_outcomes(([1.0, 2.0], [0, 0]))
    np.testing.assert_array_equal(nobody.survival, [1.0, 1.0])
    with pytest.raises(ValueError, match="^n_bins .* 0"):
        OutcomesDisplay.from_outcomes(y, n_bins=0)
