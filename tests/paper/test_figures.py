"""What the figures of the paper show of simulated samples."""

import numpy as np
from matplotlib.figure import Figure

import cocensor as cc
from cocensor.paper.copula_scatter import _scatter
from cocensor.paper.semi_synthetic import _draw_outcomes


def test_outcomes_are_a_curve_over_counts():
    ax = Figure().subplots()
    _draw_outcomes(ax, cc.Survival([1.0, 2.0, 2.5, 4.0], [1, 0, 1, 1]), n_bins=4)
    bars = ax.figure.axes[1]
    heights = [bar.get_height() for bar in bars.patches]
    assert (heights[:4], heights[4:]) == (
        [0, 1, 1, 1],
        [0, 0, 1, 0],
    )  # events, and those censored on top of them
    assert [bar.get_y() for bar in bars.patches[4:]] == heights[:4]
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), [1.0, 0.75, 0.75, 0.375, 0.0])
    _draw_outcomes(ax, cc.Survival([1.0, 2.0], [0, 0]))
    np.testing.assert_array_equal(ax.get_lines()[-1].get_ydata(), 1.0)


def test_pairs_of_times_are_told_apart_by_what_a_study_sees():
    ax = Figure().subplots()
    e, c = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])
    _scatter(ax, e, c, 4.0)
    assert [points.get_offsets().tolist() for points in ax.collections] == [[[1, 2], [3, 3]], [[2, 1]]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["event seen (67%)", "censored (33%)"]
