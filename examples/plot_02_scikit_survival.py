"""
Scores of scikit-survival, and beyond
=====================================

The score functions take scikit-survival's arguments in its order, and give its numbers. From there it is one
step to intervals, and one more to censoring that depends on the event. The data are those of the Worcester Heart
Attack Study, which scikit-survival brings along.
"""

import textwrap

import numpy as np
from sklearn.model_selection import train_test_split
from sksurv import metrics
from sksurv.datasets import load_whas500
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import cocensor as cc
from cocensor.views.plots import ForestDisplay

X, y = load_whas500()
X_train, X_test, y_train, y_test = train_test_split(
    X.astype(float),
    y,
    test_size=0.5,
    random_state=0,
)
forest = RandomSurvivalForest(100, min_samples_leaf=10, random_state=0)
forest.fit(X_train, y_train)
cox = CoxPHSurvivalAnalysis(alpha=0.1).fit(X_train, y_train)

# %%
# The same call, the same number
# ------------------------------
# Where an event and a censoring fall on one day, the two packages differ by convention: an event at t weighs
# 1/G(t) in scikit-survival and 1/G(t−) here, as in R. Asked to do it their way, the numbers are equal.

times = np.linspace(100, 1500, 57)
steps = cox.predict_survival_function(X_test)
curves = np.array([curve(times) for curve in steps])
given = y_train, y_test, curves, times

theirs = metrics.integrated_brier_score(*given)
ours = cc.integrated_brier_score(*given)
convention = cc.IPCW(convention="scikit-survival")
their_way = cc.integrated_brier_score(*given, adjustment=convention)
print(f"scikit-survival:         {theirs:.12f}")
print(f"cocensor, the same way:  {their_way:.12f}")
print(f"cocensor:                {ours:.12f}")

# %%
# With intervals
# --------------
# :func:`cocensor.evaluate` takes the fitted models themselves. It finds the times, scores by inverse weights
# (IPCW) and by imputation, and says how sure it is. The third model knows the age alone: it comes as
# scikit-survival's step functions, because the others have more columns.

age = CoxPHSurvivalAnalysis().fit(X_train[["age"]], y_train)
by_age = age.predict_survival_function(X_test[["age"]])
models = {"cox": cox, "forest": forest, "age": by_age}
result = cc.evaluate(
    models,
    y_test,
    X_test,
    y_train=y_train,
    metrics="ibs",
    time_unit="days",
)
result

# %%
# As a figure. A filled marker: no significant difference from the best.

ForestDisplay.from_scores(result).plot()

# %%
# Intervals that overlap do not mean that models are alike: all are scored on the same patients, and share a part
# of their error. Each difference has an interval of its own, here under imputation:

result.table("differences", adjustment="imputation").round(4)

# %%
# Under dependence
# ----------------
# So far those who left were assumed to be like comparable patients who stayed. The data cannot check this. So
# the scores are computed again under stronger and stronger dependence, here by a Clayton copula: on top is the
# hazard of those who left relative to similar patients who stayed, right after leaving.

grid = result.sensitivity("clayton")
grid.plot()

# %%
# In words:

print(textwrap.fill(grid.statement, 72))

# %%
# The numbers of scikit-survival are one column of a larger table: the one that assumes that leaving told nothing.
#
# - Function by function, with what differs: :doc:`/from-scikit-survival`
# - What the columns assume: :doc:`/guide/adjustments`, and :doc:`/theory/index` for the formulas
# - The reference: :func:`cocensor.integrated_brier_score`, :class:`cocensor.IPCW`, :func:`cocensor.evaluate`
