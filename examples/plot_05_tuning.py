"""
Tuning under dependent censoring
================================

:func:`cocensor.survival_scorer` makes a scorer for scikit-learn's ``GridSearchCV``. Here it chooses the penalty of
a Cox model, once as if dropout were independent of the event and once under the dependence that the patients were
simulated with. The choice changes, and the truth says which was right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import cocensor as cc
from cocensor.simulate import SyntheticDesign

clayton = cc.Clayton.from_tau(0.5)
data = SyntheticDesign(n=2600, copula=clayton).draw(0)
train, fresh = data[:600], data[600:]
outcome = Surv.from_arrays(train.y.event, train.y.time)

# %%
# One search, two scorers
# -----------------------
# A scorer is a metric and an assumption. ``y_train`` fixes the interval of time, which all folds share. The
# scorers differ in the copula alone, so one search fits each candidate once for both.

scorers = {
    "independent": cc.survival_scorer("ibs", y_train=train.y),
    "dependent": cc.survival_scorer("ibs", y_train=train.y, copula=clayton),
}
alphas = 10.0 ** np.arange(0.0, 3.1, 0.5)
search = GridSearchCV(
    CoxPHSurvivalAnalysis(),
    {"alpha": alphas},
    scoring=scorers,
    cv=3,
    refit=False,
)
found = search.fit(train.X, outcome).cv_results_
scores = {name: -found[f"mean_test_{name}"] for name in scorers}

# %%
# Which penalty would have been right? Two thousand fresh patients, whose event times are known, say it:

candidates = {}
for alpha in alphas:
    cox = CoxPHSurvivalAnalysis(alpha=alpha).fit(train.X, outcome)
    candidates[alpha] = cox
true_scores = cc.integrated_brier_score(
    None,
    fresh.y,
    candidates,
    scorers["independent"].times,
    adjustment=cc.Oracle(fresh.event_time),
    x_test=fresh.X,
)
scores["truth"] = np.array(list(true_scores.values()))

# %%
# What is chosen
# --------------
# A star marks the lowest score of each line. Scores of different lines answer different questions: compare where
# they are lowest, not how low they are.

looks = {
    "independent": {"color": "#0072B2", "linestyle": "-"},
    "dependent": {"color": "#D55E00", "linestyle": "--"},
    "truth": {"color": "black", "linestyle": ":"},
}
figure, axes = plt.subplots(figsize=(5.0, 4.0), layout="constrained")
for name, values in scores.items():
    best = values.argmin()
    look = looks[name]
    axes.plot(alphas, values, marker=".", **look)
    axes.plot(alphas[best], values[best], marker="*", markersize=15, **look)
    axes.annotate(
        name,
        (alphas[-1], values[-1]),
        (6, -10 if name == "dependent" else 0),
        textcoords="offset points",
        color=look["color"],
    )
    print(f"{name:>11}: lowest at alpha = {alphas[best]:.3g}")
axes.set(xscale="log", xlabel="penalty (alpha)")
axes.set_ylabel("integrated Brier score")
axes.plot([], [], "k*", markersize=10, label="lowest score")
axes.legend()

# %%
# What the choice costs
# ---------------------
# The Cox model takes dropout for independent, and so does the first scorer. It cannot see what both have wrong, and
# asks for less shrinkage. Here is the true score of what each line chooses:

for name, values in scores.items():
    score = scores["truth"][values.argmin()]
    print(f"{name:>11}: {score:.4f}")

# %%
# A search finds what its score rewards: state the dependence in the scorer, or search at several and see whether
# the choice moves.
#
# - Scorers in full: :doc:`/guide/evaluate`
# - Which dependence to try: :doc:`/guide/plausible`; why the data do not tell: :doc:`/theory/index`
# - The reference: :func:`cocensor.survival_scorer`, :class:`cocensor.Oracle`
