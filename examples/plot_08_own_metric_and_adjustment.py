"""
A metric and an adjustment of your own
======================================

A metric reads two weights for every subject and time: how much it counts as event-free, and how much as having
had the event. An adjustment gives these weights, under what it assumes of the censored. So either can be
written without the other, and once registered it has a name in tables, sensitivity analyses and figures.
"""

# %%
# The data: 686 patients of the German Breast Cancer Study Group, as scikit-survival has them. A Cox model with
# all covariates is held against one with the number of positive lymph nodes alone. Both are scored on the half
# of the patients that they have not seen.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sksurv.datasets import load_gbsg2

import cocensor as cc
from cocensor.adjustments import EventWeights, Modelled
from cocensor.metrics import Linear, SectionMetric
from cocensor.views.plots import CurveDisplay

X, y = load_gbsg2()
X = pd.get_dummies(X, drop_first=True, dtype=float)
y = cc.Survival(y["time"] / 30.4375, y["cens"])
train, test = np.arange(686) % 2 == 0, np.arange(686) % 2 == 1
models = {
    "cox": cc.CoxPH().fit(X[train], y[train]).predict_survival_function(X[test]),
    "nodes": cc.CoxPH()
    .fit(X.loc[train, ["pnodes"]], y[train])
    .predict_survival_function(X.loc[test, ["pnodes"]]),
}

# %%
# A metric
# --------
# A clinic warns patients whose predicted risk of relapse by t is at least one half. Which share of those warned
# does relapse by t? With weights a of being event-free and b of having had the event, and sums over those
# warned, this positive predictive value is
#
# .. math:: v = \frac{\sum b}{\sum (a + b)}.
#
# A :class:`SectionMetric` has all subjects at one time. It gives the value, and its derivatives by the weights
# of each subject; then there are intervals from formulas. For those warned the derivative by b is (1 − v) / Σ(a
# + b), that by a is −v / Σ(a + b), and for others both are 0.


@cc.metrics.register_metric
@dataclass(frozen=True)
class PredictiveValue(SectionMetric):
    """The share of those with a predicted risk from ``limit`` on who have the event."""

    at: float | None = None
    limit: float = 0.5
    name, label = "ppv", "positive predictive value"
    direction, range, has_skill = "higher", (0.0, 1.0), False

    def value(self, section):
        """The value at a time."""
        return self.linear(section).value

    def linear(self, section):
        """The value, and its derivatives by both weights."""
        warned = 1.0 - section.survival >= self.limit
        total = (section.event_free + section.event)[warned].sum()
        if total == 0:
            nothing = np.zeros(warned.size)
            return Linear(np.nan, nothing, nothing)
        value = section.event[warned].sum() / total
        return Linear(float(value), -value * warned / total, (1 - value) * warned / total)


# %%
# An adjustment
# -------------
# Many trials count a dropout as a failure. This adjustment says it for a ``share`` of the dropouts: so many
# relapse when they leave, and the others never do. Everybody is event-free up to the observed time and has had the
# event from then on, for certain; of those who dropped out the share of the others is taken back.


@dataclass(frozen=True, eq=False)
class Failures(cc.adjustments.Adjustment):
    """A share of the dropouts has the event when they leave."""

    share: float = 1.0

    @property
    def assumption(self):
        """What it rests on, in one sentence."""
        return f"Of those who drop out, {self.share:.0%} have the event at that moment, and the others never."

    def fit_to(self, sample, predictions):
        """Learn nothing."""
        return FittedFailures(self)


@dataclass(frozen=True, eq=False)
class FittedFailures(cc.adjustments.Fitted):
    """Nothing has to be learned."""

    adjustment: Failures

    def weights_for(self, sample, grid, predictions, whole):
        """Return the weights at the times of a grid."""
        y = sample.y
        dropouts, cut = np.flatnonzero(~y.event), grid.cut(y.time)
        left = Modelled(
            dropouts,
            cut[dropouts],
            lambda rows, columns: np.full(
                (rows.size, columns.stop - columns.start), 1 - self.adjustment.share
            ),
        )
        return EventWeights(grid, cut, modelled=(left,))


cc.adjustments.register_adjustment("failures", Failures, label="dropout is failure")

# %%
# In a table
# ----------
# Both go by their names. The metric has intervals from formulas under every adjustment that says how its
# weights move with the subjects. Ours does not: its column is NaN, and the bootstrap steps in.

asked = {"metrics": "ppv", "at": [24, 48], "horizon": 60, "time_unit": "months"}
sample = {"y_train": y[train], "x_train": X[train]}
result = cc.evaluate(
    models, y[test], X[test], adjustments=["ipcw", "imputation", "failures"], **sample, **asked
)
columns = ["metric", "adjustment", "model", "score", "low", "high"]
print(result.table()[columns].round(3).to_string(index=False))

# %%

drawn = cc.evaluate(models, y[test], adjustments="failures", **asked).bootstrap(200, seed=0)
print(drawn.table()[columns].round(3).to_string(index=False))

# %%
# In a sensitivity analysis
# -------------------------
# The new metric along Kendall's τ of event and dropout, and along the hazard ratio after dropout. Large dots
# do not differ significantly from the best.

sensitivity = result.sensitivity(["frank", "hazard_ratio"], [0.0, 0.2, 0.4, 0.6])
CurveDisplay.from_sensitivity(sensitivity, "ppv at 48").plot()
plt.show()

# %%
# And the new adjustment along its own setting: an adjustment is a value, so it can be given without a name.

shares = np.linspace(0, 1, 6)
varied = {f"{share:.0%}": Failures(share) for share in shares}
along = cc.evaluate(
    models, y[test], X[test], adjustments=varied, confidence_level=None, **asked
)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, at in zip(axes, (24, 48), strict=True):
    for model, marker in (("cox", "o"), ("nodes", "s")):
        values = [along.score(model, "ppv", name, at=at).value for name in varied]
        ax.plot(shares, values, marker=marker, label=model)
        ax.axhline(
            result.score(model, "ppv", "ipcw", at=at).value,
            color=ax.lines[-1].get_color(),
            linestyle=":",
        )
    ax.set(title=f"by {at} months", xlabel="share of dropouts that relapse when they leave")
axes[0].set_ylabel("positive predictive value\n(dotted: IPCW)")
axes[0].legend()
plt.show()

# %%
# Names last as long as the Python session. They can be removed:

cc.metrics.unregister_metric("ppv")
cc.adjustments.unregister_adjustment("failures")
print("ppv" in cc.metrics.metric_names(), "failures" in cc.adjustments.adjustment_names())

# %%
# **What was learned:** a metric is a formula in two weights, an adjustment says where these come from, and each
# works with all of the other kind. The guide has more on both (:doc:`/guide/own-metrics`),
# :doc:`/theory/metrics` says why these weights suffice, and the reference has :func:`cocensor.metrics.register_metric`,
# :func:`cocensor.adjustments.register_adjustment` and :class:`cocensor.adjustments.Adjustment`.
