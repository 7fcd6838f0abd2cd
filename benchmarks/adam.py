"""The copula estimation of the paper's Algorithm 1 in torch: the peer that the joint fit is compared with.

Full-batch Adam in double precision, with a learning rate of 1e-3 for the Weibull margins and 1e-2 for θ, minimises

    −1/N Σ [δ (log f_E + log h₁) + (1−δ) (log f_C + log h₂)] + λ (θ − θ_independence)²

with log H(t given x) = γ₀ + γ₁ log t + x'β for event and censoring. Choices that the paper leaves open are in Adam's
favour: covariates are standardised and log t is centred (the optimum and its value are the same), each row is
evaluated for what was observed only, and h₁, h₂ are exact, in cumulative hazards, without clamping.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtri_exp
from torch import Tensor

import cocensor as cc

MARGIN_RATE = 1e-3
THETA_RATE = 1e-2
START_TAU = 0.25

LogH = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class AdamResult:
    """The best penalised mean negative log-likelihood of a run, θ there, and what the run took."""

    nll: float
    theta: float
    epochs: int
    seconds: float
    seconds_per_epoch: float


def fit_adam(
    X: np.ndarray,
    time: np.ndarray,
    event: np.ndarray,
    family: str = "clayton",
    penalty: float = 0.01,
    epochs: int = 30_000,
    theta0: float | None = None,
    stop: float | None = None,
    threads: int = 1,
) -> AdamResult:
    """Minimise the objective by Adam, as Algorithm 1 does.

    ``theta0`` is where θ starts (default: τ = 0.25). The run ends early once the objective is ``stop`` or less. A few
    hundred ``epochs`` are enough for the seconds per epoch: imports and a first evaluation come before the clock
    starts.
    """
    torch.set_num_threads(threads)
    objective = Objective(X, time, event, family, penalty)
    margins, raw = objective.start(theta0)
    margins.requires_grad_()
    raw.requires_grad_()
    optimiser = torch.optim.Adam(
        [{"params": [margins], "lr": MARGIN_RATE}, {"params": [raw], "lr": THETA_RATE}]
    )
    torch.autograd.backward(objective(margins, raw))
    best, best_raw = np.inf, raw.item()
    done = 0
    begin = clock.perf_counter()
    while done < epochs and (stop is None or best > stop):
        optimiser.zero_grad()
        loss = objective(margins, raw)
        if loss.item() < best:
            best, best_raw = loss.item(), raw.item()
        torch.autograd.backward(loss)
        optimiser.step()
        done += 1
    seconds = clock.perf_counter() - begin
    theta = objective.theta(torch.tensor(best_raw, dtype=torch.float64)).item()
    return AdamResult(best, theta, done, seconds, seconds / done)


class Objective:
    """The penalised mean negative log-likelihood, in the units of ``time``, as a function of unbounded parameters.

    ``margins`` is a matrix with a row for the event and one for the censoring: the level of log H at the mean of the
    covariates and of log t, log γ₁, and the coefficients of the standardised covariates. ``raw`` is θ for Frank,
    atanh ρ for Gaussian, and else the value whose softplus is θ less its independence value.
    """

    def __init__(
        self, X: np.ndarray, time: np.ndarray, event: np.ndarray, family: str, penalty: float
    ) -> None:
        X, time = np.asarray(X, dtype=np.float64), np.asarray(time, dtype=np.float64)
        log_time = np.log(time)
        self.family = family
        self.penalty = penalty
        self.independence = cc.copula(family, tau=0.0).theta
        self.log_h = LOG_H[family]
        self.event = torch.tensor(np.asarray(event, dtype=bool))
        self.X = torch.tensor((X - X.mean(axis=0)) / X.std(axis=0))
        self.log_time = torch.tensor(log_time - log_time.mean())
        self.mean_log_time = float(log_time.mean())
        self.total_time = float(time.sum())

    def start(self, theta: float | None = None) -> tuple[Tensor, Tensor]:
        """Exponential margins at the crude rates without covariates, and θ as given or at τ = 0.25."""
        margins = torch.zeros((2, 2 + self.X.shape[1]), dtype=torch.float64)
        counts = torch.stack((self.event.sum(), (~self.event).sum()))
        margins[:, 0] = torch.log(counts / self.total_time) + self.mean_log_time
        if theta is None:
            theta = cc.copula(self.family, tau=START_TAU).theta
        if self.family == "frank":
            raw = theta
        elif self.family == "gaussian":
            raw = np.arctanh(theta)
        else:
            raw = np.log(np.expm1(theta - self.independence))
        return margins, torch.tensor(raw, dtype=torch.float64)

    def theta(self, raw: Tensor) -> Tensor:
        """θ in the family's own range."""
        if self.family == "frank":
            return raw
        if self.family == "gaussian":
            return torch.tanh(raw)
        return self.independence + softplus(raw)

    def __call__(self, margins: Tensor, raw: Tensor) -> Tensor:
        """The objective, as a scalar that can be differentiated."""
        theta = self.theta(raw)
        log_shape = margins[:, 1]
        # log H, of shape (2, N)
        log_hazards = (
            margins[:, :1] + torch.outer(torch.exp(log_shape), self.log_time) + margins[:, 2:] @ self.X.T
        )
        # What happened comes first: with an exchangeable copula, h₂(u, v) is h₁(v, u).
        own = torch.where(self.event, log_hazards[0], log_hazards[1])
        other = torch.where(self.event, log_hazards[1], log_hazards[0])
        own_shape = torch.where(self.event, log_shape[0], log_shape[1])
        log_f = own + own_shape - torch.exp(own) - self.log_time - self.mean_log_time
        nll = -torch.mean(log_f + self.log_h(own, other, theta))
        return nll + self.penalty * (theta - self.independence) ** 2


