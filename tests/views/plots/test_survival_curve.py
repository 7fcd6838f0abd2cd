import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.views.plots import CurveDisplay
from tests.views.plots.reading import drawn

Y = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])


def test_what_is_drawn_is_what_was_estimated():
    estimators = {"km": cc.KaplanMeier().fit(Y), "cg": cc.CopulaGraphic(cc.Clayton(2.0)).fit(Y)}
    display = CurveDisplay.from_estimators(estimators, truth=lambda t: np.exp(-t / 9))
    ax = display.plot()
    truth, *lines = drawn(ax).values()
    np.testing.assert_allclose(truth.get_ydata(), np.exp(-truth.get_xdata() / 9))
    for line, estimator in zip(lines, estimators.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), estimator.predict(line.get_xdata()))
        assert line.get_xdata()[-1] == 13
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["truth", "km", "cg", "95% interval"]
    assert len({line.get_linestyle() for line in lines}) == 2  # told apart without colour
    plt.close(ax.figure)


def test_draws_into_given_axes():
    figure, ax = plt.subplots()
    assert CurveDisplay.from_estimators({"km": cc.KaplanMeier().fit(Y)}).plot(ax) is ax
    plt.close(figure)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="^estimators .*empty"):
        CurveDisplay.from_estimators({})
    with pytest.raises(ValueError, match="^estimators .*'km'"):
        CurveDisplay.from_estimators({"km": cc.KaplanMeier()})
