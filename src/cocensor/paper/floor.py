"""Imputations against the floor: a known copula on real covariates, one imputation model for all learners."""

from __future__ import annotations

from dataclasses import replace

import cocensor as cc
from cocensor.paper.adjustments import given_everything, imputation, without_covariates
from cocensor.paper.base import Cell
from cocensor.paper.real_covariates import SemiSyntheticSample
from cocensor.paper.semi_synthetic import SemiSyntheticConfig, SemiSyntheticCopula


class Floor(SemiSyntheticCopula):
    """IPCW and the imputations at the true copula beside imputation by the true distribution, off by chance alone."""

    name = "floor"
    about = "a known copula injected, one imputation model for all learners beside the true law (not in the paper)"

    @classmethod
    def default_config(cls) -> SemiSyntheticConfig:
        """Cox, forest and gradient boosting."""
        return replace(super().default_config(), learners=("coxph", "rsf", "gbsa"))

    def cells(self) -> list[Cell]:
        """One seed after the other, so that a run that is stopped has whole grids."""
        return sorted(super().cells(), key=lambda cell: cell["seed"])

    def _adjustments(self, copula: cc.copulas.Copula, where: str) -> dict[str, cc.adjustments.Adjustment]:
        """IPCW, the imputations at the true copula, and the imputation model at independence as well."""
        ipcw = without_covariates(copula, self.config.protocol)
        return {
            **{name: ipcw[name] for name in ("IPCW (KM)", "IPCW (Cox)")},
            f"given covariates, {where}": imputation("covariates", copula, "spline"),
            f"given prediction, {where}": imputation("prediction", copula, "spline"),
            f"imputed, {where}": given_everything(copula),
            "imputed, independence": given_everything(cc.Independence()),
        }

    def _informed(
        self, true_copula: cc.copulas.Copula, test: SemiSyntheticSample, curves: cc.Predictions
    ) -> dict[str, cc.adjustments.Adjustment]:
        """The copula is all that is known."""
        return {}
