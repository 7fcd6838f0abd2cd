import matplotlib.pyplot as plt
import numpy as np

import cocensor as cc
from cocensor.views.plots import CurveDisplay


def test_the_drawing_shows_what_the_profile_holds():
    taus = np.array([-0.5, 0.0, 0.5])
    profile = cc.joint.DependenceProfile(
        {"frank": (taus, np.array([-120.0, -100.0, -97.0])), "joe": (taus[1:], np.array([-100.0, -99.0]))},
        independence=-100.0,
        n=50,
    )
    display = CurveDisplay.from_profile(profile)
    np.testing.assert_array_equal(display.panels[""].lines["frank"].y, [-23.0, -3.0, 0.0])
    ax = profile.plot()
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["joe"].get_ydata(), [-3.0, -2.0])
    bottom, top = ax.get_ylim()
    assert bottom < -3.0 < 0.0 < top
    assert ax.get_ylabel() == f"profile log-likelihood minus its maximum, cut at {bottom:.3g}"
    assert "above: fits as well as the best (95%)" in lines
    plt.close(ax.figure)


def test_what_is_drawn_whole_is_not_called_cut():
    profile = cc.joint.DependenceProfile(
        {"joe": (np.array([0.0, 0.5]), np.array([-3.0, 0.0]))}, independence=-3.0, n=50
    )
    ax = profile.plot()
    assert ax.get_ylabel() == "profile log-likelihood minus its maximum"
    plt.close(ax.figure)
