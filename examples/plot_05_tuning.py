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
data = SyntheticDesign(n=4600, copula=clayton).draw(0)
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
search = GridSearchCV(CoxPHSurvivalAnalysis(), {"alpha": alphas}, scoring=scorers, cv=3, refit=False)
search.fit(train.X, outcome)
scores = {name: -search.cv_results_[f"mean_test_{name}"] for name in scorers}

# %%
# Which penalty would have been right? Four thousand fresh patients, whose event times are known, say it:

times = scorers["independent"].times
candidates = {alpha: CoxPHSurvivalAnalysis(alpha=alpha).fit(train.X, outcome) for alpha in alphas}
true_scores = cc.integrated_brier_score(
    None, fresh.y, candidates, times, adjustment=cc.Oracle(fresh.event_time), x_test=fresh.X
)
scores["truth"] = np.array(list(true_scores.values()))

# %%
# What is chosen
# --------------
# A star marks the smallest score of each line. Scores of different lines answer different questions: compare where
# they are smallest, not how small they are.

looks = {
    "independent": {"color": "#0072B2", "linestyle": "-", "marker": "o"},
    "dependent": {"color": "#D55E00", "linestyle": "--", "marker": "s"},
    "truth": {"color": "black", "linestyle": ":", "marker": "^"},
}
figure, axes = plt.subplots(figsize=(5.0, 4.0), layout="constrained")
for name, values in scores.items():
    best = values.argmin()
    axes.plot(alphas, values, label=name, markersize=4, **looks[name])
    axes.plot(alphas[best], values[best], **looks[name] | {"marker": "*"}, markersize=15)
    print(f"{name:>11}: smallest at alpha = {alphas[best]:.3g}")
axes.set(xscale="log", xlabel="penalty (alpha)", ylabel="integrated Brier score")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(title="dropout is assumed", frameon=False)

# %%
# What the choice costs
# ---------------------
# Whoever drops out before an early event looks, to a model that ignores it, like somebody who stays well. So the
# fitted effects are wrong, and a scorer with the same blind spot cannot see it: it asks for little shrinkage. Here is
# the true score of both choices, beside the best that the search could have found:

for name, values in scores.items():
    print(f"chosen by {name:>11}: {scores['truth'][values.argmin()]:.4f}")

# %%
# A search finds what its score rewards: state the dependence in the scorer, or search at several and see whether
# the choice moves.
#
# - Scorers in full: :doc:`/guide/evaluate`
# - Which dependence to try: :doc:`/guide/plausible`; why the data do not tell: :doc:`/theory/index`
# - The reference: :func:`cocensor.survival_scorer`, :class:`cocensor.Oracle`
