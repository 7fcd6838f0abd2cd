"""Synthetic data: Weibull margins given covariates, tied together by a copula."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_matrix, as_vector, check_choice, check_number, check_whole
from cocensor._numerics import hazard_from_survival, open_uniform
from cocensor.copulas import Copula, Independence
from cocensor.data import Survival
from cocensor.simulate.simulated import SimulatedSurvival

Preset = Literal["text", "published"]
Risk = Literal["linear", "quadratic", "interactions"]
_RISKS = ("linear", "quadratic", "interactions")
_HIDDEN_NODES, _N_NODES = 401, 80
_PRESETS: dict[str, dict[str, tuple[float, float]]] = {
    "text": {"event": (4.0, 17.0), "dropout": (3.0, 12.0)},
    "published": {"event": (4.0, 17.0), "dropout": (6.0, 19.0)},
}


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
    event, dropout : tuple of float
        Shape ν and scale ρ of the event and of the dropout.
    copula : Copula
        The survival copula of event and dropout given x; independence by default.
    censoring_rate : float, optional
        The share of subjects whose dropout comes before their event. None takes the scale of ``dropout`` as it is.
    risk : {"linear", "quadratic", "interactions"}
        What the coefficients multiply: :math:`x_j`, :math:`4(x_j - \frac12)^2`, or
        :math:`4(x_j - \frac12)(x_{j+1} - \frac12)` (the last with the first). A linear model does not see the last two.
    hazard_ratio : float
        By what the hazard of the event is multiplied from a dropout on; up to it event and dropout are tied by
        ``copula``, which must be independence where this is not 1.
    hidden : float
        The weight of an unobserved standard normal covariate in the log-hazards of both event and dropout: with a
        positive one they depend on each other given x, also at the independence copula.
    study_end : float or pair of float, optional
        The end of the study, the same for all or uniform between two bounds: administrative censoring.

    Notes
    -----
    *Calibration.* Dropout times are proportional to their scale, :math:`c_i = \rho_C c_i^1`. As a tie counts as an
    event, subject i is censored exactly if :math:`\rho_C < e_i/c_i^1`: the share of the censored falls by 1/n at each
    of these ratios. The scale of a draw, not that in ``dropout``, is the geometric mean of the two neighbouring ratios
    between which the number of censored subjects is nearest to ``censoring_rate`` · n: the realised share is off by at
    most 1/(2n) in every draw. The paper multiplies the hazard of dropout, which is the same model, by factors that
    pilot runs found and all seeds share.

    *After a dropout* at c, with a hazard ratio r, the event time of the same draw moves to the e' > c with
    :math:`\Lambda(e') - \Lambda(c) = [\Lambda(e) - \Lambda(c)]/r`, Λ the cumulative hazard of the event. Who drops out,
    and when, stays the same.

    *Random numbers.* Covariates, coefficients, events and dropouts have streams of their own. One seed gives the same
    covariates, coefficients and event times under every copula, ``dropout`` and ``censoring_rate``.

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> from cocensor import Clayton
    >>> sample = SyntheticDesign(n=1000, copula=Clayton.from_tau(0.5), censoring_rate=0.3).draw(seed=0)
    >>> sample
    SyntheticSample(n=1000, n_features=10, censored=30.0%, copula=Clayton(theta=2.0))
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
    dropout: tuple[float, float] = _PRESETS["text"]["dropout"]
    copula: Copula = field(default_factory=Independence)
    censoring_rate: float | None = 0.5
    risk: Risk = "linear"
    hidden: float = 0.0
    hazard_ratio: float = 1.0
    study_end: float | tuple[float, float] | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "n": check_whole(self.n, "n"),
            "n_features": check_whole(self.n_features, "n_features"),
            "event": _shape_and_scale(self.event, "event"),
            "dropout": _shape_and_scale(self.dropout, "dropout"),
        }
        if not isinstance(self.copula, Copula):
            raise TypeError(f"copula must be a Copula, but is {self.copula!r}.")
        if self.censoring_rate is not None:
            checked["censoring_rate"] = check_number(self.censoring_rate, "censoring_rate", lower=0, upper=1)
        check_choice(self.risk, "risk", _RISKS)
        if self.risk == "interactions" and self.n_features < 3:
            raise ValueError(f"n_features must be at least 3 for interactions, but is {self.n_features}.")
        checked["hidden"] = check_number(self.hidden, "hidden")
        checked["hazard_ratio"] = check_number(self.hazard_ratio, "hazard_ratio", lower=0.0)
        if self.hazard_ratio != 1:
            where = "where hazard_ratio is not 1"
            if not self.copula.is_independence:
                raise ValueError(f"copula must be independence {where}, but is {self.copula!r}.")
            if self.hidden:
                raise ValueError(f"hidden must be 0 {where}, but is {self.hidden:g}.")
        if self.study_end is not None:
            bounds = as_vector(self.study_end, "study_end", single=True)
            if bounds.size not in (1, 2) or not 0 < bounds[0] <= bounds[-1]:
                rule = "study_end must be a time above 0 or a pair of them in order"
                raise ValueError(f"{rule}, but is {self.study_end!r}.")
            checked["study_end"] = float(bounds[0]) if bounds.size == 1 else tuple(bounds.tolist())
        vars(self).update(checked)

    @classmethod
    def preset(cls, name: Preset, **changes: Any) -> Self:
        """The Weibull margins of the paper's ``"text"`` (the default) or behind its ``"published"`` numbers.

        They differ in the dropouts: shape 3 and scale 12 in the text, 6 and 19 in the published code.

        Examples
        --------
        >>> from cocensor.simulate import SyntheticDesign
        >>> SyntheticDesign.preset("published", n=500).dropout
        (6.0, 19.0)
        """
        check_choice(name, "name", tuple(_PRESETS))
        return cls(**{**_PRESETS[name], **changes})

    def draw(self, seed: int | None = None) -> SyntheticSample:
        """One data set; the same for the same seed, and a new one each time without."""
        seed = check_whole(secrets.randbits(63) if seed is None else seed, "seed", 0, otherwise=" or None")
        streams = np.random.SeedSequence(seed).spawn(6)
        covariates, coefficients, event, dropout, unobserved, ends = map(np.random.default_rng, streams)

        X = covariates.random((self.n, self.n_features))
        event_coef, dropout_coef = coefficients.uniform(-1.0, 1.0, size=(2, self.n_features))
        u = open_uniform(event, self.n)
        v = self.copula.sample_given(u, dropout)
        hidden = unobserved.standard_normal(self.n) if self.hidden else None

        features = _features(X, self.risk)
        shift = 0.0 if hidden is None else self.hidden * hidden
        (event_shape, event_scale), (dropout_shape, dropout_scale) = self.event, self.dropout
        log_event = np.log(event_scale) + _log_time(u, event_shape, _risk(features, event_coef) + shift)
        log_unit = _log_time(v, dropout_shape, _risk(features, dropout_coef) + shift)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with the outcomes
            if self.censoring_rate is not None:
                dropout_scale = _calibrated_scale(log_event - log_unit, self.censoring_rate)
            event_time, dropout_time = np.exp(log_event), dropout_scale * np.exp(log_unit)
        if self.hazard_ratio != 1:
            # What is left of the cumulative hazard after an earlier dropout is passed faster, but never before it.
            first = np.minimum(dropout_time / event_time, 1.0) ** event_shape
            moved = event_time * (first + (1.0 - first) / self.hazard_ratio) ** (1.0 / event_shape)
            later = np.maximum(moved, np.nextafter(dropout_time, np.inf))
            event_time = np.where(dropout_time < event_time, later, event_time)
        end = None
        if self.study_end is not None:
            low, high = np.broadcast_to(self.study_end, 2)
            end = ends.uniform(low, high, size=self.n)
        truth: dict[str, Any] = {"hidden": hidden, "event_coef": event_coef, "dropout_coef": dropout_coef}
        truth |= {"dropout_scale": dropout_scale, "seed": seed, "design": self}
        y = Survival.from_latent(event_time, dropout_time, end)
        return SyntheticSample(X=X, y=y, event_time=event_time, dropout_time=dropout_time, **truth)


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticSample(SimulatedSurvival):
    r"""A draw of :meth:`SyntheticDesign.draw`.

    Attributes
    ----------
    X : array of shape (n, d)
        Covariates.
    y, event_time, dropout_time, seed
        As in :class:`SimulatedSurvival`.
    hidden : array of shape (n,), optional
        The unobserved covariate, if the design has one.
    event_coef, dropout_coef : array of shape (d,)
        The log-hazard ratios :math:`\beta`.
    dropout_scale : float
        The Weibull scale of the dropouts, calibrated if the design asks for a censoring rate.
    design : SyntheticDesign

    Examples
    --------
    >>> from cocensor.simulate import SyntheticDesign
    >>> sample = SyntheticDesign(n=200).draw(seed=1)
    >>> sample.y.n_events, sample.censoring_rate
    (100, 0.5)
    >>> sample.event_survival([0.0, 10.0, 20.0], X=[[0.5] * 10]).round(2)
    array([[1.  , 0.9 , 0.19]])
    """

    hidden: FloatArray | None
    event_coef: FloatArray
    dropout_coef: FloatArray
    dropout_scale: float
    design: SyntheticDesign

    _by_row: ClassVar[tuple[str, ...]] = (*SimulatedSurvival._by_row, "hidden")

    @property
    def copula(self) -> Copula:
        """The survival copula of event and dropout given x and the hidden covariate, if there is one."""
        if self.design.hazard_ratio != 1:
            raise ValueError("a hazard ratio after dropout makes a dependence that is no copula of a family.")
        return self.design.copula

    @property
    def _dependence(self) -> str:
        ratio = self.design.hazard_ratio
        return super()._dependence if ratio == 1 else f"hazard_ratio={ratio:g}"

    def event_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r"""The true :math:`S_E(t \mid x)` at each ``t``, (n, len(t)), of the draw's own rows or those of ``X``.

        A hidden covariate is averaged over, and so is the dropout that changes the hazard.
        """
        alike = self._survival(t, X, *self.design.event, self.event_coef)
        if self.design.hazard_ratio == 1:
            return alike
        shapes = self.design.event[0], self.design.dropout[0]
        return _survival_with_dropouts(alike, self.dropout_survival(t, X), shapes, self.design.hazard_ratio)

    def dropout_survival(self, t: npt.ArrayLike, X: Any = None) -> FloatArray:
        r"""The true :math:`S_C(t \mid x)` at each ``t``, (n, len(t)), of the draw's own rows or those of ``X``."""
        return self._survival(t, X, self.design.dropout[0], self.dropout_scale, self.dropout_coef)

    def _survival(self, t: npt.ArrayLike, X: Any, shape: float, scale: float, coef: FloatArray) -> FloatArray:
        times = as_vector(t, "t", single=True, negative=False)
        X = self.X if X is None else as_matrix(X, "X")
        if X.shape[1] != coef.size:
            raise ValueError(f"X must have {coef.size} columns, as in the draw, but has {X.shape[1]}.")
        with np.errstate(divide="ignore", over="ignore"):  # S is 1 at 0, and 0 where the hazard is infinite
            log_hazard = shape * np.log(times / scale) + _risk(_features(X, self.design.risk), coef)[:, None]
            if not self.design.hidden:
                return np.exp(-np.exp(log_hazard))
            # Equal steps: a Gauss rule does not see how sharply S falls in z when it weighs much.
            nodes = np.linspace(-9.0, 9.0, _HIDDEN_NODES)
            weights = np.exp(-0.5 * nodes**2)
            total = np.zeros_like(log_hazard)
            for node, weight in zip(nodes, weights / weights.sum(), strict=True):
                total += weight * np.exp(-np.exp(log_hazard + self.design.hidden * node))
            return total


