"""Scores of arrays of another library are those of numpy's."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import cocensor as cc
from cocensor._namespaces import is_foreign
from cocensor.adjustments.samples import Samples
from tests.metrics.tensors.conftest import as_numpy

FAMILIES = {
    "independence": (cc.Independence,),
    "clayton": (cc.Clayton, 1e-4, 0.3, 0.8),
    "frank": (cc.Frank, -0.3, 0.01, 0.3, 0.8),
    "gumbel": (cc.Gumbel, 0.3, 0.8),
    "joe": (cc.Joe, 0.3, 0.8),
}
COPULAS = [family.from_tau(tau) for family, *taus in FAMILIES.values() for tau in (0.0, *taus)]
ADJUSTMENTS = {
    "ipcw": cc.IPCW(),
    "ipcw with a floor": cc.IPCW(min_probability=0.5),
    "ipcw as in scikit-survival": cc.IPCW(convention="scikit-survival"),
    "ipcw by cox": cc.IPCW("cox"),
    "ipcw by cox with a floor": cc.IPCW("cox", min_probability=0.6),
    "margins": cc.Imputation(),
    "given covariates": cc.Imputation("covariates", cc.Clayton(2.0)),
    "given the prediction": cc.Imputation("prediction", cc.Frank.from_tau(0.3)),
    "given predictions and covariates": cc.Imputation(("covariates", "predictions"), cc.Clayton(1.0)),
    "given everything": cc.Imputation("everything", cc.Gumbel.from_tau(0.3)),
    "a hazard ratio": cc.Imputation("covariates", hazard_ratio=2.0),
    "margin time": cc.adjustments.MarginTime(weighting="uncertainty"),
    "dependent ipcw": cc.DependentIPCW(cc.Clayton(1.0)),
}


@pytest.mark.parametrize("adjustment", ADJUSTMENTS.values(), ids=ADJUSTMENTS)
def test_all_adjustments(study, make, adjustment):
    expected = study.brier(study.predicted, adjustment)
    found = study.brier(make(study.predicted), adjustment)
    assert type(found) is type(make(study.predicted))
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)


@pytest.mark.parametrize("adjustment", ["ipcw", "ipcw by cox", "given everything", "margin time"])
def test_sampling_weights(study, make, adjustment, monkeypatch):
    weights = np.random.default_rng(2).gamma(2.0, size=len(study.test.y)) * (
        np.arange(len(study.test.y)) % 9 > 0
    )
    plain, of = study.brier(study.predicted, ADJUSTMENTS[adjustment]), Samples.of
    monkeypatch.setattr(Samples, "of", lambda *parts, **others: of(*parts, **others, weights=weights))
    expected = study.brier(study.predicted, ADJUSTMENTS[adjustment])
    assert (np.abs(expected - plain) > 1e-4).any()
    found = study.brier(make(study.predicted), ADJUSTMENTS[adjustment])
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)


@pytest.mark.parametrize("copula", COPULAS, ids=str)
@pytest.mark.parametrize("ended", [False, True], ids=["dropouts", "ends of study"])
def test_all_families(study, make, copula, ended):
    administrative = ~study.test.y.event if ended else np.zeros(len(study.test.y), dtype=bool)
    y = cc.Survival(study.test.y.time, study.test.y.event, administrative)
    adjustment = cc.Imputation("covariates", copula).fit(study.train.y, study.train.X)
    expected, found = (
        cc.brier_score(None, y, each, study.times, adjustment=adjustment, x_test=study.test.X)
        for each in (study.predicted, make(study.predicted))
    )
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "adjustment", [cc.IPCW(), cc.Imputation("covariates", cc.Joe(2.0))], ids=["ipcw", "imputation"]
)
def test_all_means_of_losses(study, make, adjustment):
    """Brier and log score, at each time and averaged in both ways; net benefit; one time; several models."""
    outcomes, arrays = (study.train.y, study.test.y), (study.predicted, make(study.predicted))
    given = {"adjustment": adjustment, **study.given}

    def same(score, *others, **settings):
        expected, found = (score(*outcomes, each, *others, **settings, **given) for each in arrays)
        assert tuple(found.shape) == np.shape(expected)
        np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12, atol=1e-15)

    for integration in ("trapezoid", "step"):
        same(cc.integrated_brier_score, study.times, integration=integration)
    same(cc.log_score, study.times, floor=0.01)
    same(cc.integrated_log_score, study.times, floor=0.2)
    same(cc.net_benefit, study.times, [0.1, 0.4])
    same(cc.net_benefit, study.times, 0.3)
    arrays = tuple(each[:, 5] for each in arrays)
    same(cc.brier_score, study.times[5])
    same(cc.net_benefit, study.times[5], 0.3)


def test_several_models(study, make):
    models = {"cox": study.predicted, 7: study.predicted**2}
    expected = study.brier(models, cc.IPCW())
    found = study.brier({name: make(each) for name, each in models.items()}, cc.IPCW())
    assert list(found) == ["cox", 7]
    for name, values in expected.items():
        np.testing.assert_allclose(as_numpy(found[name]), values, rtol=1e-12)


def test_times_in_any_order(study, make):
    order = np.array([3, 0, 3, 11, 7])
    outcomes, times = (study.train.y, study.test.y), study.times[order]
    for score in (cc.brier_score, cc.integrated_brier_score):
        expected, found = (
            score(
                *outcomes, each, times, adjustment=cc.Imputation("covariates", cc.Clayton(1.0)), **study.given
            )
            for each in (study.predicted[:, order], make(study.predicted[:, order]))
        )
        np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)
    unequal = study.predicted[:, order].copy()
    unequal[:, 2] *= 0.9
    with pytest.raises(ValueError, match="equal columns"):
        cc.brier_score(*outcomes, make(unequal), times)


@pytest.mark.parametrize("name", ["ipcw", "ipcw by cox", "given covariates"])
def test_single_precision(study, name):
    found = study.brier(torch.tensor(study.predicted, dtype=torch.float32), ADJUSTMENTS[name])
    assert found.dtype == torch.float32
    np.testing.assert_allclose(
        as_numpy(found), study.brier(study.predicted, ADJUSTMENTS[name]), rtol=1e-6, atol=1e-7
    )


def test_single_precision_sums_many_subjects():
    """A running sum of 2e5 numbers in single precision would lose four digits."""
    n = 200_000
    y = (np.full(n, 2.0), np.ones(n, dtype=bool))
    found = cc.brier_score(y, y, torch.full((n, 1), 0.7), [1.0])
    assert found.item() == pytest.approx(0.3**2, rel=1e-6)


def test_blocks_of_rows(study, make, monkeypatch):
    monkeypatch.setattr("cocensor.metrics.tensors._IN_CACHE", 1000)
    adjustment = cc.Imputation("covariates", cc.Clayton(2.0))
    found = study.brier(make(study.predicted), adjustment)
    np.testing.assert_allclose(as_numpy(found), study.brier(study.predicted, adjustment), rtol=1e-12)


def test_no_score_from_a_time_on(make):
    """The last subject is censored: beyond nobody is seen."""
    y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 0]))
    times, predicted = [2.5, 4.5], np.full((4, 2), 0.5)
    with pytest.warns(cc.warnings.HorizonWarning):
        expected = cc.brier_score(y, y, predicted, times)
    with pytest.warns(cc.warnings.HorizonWarning):
        found = cc.brier_score(y, y, make(predicted), times)
    assert np.isnan(expected[1])
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)
    with (
        pytest.raises(ValueError, match="times must not pass 4.5"),
        pytest.warns(cc.warnings.HorizonWarning),
    ):
        cc.integrated_brier_score(y, y, make(predicted), times)


def test_edges(make):
    """No censoring, all censored, one subject."""
    for time, event in (([1.0, 2.0, 3.0], [1, 1, 1]), ([1.0, 2.0, 3.0], [0, 0, 0]), ([2.0], [1])):
        y, predicted = (np.array(time), np.array(event)), np.full((len(time), 2), 0.6)
        expected, found = (cc.brier_score(y, y, each, [0.5, 0.9]) for each in (predicted, make(predicted)))
        np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12)


def test_rounding_of_single_precision_is_mended(study, make):
    predicted = study.predicted.copy()
    predicted[3, 0] = 1.0 + 5e-7
    with pytest.warns(cc.warnings.PredictionWarning, match="1 values"):
        found = study.brier(make(predicted), cc.IPCW())
    predicted[3, 0] = 1.0
    np.testing.assert_allclose(as_numpy(found), study.brier(predicted, cc.IPCW()), rtol=1e-12)


def test_marks_of_other_libraries():
    """A tensor on a GPU that keeps a graph raises where it is asked for CuPy's mark."""

    class OnDevice:
        device = "cuda:0"

        def detach(self):
            return self

        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("requires grad")

    assert is_foreign(OnDevice())
    assert not any(
        map(is_foreign, (np.zeros(2), np.float64(1.0), 1.0, [0.5], None, "a", (np.zeros(1), np.zeros(1))))
    )


def test_numpy_never_imports_another_library():
    code = (
        "import sys, numpy as np, cocensor as cc\n"
        "y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))\n"
        "score = cc.brier_score(y, y, np.full((4, 1), 0.5), [1.5])\n"
        "assert type(score) is np.ndarray\n"
        "assert type(cc.brier_score(y, y, np.full(4, 0.5), 1.5)) is float\n"
        "assert not {'array_api_compat', 'torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluate_brings_tensors_to_numpy_and_says_so(study):
    settings = {"times": study.times, "adjustments": ["ipcw"]}
    found = cc.evaluate({"cox": torch.asarray(study.predicted)}, study.test.y, study.test.X, **settings)
    expected = cc.evaluate({"cox": study.predicted}, study.test.y, study.test.X, **settings)
    assert float(found.score("cox").value) == float(expected.score("cox").value)
    assert any("torch.Tensor" in note.text and note.about.model == "cox" for note in found.notes)
    assert not any("numpy" in note.text for note in expected.notes)
