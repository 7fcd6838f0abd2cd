"""
Predictions made in R
=====================

Models are fitted in R, and ``riskRegression::predictRisk`` gives their predictions. The files that it writes
are read here, scored as ``riskRegression::Score`` does, and then evaluated under dependent censoring.
"""

# %%
# The files
# ---------
# The script ``from_r/predict_risk.R`` fits a Cox model and a random forest to 700 patients, and predicts 500
# others. Each file of predictions has a row per patient, and a column per time with the chance of still being
# event-free. The data are simulated in R: those who die early tend to leave early.

import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import cocensor as cc
from cocensor.views.plots import CurveDisplay

folder = Path("from_r") if Path("from_r").exists() else Path("examples/from_r")
train, test = (pd.read_csv(folder / f"{part}.csv") for part in ("train", "test"))
columns = {"time": "months", "event": "died", "administrative": "study_ended"}
y_train, y_test = (cc.Survival.from_frame(part, **columns) for part in (train, test))
models = {}
for name in ("cox", "forest"):
    table = pd.read_csv(folder / f"{name}.csv", index_col="patient").loc[test["patient"]]
    models[name] = (table.columns.astype(float), table.to_numpy())
print(y_test)
print(table.iloc[:3, :6])

# %%
# The numbers of riskRegression
# -----------------------------
# ``Score(..., cens.model = "km")`` takes weights from a Kaplan–Meier curve of the censoring in the data that are
# scored. With None in the place of the training outcomes ours are the same, and so are Brier scores and AUCs.
# ``score.csv`` has those that R wrote.

at = [12, 24, 36]
score = pd.read_csv(folder / "score.csv").set_index(["model", "times"])
for name, curves in models.items():
    score.loc[name, "Brier, ours"] = cc.brier_score(None, y_test, curves, at)
    score.loc[name, "AUC, ours"] = cc.cumulative_dynamic_auc(None, y_test, curves, at)[0]
print(score.round(6).to_string())
for metric in ("Brier", "AUC"):
    print(
        f"{metric}: largest difference {np.abs(score[metric] - score[f'{metric}, ours']).max():.0e}"
    )

# %%
# What R does not ask: if dropout is informative
# ----------------------------------------------
# The same files, scored by imputation: who left gets a chance of being event-free, given the predictions and
# covariates, at independence first. The true times, which only a simulation has, stand beside.

given = {
    "y_train": y_train,
    "x_train": train[["age", "stage", "marker"]],
    "horizon": 36,
    "time_unit": "months",
}
result = cc.evaluate(
    models,
    y_test,
    test[["age", "stage", "marker"]],
    true_times=test["true_months"],
    metrics="ibs",
    **given,
)
result

# %%
# And along the dependence, as Kendall's τ and as the hazard ratio of those who left against similar patients
# who stayed:

sensitivity = result.sensitivity(
    ["clayton", "frank", "hazard_ratio"], np.arange(0.0, 0.71, 0.1)
)
CurveDisplay.from_differences(sensitivity, reference="forest").plot()
plt.show()
print(textwrap.fill(sensitivity.statement, 70))

# %%
# The command line does it in one go, with a report for colleagues:
#
# .. code-block:: sh
#
#    cocensor evaluate --test test.csv --train train.csv --id patient --time months --event died \
#        --administrative study_ended --covariates age,stage,marker \
#        --predictions cox=cox.csv --predictions forest=forest.csv --out report.html
#
# **What was learned:** at independence the numbers are those of riskRegression, and from there on the same
# files say how far the verdict holds if dropout is informative. :doc:`/from-r` has the script and a table of R
# calls beside ours, :doc:`/guide/command-line` the options, :doc:`/theory/index` the formulas, and the
# reference :func:`cocensor.evaluate` and :func:`cocensor.brier_score`.
