"""What is called, and within which range the result lies.

A new function of the API is a line in ``CALLS``: a weight, what to call with arguments from ``Draw``, and the range of
the result.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import cocensor as cc
from cocensor.study.report import Report
from tests.fuzz.draws import Draw

ROUNDING = 1e-9
MOST = np.finfo(float).max


class OutOfRangeError(Exception):
    """A result that cannot be one."""


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


PROBABILITY = within(0.0, 1.0)
TIME = within(0.0, np.inf)
TAU = within(-1.0, 1.0)
ANY = within(-MOST, MOST, nan=True)


def smallest_score(adjustment: Any) -> float:
    """Weights of dependent IPCW, and of AIPCW, may be negative."""
    negative = adjustment in ("dependent_ipcw", "aipcw") or isinstance(
        adjustment, cc.DependentIPCW | cc.AIPCW
    )
    return -MOST if negative else 0.0


def outcome(y: cc.Survival) -> None:
    TIME(y.time)
    table = y.risk_table
    within(1, len(y))(table.at_risk)
    PROBABILITY(1.0 - y.n_events / len(y))


def one_sentence(text: str) -> bool:
    return text.endswith((".", "?")) and len(text) > 1 and len(text.splitlines()) == 1


def said(notes: Iterable[cc.study.Note]) -> None:
    for note in notes:
        if not one_sentence(note.text):
            raise OutOfRangeError(f"{note!r} is no sentence")


def scored(report: Report) -> None:
    found = report.evaluation
    said(found.notes)
    for each in found.results.values():
        said(each.notes)
        for by_model in each.values.values():
            values = [value.value for value in by_model.values()]
            within(smallest_score(each.adjustment), MOST)(values)
    told = [str(found.verdict), str(report.verdict)]
    for analysis in (report.sensitivity, *report.bounds, report.profile):
        if analysis is not None:
            repr(analysis)
            told.append(analysis.statement.strip())
    for text in told:
        if not one_sentence(text):
            raise OutOfRangeError(f"{text!r} is no sentence")
    json.loads(report.to_json())
    repr(report), repr(found), found._repr_html_()
    for kind in ("scores", "differences", "ranks", "curves", "profiles"):
        found.table(kind)


# --- calls --------------------------------------------------------------------------------------------


def predictions(d: Draw) -> cc.Predictions:
    return cc.Predictions(d.grid(), d.curves("probabilities", d.m), d.interpolation(), d.tail())


def from_frame(d: Draw) -> Any:
    found = cc.Predictions.from_frame(d.model("frame", d.m), d.given("n", d.m), tail=d.tail())
    # A frame of one time says nothing of others.
    return found(d.at("times")) if isinstance(found, cc.Predictions) else found.probabilities


def from_step_functions(d: Draw) -> Any:
    steps = [cc.data.StepFunction(d.grid(), d.probabilities("values", d.width)) for _ in range(3)]
    functions = [Steps(each.times, np.sort(each.values)[::-1]) for each in steps]
    return cc.Predictions.from_step_functions(functions, d.tail())(d.at("times"))


class Steps:
    """A step function in scikit-survival's manner."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


def joint(d: Draw) -> Any:
    how = (
        d.word("copula", "clayton", "frank", "gumbel", "joe", "gaussian"),
        d.word("margins", "weibull", "spline"),
    )
    penalty = d.number("penalty", 0.0, 0.01, 1.0)
    x, y = d.covariates("X", d.n), d.outcomes("y", d.n)
    fitted = cc.fit_joint(x, y, *how, penalty=penalty, sample_weight=d.weights(d.n))
    PROBABILITY(fitted.conditional_survival(d.at("t"), d.given("c", d.times(d.n)), d.covariates("X", d.n)))
    return fitted.survival(d.at("t"), d.covariates("X_test", d.m))


def chosen(d: Draw) -> cc.joint.CopulaChoice:
    families = d.word("families", ["clayton"], ["clayton", "frank"], ["gaussian"])
    margins, folds = d.word("margins", "weibull", "spline"), d.given("folds", d.one(2, 2, 5))
    x, y = d.covariates("X", d.n), d.outcomes("y", d.n)
    return cc.select_copula(x, y, families=families, margins=margins, folds=folds)


