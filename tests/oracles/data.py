"""The public data sets that oracle values were made with, from an installed package."""

import json
from pathlib import Path

import pandas as pd
from sksurv.datasets import load_gbsg2, load_veterans_lung_cancer, load_whas500

VALUES = Path(__file__).parent / "values"


def values(name):
    return json.loads((VALUES / f"{name}.json").read_text())


def load(name):
    """Columns as in the R scripts, with time and event."""
    X, y = {"gbsg": load_gbsg2, "whas500": load_whas500, "veteran": load_veterans_lung_cancer}[name]()
    event, time = y.dtype.names
    if name == "gbsg":
        frame = pd.DataFrame(
            {
                "age": X["age"],
                "size": X["tsize"],
                "nodes": X["pnodes"],
                "grade": X["tgrade"].map({"I": 1, "II": 2, "III": 3}),
                "hormon": X["horTh"] == "yes",
            }
        )
    elif name == "whas500":
        frame = X[["age", "hr", "chf", "bmi"]].copy()
    else:
        frame = pd.DataFrame(
            {
                "karno": X["Karnofsky_score"],
                "diagtime": X["Months_from_Diagnosis"],
                "age": X["Age_in_years"],
            }
        )
    return frame.astype(float).assign(time=y[time], event=y[event])
