"""IPCW scores as functions of case weights, from their definitions and slowly; complex weights give derivatives.

The derivative of an analytic f at x is Im f(x + ih)/h up to h²: exact at h = 1e-20, as nothing is subtracted.
"""

import numpy as np

STEP = 1e-20


def derivatives(value, n, at=None):
    """Of ``value(weights)`` by the share ε given to each of n subjects, the rest shrunk by 1 − ε: (n, values).

    Where subjects have unequal weights, ``at``, a derivative counts by the weight of its subject, over the mean weight.
    """
    at, rows = np.ones(n) if at is None else at, []
    for j in range(n):
        weights = at * (1.0 - 1j * STEP)
        weights[j] += 1j * STEP * at.sum()
        rows.append(np.imag(value(weights)) / STEP * at[j] / at.mean())
    return np.array(rows)


def kaplan_meier(time, event, weights, s, side):
    """G(s) or G(s−); events at one time are over before the dropouts there."""
    curve = 1.0 + 0j
    for u in np.unique(time[~event]):
        if u < s or (u == s and side == "right"):
            at_risk = weights[(time > u) | ((time == u) & ~event)].sum()
            curve *= 1.0 - weights[(time == u) & ~event].sum() / at_risk
    return curve


class Cox:
    """Cox's model of dropout with Efron's ties and Breslow's baseline, by Newton's method.

    Tied events leave ``first``, or are at risk of dropout.
    """

    def __init__(self, X, time, event, weights, ridge=0.0, first=True):
        self.steps = np.unique(time[~event])
        at_risk = [(time > u) | ((time == u) & ~(event & first)) for u in self.steps]
        happens = [(time == u) & ~event for u in self.steps]
        beta = np.zeros(X.shape[1], dtype=complex)
        for _ in range(12):
            gradient, information = -ridge * beta, ridge * np.eye(beta.size, dtype=complex)
            for risk, own in zip(at_risk, happens, strict=True):
                d = own.sum()
                gradient += weights[own] @ X[own]
                for r in range(d):
                    share = weights * np.exp(X @ beta) * (risk - r / d * own)
                    mean = share @ X / share.sum()
                    gradient -= weights[own].sum() / d * mean
                    second = (X * share[:, None]).T @ X / share.sum() - np.outer(mean, mean)
                    information += weights[own].sum() / d * second
            beta = beta + np.linalg.solve(information, gradient)
        self.beta = beta
        relative = weights * np.exp(X @ beta)
        self.hazard = np.array(
            [weights[own].sum() / relative[risk].sum() for risk, own in zip(at_risk, happens, strict=True)]
        )

    def __call__(self, x, s, side):
        known = self.steps < s if side == "left" else self.steps <= s
        return np.exp(-self.hazard[known].sum() * np.exp(x @ self.beta))


def score(y, weights, losses, times, uncensored, side, floor=0.0):
    """Scores at all ``times`` from the two losses (n, T), with ``uncensored(i, s, side)``, the G of test subject i."""

    def inverse(i, s, at):
        probability = uncensored(i, s, at)
        if probability.real <= 0:
            return 0.0 if floor == 0 else 1.0 / floor
        return 1.0 / max(probability, floor, key=lambda p: np.real(p))

    total = np.zeros(len(times), dtype=complex)
    for i, (t, event) in enumerate(zip(y.time, y.event, strict=True)):
        for k, at in enumerate(times):
            if t > at:
                total[k] += weights[i] * losses[0][i, k] * inverse(i, at, "right")
            elif event:
                total[k] += weights[i] * losses[1][i, k] * inverse(i, t, side)
    return total / weights.sum()
