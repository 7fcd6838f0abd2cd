"""A score as a loss: gradients, batches, and what a compiler makes of it."""

import shutil

import numpy as np
import pytest
import torch

import cocensor as cc

ADJUSTMENTS = {
    "ipcw": cc.IPCW(),
    "ipcw by cox": cc.IPCW("cox"),
    "clayton": cc.Imputation("covariates", cc.Clayton(2.0)),
    "frank": cc.Imputation("covariates", cc.Frank.from_tau(-0.3)),
    "independence": cc.Imputation("covariates"),
    "margins": cc.Imputation(),
}
METRICS = {"ibs": "ibs", "ils": cc.metric("ils", floor=1e-3)}


def tensor(study, **settings):
    return torch.tensor(study.predicted, dtype=torch.float64, **settings)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("adjustment", ADJUSTMENTS.values(), ids=ADJUSTMENTS)
def test_gradients_are_those_of_finite_differences(small_study, adjustment, metric):
    curves = tensor(small_study, requires_grad=True)
    loss = small_study.loss(curves, adjustment, metric)
    assert torch.autograd.gradcheck(loss, curves)
    assert torch.autograd.gradcheck(loss.over_time, curves)


@pytest.mark.parametrize("adjustment", ["ipcw", "clayton"])
def test_scores_keep_their_graph(small_study, adjustment):
    curves = tensor(small_study, requires_grad=True)
    score = small_study.brier(curves, ADJUSTMENTS[adjustment])
    score.mean().backward()
    again = tensor(small_study, requires_grad=True)
    small_study.loss(again, ADJUSTMENTS[adjustment]).over_time(again).mean().backward()
    assert torch.equal(curves.grad, again.grad)
    assert curves.grad.abs().sum() > 0


def test_weights_are_constants(small_study):
    """Given a prediction the weights depend on it, but no gradient goes that way: that of Brier is linear in S."""
    curves = tensor(small_study, requires_grad=True)
    predictions = {"net": cc.Predictions(small_study.times, small_study.predicted)}
    adjustment = cc.Imputation("prediction", cc.Clayton(1.0)).fit(small_study.test.y, None, predictions)
    small_study.loss(curves, adjustment).over_time(curves).sum().backward()
    status = adjustment.weights(small_study.test.y, small_study.times)
    S = small_study.predicted
    expected = 2.0 * (status.b * S - status.a * (1.0 - S)) / status.normaliser
    np.testing.assert_allclose(curves.grad.numpy(), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("adjustment", ADJUSTMENTS.values(), ids=ADJUSTMENTS)
def test_batches_average_to_the_whole(study, adjustment):
    curves = tensor(study)
    loss = study.loss(curves, adjustment)
    shuffled = torch.randperm(len(curves), generator=torch.Generator().manual_seed(0))
    batches = [loss(curves[rows], rows=rows) for rows in shuffled.reshape(8, -1)]
    assert torch.stack(batches).mean().item() == pytest.approx(loss(curves).item(), rel=1e-12)


def test_at_one_time(study):
    curves = tensor(study)
    loss = study.loss(curves, cc.IPCW(), cc.metric("brier", at=study.times[5]))
    expected = study.brier(study.predicted, cc.IPCW())[5]
    assert loss(curves[:, 5]).item() == pytest.approx(expected, rel=1e-12)
    assert loss(curves[:, 5:6]).item() == pytest.approx(expected, rel=1e-12)


def test_repeated_and_unsorted_times(study):
    order = np.array([4, 0, 4, 9])
    loss = cc.metrics.AdjustedLoss("ibs", study.train.y, study.test.y, study.times[order], like=tensor(study))
    expected = cc.integrated_brier_score(
        study.train.y, study.test.y, study.predicted[:, order], study.times[order]
    )
    assert loss(tensor(study)[:, order]).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "adjustment",
    [
        *ADJUSTMENTS.values(),
        *(
            cc.Imputation("covariates", copula)
            for copula in (cc.Gumbel(2.0), cc.Joe(2.0), cc.Frank(3.0), cc.Clayton(1e-3))
        ),
    ],
    ids=[*ADJUSTMENTS, "gumbel", "joe", "frank, positive", "clayton, near independence"],
)
def test_it_is_traced_whole(small_study, adjustment):
    """As one graph, so that a compiler can make one kernel of it."""
    curves = tensor(small_study)
    loss = small_study.loss(curves, adjustment)
    torch._dynamo.reset()
    traced = torch.compile(loss, fullgraph=True, backend="eager")
    assert traced(curves).item() == loss(curves).item()
    rows = torch.arange(0, 60, 2)
    assert traced(curves[rows], rows=rows).item() == loss(curves[rows], rows=rows).item()


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, by its own compiler
def test_it_is_compiled(small_study):
    curves = tensor(small_study, requires_grad=True)
    loss = small_study.loss(curves, ADJUSTMENTS["clayton"])
    torch._dynamo.reset()
    compiled = torch.compile(loss)
    compiled(curves).backward()
    again = tensor(small_study, requires_grad=True)
    expected = loss(again)
    expected.backward()
    assert compiled(curves).item() == pytest.approx(expected.item(), rel=1e-12)
    torch.testing.assert_close(curves.grad, again.grad, rtol=1e-10, atol=1e-15)
