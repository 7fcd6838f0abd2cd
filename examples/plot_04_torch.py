"""
A network that allows for dependent censoring
=============================================

A score under an assumed dependence can be the loss of a network, by :class:`cocensor.AdjustedLoss`. Two networks
of torch that differ in nothing but this assumption are trained on simulated patients. Their true event times are
known, so one can see what the assumption was worth.
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
            torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, len(times))
        )

    def forward(self, x):
        """The chances of being event-free at ``times``."""
        hazards = torch.nn.functional.softplus(self.layers(x) - 3.0)
        return torch.exp(-torch.cumsum(hazards, dim=1))


x, x_test = (torch.tensor(part.X, dtype=torch.float32) for part in (train, test))
truth = cc.AdjustedLoss("ibs", None, test.y, times, adjustment=cc.Oracle(test.event_time), like=x)


def trained(copula, epochs=40):
    """A network, its loss after each epoch, and what the true event times of test patients say of it."""
    judge = cc.Imputation("covariates", copula).fit(train.y, train.X)
    loss = cc.AdjustedLoss("ibs", None, train.y, times, adjustment=judge, x_test=train.X, like=x)
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
assumptions = {"independent": None, "dependent": clayton}
found = {name: trained(copula) for name, copula in assumptions.items()}

# %%
# Training
# --------
# By its own loss each network does well, and the one that assumes independence seems to do better. By the true
# event times of the test patients it is the other way round.

figure, (above, below) = plt.subplots(2, 1, figsize=(5.0, 5.6), sharex=True, layout="constrained")
looks = {
    "independent": {"color": "#0072B2", "linestyle": "-"},
    "dependent": {"color": "#D55E00", "linestyle": "--"},
}
for name, (_, losses, truths) in found.items():
    above.plot(losses, label=name, **looks[name])
    below.plot(truths, **looks[name])
above.set(title="training loss, each by its own assumption", ylabel="integrated Brier score")
below.set(title="test patients, by their true event times", ylabel="integrated Brier score", xlabel="epoch")
for axes in (above, below):
    axes.spines[["top", "right"]].set_visible(False)
above.legend(title="dropout is assumed", frameon=False)

# %%
# Evaluation
# ----------
# With real patients the true times are hidden, and an evaluation needs an assumption, too. One that assumes
# independence has the same blind spot as the network that does:

with torch.no_grad():
    models = {name: (times, network(x_test).numpy()) for name, (network, _, _) in found.items()}
result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs", true_times=test.event_time)
result

# %%
# So evaluate both over a range of dependence. Along τ the difference of the scores changes its sign; the dotted line
# is the true difference.

result.sensitivity("clayton").plot_differences()

# %%
# What the data cannot tell about the dependence, a network cannot learn from them either: it has to be assumed in
# training and varied in the evaluation.
#
# - Losses, batches, early stopping and GPUs: :doc:`/guide/arrays`
# - What imputation rests on: :doc:`/guide/judge`, and :doc:`/theory/index` for the formulas
# - The reference: :class:`cocensor.AdjustedLoss`, :class:`cocensor.Imputation`, :class:`cocensor.Oracle`
