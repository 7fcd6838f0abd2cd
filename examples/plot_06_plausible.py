"""
Which dependence is plausible?
==============================

Two models are scored on patients of whom some left the study early. Did they leave because the event was near?
The data cannot say. But they can say how strong such a dependence would have to be to change the verdict, and
how that compares with what was measured.
"""

# %%
# A study in which those who leave are ill
# ----------------------------------------
# Some patients move away. Others become too ill to come, and from then on have three times the hazard of those
# like them who stay. A study does not show that hazard: it shows who left when, and why. Whoever is still there
# after five years is censored by the end of the study, which is marked: that is not dropout.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import cocensor as cc

rng = np.random.default_rng(0)
n = 1600
X = pd.DataFrame(
    {
        "age": rng.normal(65, 10, n),
        "stage": rng.integers(1, 4, n),
        "weight": rng.normal(75, 12, n),
    }
)
risk = 0.05 * (X["age"] - 65) + 0.6 * (X["stage"] - 2)
log_scales = [-risk, 0.4 - 0.6 * risk, np.full(n, 1.5)]
death, ill, moved = 60 * rng.exponential(np.exp(log_scales))  # in months
left = np.minimum(ill, moved)
death = np.where((ill < moved) & (left < death), left + (death - left) / 3, death)
y = cc.Survival(
    np.minimum(np.minimum(death, left), 60.0),
    death < np.minimum(left, 60.0),
    administrative=np.minimum(death, left) > 60.0,
    reason=np.where(ill < moved, "too ill", "moved away"),
)
print(y)

# %%
# Half of the patients train two models: a Cox model, and a joint model which takes event and dropout to depend
# on each other.

x_train, x_test, y_train, y_test = X[:800], X[800:], y[:800], y[800:]
months = np.linspace(0, 48, 49)
joint = cc.fit_joint(x_train, y_train, cc.Clayton.from_tau(0.4))
models = {
    "cox": cc.CoxPH().fit(x_train, y_train).predict_survival_function(x_test),
    "joint": (months, joint.survival(months, x_test)),
}
asked = {"metrics": "ibs", "horizon": 48, "time_unit": "months"}
result = cc.evaluate(models, y_test, x_test, y_train=y_train, x_train=x_train, **asked)
result

# %%
# A yardstick: what if a measured covariate had not been measured?
# ----------------------------------------------------------------
# Leaving out a covariate that drives both event and dropout makes the two depend on each other. Kendall's τ says
# how strongly (0 is independence), and is known for each measured covariate: a benchmark for one that was not. The
# bracket on the axis is the range that counts as plausible.

benchmarks = result.benchmarks()
benchmarks.plot()
plt.show()
print(textwrap.fill(benchmarks.statement, 70))

# %%
# Where does the conclusion change?
# ---------------------------------
# The difference of the two scores, along τ and along the hazard ratio ρ of those who left against similar
# patients who stayed. Shaded are 95% intervals. The bracket is the plausible range, and the axis on top translates τ
# into a hazard ratio right after leaving.

families = ["clayton", "frank", "hazard_ratio"]
sensitivity = result.sensitivity(families, np.arange(0.0, 0.71, 0.1), benchmarks=benchmarks)
# sphinx_gallery_thumbnail_number = 2
sensitivity.plot_differences("cox")
plt.show()
print(textwrap.fill(sensitivity.statement, 70))

# %%
# The hazard ratio can be moved for one reason at a time. Who moved away keeps the hazard that they had, a
# physician may say, but those who are too ill have two or three times that of others.

sensitivity.plot_differences("cox", line=["too ill", "moved away"])
plt.show()

# %%
# Tipping points as a table: where an interval starts to include 0, and where the estimate changes sign; in τ,
# in hazard ratios, and in multiples of the effects of the strongest covariate.

tips = pd.DataFrame(sensitivity.tipping_points("cox", "joint"))
print(tips.drop(columns="winner_beyond").round(2).to_string(index=False))

# %%
# The truth
# ---------
# Here the data are simulated, and the true times are known. At the hazard ratio that made the data, imputation
# comes close to the true scores.

imputations = {
    "truth": cc.Oracle(death[800:]),
    "independence": cc.Imputation("everything"),
    "ρ = 3 if too ill": cc.Imputation("everything", hazard_ratio={"too ill": 3.0}),
}
looked = cc.evaluate(models, y_test, x_test, adjustments=imputations, **asked)
scores = looked.table().pivot(index="adjustment", columns="model", values="score")
print(scores.loc[list(imputations)].round(4))

fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for k, name in enumerate(imputations):
    found = looked.compare("joint", "cox", adjustment=name)
    low, high = found.confidence_interval()
    ax.plot([low, high], [k, k], color="#0072B2")
    ax.plot(found.difference, k, "o", color="#0072B2")
ax.axvline(0, color="0.3", linewidth=1)
ax.set(
    yticks=range(len(imputations)),
    yticklabels=list(imputations),
    xlabel="integrated Brier score, joint minus cox (below 0: joint is better)",
)
ax.set_ylim(2.5, -0.5)
plt.show()

# %%
# **What was learned:** a verdict at independence is worth as much as the dependence that it survives, and
# measured covariates, hazard ratios by reason and tipping points say in the clinic's words how much that is.
# The guide goes through such a study step by step (:doc:`/guide/plausible`), :doc:`/theory/sensitivity` has the
# formulas, and the calls are :meth:`cocensor.Evaluation.benchmarks`, :meth:`cocensor.Evaluation.sensitivity`
# and :class:`cocensor.Imputation`.
