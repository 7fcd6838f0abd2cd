"""
From your own files to a page
=============================

The shortest way in: tables of patients and a file of predictions per model go into one command; a verdict and
a page for a colleague come out. The patients are those of the German Breast Cancer Study Group, which
scikit-survival brings along.
"""

import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sksurv.datasets import load_gbsg2
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import cocensor as cc

# %%
# Files as you would bring them
# -----------------------------
# There is one row per patient, and a number that names her. ``months`` is how long she was observed;
# ``relapsed`` says whether that ended with a relapse or death.

covariates, outcome = load_gbsg2()
patients = pd.get_dummies(covariates, drop_first=True, dtype=float)
measured = list(patients)
patients.insert(0, "patient", np.arange(1, len(patients) + 1))
patients.insert(1, "months", (outcome["time"] / 30.4375).round(1))
patients.insert(2, "relapsed", outcome["cens"])
train, test = train_test_split(patients, test_size=0.4, random_state=0)

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
train.to_csv(folder / "train.csv", index=False)
test.to_csv(folder / "test.csv", index=False)
test.head()

# %%
# Models can come from anywhere. Each brings a file: the chance of being event-free, at the times that are the
# names of its columns. Here are a Cox model, a random forest, and a Cox model that knows only the grade of the
# tumour.

times = np.arange(6, 73, 6)
models = {
    "cox": (CoxPHSurvivalAnalysis(), measured),
    "forest": (
        RandomSurvivalForest(50, min_samples_leaf=15, random_state=0),
        measured,
    ),
    "grade": (CoxPHSurvivalAnalysis(), ["tgrade_II", "tgrade_III"]),
}
predictions = {}
for name, (model, columns) in models.items():
    model.fit(train[columns], Surv.from_dataframe("relapsed", "months", train))
    steps = model.predict_survival_function(test[columns])
    curves = np.round([step(times) for step in steps], 4)
    table = pd.DataFrame(curves, index=test.patient, columns=times)
    table.to_csv(folder / f"{name}.csv")
    predictions[name] = table
predictions["cox"].head()

# %%
# One command
# -----------
# Columns go by their names. Rows are matched by patient, in whatever order they come. In a shell, the command
# is this text; here Python runs it. Two families of dependence are tried, so that it is quick; by default there
# are five.

command = """
    cocensor evaluate --test test.csv --train train.csv
        --id patient --time months --event relapsed --covariates all
        --predictions cox=cox.csv --predictions forest=forest.csv
        --predictions grade=grade.csv
        --families clayton,frank --out report.html
"""
finished = subprocess.run(
    [sys.executable, "-m", *shlex.split(command)],
    cwd=folder,
    capture_output=True,
    text=True,
    check=True,
)
for line in finished.stdout.splitlines():
    print(textwrap.fill(line, 76))

# %%
# First comes the conclusion, then the scores with their intervals, and how the comparison changes if dropouts had
# the event sooner or later than similar patients who stayed. The data do not say which of these is so.
#
# The page
# --------
# ``--out`` has written all of it as one file that needs no network. Its figures move with the dependence that
# you assume. Send it as it is.

report = folder / "report.html"

# %%
# The same from Python
# --------------------
# The command calls :func:`cocensor.evaluate`. The figure to look at has the differences of scores from one
# model, over the dependence that is assumed. Where a whole interval lies above 0, that model is worse.
# Predictions are matched by patient here too, as both tables have the patients as their index.

result = cc.evaluate(
    {name: (times, table) for name, table in predictions.items()},
    (test.months, test.relapsed),
    test.set_index("patient")[measured],
    y_train=(train.months, train.relapsed),
    metrics="ibs",
    time_unit="months",
)
result.sensitivity("frank").plot_differences()
temporary.cleanup()

# %%
# One command made of files a verdict with intervals, and said how far it depends on what the files do not hold:
# what became of those who left.
#
# - All options, and what files may look like: :doc:`/guide/command-line`
# - How to read the answer: :doc:`/start`
# - What τ and the hazard ratio after dropout are: :doc:`/guide/plausible`
# - The reference: :func:`cocensor.evaluate`, :class:`cocensor.Evaluation`
