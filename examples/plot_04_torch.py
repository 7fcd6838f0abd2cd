"""
A network that allows for dependent censoring
=============================================

A score under an assumed dependence can be the loss of a network, by :class:`cocensor.metrics.AdjustedLoss`. Two
networks of torch that differ in nothing but this assumption are trained on simulated patients. Their true event
times are known, so one can see what the assumption was worth.
"""

import matplotlib.pyplot as plt
import torch

import cocensor as cc
from cocensor.simulate import SyntheticDesign

# %%
# Patients whose dropout depends on their event: a Clayton copula with Kendall's τ = 0.5, given three covariates.

clayton = cc.Clayton.from_tau(0.5)
data = SyntheticDesign(n=4000, n_features=3, copula=clayton).draw(0)
train, test = data[:2000], data[2000:]
times = cc.time_grid(train.y, n=30, horizon={"at_risk": 0.1})[1:]

# %%
# A network and its loss
# ----------------------
# The network gives a hazard for each interval of time, so that its curves fall. The loss is the integrated Brier
# score by imputation: each censored patient counts as event-free with the probability that a joint model of event
# and dropout gives, under the assumed copula. The model is fitted once, before training.


class Network(torch.nn.Module):
    """A hidden layer of 16 units."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 16),
            torch.nn.Tanh(),
            torch.nn.Linear(16, len(times)),
        )

    def forward(self, x):
        """The chances of being event-free at ``times``."""
        hazards = torch.nn.functional.softplus(self.layers(x) - 3.0)
        return torch.exp(-torch.cumsum(hazards, dim=1))


x = torch.tensor(train.X, dtype=torch.float32)
x_test = torch.tensor(test.X, dtype=torch.float32)
known = cc.Oracle(test.event_time)
truth = cc.metrics.AdjustedLoss("ibs", None, test.y, times, adjustment=known, like=x)


def trained(copula, epochs=40):
    """A network, and after each epoch its loss and its true score."""
    imputation = cc.Imputation("covariates", copula).fit(train.y, train.X)
    loss = cc.metrics.AdjustedLoss(
        "ibs",
        None,
        train.y,
        times,
        adjustment=imputation,
        x_test=train.X,
        like=x,
    )
    torch.manual_seed(0)
    network, losses, truths = Network(), [], []
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(250):
            optimiser.zero_grad()
            loss(network(x[rows]), rows=rows).backward()
            optimiser.step()
        with torch.no_grad():
            losses.append(loss(network(x)).item())
            truths.append(truth(network(x_test)).item())
    return network, losses, truths


torch.set_num_threads(1)
found = {"independent": trained(None), "dependent": trained(clayton)}

# %%
# Training
# --------
# By its own loss each network does well, and the one that assumes independence seems to do better. By the true
# event times of the test patients it is the other way round.

figure, (above, below) = plt.subplots(
    2,
    1,
    figsize=(5.0, 5.6),
    sharex=True,
    layout="constrained",
)
looks = {
    "independent": {"color": "#0072B2", "linestyle": "-"},
    "dependent": {"color": "#D55E00", "linestyle": "--"},
}
for name, (_, losses, truths) in found.items():
    epochs = range(1, len(losses) + 1)
    above.plot(epochs, losses, label=name, **looks[name])
    below.plot(epochs, truths, **looks[name])
above.set_title("training loss, each by its own assumption")
below.set_title("test patients, by their true event times")
below.set_xlabel("epoch")
for axes in (above, below):
    axes.set_ylabel("integrated Brier score")
    axes.spines[["top", "right"]].set_visible(False)
above.legend(title="dropout is assumed", frameon=False)

# %%
# Evaluation
# ----------
# With real patients the true times are hidden, and an evaluation needs an assumption, too. One that assumes
# independence has the same blind spot as the network that does:

with torch.no_grad():
    models = {
        name: (times, network(x_test).numpy())
        for name, (network, _, _) in found.items()  # with its losses
    }
result = cc.evaluate(
    models,
    test.y,
    test.X,
    y_train=train.y,
    metrics="ibs",
    true_times=test.event_time,
)
result

# %%
# So evaluate both over a range of dependence. Along τ the difference of the scores changes its sign. The dotted line
# is the true difference; the curve meets it near the τ that the patients were simulated with.

axes = result.sensitivity("clayton").plot_differences()
true = result.truth.values["ibs"]
difference = true["dependent"].value - true["independent"].value
axes.axhline(difference, color="black", linestyle=":")

# %%
# What the data cannot tell about the dependence, a network cannot learn from them either: it has to be assumed in
# training and varied in the evaluation.
#
# - Losses, batches, early stopping and GPUs: :doc:`/guide/scale`
# - What imputation rests on: :doc:`/guide/imputation`, and :doc:`/theory/index` for the formulas
# - The reference: :class:`cocensor.metrics.AdjustedLoss`, :class:`cocensor.Imputation`, :class:`cocensor.Oracle`