def _features(X: FloatArray, risk: Risk) -> FloatArray:
    """Return what the coefficients multiply."""
    if risk == "linear":
        return X
    centred = X - 0.5
    return 4.0 * centred * (centred if risk == "quadratic" else np.roll(centred, -1, axis=1))


def _risk(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Return x'β, summed row by row: the rounding of a matrix product may change with the number of rows."""
    return np.sum(X * coef, axis=1)


def _log_time(survival: FloatArray, shape: float, risk: FloatArray) -> FloatArray:
    """Return the log of the t with S(t) = exp(−t^shape e^risk) = ``survival``."""
    with np.errstate(divide="ignore"):  # a probability that rounds to 1 is at time 0
        return (np.log(-np.log(survival)) - risk) / shape


def _calibrated_scale(log_ratio: FloatArray, rate: float) -> float:
    """Return the scale that lies below the share ``rate`` of the ratios of event time to unscaled dropout time."""
    steps = np.concatenate(([log_ratio.min() - 1.0], np.sort(log_ratio), [log_ratio.max() + 1.0]))
    events = log_ratio.size - round(rate * log_ratio.size)
    # Half-way, so that rounding decides for nobody.
    return float(np.exp(0.5 * (steps[events] + steps[events + 1])))


def _shape_and_scale(pair: Any, name: str) -> tuple[float, float]:
    try:
        shape, scale = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shape, scale), but is {pair!r}.") from None
    shape = check_number(shape, f"the shape of {name}", lower=0.0)
    return shape, check_number(scale, f"the scale of {name}", lower=0.0)


def _survival_with_dropouts(
    event: FloatArray, dropout: FloatArray, shapes: tuple[float, float], ratio: float
) -> FloatArray:
    r"""Return S_E(t) over all, from what both survival functions would be without a change at the dropout.

    .. math:: \Pi(t) + \int_0^t \Pi(s)\, e^{-r[\Lambda(t) - \Lambda(s)]}\, dM(s),
        \qquad \Pi = e^{-\Lambda - M},

    by a Gauss rule in the share of M(t) that has passed.
    """
    x, y = hazard_from_survival(event), hazard_from_survival(dropout)
    nodes, weights = np.polynomial.legendre.leggauss(_N_NODES)
    total = event * dropout
    for share, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        passed = share ** (shapes[0] / shapes[1])
        total = total + weight * y * np.exp(-x * (passed + ratio * (1.0 - passed)) - share * y)
    return total
