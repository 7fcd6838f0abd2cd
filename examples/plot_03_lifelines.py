"""
Models of lifelines
===================

Fitted models of lifelines go in as they are. Here a Cox model is held against two parametric ones, Weibull and
log-normal, on the breast cancer patients that lifelines brings along. All three know the same covariates: what
differs is the form of the curves.
"""

import textwrap

import pandas as pd
from lifelines import CoxPHFitter, LogNormalAFTFitter, WeibullAFTFitter
from lifelines.datasets import load_gbsg2

import cocensor as cc
from cocensor.views.plots import CurveDisplay

patients = pd.get_dummies(load_gbsg2(), drop_first=True, dtype=float)
train = patients.sample(frac=0.6, random_state=0)
test = patients.drop(train.index)

models = {
    "Cox": CoxPHFitter(),
    "Weibull": WeibullAFTFitter(),
    "log-normal": LogNormalAFTFitter(),
}
for model in models.values():
    model.fit(train, duration_col="time", event_col="cens")

# %%
# Evaluate
# --------
# ``x_test`` has the columns that the models were fitted to, and a tuple of times and events will do for outcomes.

result = cc.evaluate(
    models,
    (test["time"], test["cens"]),
    test.drop(columns=["time", "cens"]),
    y_train=(train["time"], train["cens"]),
    metrics=["ibs", "auc", "ici"],
    at=[730, 1460],
    time_unit="days",
)
result

# %%
# Over time
# ---------
# The table has means over time. Where do the models part? The figure has the Brier score minus that of the Cox
# model at each time, with a band that holds the whole curve: below 0 a model is better than Cox's. Kaplan–Meier, the
# same curve for everybody, soon leaves the figure.

display = CurveDisplay.from_scores(
    result,
    minus="Cox",
    band="simultaneous",
)
axes = display.plot()
axes.set(ylim=(-0.02, 0.02))

# %%
# Under dependence
# ----------------
# All of that assumes that those who left are like comparable patients who stayed. Does the order hold if they
# were not?

grid = result.sensitivity("frank")
grid.plot_differences()

# %%
# In words:

print(textwrap.fill(grid.statement, 72))

# %%
# Models of lifelines need no detour through arrays: fit them, name them, and ask how far the order of their scores
# holds.
#
# - What else a model can be: :doc:`/guide/evaluate`
# - Figures, and what their bands are: :doc:`/guide/evaluate`; the theory: :doc:`/theory/index`
# - The reference: :func:`cocensor.evaluate`, :class:`cocensor.views.plots.CurveDisplay`