def cox(d: Draw) -> Any:
    ridge, ties = d.number("ridge", 0.0, 0.0, 0.1), d.word("ties", "efron", "breslow")
    fitted = cc.CoxPH(ties, ridge, d.word("of", "event", "dropout"))
    fitted.fit(d.covariates("X", d.n), d.outcomes("y", d.n), d.weights(d.n))
    PROBABILITY(fitted.predict_survival_function(d.covariates("X_test", d.m)).probabilities)
    return fitted.survival(d.at("times"), d.covariates("X_test", d.m))


def score(d: Draw, of: Callable[..., Any], **more: Any) -> Any:
    """Scores; NaN where a warning says from when on there are none."""
    scoring = d.scoring()
    how = d.adjusted(scoring[0] is not None)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", cc.warnings.HorizonWarning)
        found = of(*scoring, **how, **more)
    within(smallest_score(how["adjustment"]), MOST, nan=bool(warned))(found)
    return found


def ranked(d: Draw, of: Callable[..., Any], **more: Any) -> Any:
    """What is NaN where nobody had the event, or nobody is event-free."""
    scoring = d.scoring()
    how = d.adjusted(scoring[0] is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        return of(*scoring, **how, **more)


def skill(d: Draw) -> Any:
    scoring = d.scoring()
    reference = d.word("reference", "kaplan_meier", "kaplan_meier", "copula_graphic")
    return cc.brier_skill_score(*scoring, reference=reference, **d.adjusted(scoring[0] is not None))


def concordance(d: Draw) -> Any:
    scoring = d.scoring()
    return cc.concordance_index(*scoring, **d.adjusted(scoring[0] is not None))


def evaluation(d: Draw, copula: Any = None) -> cc.Evaluation:
    """Two models under three adjustments or the default ones, with or without a training sample."""
    models = {name: d.model(name, d.m) for name in ("a", "b")[: d.one(1, 2)]}
    if d.rng.random() < 0.2:
        models["risk"] = d.given("risk", d.rng.normal(size=d.m))
    y_train, y_test = d.training(), d.outcomes("y_test", d.m)
    asked: Any = [*d.rng.choice(cc.adjustments.adjustment_names(), 2, replace=False)]
    asked = d.word("adjustments", ["ipcw", *map(str, asked)], ["ipcw", *map(str, asked)], "default")
    if d.rng.random() < 0.2:
        asked = {"mine": d.adjustment(), "ipcw": "ipcw"}
    x = d.sample_covariates(y_train is not None) if d.rng.random() < 0.8 else {}
    return cc.evaluate(
        models,
        y_test,
        y_train=y_train,
        **x,
        adjustments=asked,
        metrics=d.word(
            "metrics",
            "ibs",
            cc.metric("ils", floor=0.01),
            ["ibs", cc.metric("ils", floor=0.1)],
            "default",
            ["auc", "brier", "concordance"],
        ),
        at=d.word("at", None, None, None, 0.3 * d.unit, [0.2 * d.unit, d.unit]),
        times=d.grid() if d.rng.random() < 0.2 else None,
        horizon=d.word("horizon", None, None, None, "t_max", {"at_risk": 0.2}, d.unit),
        copula=d.copula() if copula is None else copula,
        covariates=d.word("covariates", "all", "all", None, 0, [0]),
        folds=d.word("folds", None, None, None, [0] * d.m),
    )


def evaluated(d: Draw) -> Report:
    return Report(evaluation(d))


def sensitivity(d: Draw) -> Report:
    found = evaluation(d)
    families = d.word("families", "clayton", ("clayton", "hazard_ratio"), ("joe", "gaussian"), "gumbel")
    taus = d.given("taus", d.one(np.array([0.0, 0.4]), np.array([-0.3, 0.99])))
    ratios = d.given("hazard_ratios", d.one(np.array([0.5, 1.0]), np.array([2.0, 50.0])))
    with_ratios = families is None or (isinstance(families, tuple) and "hazard_ratio" in families)
    return Report(found, found.sensitivity(families, taus, hazard_ratios=ratios if with_ratios else None))


def benchmarks(d: Draw) -> list[float]:
    found = cc.plausible_tau(
        d.covariates("X", d.n), d.outcomes("y", d.n), n_resamples=d.word("n_resamples", 2, 20)
    )
    said(found.notes)
    repr(found), found.table(), json.dumps(found.to_dict(), allow_nan=False)
    taus = [each.tau for each in found.benchmarks]
    return [*taus, *found.multiples.values(), *found.together_interval, found.aligned]


def bounds(d: Draw) -> Report:
    found = evaluation(d)
    metric = d.word("metric", None, None, "ibs", "brier", "auc")
    return Report(found, bounds=(found.bounds(metric, d.word("at", None, None, 0.3 * d.unit, d.unit)),))


def profile(d: Draw) -> Report:
    found = evaluation(d, chosen(d))
    hint = found.suggest_copula()
    return Report(found, hint=hint, profile=None if hint.choice is None else hint.choice.profile())


def scorer(d: Draw) -> float:
    model = cc.CoxPH(ridge=0.1).fit(d.covariates("X", d.n), d.outcomes("y", d.n))
    times, horizon = d.one((d.grid(), None), (None, d.number("horizon", d.unit, 0.3 * d.unit)), (None, None))
    trained = d.rng.random() < 0.6
    training = (
        {"y_train": d.outcomes("y_train", d.n), "x_train": d.covariates("x_train", d.n)} if trained else {}
    )
    adjustment, metric = (
        d.word("adjustment", *cc.adjustments.adjustment_names()),
        d.word("metric", "ibs", cc.metric("ils", floor=0.01)),
    )
    made = cc.survival_scorer(metric, adjustment, times=times, horizon=horizon, **training)
    repr(made)
    return made(model, d.covariates("X_test", d.m), d.outcomes("y_test", d.m))


def call(copula: str) -> Callable[[Draw], Any]:
    """A function of a copula at two probabilities."""
    return lambda d: getattr(d.copula(), copula)(d.probabilities("u"), d.probabilities("v"))


def from_dates(d: Draw) -> cc.Survival:
    days = d.rng.integers(0, 1000, (2, d.n)).cumsum(axis=0)
    began, left = (np.datetime64("2020-02-28") + each for each in days)
    lock: Any = left.max() + d.one(0, 0, 1, -1)
    return cc.Survival.from_dates(
        d.given("entry", d.one(began, began.astype(str).tolist(), began.astype("datetime64[ns]"))),
        d.given("exit", left),
        d.given("event", d.events(d.n)),
        d.given("data_lock", d.one(lock, str(lock), np.full(d.n, lock))),
        unit=d.word("unit", "days", "weeks", "months", "years"),
        reason=d.given(
            "reason", d.one(None, ["moved away"] * d.n, d.rng.choice(["a", "b", ""], d.n).tolist())
        ),
    )


def from_follow_up(d: Draw) -> cc.Survival:
    time, reason = d.times(d.n), d.one(None, ["moved away"] * d.n)
    planned = d.one(time, time.max(), time + d.unit, time * (d.rng.random(d.n) < 0.9))
    return cc.Survival.from_follow_up(
        d.given("time", time),
        d.given("event", d.events(d.n)),
        d.given("follow_up", planned),
        reason=d.given("reason", reason),
    )


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
    "Survival.from_dates": (4, from_dates, outcome),
    "Survival.from_follow_up": (3, from_follow_up, outcome),
    "Survival.coerce": (4, lambda d: cc.Survival.coerce(d.outcomes("y", d.n)), outcome),
    "StepFunction": (
        4,
        lambda d: cc.data.StepFunction(d.grid(), d.probabilities("values", d.width))(d.at("t")),
        within(-MOST, MOST),
    ),
    "Predictions": (6, lambda d: predictions(d)(d.at("times")), PROBABILITY),
    "Predictions.from_frame": (4, from_frame, PROBABILITY),
    "Predictions.from_step_functions": (3, from_step_functions, PROBABILITY),
    "Predictions.quantile": (4, lambda d: predictions(d).quantile(d.number("p", 0.01, 0.5, 0.99)), TIME),
    "Predictions.restricted_mean": (
        4,
        lambda d: predictions(d).restricted_mean(d.number("horizon", 0.5 * d.unit, d.unit, 9 * d.unit)),
        TIME,
    ),
    "Copula.tau": (4, lambda d: d.copula().tau, TAU),
    "Copula.cdf": (8, call("cdf"), PROBABILITY),
    "Copula.hfunc1": (8, call("hfunc1"), PROBABILITY),
    "Copula.hfunc2": (8, call("hfunc2"), PROBABILITY),
    "Copula.pdf": (8, call("pdf"), TIME),
    "Copula.sample": (4, lambda d: d.copula().sample(d.given("n", 5), 0), PROBABILITY),
    "Copula.sample_given": (4, lambda d: d.copula().sample_given(d.probabilities("u"), 0), PROBABILITY),
    "Margin.predict": (8, lambda d: d.margin().predict(d.at("t"), tail=d.tail()), PROBABILITY),
    "Margin.variance": (4, lambda d: d.margin().variance(d.at("t")), within(0.0, MOST, nan=True)),
    "Margin.confidence_interval": (
        4,
        lambda d: d.margin().confidence_interval(d.at("t"), d.number("level", 0.5, 0.95)),
        within(0.0, 1.0, nan=True),
    ),
    "Margin.quantile": (4, lambda d: d.margin().quantile(d.probabilities("p"), tail=d.tail()), TIME),
    "Margin.rmst": (4, lambda d: d.margin().rmst(d.at("horizon"), tail=d.tail()), TIME),
    "Margin.margin_time": (6, lambda d: d.margin().margin_time(d.at("c"), tail=d.tail()), TIME),
    "Margin.conditional_survival": (
        6,
        lambda d: d.margin().conditional_survival(
            d.at("t"), d.at("c"), d.word("given", "event_free", "dropout", "administrative")
        ),
        PROBABILITY,
    ),
    "CoxPH": (8, cox, PROBABILITY),
    "fit_joint": (3, joint, PROBABILITY),
    "plausible_tau": (2, benchmarks, TAU),
    "hidden_hazard_ratio": (
        2,
        lambda d: cc.study.sensitivity.hidden_hazard_ratio(d.number("tau", -0.3, 0.5, 0.99)),
        within(1, np.inf),
    ),
    "select_copula": (1, lambda d: chosen(d).copula.tau, TAU),
    "time_grid": (
        4,
        lambda d: cc.time_grid(
            d.outcomes("y_train", d.n),
            d.one(None, d.outcomes("y_test", d.m)),
            d.given("n", 5),
            d.one("t_max", {"at_risk": d.number("at_risk", 0.05, 0.5)}, d.at("horizon")),
        ),
        TIME,
    ),
    "Adjustment.status": (
        6,
        lambda d: d.adjustment().fit(d.outcomes("y", d.n)).weights(d.outcomes("y_test", d.m), d.grid()).a,
        ANY,
    ),
    "brier_score": (10, lambda d: score(d, cc.brier_score), ANY),
    "integrated_brier_score": (10, lambda d: score(d, cc.integrated_brier_score), ANY),
    "brier_skill_score": (4, skill, ANY),
    "log_score": (4, lambda d: score(d, cc.log_score, floor=d.number("floor", 1e-6, 0.01, 0.4)), ANY),
    "integrated_log_score": (
        4,
        lambda d: score(d, cc.integrated_log_score, floor=d.number("floor", 1e-6, 0.01, 0.4)),
        ANY,
    ),
    "concordance_index": (6, concordance, ANY),
    "cumulative_dynamic_auc": (6, lambda d: ranked(d, cc.cumulative_dynamic_auc)[0], ANY),
    "survival_roc_curve": (
        3,
        lambda d: np.atleast_1d(ranked(d, cc.survival_roc_curve, confidence_level=None))[0].found,
        ANY,
    ),
    "evaluate": (6, evaluated, scored),
    "sensitivity": (3, sensitivity, scored),
    "bounds": (2, bounds, scored),
    "dependence_profile": (1, profile, scored),
    "survival_scorer": (3, scorer, ANY),
}
