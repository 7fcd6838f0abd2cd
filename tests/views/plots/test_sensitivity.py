from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import MetricValue
from cocensor.views.plots import CurveDisplay
from tests.views.plots.reading import at_ends, best_along, drawn

TAUS = [0.0, 0.4, 0.8]
TIMES = [0.4, 0.8, 1.2]


class Hope(cc.metrics.Metric):
    """The mean prediction, of which greater is called better."""

    name, label, direction, range = "hope", "hope", "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        read = {name: each.read(status.grid.sorted, slice(None)) for name, each in predictions.items()}
        return {name: MetricValue(float(values.mean())) for name, values in read.items()}


@pytest.fixture(scope="module")
def sensitivity():
    """Of two curves for everybody: the more pessimistic one is the better, the more dropouts foretell the event."""
    u, v = cc.Clayton.from_tau(0.5).sample(400, 0).T
    y = cc.Survival.from_latent(-np.log(u), -np.log(v))
    times = np.array(TIMES)
    models = {"hopeful": np.tile(np.exp(-times / 1.5), (400, 1)), "grim": np.tile(np.exp(-times), (400, 1))}
    names = ("ipcw", "cg_q", "imputation_margins")
    metrics = ("ibs", cc.metric("ils", floor=0.01))
    found = cc.evaluate(models, y, adjustments=names, metrics=metrics, times=times, copula=cc.Clayton(2.0))
    return found.sensitivity(("clayton", "frank", "gaussian"), TAUS)


def test_a_panel_shows_the_scores_of_its_family_along_tau(sensitivity):
    ax = CurveDisplay.from_sensitivity(sensitivity, "ils", "imputation_margins", "frank").plot()
    table = sensitivity.table().set_index(["metric", "adjustment", "family", "model"]).sort_index()
    for model in ("hopeful", "grim"):
        line = drawn(ax)[model]
        rows = table.loc[("ils", "imputation_margins", "frank", model)]
        np.testing.assert_array_equal(line.get_xdata(), rows["tau"])
        np.testing.assert_array_equal(line.get_ydata(), rows["score"])
    assert ax.get_title() == "Imputation from margins, Frank"
    assert ax.get_ylabel() == "integrated log score"
    assert drawn(ax)["hopeful"].get_linestyle() != drawn(ax)["grim"].get_linestyle()
    plt.close(ax.figure)


def test_the_best_model_and_where_it_changes_are_marked(sensitivity):
    display = CurveDisplay.from_sensitivity(sensitivity, adjustment="imputation_margins", family="clayton")
    panel = display.panels["clayton"]
    changes = sensitivity.over_tau.changes(adjustment="imputation_margins")
    (change,) = (each for each in changes if each.family == "clayton")
    assert (change.before, change.after) == ("hopeful", "grim")
    assert [guide.x for guide in panel.guides] == [change.at]
    best = best_along(panel)
    assert best[0][0] == "hopeful"
    assert best[-1][0] == "grim"
    ax = display.plot()
    assert any(list(line.get_xdata()) == [change.at, change.at] for line in ax.get_lines())
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(at_ends(ax)) == {"hopeful", "grim"}
    assert legend[0].startswith("no significant difference from the best")
    plt.close(ax.figure)


def test_all_equally_good_models_are_marked():
    y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    models = {"same": np.full((4, 2), 0.5), "twin": np.full((4, 2), 0.5)}
    found = cc.evaluate(
        models, y, adjustments="cg_q", times=[1.0, 2.0], copula=cc.Clayton(2.0), metrics="ibs"
    )
    ax = found.sensitivity("clayton", [0.0, 0.4]).plot()
    marked = [line for line in ax.get_lines() if line.get_markersize() == 6.5 and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in marked] == [[0.0, 0.4], [0.0, 0.4]]
    assert len({line.get_color() for line in marked}) == 2
    plt.close(ax.figure)


def test_ipcw_is_marked_at_independence(sensitivity):
    ax = CurveDisplay.from_sensitivity(sensitivity, family="frank").plot()
    ticks = [line for line in ax.get_lines() if line.get_marker() == "_" and len(line.get_xdata())]
    found = sensitivity.evaluation
    assert [line.get_ydata()[0] for line in ticks] == [
        found.score(model, adjustment="ipcw").value for model in found.models
    ]
    assert all(line.get_xdata()[0] == 0.0 for line in ticks)
    colours = [drawn(ax)[model].get_color() for model in found.models]
    assert [tick.get_color() for tick in ticks] == colours
    plt.close(ax.figure)


def test_marginal_weights_are_shown_rather_than_those_given_covariates(sensitivity):
    evaluation = sensitivity.evaluation
    cox = replace(
        evaluation.results["ipcw"],
        adjustment=cc.IPCW(censoring="cox"),
        values={"ibs": {"grim": MetricValue(1.0)}, "ils": {}},
    )
    both = replace(evaluation, results={"ipcw_cox": cox} | evaluation.results)
    panel = CurveDisplay.from_sensitivity(replace(sensitivity, evaluation=both)).panels["frank"]
    assert {mark.name: mark.y for mark in panel.marks if mark.look["marker"] == "_"} == {
        model: evaluation.score(model, adjustment="ipcw").value for model in evaluation.models
    }


def test_the_best_is_marked_in_the_direction_of_the_metric():
    y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    models = {"low": np.full((4, 2), 0.4), "high": np.full((4, 2), 0.6)}
    asked = {"adjustments": "cg_q", "metrics": Hope(), "times": [1.0, 2.0], "confidence_level": None}
    found = cc.evaluate(models, y, **asked)
    display = CurveDisplay.from_sensitivity(found.sensitivity("clayton", [0.0, 0.4]))
    assert best_along(display.panels["clayton"]) == [("high",), ("high",)]


def test_nothing_is_cut_off_in_axes_of_matplotlibs_own_size(sensitivity):
    figure, ax = plt.subplots()
    CurveDisplay.from_sensitivity(sensitivity, family="frank").plot(ax)
    for name in [text for text in ax.texts if text.get_gid() == "named"]:  # these lie in the margin
        name.remove()
    tight = ax.get_tightbbox(figure.canvas.get_renderer())
    assert min(tight.x0, tight.y0) >= 0.0
    assert tight.y1 <= figure.bbox.y1
    plt.close(figure)


def test_all_families_are_drawn_side_by_side_on_one_scale(sensitivity):
    axes = sensitivity.plot()
    assert [ax.get_title().split(", ")[-1].lower() for ax in axes] == list(sensitivity.over_tau.leaders())
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in axes}) == 1
    assert len(axes[0].figure.legends) == 1
    with pytest.raises(ValueError, match=f"^ax .* {len(axes)} .* 1"):
        sensitivity.plot(axes[0])
    plt.close(axes[0].figure)


def test_what_cannot_be_drawn_is_refused(sensitivity):
    for wrong in ({"adjustment": "ipcw"}, {"metric": "c"}, {"family": "gumbel"}):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"^{name} .*'{wrong[name]}'"):
            CurveDisplay.from_sensitivity(sensitivity, **wrong)
