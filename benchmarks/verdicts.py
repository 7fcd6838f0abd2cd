"""How often a verdict is wrong: one that is settled, one at τ = 0, and that of IPCW, as the true dependence grows.

    python -m benchmarks.verdicts           the tables, from the rows of the study `verdicts` (`make studies`)

Six distributions of event and dropout given six covariates, under a Clayton, Frank or Gumbel copula of a stated τ given
these. In each draw n subjects train five models, n others are scored; the sixth model is the true distribution. The
truth of a pair is the difference of the integrated Brier scores of both models in a population, in which the true
distribution of the event given the covariates takes the place of its outcomes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

import cocensor as cc
from benchmarks.impartiality.models import CLASSES, VERSIONS, spread
from benchmarks.impartiality.truths import FORMS, N_COVARIATES, TRUTHS, Truth, draw, survival
from benchmarks.studies.study import RESULTS, Row, Study, Unit
from benchmarks.tables import markdown, marked
from cocensor._checks import FloatArray
from cocensor.study.verdict import plausible_points

#: Gompertz and log-normal events, with the dropout of the linear distribution.
LAWS = {
    law.name: law
    for law in (*TRUTHS, *(Truth(form.name, form.event, TRUTHS[0].dropout) for form in FORMS[:2]))
}
FAMILIES = ("clayton", "frank", "gumbel")
TAUS = (0.0, 0.1, 0.2, 0.25, 0.35, 0.5)
SIZES = (500, 2_000)
#: 15 pairs each.
DRAWS = 5
#: All that a verdict over the plausible range reads.
_PLAUSIBLE = (-0.2, -0.1, 0.0, 0.1, 0.2)
_N_TIMES, _AT_RISK = 50, 0.1
_N_POPULATION, _POPULATION_SEED = 10_000, 10_000_003
_GRID = np.geomspace(1e-3, 50.0, 400)
_SMALL = [1, 3]


def units() -> list[Unit]:
    """All conditions of the first draw, then all of the second."""
    return [
        {"law": law, "tau": tau, "n": n, "seed": seed}
        for seed in range(DRAWS)
        for n in SIZES
        for law in LAWS
        for tau in TAUS
    ]


def rows_of(unit: Unit) -> Iterable[Row]:
    """A row for each pair of models: the true difference, and who is better by each of the verdicts (1: the first)."""
    law, family = LAWS[unit["law"]], FAMILIES[unit["seed"] % len(FAMILIES)]
    copula = cc.copula(family, tau=unit["tau"]) if unit["tau"] else cc.Independence()
    sample = draw(law, copula, 2 * unit["n"], unit["seed"])
    train, test = sample[: unit["n"]], sample[unit["n"] :]
    times = cc.time_grid(train.y, test.y, n=_N_TIMES, horizon={"at_risk": _AT_RISK})
    x, truth = population(unit["law"])
    everyone = np.concatenate((test.x, x))
    cox = CLASSES["Cox"](train, everyone, times)
    curves = {
        "Cox": cox,
        "Cox, two covariates": _small_cox(train, everyone, times),
        "Weibull": CLASSES["Weibull"](train, everyone, times),
        "boosting": CLASSES["boosting"](train, everyone, times),
        "Cox, overconfident": spread(cox, VERSIONS["overconfident"]),
        "true distribution": np.concatenate((_true(law, test.x, times), _at(truth, times))),
    }
    true_scores = {name: _score(of[unit["n"] :], _at(truth, times), times) for name, of in curves.items()}
    predictions = {name: (times, of[: unit["n"]]) for name, of in curves.items()}
    data: dict[str, Any] = {"y_train": train.y, "x_train": train.x, "times": times}
    result = cc.evaluate(
        predictions, test.y, test.x, **data, metrics="ibs", adjustments=["imputation", "ipcw"]
    )
    sensitivity = result.sensitivity(taus=_PLAUSIBLE)
    points = plausible_points(sensitivity)
    state = {"state": sensitivity.verdict.state, "leader": sensitivity.verdict.leader or ""}
    for a, b in combinations(curves, 2):
        yield (
            unit
            | state
            | {"a": a, "b": b, "truth": round(true_scores[a] - true_scores[b], 7)}
            | {
                "margin": round(sensitivity.verdict.margin, 7),
                "ipcw": _side(result.compare(a, b, adjustment="ipcw").better("lower"), a),
                "independence": _side(sensitivity.verdict.standing.better(a, b), a),
                "settled": _throughout({_side(point and point.standing.better(a, b), a) for point in points}),
                "equivalent": int(
                    all(point is not None and point.standing.equivalent(a, b) for point in points)
                ),
            }
        )


def _side(better: str | None, a: str) -> int:
    return 0 if better is None else 1 if better == a else -1


def _throughout(sides: set[int]) -> int:
    return sides.pop() if len(sides) == 1 else 0


def _small_cox(train: Any, x: FloatArray, times: FloatArray) -> FloatArray:
    return cc.CoxPH().fit(train.x[:, _SMALL], train.y).survival(times, x[:, _SMALL])


@cache
def population(law: str) -> tuple[FloatArray, FloatArray]:
    """Covariates, and the probability of being event-free given them at the times of a fine grid."""
    x = np.random.default_rng(_POPULATION_SEED).standard_normal((_N_POPULATION, N_COVARIATES))
    return x, _true(LAWS[law], x, _GRID)


def _true(law: Truth, x: FloatArray, times: FloatArray) -> FloatArray:
    return np.column_stack([survival(law.event, x, np.full(len(x), t)) for t in times])


def _at(truth: FloatArray, times: FloatArray) -> FloatArray:
    """The true curves at other times, by lines over log time."""
    place = np.interp(np.log(times), np.log(_GRID), np.arange(_GRID.size))
    left = np.minimum(place.astype(int), _GRID.size - 2)
    share = place - left
    return (1.0 - share) * truth[:, left] + share * truth[:, left + 1]


def _score(curves: FloatArray, truth: FloatArray, times: FloatArray) -> float:
    """The integrated Brier score in the population."""
    by_time = (truth * (1.0 - curves) ** 2 + (1.0 - truth) * curves**2).mean(axis=0)
    return float(np.trapezoid(by_time, times) / (times[-1] - times[0]))


VERDICTS = Study("verdicts", units, rows_of, ("law", "tau", "n", "seed"), ("a", "b"), seconds=3.0)

#: What is held against the truth, and what it is called.
KINDS = {"ipcw": "IPCW", "independence": "imputation at τ = 0", "settled": "settled"}


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """By n and τ: the number of pairs, and of those that each verdict names a winner of, rightly and wrongly."""
    better = -np.sign(rows["truth"])  # lower is better
    columns: dict[str, Any] = {"pairs": np.ones(len(rows))}
    for kind in KINDS:
        columns |= {f"{kind} right": rows[kind] * better > 0, f"{kind} wrong": rows[kind] * better < 0}
    apart, equal = rows["truth"].abs() > rows["margin"], rows["equivalent"] == 1
    columns |= {"equivalent": equal, "equivalent wrong": equal & apart}
    return pd.DataFrame(columns).groupby([rows["n"], rows["tau"]]).sum()


def limit(n: float) -> float:
    """The goal for the share of wrong verdicts among so many pairs, in %: 2.5, and two standard errors."""
    return 2.5 + 200.0 * float(np.sqrt(0.025 * 0.975 / n))


def main() -> None:
    argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__).parse_args()
    head = ["test subjects", "true τ", "pairs", *KINDS.values(), "equivalent", "limit"]
    lines = []
    for (n, tau), cell in counts(pd.read_csv(RESULTS / "verdicts.csv.gz")).iterrows():
        share = 100.0 * cell / cell["pairs"]
        both = [f"{share[f'{kind} wrong']:.1f} / {share[f'{kind} right']:.0f}" for kind in KINDS]
        equal = f"{share['equivalent wrong']:.1f} / {share['equivalent'] - share['equivalent wrong']:.0f}"
        most = f"{limit(cell['pairs']):.1f}" if tau <= max(_PLAUSIBLE) else ""
        lines.append([f"{n:,}", f"{tau:g}", f"{cell['pairs']:,.0f}", *both, equal, most])
    print(marked("settled", markdown(head, lines, left=0)))


if __name__ == "__main__":
    main()
