"""Synthetic data: Weibull margins given covariates, tied together by a copula."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._validation import (
    FloatArray,
    as_matrix,
    as_times,
    as_vector,
    check_choice,
    check_length,
    check_number,
    read_only,
)
from cocensor.copulas import Copula, Independence
from cocensor.estimators import CoxPH
from cocensor.outcomes import Survival

Preset = Literal["text", "published"]
_PRESETS: dict[str, dict[str, tuple[float, float]]] = {
    "text": {"event": (4.0, 17.0), "censoring": (3.0, 12.0)},
    "published": {"event": (4.0, 17.0), "censoring": (6.0, 19.0)},
}
_SMALLEST_UNIFORM = 2.0**-54


@dataclass(frozen=True)
class SyntheticDesign:
    r"""The paper's synthetic experiment: event and dropout times that depend on each other given covariates.

    Covariates are uniform on :math:`[0, 1]^d`, the coefficients of event and of dropout uniform on
    :math:`[-1, 1]^d`. Both times are Weibull with proportional hazards,

    .. math:: S(t \mid x) = \exp\bigl(-(t/\rho)^\nu\, e^{x'\beta}\bigr),

    and ``copula`` is their survival copula given x:
    :math:`P(E > t, C > c \mid x) = C_\theta(S_E(t \mid x), S_C(c \mid x))`.

    Parameters
    ----------
    n : int
        How many subjects.
    n_features : int
        How many covariates, d.
    event, censoring : tuple of float
        Shape ν and scale ρ of the event and of the dropout.
    copula : Copula
        The survival copula of event and dropout given x; independence by default.
    censoring_rate : float, optional
        The share of subjects to be censored. None takes the scale of ``censoring`` as it is.

    Notes
    -----
    *Calibration.* Dropout times are proportional to their scale, :math:`c_i = \rho_C c_i^1`. As a tie counts
    as an event, subject i is censored exactly if :math:`\rho_C < e_i/c_i^1`: the share of the censored is a
    step function of :math:`\rho_C` that falls by 1/n at each of these ratios. A scale between two neighbouring
    ratios, here their geometric mean, gives the number of censored subjects nearest to
    ``censoring_rate`` · n, so that the realised share is off by at most 1/(2n) in every draw. The scale in
    ``censoring`` then has no say, and the calibrated one differs a little from draw to draw. The paper
    multiplies the hazard of censoring instead, which is the same model, by factors that pilot runs found and
    all seeds share.

    *Random numbers.* Covariates, coefficients, events and dropouts have streams of their own. One seed gives
    the same covariates, coefficients and event times under every copula, ``censoring`` and
    ``censoring_rate``.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> sample = SyntheticDesign(n=1000, copula=Clayton.from_tau(0.5), censoring_rate=0.3).draw(seed=0)
    >>> sample
    SimulatedSurvival(n=1000, n_features=10, censored=30.0%, copula=Clayton(theta=2.0))
    >>> train, test = sample[:700], sample[700:]
    >>> test.event_survival([5.0, 10.0]).shape
    (300, 2)

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival
    models. *UAI*.
    """

    n: int = 10_000
    n_features: int = 10
    event: tuple[float, float] = _PRESETS["text"]["event"]
    censoring: tuple[float, float] = _PRESETS["text"]["censoring"]
    copula: Copula = field(default_factory=Independence)
    censoring_rate: float | None = 0.5

    def __post_init__(self) -> None:
        checked = {
            "n": _whole(self.n, "n"),
            "n_features": _whole(self.n_features, "n_features"),
            "event": _shape_and_scale(self.event, "event"),
            "censoring": _shape_and_scale(self.censoring, "censoring"),
        }
        if not isinstance(self.copula, Copula):
            raise TypeError(f"copula must be a Copula, but is {self.copula!r}.")
        if self.censoring_rate is not None:
            checked["censoring_rate"] = check_number(self.censoring_rate, "censoring_rate", lower=0, upper=1)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def preset(cls, name: Preset, **changes: Any) -> Self:
        """The Weibull margins of the paper's ``"text"`` (the default) or behind its ``"published"`` numbers.

        They differ in the dropouts: shape 3 and scale 12 in the text, 6 and 19 in the published code.

        Examples
        --------
        >>> SyntheticDesign.preset("published", n=500).censoring
        (6.0, 19.0)
        """
        check_choice(name, "name", tuple(_PRESETS))
        return cls(**{**_PRESETS[name], **changes})

    def draw(self, seed: int | None = None) -> SimulatedSurvival:
        """One data set; the same for the same seed, and a new one each time without."""
        if seed is None:
            seed = secrets.randbits(63)
        seed = _whole(seed, "seed", smallest=0, otherwise=" or None")
        streams = np.random.SeedSequence(seed).spawn(4)
        covariates, coefficients, event, dropout = map(np.random.default_rng, streams)

        X = covariates.random((self.n, self.n_features))
        event_coef, censoring_coef = coefficients.uniform(-1.0, 1.0, size=(2, self.n_features))
        u = np.maximum(event.random(self.n), _SMALLEST_UNIFORM)
        v = self.copula.sample_given(u, dropout)

        (event_shape, event_scale), (censoring_shape, censoring_scale) = self.event, self.censoring
        log_event = np.log(event_scale) + _log_time(u, event_shape, _risk(X, event_coef))
        log_unit = _log_time(v, censoring_shape, _risk(X, censoring_coef))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with the outcomes
            if self.censoring_rate is not None:
                censoring_scale = _calibrated_scale(log_event - log_unit, self.censoring_rate)
            event_time, censoring_time = np.exp(log_event), censoring_scale * np.exp(log_unit)
        return SimulatedSurvival(
            X=X,
            y=Survival.from_latent(event_time, censoring_time),
            event_time=event_time,
            censoring_time=censoring_time,
            event_coef=event_coef,
            censoring_coef=censoring_coef,
            censoring_scale=censoring_scale,
            design=self,
            seed=seed,
        )


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedSurvival:
    r"""Simulated outcomes together with the truth behind them, from :meth:`SyntheticDesign.draw`.

    Attributes
    ----------
    X : array of shape (n, d)
        Covariates.
    y : Survival
        What a study would show.
    event_time, censoring_time : array of shape (n,)
        The latent times E and C.
    event_coef, censoring_coef : array of shape (d,)
        The log-hazard ratios :math:`\beta`.
    censoring_scale : float
        The Weibull scale of the dropouts, calibrated if the design asks for a censoring rate.
    design : SyntheticDesign
    seed : int
        What draws the same data from the design again, also where no seed was given.

    Notes
    -----
    Rows are picked as from an array, by a slice, a mask or indices; coefficients, scale and design stay
    those of the whole draw.

    Examples
    --------
    >>> sample = SyntheticDesign(n=200).draw(seed=1)
    >>> sample.y.n_events, sample.censoring_rate
    (100, 0.5)
    >>> sample.event_survival([0.0, 10.0, 20.0], X=[[0.5] * 10]).round(2)
    array([[1.  , 0.9 , 0.19]])
    """

    X: FloatArray
    y: Survival
    event_time: FloatArray
    censoring_time: FloatArray
    event_coef: FloatArray
    censoring_coef: FloatArray
    censoring_scale: float
    design: SyntheticDesign
    seed: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> SimulatedSurvival:
        """The draw's rows that a slice, a mask or indices pick (repeats allowed, as in a bootstrap)."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        if not index.size:
            raise ValueError("rows picks nobody: at least one subject is needed.")
        return replace(
            self,
            X=self.X[index],
            y=self.y[index],
            event_time=self.event_time[index],
            censoring_time=self.censoring_time[index],
        )

    def __repr__(self) -> str:
        return (
            f"SimulatedSurvival(n={len(self)}, n_features={self.X.shape[1]}, "
            f"censored={100.0 * self.censoring_rate:.1f}%, copula={self.design.copula})"
        )

    @property
    def censoring_rate(self) -> float:
        """The realised share of censored subjects."""
        return (len(self) - self.y.n_events) / len(self)

    def event_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r"""The true :math:`S_E(t \mid x)` at each ``t``, (n, len(t)), of the draw's own rows or those of ``X``."""
        return self._survival(t, X, *self.design.event, self.event_coef)

    def censoring_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r"""The true :math:`S_C(t \mid x)` at each ``t``, (n, len(t)), of the draw's own rows or those of ``X``."""
        return self._survival(t, X, self.design.censoring[0], self.censoring_scale, self.censoring_coef)

    def tau_given(self, score: npt.ArrayLike) -> float:
        """Kendall's τ of the latent times given a ``score`` of each subject, with proportional hazards in it.

        Given less than all covariates, event and dropout depend on each other otherwise than the design says: an
        adjustment that conditions on the prediction should be told this τ.
        """
        from scipy.stats import kendalltau

        z = as_vector(score, "score")
        check_length(z, "score", len(self), "the sample")
        everyone = np.ones(len(self), dtype=bool)
        hazards = []
        for time in (self.event_time, self.censoring_time):
            model = CoxPH().fit(z[:, None], Survival(time, everyone))
            hazards.append(np.asarray(model.baseline_at_centre_(time)) * model.relative_hazard(z[:, None]))
        return float(kendalltau(*hazards).statistic)

    def _survival(self, t: npt.ArrayLike, X: Any, shape: float, scale: float, coef: FloatArray) -> FloatArray:
        times = as_times(as_vector(np.atleast_1d(t), "t"), "t")
        X = self.X if X is None else as_matrix(X, "X")
        if X.shape[1] != coef.size:
            raise ValueError(f"X must have {coef.size} columns, as in the draw, but has {X.shape[1]}.")
        with np.errstate(divide="ignore", over="ignore"):  # S is 1 at 0, and 0 where the hazard is infinite
            log_hazard = shape * np.log(times / scale) + _risk(X, coef)[:, None]
            return np.exp(-np.exp(log_hazard))


def _risk(X: FloatArray, coef: FloatArray) -> FloatArray:
    """x'β, summed row by row: the rounding of a matrix product may change with the number of rows."""
    return np.sum(X * coef, axis=1)


def _log_time(survival: FloatArray, shape: float, risk: FloatArray) -> FloatArray:
    """Log of the t with S(t) = exp(−t^shape e^risk) = ``survival``."""
    with np.errstate(divide="ignore"):  # a probability that rounds to 1 is at time 0
        return (np.log(-np.log(survival)) - risk) / shape


def _calibrated_scale(log_ratio: FloatArray, rate: float) -> float:
    """The scale that lies below the share ``rate`` of the ratios of event time to unscaled dropout time."""
    n = log_ratio.size
    ordered = np.sort(log_ratio)
    steps = np.concatenate(([ordered[0] - 1.0], ordered, [ordered[-1] + 1.0]))
    events = n - round(rate * n)
    # Half-way, so that rounding decides for nobody.
    return float(np.exp(0.5 * (steps[events] + steps[events + 1])))


def _whole(value: Any, name: str, *, smallest: int = 1, otherwise: str = "") -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < smallest:
        raise ValueError(f"{name} must be a whole number not below {smallest}{otherwise}, but is {value!r}.")
    return int(value)


def _shape_and_scale(pair: Any, name: str) -> tuple[float, float]:
    try:
        shape, scale = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shape, scale), but is {pair!r}.") from None
    return (
        check_number(shape, f"the shape of {name}", lower=0.0),
        check_number(scale, f"the scale of {name}", lower=0.0),
    )
