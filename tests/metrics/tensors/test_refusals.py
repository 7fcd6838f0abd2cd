"""What is not computed where the predictions are is refused in one sentence."""

import array_api_strict
import numpy as np
import pytest
import torch

import cocensor as cc
import cocensor._namespaces


def refused(kind, match):
    return pytest.raises(kind, match=match)


def test_other_metrics(study):
    curves, outcomes = torch.asarray(study.predicted), (study.train.y, study.test.y)
    for score in (cc.cumulative_dynamic_auc, cc.integrated_calibration_index, cc.brier_skill_score):
        with refused(TypeError, r"numpy arrays alone, but estimate is a torch.Tensor.*cpu\(\)\.numpy\(\)"):
            score(*outcomes, curves, study.times)
    with refused(TypeError, "influences are computed from numpy arrays alone"):
        study.brier(curves, cc.IPCW(), return_influence=True)


def test_other_adjustments(study):
    curves = torch.asarray(study.predicted)
    for adjustment in (
        cc.AIPCW(),
        cc.Imputation((), cc.Clayton(1.0)),
        cc.IPCW(cc.CoxPH(ridge=1.0), tail="last"),
    ):
        if isinstance(getattr(adjustment, "censoring", None), cc.CoxPH):
            continue
        with refused(ValueError, "numpy arrays alone"):
            study.brier(curves, adjustment)
    with refused(ValueError, "gaussian copula is computed from numpy arrays alone"):
        study.brier(curves, cc.Imputation("covariates", cc.Gaussian(0.5)))


def test_grouped_times(study):
    time = np.ceil(study.train.y.time * 2) / 2
    y = cc.Survival(time, study.train.y.event)
    adjustment = cc.Imputation("covariates", cc.Clayton(1.0), time_kind="grouped").fit(y, study.train.X)
    with refused(ValueError, "grouped times are computed from numpy arrays alone"):
        study.brier(torch.asarray(study.predicted), adjustment)


def test_a_hazard_ratio_beyond_the_end_of_the_study(study):
    y = cc.Survival(study.test.y.time, study.test.y.event, ~study.test.y.event)
    adjustment = cc.Imputation("covariates", hazard_ratio=2.0).fit(study.train.y, study.train.X)
    with refused(ValueError, "end of the study is computed from numpy arrays alone"):
        cc.brier_score(
            None, y, torch.asarray(study.predicted), study.times, adjustment=adjustment, x_test=study.test.X
        )


def test_arrays_that_do_not_meet(study):
    curves = torch.asarray(study.predicted)
    with refused(TypeError, "one library, but 'a' is a torch.Tensor and 'b' a numpy.ndarray"):
        study.brier({"a": curves, "b": study.predicted}, cc.IPCW())
    with refused(
        ValueError, r"estimate\['a'\] is a torch.Tensor of float64 on cpu and estimate\['b'\].*float32"
    ):
        study.brier({"a": curves, "b": curves.float()}, cc.IPCW())
    with refused(ValueError, r"torch.Tensor.*array_api_strict.Array"):
        study.brier({"a": curves, "b": array_api_strict.asarray(study.predicted)}, cc.IPCW())
    with refused(ValueError, "estimate must be of type float32 or float64, but is torch.float16"):
        study.brier(curves.half(), cc.IPCW())


@pytest.mark.parametrize("value", [float("nan"), 1.5, -0.1])
def test_values_that_are_no_probabilities(study, make, value):
    predicted = study.predicted.copy()
    predicted[17, -1] = value
    for each in (predicted, make(predicted)):
        with refused(ValueError, r"estimate must .*row 17"):
            study.brier(each, cc.IPCW())


def test_curves_that_rise(study, make):
    predicted = study.predicted.copy()
    predicted[17, 3] = 0.0
    with refused(ValueError, "estimate must not increase over time, but row 17"):
        study.brier(make(predicted), cc.IPCW())


def test_shapes(study, make):
    with refused(ValueError, r"\(400, 12\), but its shape is \(12, 400\)"):
        study.brier(make(study.predicted.T), cc.IPCW())


def test_what_a_loss_is_made_of(study):
    curves = torch.asarray(study.predicted)
    with refused(TypeError, "metric must be a mean of losses.*'auc'"):
        study.loss(curves, cc.IPCW(), "auc")
    with refused(TypeError, "like must be an array of torch.*numpy.ndarray"):
        study.loss(study.predicted, cc.IPCW())
    with refused(ValueError, "adjustment must be fitted before.*'everything'"):
        study.loss(curves, cc.Imputation("everything"))
    loss = study.loss(curves, cc.IPCW())
    for wrong in (study.predicted, curves.float(), curves.to("meta")):
        with refused(TypeError, "estimate must be a torch.Tensor of float64 on cpu"):
            loss(wrong)
    with refused(ValueError, r"\(2, 12\), but its shape is \(400, 12\)"):
        loss(curves, rows=torch.tensor([0, 1]))
    for rows, named in (
        ([0, 1], "list"),
        (slice(0, 2), "slice"),
        (torch.arange(400) < 2, r"torch.bool.*\(400,\)"),
        (torch.tensor([0.0, 1.0]), "torch.float32"),
        (torch.tensor([[0, 1]]), r"\(1, 2\)"),
    ):
        with refused(TypeError, f"rows must be .*{named}"):
            loss(curves[:2], rows=rows)


def test_without_the_extra(study, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr("cocensor._checks.import_module", missing)
    monkeypatch.setattr(cocensor._namespaces, "_LIBRARIES", {})
    with refused(
        ModuleNotFoundError, r"torch.Tensor needs array-api-compat: pip install 'cocensor\[arrays\]'"
    ):
        study.brier(torch.asarray(study.predicted), cc.IPCW())
