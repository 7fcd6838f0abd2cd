"""What the figures need beside the numbers of the evaluation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from cocensor._validation import ConvergenceWarning
from cocensor.copulas import ArchimedeanCopula, Copula, Independence, copula_families
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.evaluation import Evaluation
from cocensor.joint.select import CAVEAT, CUT, DependenceProfile
from cocensor.plots.style import line_styles
from cocensor.report.headline import caveat
from cocensor.report.words import family_name

#: Subjects times covariates squared: up to here the profile, some 45 fits to all subjects, takes seconds.
MOST_PROFILED = 10_000_000
_FEW_COVARIATES = 10
_TAUS = (0.2, 0.5, 0.8)
_N_POINTS = 200
_N_STYLES = 6
_DASHES = {"-": "none", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}


def palette() -> dict[str, list[str]]:
    """The colours of all plots, and their line styles as dashes of SVG."""
    styles = list(islice(line_styles(), _N_STYLES))
    return {
        "colours": [style["color"] for style in styles],
        "dashes": [_dashes(style["linestyle"]) for style in styles],
    }


def series(evaluation: Evaluation) -> list[dict[str, Any]]:
    """For each model the letter that stands for it, and the places of its colour and dashes in :func:`palette`."""
    known = palette()
    return [
        {
            "name": name,
            "letter": _letter(k),
            "colour": known["colours"].index(style["color"]),
            "dash": known["dashes"].index(_dashes(style["linestyle"])),
        }
        for k, (name, style) in enumerate(zip(evaluation.models, line_styles(), strict=False))
    ]


def survival(evaluation: Evaluation) -> dict[str, Any]:
    """The survival curve of the training sample by Kaplan–Meier, and by Copula-Graphic at three τ of each family."""
    y = evaluation.question.y_train
    times = np.linspace(0.0, min(evaluation.horizon, y.t_max), _N_POINTS)
    families = {
        name: family
        for name, family in copula_families().items()
        if issubclass(family, ArchimedeanCopula) and family is not Independence
    }
    family = evaluation.copula.name
    return {
        "times": times.tolist(),
        "kaplan_meier": KaplanMeier().fit(y).predict(times).tolist(),
        "taus": list(_TAUS),
        "copula_graphic": {
            name: [CopulaGraphic(each.from_tau(tau)).fit(y).predict(times).tolist() for tau in _TAUS]
            for name, each in families.items()
        },
        "family": family if family in families else next(iter(families)),
    }


@dataclass(frozen=True)
class Likelihood:
    """The profile likelihood, less its maximum, and what it says; or why there is none."""

    statement: str
    curves: dict[str, Any] | None = None


def likelihood(evaluation: Evaluation) -> Likelihood:
    """The profile likelihood of the selected copula, where there is one and subjects are not too many."""
    if evaluation.choice is None:
        return Likelihood("No copula was selected from the data, so that there is no likelihood to show.")
    n, p = len(evaluation.question.y_train), evaluation.choice.best.event.beta.size
    if n * max(p, _FEW_COVARIATES) ** 2 > MOST_PROFILED:
        return Likelihood(
            f"The profile likelihood of {n:,} training subjects with {p} covariates is left out: it fits the joint "
            "model anew at every τ of every family. Evaluation.profile computes it."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            profile = evaluation.profile
        except ValueError as error:
            return Likelihood(f"There is no profile: {error}")
    said = " ".join(
        [
            profile.statement.replace(CAVEAT, caveat(evaluation)),
            *_disagreement(evaluation.copula, evaluation.choice.how, profile),
            *dict.fromkeys(f"Note: {each.message}" for each in caught),
        ]
    )
    top = profile.best[2]
    curves = {
        name: {"taus": taus.tolist(), "difference": (values - top).tolist()}
        for name, (taus, values) in profile.curves.items()
    }
    return Likelihood(said, {"families": curves, "cut": CUT})


def _disagreement(copula: Copula, how: str, profile: DependenceProfile) -> list[str]:
    """Why the first screen names another family than the profile."""
    family, tau, _ = profile.best
    if copula.name == (family if tau else "independence"):
        return []
    chosen = "independence" if copula.is_independence else family_name(copula.name)
    return [
        f"The first screen has {chosen}, which was chosen by {how}; this is the likelihood of the training "
        "sample itself. That the two disagree shows how little the data tell."
    ]


def _letter(k: int) -> str:
    """A to Z, then AA, AB, ..."""
    return ("" if k < 26 else _letter(k // 26 - 1)) + chr(ord("A") + k % 26)


def _dashes(style: Any) -> str:
    """A line style of matplotlib as SVG's ``stroke-dasharray``."""
    return _DASHES[style] if isinstance(style, str) else " ".join(f"{2 * length:g}" for length in style[1])