# log h₁ = log ∂C/∂u at u = exp(−H_u), v = exp(−H_v), of log H_u, log H_v and θ.


def log_h_clayton(log_x: Tensor, log_y: Tensor, theta: Tensor) -> Tensor:
    x, y = torch.exp(log_x), torch.exp(log_y)
    return -(1.0 + 1.0 / theta) * softplus(theta * (y - x) + log1mexp(theta * y))


def log_h_frank(log_x: Tensor, log_y: Tensor, theta: Tensor) -> Tensor:
    y = torch.exp(log_y)
    u, v = torch.exp(-torch.exp(log_x)), torch.exp(-y)
    log_odds = theta * (u - v) + y + log1mexp(y) + log_g(theta * -torch.expm1(-y)) - log_g(theta * v)
    return -softplus(log_odds)


def log_h_gumbel(log_x: Tensor, log_y: Tensor, theta: Tensor) -> Tensor:
    lift = softplus(theta * (log_y - log_x)) / theta
    return -torch.exp(log_x) * torch.expm1(lift) - (theta - 1.0) * lift


def log_h_joe(log_x: Tensor, log_y: Tensor, theta: Tensor) -> Tensor:
    x, y = torch.exp(log_x), torch.exp(log_y)
    lift = softplus(theta * (log1mexp(y) - log1mexp(x)) + log_1m_power(x, theta))
    return log_1m_power(y, theta) - (1.0 - 1.0 / theta) * lift


def log_h_gaussian(log_x: Tensor, log_y: Tensor, rho: Tensor) -> Tensor:
    x, y = normal_quantile(torch.exp(log_x)), normal_quantile(torch.exp(log_y))
    return torch.special.log_ndtr((y - rho * x) / torch.sqrt(1.0 - rho * rho))


LOG_H: dict[str, LogH] = {
    "clayton": log_h_clayton,
    "frank": log_h_frank,
    "gumbel": log_h_gumbel,
    "joe": log_h_joe,
    "gaussian": log_h_gaussian,
}

# Both branches of a torch.where must be finite, with finite derivatives, also where they are not taken.


def softplus(x: Tensor) -> Tensor:
    """log(1 + eˣ); torch's own is x itself beyond 20."""
    return -torch.nn.functional.logsigmoid(-x)


def log1mexp(x: Tensor) -> Tensor:
    """log(1 − e^{−x}) for x > 0."""
    split = np.log(2.0)
    far = torch.log1p(-torch.exp(-torch.clamp(x, min=split)))
    return torch.where(x > split, far, torch.log(-torch.expm1(-x)))


def log_g(x: Tensor) -> Tensor:
    """log[(1 − e^{−x})/x], smooth through 0: −x/2 and the even function log[sinh(x/2)/(x/2)]."""
    near = x.abs() < 1e-2
    square = torch.where(near, x * x, 0.0)
    size = torch.where(near, 1.0, x.abs())
    series = square / 24.0 - square**2 / 2880.0 + square**3 / 181440.0
    return -x / 2.0 + torch.where(near, series, size / 2.0 + torch.log(-torch.expm1(-size) / size))


def log_1m_power(x: Tensor, theta: Tensor) -> Tensor:
    """log(1 − (1−u)^θ) at u = e^{−x}: log(θ u) where 1 − u is 1 in double precision."""
    inner = log1mexp(-theta * log1mexp(torch.clamp(x, max=45.0)))
    return torch.where(x > 45.0, torch.log(theta) - x, inner)


def normal_quantile(hazard: Tensor) -> Tensor:
    """The z with Φ(z) = e^{−H}, once differentiable: by scipy, with dz/dH = −e^{−H}/φ(z) attached."""
    fixed = hazard.detach()
    z = torch.from_numpy(ndtri_exp(-fixed.numpy()))
    return z - np.sqrt(2.0 * np.pi) * torch.exp(z * z / 2.0 - fixed) * (hazard - fixed)
