"""
Files larger than memory
========================

Scores are sums over subjects, so subjects can be read batch by batch. This example writes predictions of two models into Parquet files in parts,
scores them in a stream, and holds the numbers against those of the same subjects in memory and against the truth.
"""

# %%
# Files in parts
# --------------
# 200,000 subjects whose events and dropouts depend on each other through a Clayton copula, with Kendall's τ = 0.5. The predictions of each model are in
# ten files, the outcomes in four: they need not be cut in the same places. Single precision takes half the bytes.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
from pyarrow import parquet

import cocensor as cc
from cocensor.simulate import SyntheticDesign

n = 200_000
copula = cc.Clayton.from_tau(0.5)
data = SyntheticDesign(n=n, n_features=2, copula=copula, censoring_rate=0.5).draw(seed=1)
times = np.arange(2.0, 15.0, 2.0)
curves = data.event_survival(times)
models = {"true law": curves.astype(np.float32), "doubled": (curves**2).astype(np.float32)}

folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
outcomes = {"years": data.y.time, "died": data.y.event, "x0": data.X[:, 0], "x1": data.X[:, 1]}
tables = {"test": (pa.table(outcomes), 4)}
for name, predicted in models.items():
    tables[name] = (pa.table({f"{t:g}": predicted[:, j] for j, t in enumerate(times)}), 10)
for name, (table, n_parts) in tables.items():
    for k, rows in enumerate(np.array_split(np.arange(n), n_parts)):
        parquet.write_table(table.slice(rows[0], rows.size), place / f"{name}-{k:02}.parquet")
print(len(list(place.iterdir())), "files")

# %%
# One call
# --------
# A pattern stands for the files. Nothing is read until ``evaluate``, and then a batch at a time.


def scan(outcomes="test-*.parquet", predictions="*.parquet"):
    files = {name: place / f"{name}-{predictions}" for name in models}
    return cc.scan_parquet(place / outcomes, files, time="years", event="died", covariates=["x0", "x1"])


adjustments = {"IPCW": "ipcw", "imputation": cc.Imputation("covariates", copula)}
asked = {"metrics": ["ibs", "auc"], "times": times, "adjustments": adjustments}
streamed = scan().evaluate(n_fit=20_000, n_kept=20_000, **asked)
print(streamed)

# %%
# The same numbers as in memory
# -----------------------------
# IPCW takes counts of all subjects, so its Brier scores are the same but for rounding. The joint model behind imputation was fitted to the 20,000 subjects
# that ``n_fit`` allows, drawn by a hash, and in memory to all of them: their scores differ by the error of that draw. An AUC comes from fine histograms,
# and ``bound`` says how far it may be off at most.

held = cc.evaluate({name: (times, each) for name, each in models.items()}, data.y, data.X, confidence_level=None, **asked)
print(f"{'':<22}{'streamed':>10}{'in memory':>11}{'difference':>13}{'bound':>10}")
for metric in ("ibs", "auc"):
    for name in adjustments:
        score = streamed.score("true law", metric, name)
        value = held.score("true law", metric, name).value
        print(f"{metric + ', ' + name:<22}{score.value:>10.5f}{value:>11.5f}{score.value - value:>13.1e}{score.bound:>10.1e}")

# %%
# What more rows buy, and what they do not
# ----------------------------------------
# The score of the true law from one file of outcomes, and from more and more of them, with 95 % intervals. The dotted line is the truth, from
# the true event times of all subjects. More rows make intervals narrow; they do not bring IPCW to the truth, which assumes independent censoring.

