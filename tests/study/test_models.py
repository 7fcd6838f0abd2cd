"""What a model may be, and that each prediction is validated once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cocensor as cc
from cocensor.adjustments.models.margins import ImputationFromMargins

GRID = np.linspace(0.0, 20.0, 21)


def test_every_kind_of_prediction_gives_the_same_score(study):
    from sksurv.functions import StepFunction

    curves = study.models["three"]
    table = curves(GRID)

    class Pycox:
        def predict_surv_df(self, X):
            return pd.DataFrame(table.T, index=GRID)

    class Curves:
        def predict(self, X):
            return curves

    kinds = {
        "predictions": curves,
        "pair": (GRID, table),
        "array": table,
        "steps": np.array([StepFunction(GRID, row) for row in table]),
        "list of steps": [StepFunction(GRID, row) for row in table],
        "frame by subject": pd.DataFrame(table, columns=GRID.astype(str)),
        "frame by time": pd.DataFrame(table.T, index=GRID),
        "polars": pl.DataFrame(table, schema=[str(t) for t in GRID]),
        "model of frames": Pycox(),
        "learner": Curves(),
    }
    result = study.evaluate(kinds, times=GRID, adjustments=["ipcw"])
    scores = [result.score(name).value for name in kinds]
    assert max(scores) == pytest.approx(min(scores), rel=1e-12)
    assert result.data.predictions["model of frames"].source == "Pycox.predict_surv_df"


def test_fitted_models_of_other_packages_predict_for_the_test_sample(study):
    from lifelines import CoxPHFitter
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    names = ["a", "b", "c"]
    x_train, x_test = (pd.DataFrame(part.X, columns=names) for part in (study.train, study.test))
    y = study.train.y
    outcome = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("event", bool), ("time", float)])
    lifelines = CoxPHFitter().fit(x_train.assign(t=y.time, e=y.event), "t", "e")
    models = {"sksurv": CoxPHSurvivalAnalysis().fit(x_train, outcome), "lifelines": lifelines}
    models["cocensor"] = study.models["three"]
    result = cc.evaluate(
        models, study.test.y, x_test, y_train=outcome, x_train=x_train, copula=None, metrics="ibs"
    )
    expected = result.score("cocensor", adjustment="ipcw").value
    for name in ("sksurv", "lifelines"):
        assert result.score(name, adjustment="ipcw").value == pytest.approx(expected, rel=2e-3)
    assert isinstance(result.table(), pd.DataFrame)


def test_smooth_models_of_lifelines_are_read_without_steps(study):
    from lifelines import WeibullAFTFitter

    x_train, x_test = (pd.DataFrame(part.X, columns=list("abc")) for part in (study.train, study.test))
    y = study.train.y
    aft = WeibullAFTFitter().fit(x_train.assign(t=y.time, e=y.event), "t", "e")
    grid = np.linspace(0.1, 18.0, 50)
    exact = aft.predict_survival_function(x_test, times=grid).to_numpy().T.clip(0.0, 1.0)
    result = study.evaluate(
        {"aft": aft, "exact": exact}, x_test=x_test, x_train=x_train, times=grid, adjustments=["ipcw"]
    )
    assert result.score("aft").value == pytest.approx(result.score("exact").value, rel=1e-3)


def test_values_outside_by_rounding_are_noted(study):
    table = study.models["three"](GRID)
    table[3, -1] = -1.2e-7
    table[4, 0] = 1.0 + 1e-7
    result = study.evaluate({"net": (GRID, table), "other": study.models["one"]}, adjustments=["ipcw"])
    [note] = [note for note in result.notes if note.about.model is not None]
    assert (note.kind, note.about.model, note.text.split()[0]) == ("decision", "net", "2")
    clipped = study.evaluate({"net": (GRID, table.clip(0, 1))}, adjustments=["ipcw"])
    assert not any(note.about.model for note in clipped.notes)
    assert result.score("net").value == pytest.approx(clipped.score("net").value, abs=1e-9)


def test_frames_come_back_in_the_library_that_was_given(study):
    frame = pl.DataFrame(study.train.X, schema=["a", "b", "c"])
    other = pl.DataFrame(study.test.X, schema=["a", "b", "c"])
    result = study.evaluate(x_train=frame, x_test=other, adjustments=["ipcw", "cg_q"])
    assert isinstance(result.table(), pl.DataFrame)
    for kind in ("ranks", "differences", "curves"):
        assert isinstance(result.table(kind), pl.DataFrame)
    assert isinstance(result.sensitivity(["clayton"], [0.0, 0.5]).table(), pl.DataFrame)


def test_each_prediction_is_validated_once(study, monkeypatch):
    from sksurv.functions import StepFunction

    from cocensor.data import border, curves, predictions, probabilities

    names = []

    def counted(array, name, *more):
        names.append(name)
        return probabilities.count_rounded(array, name, *more)

    for module in (border, curves, predictions):
        monkeypatch.setattr(module, "count_rounded", counted)
    table = study.models["three"](GRID)

    class Model:
        def predict_surv_df(self, X):
            return pd.DataFrame(table.T, index=GRID)

    models = {
        "made before": study.models["one"],
        "array": table,
        "pair": (GRID, table),
        "steps": [StepFunction(GRID, row) for row in table],
        "frame": pd.DataFrame(table, columns=GRID),
        "model": Model(),
    }
    result = study.evaluate(models, times=GRID, metrics=["ibs", cc.metric("ils", floor=0.01)])
    result.sensitivity(["frank", "clayton"], [0.0, 0.3])
    assert len(names) == 5


def test_weights_that_do_not_depend_on_the_model_are_computed_once(study, monkeypatch):
    calls, original = [], ImputationFromMargins.weights_for
    monkeypatch.setattr(
        ImputationFromMargins, "weights_for", lambda *given: calls.append(1) or original(*given)
    )
    result = study.evaluate(adjustments=["cg_q"])
    assert len(calls) == 1
    assert len(result.models) == 2
