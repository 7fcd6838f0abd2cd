"""Arguments of random calls."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import cocensor as cc

SIZES = (1, 2, 3, 5, 8, 20, 60)


@dataclass
class Draw:
    """Arguments of one call; ``n`` subjects are trained on and ``m`` tested, observed in some unit of time."""

    rng: np.random.Generator
    drawn: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.n, self.m = (int(size) for size in self.rng.choice(SIZES, 2))
        self.p, self.width = int(self.rng.integers(1, 4)), int(self.rng.integers(1, 6))
        self.unit = self.one(1.0, 1.0, 1.0, 1e-8, 1e-3, 365.25, 1e9)

    def one(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def given(self, name: str, value: Any) -> Any:
        """``value``, or at times something else in its place; kept for the finding."""
        if self.rng.random() < 0.06:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = self.instead(value)
        with np.printoptions(threshold=400, precision=17):
            self.drawn.append(f"{name} = {value!r}")
        return value

    def instead(self, value: Any) -> Any:
        """Something hostile, or the same in another form."""
        array = np.array(value if isinstance(value, np.ndarray) else np.ones(3), dtype=float)
        spoiled = array.copy()
        if spoiled.size:
            spoiled.flat[self.rng.integers(spoiled.size)] = self.one(
                np.nan, np.inf, -np.inf, -1.0, 1e308, 5e-324
            )
        masked = np.ma.masked_array(spoiled, self.rng.random(spoiled.shape) < 0.3)
        same = (np.asfortranarray(array), array.T, array[None], array[..., None], array.ravel(), array[:-1])
        other = (np.flip(array), np.repeat(array, 2), array * 1e300, array * 1e-300, array > 0.5)
        types = [array.astype(each) for each in (complex, object, str, "f2", "f4", "i8")]
        odd = [np.zeros(array.shape, each) for each in ("datetime64[D]", "f8,i4")]
        empty = (None, {}, set(), [], (), np.array([]), np.empty((0, 3)))
        numbers = (3, -1, 0.0, np.nan, np.inf, True, 1 + 2j, 10**400)
        lists = ([[1.0], [1.0, 2.0]], ["a", "b"], [None, 1.0], [1 + 2j, None], array.tolist(), (array, array))
        things = ("text", b"bytes", object(), {"a": 1}, iter([1.0]), pd.Series(array.ravel()))
        bad = (spoiled, spoiled, spoiled, masked, spoiled.tolist())
        return self.one(*bad, *same, *other, *types, *odd, *empty, *numbers, *lists, *things)

    # --- what functions take ---

    def times(self, n: int) -> Any:
        """Observed times: continuous, tied, all alike, with zeros."""
        drawn = self.rng.exponential(size=n)
        drawn = self.one(drawn, drawn, np.ceil(4 * drawn), np.floor(3 * drawn), np.ones(n), drawn**6)
        return self.unit * drawn

    def events(self, n: int) -> Any:
        share = self.one(0.0, 0.1, 0.5, 0.5, 0.5, 0.9, 1.0)
        return self.rng.random(n) < share

    def outcomes(self, name: str, n: int) -> Any:
        time, event = self.times(n), self.events(n)
        ended = ~event & (self.rng.random(n) < 0.3)
        made: Any = (time, event, ended) if self.rng.random() < 0.2 else (time, event)
        if len(made) == 3 and self.rng.random() < 0.3:
            made = (*made, self.rng.choice(["moved away", "too ill"], n))
        if self.rng.random() < 0.1:
            made = (self.given(f"{name}[0]", time), *made[1:])
        self.drawn.append(f"{name} = {made!r}")
        return made

    def weights(self, n: int) -> Any:
        """Case weights, mostly none; some of them 0, or of another unit."""
        if self.rng.random() < 0.7:
            return None
        drawn = self.rng.exponential(size=n)
        chosen = self.one(drawn, np.floor(2 * drawn), np.ones(n), 1e-6 * drawn, drawn**8)
        return self.given("sample_weight", chosen)

    def covariates(self, name: str, n: int) -> Any:
        x = self.rng.normal(size=(n, self.p))
        x = self.one(x, x, x, np.round(x), x * 1e6, np.zeros_like(x), np.repeat(x[:, :1], self.p, axis=1))
        return self.given(name, x)

    def grid(self, name: str = "times") -> Any:
        return self.given(name, self.unit * np.cumsum(0.1 + self.rng.exponential(0.4, self.width)))

    def at(self, name: str) -> Any:
        """Times to ask a fitted curve for; also beyond its end."""
        return self.given(
            name, self.one(self.times(4), float(self.times(1)[0]), self.times(0), self.unit * 50.0)
        )

    def curves(self, name: str, n: int) -> Any:
        width = self.width
        steps = self.rng.dirichlet(np.ones(width + 1), n)[:, :width]
        fallen = np.clip(1.0 - np.cumsum(steps, axis=1), 0.0, 1.0)
        return self.given(
            name, self.one(fallen, fallen, fallen.round(), np.ones((n, width)), np.zeros((n, width)))
        )

    def probabilities(self, name: str, n: int = 5) -> Any:
        u = self.rng.random(n)
        extreme = self.rng.choice([0.0, 5e-324, 1e-300, 1e-16, 0.5, 1 - 1e-16, 1.0], n)
        return self.given(name, np.where(self.rng.random(n) < 0.3, extreme, u))

    def number(self, name: str, *choices: float) -> Any:
        return self.given(name, float(self.one(*choices)))

    def word(self, name: str, *choices: Any) -> Any:
        value = self.one(*choices) if self.rng.random() < 0.97 else self.one("nonsense", None, 3, ())
        self.drawn.append(f"{name} = {value!r}")
        return value

    def copula(self, *families: str) -> Any:
        """A copula over the range of its family, also near to the ends."""
        family = self.word("family", *(families or tuple(cc.copulas.copula_families())))
        if family == "independence":
            return cc.Independence()
        tau = self.number("tau", 0.0, 1e-12, 1e-3, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999, -0.2, -0.9)
        return cc.copula(family, tau=tau)

    def archimedean(self) -> Any:
        return self.copula("independence", "clayton", "frank", "gumbel", "joe")

    def margin(self) -> Any:
        of = self.word("of", "event", "event", "dropout")
        made = cc.KaplanMeier(of) if self.rng.random() < 0.4 else cc.CopulaGraphic(self.archimedean(), of)
        return made.fit(self.outcomes("y", self.n), self.weights(self.n))

    # --- what scores take ---

    def model(self, name: str, n: int) -> Any:
        """Predictions for n subjects in any form that says its times."""
        grid, curves = self.grid(f"{name}: times"), self.curves(f"{name}: curves", n)
        form = self.one("pair", "pair", "Predictions", "by subject", "by time", "polars")
        self.drawn.append(f"{name} is given as {form}")
        if form == "pair":
            return grid, curves
        if form == "Predictions":
            return cc.Predictions(grid, curves, self.interpolation(), self.tail())
        try:
            by_subject = pd.DataFrame(curves, columns=np.ravel(grid))
            by_subject = by_subject if form != "by time" else by_subject.T
            return (
                pl.DataFrame(np.asarray(curves), schema=list(map(str, grid)))
                if form == "polars"
                else by_subject
            )
        except Exception:  # no frame can be made of these
            return grid, curves

    def interpolation(self) -> Any:
        return self.word("interpolation", "linear", "step")

    def tail(self) -> Any:
        return self.word("tail", None, None, "last", "zero", "linear", "exponential")

    def training(self) -> Any:
        return self.outcomes("y_train", self.n) if self.rng.random() < 0.8 else None

    def scoring(self) -> tuple[Any, ...]:
        """The arguments that scores share."""
        y_train, y_test, grid = self.training(), self.outcomes("y_test", self.m), self.grid()
        if self.rng.random() < 0.8:
            return y_train, y_test, self.curves("estimate", self.m), grid
        return y_train, y_test, self.model("estimate", self.m), grid

    def sample_covariates(self, trained: bool) -> dict[str, Any]:
        parts = (("train", self.n), ("test", self.m)) if trained else (("test", self.m),)
        return {f"x_{part}": self.covariates(f"x_{part}", size) for part, size in parts}

    def adjusted(self, trained: bool) -> dict[str, Any]:
        """How scores are adjusted for censoring."""
        if self.rng.random() < 0.3:
            how: dict[str, Any] = {"adjustment": self.adjustment()}
        else:
            copula = self.archimedean() if self.rng.random() < 0.8 else None
            how = {
                "adjustment": self.word("adjustment", *cc.adjustments.adjustment_names()),
                "copula": copula,
            }
        self.drawn.append(f"{how}")
        needed = how["adjustment"] in ("ipcw_cox", "aipcw", "imputation_covariates") or not isinstance(
            how["adjustment"], str
        )
        return how | (self.sample_covariates(trained) if needed or self.rng.random() < 0.1 else {})

    def adjustment(self) -> Any:
        """An adjustment as it is made by hand."""
        hold = self.word("tail", None, "last")
        kind = self.one("IPCW", "AIPCW", "MarginTime", "Imputation", "Imputation", "DependentIPCW", "Oracle")
        if kind == "IPCW":
            convention = self.word("convention", "left_limit", "scikit-survival")
            floor = self.one(None, self.number("min_probability", 0.01, 0.2, 1e-12))
            return cc.IPCW(self.word("censoring", "km", "cox"), convention, floor, hold)
        if kind == "AIPCW":
            learners = [self.word(name, "cox", "cox", ("cox",), "auto") for name in ("event", "dropout")]
            return cc.AIPCW(*learners, self.given("folds", self.one(2, 5)), 0, 0.05, hold)
        if kind == "MarginTime":
            weighting = self.word("weighting", "none", "uncertainty")
            return cc.adjustments.MarginTime(self.archimedean(), weighting, self.interpolation(), self.tail())
        if kind == "Oracle":
            return cc.Oracle(self.given("event_times", self.times(self.m)))
        joint = {
            "margins": self.word("margins", "weibull", "spline"),
            "knots": self.given("knots", self.one(1, 2, 3)),
            "penalty": self.number("penalty", 0.0, 0.01, 1.0),
            "time_kind": self.word("time_kind", "auto", "continuous", "grouped"),
        }
        if kind == "DependentIPCW":
            return cc.DependentIPCW(self.copula(), hold, self.word("given", None, "covariates"), **joint)
        given = self.word(
            "given", (), "covariates", "prediction", "predictions", ("covariates", "prediction")
        )
        score_times = self.given("score_times", self.one(1, 1, 3))
        conditioning = self.word("conditioning", "dropout", "dropout", "dropout", "event_free")
        return cc.Imputation(given, self.copula(), conditioning, hold, score_times, **joint)
