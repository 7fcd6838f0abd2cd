"""Random calls of the public API, valid and not: each gives a result within its range, or says what is wrong.

``python -m tests.fuzz --seconds 60`` goes through cases until the time is over, by default seeded by the day, and
ends at the first finding. ``--seed S --case N`` runs one case again.

A new function of the API is a line in ``CALLS``: a weight, what to call with arguments from ``Draw``, and the range of
the result.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import cocensor as cc

LIBRARY = str(Path(cc.__file__).parent)
#: What the library warns of on purpose.
OWN_WARNINGS = (cc.HorizonWarning, cc.ConvergenceWarning)
ROUNDING = 1e-9
TIME_LIMIT = 60
SIZES = (1, 2, 3, 5, 8, 20, 60)


class OutOfRangeError(Exception):
    """A result that cannot be one."""


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
        return self.one(
            *(spoiled, spoiled, spoiled, masked, spoiled.tolist()),
            *(
                None,
                "text",
                b"bytes",
                object(),
                {},
                {"a": 1},
                set(),
                [],
                np.array([]),
                np.empty((0, 3)),
                3,
                -1,
                0.0,
            ),
            *(np.nan, np.inf, True, 1 + 2j, 10**400, [[1.0], [1.0, 2.0]], ["a", "b"], [None, 1.0]),
            *(array + 1j, array.astype(object), array.astype(str), array.astype("f2"), array.astype("f4")),
            *(np.asfortranarray(array), array.T, array[None], array[..., None], array.ravel(), array[:-1]),
            *(
                array.tolist(),
                np.flip(array),
                np.repeat(array, 2),
                array * 1e300,
                array * 1e-300,
                array > 0.5,
            ),
            *(
                np.zeros(array.shape, "datetime64[D]"),
                np.zeros(array.shape, "f8,i4"),
                (array, array),
                iter([1.0]),
            ),
        )

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
        if self.rng.random() < 0.1:
            made = (self.given(f"{name}[0]", time), *made[1:])
        self.drawn.append(f"{name} = {made!r}")
        return made

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
        family = self.word("family", *(families or tuple(cc.copulas())))
        if family == "independence":
            return cc.Independence()
        tau = self.number("tau", 0.0, 1e-12, 1e-3, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999, -0.2, -0.9)
        return cc.copula(family, tau=tau)

    def archimedean(self) -> Any:
        return self.copula("independence", "clayton", "frank", "gumbel", "joe")

    def margin(self) -> Any:
        of = self.word("of", "event", "event", "censoring")
        made = cc.KaplanMeier(of) if self.rng.random() < 0.4 else cc.CopulaGraphic(self.archimedean(), of)
        return made.fit(self.outcomes("y", self.n))

    def scoring(self) -> tuple[Any, ...]:
        """The arguments that scores share."""
        outcomes = self.outcomes("y_train", self.n), self.outcomes("y_test", self.m)
        grid = self.grid()
        return *outcomes, self.curves("estimate", self.m), grid

    def adjusted(self) -> dict[str, Any]:
        """How scores are adjusted for censoring."""
        name = self.word("adjustment", *cc.adjustments())
        copula = self.archimedean() if self.rng.random() < 0.8 else None
        with_covariates = name in ("ipcw_cox", "given_covariates") or self.rng.random() < 0.1
        x = {
            f"x_{part}": self.covariates(f"x_{part}", size)
            for part, size in (("train", self.n), ("test", self.m))
        }
        return {"adjustment": name, "copula": copula, **(x if with_covariates else {})}


# --- ranges -------------------------------------------------------------------------------------------


def within(low: float, high: float, *, nan: bool = False) -> Callable[[Any], None]:
    """Finite numbers from ``low`` to ``high``; infinite ones where an end is; NaN where that is documented."""

    def check(result: Any) -> None:
        values = np.asarray(result, dtype=float)
        missing = np.isnan(values)
        known = values[~missing]
        below, above = (known < low - ROUNDING).any(), (known > high + ROUNDING).any()
        if (missing.any() and not nan) or below or above:
            raise OutOfRangeError(f"[{low:g}, {high:g}] does not hold {values!r}")

    return check


MOST = np.finfo(float).max
PROBABILITY = within(0.0, 1.0)
SCORE = within(0.0, MOST)
TIME = within(0.0, np.inf)
FINITE = within(-MOST, MOST)
#: Weights of dependent IPCW may be negative.
RANGE_OF_SCORES = {"dependent_ipcw": FINITE}


def outcome(y: cc.Survival) -> None:
    TIME(y.time)
    table = y.risk_table
    within(1, len(y))(table.at_risk)
    PROBABILITY(1.0 - y.n_events / len(y))


def scored(found: cc.Evaluation) -> None:
    for name, each in found.scored.items():
        for by_model in each.scores.values():
            RANGE_OF_SCORES.get(name, SCORE)(list(by_model.values()))
    found.to_json()
    repr(found)


# --- calls --------------------------------------------------------------------------------------------


def curves_of(d: Draw) -> cc.SurvivalCurves:
    grid = d.grid()
    how = d.word("interpolation", "linear", "step"), d.one(None, "last", "zero", "linear", "exponential")
    return cc.SurvivalCurves(grid, d.curves("probabilities", d.m), *how)


def tail(d: Draw) -> Any:
    return d.word("tail", None, None, "last", "zero", "linear", "exponential")


def joint(d: Draw) -> Any:
    how = (
        d.word("copula", "clayton", "frank", "gumbel", "joe", "gaussian"),
        d.word("margins", "weibull", "spline"),
    )
    penalty = d.number("penalty", 0.0, 0.01, 1.0)
    fitted = cc.fit_joint(d.covariates("X", d.n), d.outcomes("y", d.n), *how, penalty=penalty)
    return fitted.survival(d.grid(), d.covariates("X_test", d.m))


def chosen(d: Draw) -> float:
    found = cc.select_copula(d.covariates("X", d.n), d.outcomes("y", d.n), families=["clayton", "frank"])
    return float(found.copula.tau)


def cox(d: Draw) -> Any:
    ridge, ties = d.number("ridge", 0.0, 0.0, 0.1), d.word("ties", "efron", "breslow")
    fitted = cc.CoxPH(ties, ridge).fit(d.covariates("X", d.n), d.outcomes("y", d.n))
    return fitted.survival(d.at("times"), d.covariates("X_test", d.m))


def score(d: Draw, of: Callable[..., Any], **more: Any) -> Any:
    how = d.adjusted()
    found = of(*d.scoring(), **how, **more)
    RANGE_OF_SCORES.get(how["adjustment"], SCORE)(found)
    return found


def evaluated(d: Draw) -> cc.Evaluation:
    y_train, y_test, probabilities, grid = d.scoring()
    chosen = ["ipcw", *d.rng.choice(cc.adjustments(), 2, replace=False)]
    x = [d.covariates(f"x_{part}", size) for part, size in (("train", d.n), ("test", d.m))]
    found = cc.evaluate(
        {"a": (grid, probabilities)}, y_train, y_test, *x, adjustments=chosen, copula=d.archimedean()
    )
    if any(each.moves for each in found.scored.values()):
        repr(found.sensitivity(("clayton", "frank"), (0.0, 0.4)))
    return found


CALLS: dict[str, tuple[int, Callable[[Draw], Any], Callable[[Any], None]]] = {
    "Survival": (
        6,
        lambda d: cc.Survival(d.given("time", d.times(d.n)), d.given("event", d.events(d.n))),
        outcome,
    ),
    "Survival.from_latent": (
        4,
        lambda d: cc.Survival.from_latent(
            d.given("event_time", d.times(d.n)),
            d.given("dropout_time", d.times(d.n)),
            d.one(None, d.at("study_end")),
        ),
        outcome,
    ),
    "Survival.coerce": (4, lambda d: cc.Survival.coerce(d.outcomes("y", d.n)), outcome),
    "StepFunction": (
        4,
        lambda d: cc.StepFunction(d.grid(), d.probabilities("values", 3))(d.at("t")),
        PROBABILITY,
    ),
    "SurvivalCurves": (6, lambda d: curves_of(d)(d.at("times")), PROBABILITY),
    "SurvivalCurves.quantile": (4, lambda d: curves_of(d).quantile(d.number("p", 0.01, 0.5, 0.99)), TIME),
    "SurvivalCurves.restricted_mean": (
        4,
        lambda d: curves_of(d).restricted_mean(d.number("horizon", 0.5 * d.unit, d.unit, 9 * d.unit)),
        TIME,
    ),
    "Copula.tau": (4, lambda d: d.copula().tau, within(-1.0, 1.0)),
    "Copula.cdf": (8, lambda d: d.copula().cdf(d.probabilities("u"), d.probabilities("v")), PROBABILITY),
    "Copula.hfunc1": (
        8,
        lambda d: d.copula().hfunc1(d.probabilities("u"), d.probabilities("v")),
        PROBABILITY,
    ),
    "Copula.hfunc2": (
        8,
        lambda d: d.copula().hfunc2(d.probabilities("u"), d.probabilities("v")),
        PROBABILITY,
    ),
    "Copula.pdf": (
        8,
        lambda d: d.copula().pdf(d.probabilities("u"), d.probabilities("v")),
        within(0.0, np.inf),
    ),
    "Copula.sample": (4, lambda d: d.copula().sample(d.given("n", 5), 0), PROBABILITY),
    "Copula.sample_given": (4, lambda d: d.copula().sample_given(d.probabilities("u"), 0), PROBABILITY),
    "Margin.predict": (8, lambda d: d.margin().predict(d.at("t"), tail=tail(d)), PROBABILITY),
    "Margin.variance": (4, lambda d: d.margin().variance(d.at("t")), within(0.0, MOST, nan=True)),
    "Margin.confidence_interval": (
        4,
        lambda d: d.margin().confidence_interval(d.at("t"), d.number("level", 0.5, 0.95)),
        within(0.0, 1.0, nan=True),
    ),
    "Margin.quantile": (4, lambda d: d.margin().quantile(d.probabilities("p"), tail=tail(d)), TIME),
    "Margin.rmst": (4, lambda d: d.margin().rmst(d.at("horizon"), tail=tail(d)), TIME),
    "Margin.margin_time": (6, lambda d: d.margin().margin_time(d.at("c"), tail=tail(d)), TIME),
    "Margin.conditional_survival": (
        6,
        lambda d: d.margin().conditional_survival(
            d.at("t"), d.at("c"), d.word("given", "event_free", "censoring", "administrative")
        ),
        PROBABILITY,
    ),
    "CoxPH": (6, cox, PROBABILITY),
    "fit_joint": (2, joint, PROBABILITY),
    "select_copula": (1, chosen, within(-1.0, 1.0)),
    "time_grid": (
        4,
        lambda d: cc.time_grid(
            d.outcomes("y_train", d.n),
            d.outcomes("y_test", d.m),
            d.given("n", 5),
            d.one("t_max", d.at("horizon")),
        ),
        TIME,
    ),
    "brier_score": (8, lambda d: score(d, cc.brier_score), FINITE),
    "integrated_brier_score": (8, lambda d: score(d, cc.integrated_brier_score), FINITE),
    "brier_skill_score": (4, lambda d: cc.brier_skill_score(*d.scoring(), **d.adjusted()), FINITE),
    "log_score": (4, lambda d: score(d, cc.log_score, floor=d.number("floor", 1e-6, 0.01, 0.4)), FINITE),
    "integrated_log_score": (
        4,
        lambda d: score(d, cc.integrated_log_score, floor=d.number("floor", 1e-6, 0.01, 0.4)),
        FINITE,
    ),
    "evaluate": (2, evaluated, scored),
}
_NAMES = tuple(CALLS)
_WEIGHTS = np.array([weight for weight, _, _ in CALLS.values()], dtype=float)


# --- running ------------------------------------------------------------------------------------------


def is_refusal(error: Exception) -> bool:
    """Whether an error is one sentence of the library, raised by the library itself."""
    said = str(error)
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    one_sentence = said.endswith(".") and len(said) > 1 and len(said.splitlines()) == 1
    return isinstance(error, ValueError | TypeError) and raised_in.startswith(LIBRARY) and one_sentence


def run_case(seed: int, case: int) -> tuple[str, str, str | None]:
    """The call of a case, "result" or "refused", and the finding if there is one."""
    rng = np.random.default_rng([seed, case])
    name = str(rng.choice(_NAMES, p=_WEIGHTS / _WEIGHTS.sum()))
    _, call, check = CALLS[name]
    draw = Draw(rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in OWN_WARNINGS:
                warnings.simplefilter("ignore", category)
            check(call(draw))
    except Exception as error:
        if is_refusal(error):
            return name, "refused", None
        drawn = "\n".join(f"  {each}" for each in draw.drawn)
        return name, "finding", f"{name}\n{drawn}\n{traceback.format_exc()}"
    return name, "result", None


def _out_of_time(*_: Any) -> None:
    raise TimeoutError(f"a call took more than {TIME_LIMIT} seconds")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument(
        "--seed", type=int, default=int(date.today().strftime("%Y%m%d")), help="by default the day"
    )
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--start", type=int, default=0, help="the first case")
    parser.add_argument("--keep-going", action="store_true", help="do not end at the first finding")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, _out_of_time)
    end = time.monotonic() + asked.seconds
    case = asked.start if asked.case is None else asked.case
    counts: Counter[str] = Counter()
    while True:
        signal.alarm(TIME_LIMIT)
        _, kind, finding = run_case(asked.seed, case)
        signal.alarm(0)
        counts[kind] += 1
        if finding is not None:
            print(f"Case {case} of seed {asked.seed}: {finding}", flush=True)
        if asked.case is not None or time.monotonic() > end or (finding and not asked.keep_going):
            break
        case += 1
    print(f"{counts.total()} cases of seed {asked.seed}: {dict(counts)}.")
    return 1 if counts["finding"] else 0


if __name__ == "__main__":
    sys.exit(main())
