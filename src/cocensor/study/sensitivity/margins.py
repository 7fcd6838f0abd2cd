"""What the assumed dependence does to the survival curve of the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cocensor._checks import FloatArray, Progress
from cocensor.copulas import ArchimedeanCopula, Independence, copula_families
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.study.evaluation import Evaluation

_TAUS = (0.2, 0.5, 0.8)
_N_POINTS = 200


@dataclass(frozen=True, eq=False)
class MarginCurves:
    """Survival curves of one sample: by Kaplan–Meier, and by Copula-Graphic under other dependences.

    Attributes
    ----------
    sample : {"training", "test"}
        Whose curves they are: of the training sample, or of the test sample where there is no other.
    times, kaplan_meier : array
    copula_graphic : dict of dict of array
        By family and τ, at ``times``.
    at_risk : dict
        How many of the sample are at risk, at a few round times.
    """

    sample: Literal["training", "test"]
    times: FloatArray
    kaplan_meier: FloatArray
    copula_graphic: dict[str, dict[float, FloatArray]]
    at_risk: dict[float, int]

    def to_dict(self) -> dict[str, Any]:
        """The curves as JSON can hold them; those of a family in the order of ``taus``."""
        return {
            "sample": self.sample,
            "times": self.times.tolist(),
            "kaplan_meier": self.kaplan_meier.tolist(),
            "taus": list(_TAUS),
            "copula_graphic": {
                family: [by_tau[tau].tolist() for tau in _TAUS]
                for family, by_tau in self.copula_graphic.items()
            },
            "at_risk": {"times": list(self.at_risk), "n": list(self.at_risk.values())},
        }

    def __repr__(self) -> str:
        return f"MarginCurves({self.sample} sample, {', '.join(self.copula_graphic)})"


def margin_curves(evaluation: Evaluation, progress: Progress | None = None) -> MarginCurves:
    """Kaplan–Meier's curve, and the Copula-Graphic ones of every Archimedean family at three τ, up to the horizon.

    ``progress`` is called with the number of finished curves and of all.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    >>> result = cc.evaluate({"half": [[0.5, 0.5]] * 4}, y, times=[1.0, 3.0], adjustments="ipcw")
    >>> curves = margin_curves(result)
    >>> float(curves.kaplan_meier[-1]), round(float(curves.copula_graphic["clayton"][0.5][-1]), 3)
    (0.375, 0.269)
    """
    samples = evaluation.data.samples
    y = samples.learned_from.y
    times = np.linspace(0.0, min(evaluation.data.horizon.time, y.t_max), _N_POINTS)
    report = progress or (lambda done, total: None)
    points = [
        (name, family, tau)
        for name, family in copula_families().items()
        if issubclass(family, ArchimedeanCopula) and family is not Independence
        for tau in _TAUS
    ]
    found: dict[str, dict[float, FloatArray]] = {}
    report(0, len(points))
    for done, (name, family, tau) in enumerate(points, start=1):
        curve = CopulaGraphic(family.from_tau(tau)).fit(y).predict(times)
        found.setdefault(name, {})[tau] = np.asarray(curve)
        report(done, len(points))
    sample: Literal["training", "test"] = "test" if samples.y_train is None else "training"
    marks = evaluation.data.time_axis.marks(0.0, float(times[-1]))
    at_risk = dict(zip(marks, y.risk_table.at_risk_at(marks).tolist(), strict=True))
    return MarginCurves(sample, times, np.asarray(KaplanMeier().fit(y).predict(times)), found, at_risk)
