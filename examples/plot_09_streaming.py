"""
Files larger than memory
========================

Scores are sums over subjects, so subjects can be read batch by batch. This example writes predictions of two
models into Parquet files in parts, scores them in a stream, and holds the numbers against those of the same
subjects in memory and against the truth.
"""

# %%
# Files in parts
# --------------
# 120,000 subjects whose events and dropouts depend on each other through a Clayton copula, with Kendall's τ =
# 0.5. Outcomes and the predictions of each model are in five files each, the later ones larger. Predictions in
# single precision take half the bytes.

import tempfile
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
from pyarrow import parquet

import cocensor as cc

rng = np.random.default_rng(0)
n = 120_000
X = rng.normal(size=(n, 2))
risk = np.exp(X @ [0.9, 0.5])
copula = cc.Clayton.from_tau(0.5)
u, v = copula.sample(n, rng).T
event, dropout = -30 * np.log(u) / risk, -24 * np.log(v)
y = cc.Survival.from_latent(event, dropout)
times = np.arange(12.0, 49.0, 12.0)
curves = np.exp(-np.outer(risk, times) / 30).astype(np.float32)
models = {"true model": curves, "doubled": curves**2}

folder = tempfile.TemporaryDirectory()
place = Path(folder.name)
outcomes = {"months": y.time, "died": y.event, "x0": X[:, 0], "x1": X[:, 1]}
tables = {"test": pa.table(outcomes)}
for name, predicted in models.items():
    tables[name] = pa.table(
        {f"{t:g}": column for t, column in zip(times, predicted.T, strict=True)}
    )
edges = [0, 2_000, 6_000, 18_000, 50_000, n]
for name, table in tables.items():
    for k, (start, stop) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(start, stop - start), place / f"{name}-{k}.parquet")
print(len(list(place.iterdir())), "files")

# %%
# One call
# --------
# A pattern stands for the files. Nothing is read until ``evaluate``, and then a batch at a time.


def scan(parts="[0-4]"):
    """The files whose numbers the pattern holds."""
    files = {name: place / f"{name}-{parts}.parquet" for name in tables}
    return cc.scan_parquet(
        files.pop("test"), files, time="months", event="died", covariates=["x0", "x1"]
    )


adjustments = {"IPCW": "ipcw", "imputation": cc.Imputation("covariates", copula)}
asked = {"metrics": ["ibs", "auc"], "times": times, "adjustments": adjustments}
streamed = scan().evaluate(**asked, n_kept=20_000)
streamed

# %%
# The same numbers as in memory
# -----------------------------
# Up to a million subjects (``n_fit``) adjustments are fitted to all of them, in a stream as in memory. Brier
# scores are then the same but for rounding. A mean AUC holds subjects against each other, and comes from the
# subjects that are kept (``n_kept``), with their standard error.

held = cc.evaluate(
    {name: (times, predicted) for name, predicted in models.items()},
    y,
    X,
    confidence_level=None,
    **asked,
)
print(f"{'':<20}{'streamed':>10}{'in memory':>11}{'difference':>12}{'error':>9}")
for metric in ("ibs", "auc"):
    for name in adjustments:
        score = streamed.score("true model", metric, name)
        value = held.score("true model", metric, name).value
        row = f"{score.value:>10.5f}{value:>11.5f}"
        row += f"{score.value - value:>12.0e}{score.standard_error:>9.0e}"
        print(f"{metric + ', ' + name:<20}{row}")

# %%
# What more rows buy, and what they do not
# ----------------------------------------
# The score of the true model from the first file, and from more and more of them, with 95% intervals. The line
# is the truth, from the true event times of all subjects. More rows make intervals narrow. They do not bring
# IPCW, which assumes independent censoring, any closer to the truth.

asked |= {"metrics": "ibs"}
found = {
    rows: scan(f"[0-{k}]").evaluate(**asked, n_kept=20_000)
    for k, rows in enumerate(edges[1:-1])
}
found[n] = streamed
truth = cc.integrated_brier_score(None, y, curves, times, adjustment=cc.Oracle(event))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.axhline(truth, color="black", linewidth=1, label="truth")
for shift, name, marker in ((0.96, "IPCW", "s"), (1.04, "imputation", "o")):
    scores = [each.score("true model", adjustment=name) for each in found.values()]
    reach = [1.96 * score.standard_error for score in scores]
    rows = shift * np.array(list(found))
    ax.errorbar(
        rows,
        [score.value for score in scores],
        reach,
        marker=marker,
        linestyle="none",
        capsize=3,
        label=name,
    )
ax.set(xscale="log", xlabel="subjects", ylabel="integrated Brier score of the true model")
ax.legend()
plt.show()
folder.cleanup()

# %%
# **What was learned:** files beyond memory give the scores that memory would give, and more subjects cure
# noise, not a wrong assumption. The guide has costs, clusters and GPUs (:doc:`/guide/scale`),
# :doc:`/theory/index` the sums, and the reference :func:`cocensor.scan_parquet`, :func:`cocensor.scale.scan_chunks`
# and :class:`cocensor.scale.Scan`.
