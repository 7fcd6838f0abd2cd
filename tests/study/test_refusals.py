"""What cannot be evaluated is refused, and before any model predicts."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from tests.refusals import refuses
from tests.study.noted import noted

GRID = np.linspace(0.0, 20.0, 21)
ONES = np.ones((300, 21))


class Fitless:
    def fit(self, y):
        return self


class Counting:
    """A model that counts how often it is asked."""

    def __init__(self, curves):
        self.curves, self.asked = curves, 0

    def predict(self, X):
        self.asked += 1
        return self.curves


@pytest.mark.parametrize(
    ("models", "parts"),
    [
        ({}, ("models", "empty")),
        ([1.0], ("models", "list")),
        ({3: (GRID, ONES)}, ("models", "3")),
        ({"": (GRID, ONES)}, ("models", "''")),
        ({"m": (GRID, ONES[:299])}, ("models['m']", "300", "299")),
        ({"m": ONES}, ("models['m']", "times")),
        ({"m": (GRID, 1.5 * ONES)}, ("models['m']", "[0, 1]", "row 0 at time 0 is 1.5")),
        ({"m": (GRID, np.tile(GRID / 20.0, (300, 1)))}, ("models['m']", "row 0", "time 1")),
        ({"m": Fitless()}, ("models['m']", "Fitless")),
        ({"m": cc.CoxPH()}, ("models['m']", "x_test", "CoxPH")),
    ],
)
def test_models_that_cannot_be_scored_are_refused(study, models, parts):
    refuses(lambda: cc.evaluate(models, study.test.y, y_train=study.train.y, metrics="ibs"), *parts)


def test_a_model_that_is_not_fitted_is_named(study):
    refuses(lambda: study.evaluate({"cox": cc.CoxPH()}), "models['cox']", "not fitted")


OPTIONS = [
    ({"adjustments": ["ipwc"]}, ("adjustment", "'ipwc'")),
    ({"adjustments": 3}, ("adjustments", "3")),
    ({"adjustments": None}, ("adjustments", "None")),
    ({"adjustments": []}, ("adjustments", "empty")),
    ({"adjustments": {"model": "ipcw"}}, ("adjustments", "'model'")),
    ({"adjustments": {1: "ipcw"}}, ("adjustments", "1")),
    ({"adjustments": [3]}, ("adjustment", "int")),
    ({"adjustments": ["imputation_covariates"], "x_train": None}, ("covariates", "'imputation_covariates'")),
    ({"adjustments": ["cg_q"], "copula": cc.Gaussian(0.3)}, ("copula", "Archimedean")),
    ({"times": []}, ("times", "[]")),
    ({"times": [3.0]}, ("times", "[3.0]")),
    ({"times": [1.0, np.nan]}, ("times", "row 1 is nan")),
    ({"times": GRID, "horizon": 9.0}, ("horizon", "times")),
    ({"horizon": "end"}, ("horizon", "'end'")),
    ({"horizon": -3.0}, ("horizon", "-3")),
    ({"metrics": "ils"}, ("'ils'", "floor")),
    ({"metrics": "gini"}, ("metric", "'gini'")),
    ({"metrics": 3}, ("metrics", "3")),
    ({"metrics": []}, ("metrics", "empty")),
    ({"metrics": ["ibs", "ibs"]}, ("metrics", "ibs, ibs")),
    ({"copula": "frank"}, ("copula", "'frank'")),
    ({"y_train": None}, ("y_train", "x_train")),
    ({"x_test": np.ones((300, 2))}, ("x_test", "3", "2")),
    ({"x_test": np.ones((299, 3))}, ("x_test", "299", "300")),
    ({"x_train": np.ones((5, 3))}, ("x_train", "5", "400")),
    ({"y_train": ([1.0, np.nan], [1, 0])}, ("time", "row 1 is nan")),
]


@pytest.mark.parametrize(("options", "parts"), OPTIONS)
def test_every_argument_is_checked_before_any_model_predicts(study, options, parts):
    model = Counting(study.models["three"])
    refuses(lambda: study.evaluate({"m": model}, **options), *parts)
    assert model.asked == 0


def test_names_of_all_models_are_checked_before_any_predicts(study):
    model = Counting(study.models["three"])
    refuses(lambda: study.evaluate({"m": model, 4: model}), "models", "4", kind=TypeError)
    assert model.asked == 0
    study.evaluate({"m": model}, adjustments=["ipcw"])
    assert model.asked == 1


def test_x_test_is_needed_where_x_train_is_given(study):
    refuses(lambda: study.evaluate(x_test=None), "x_test", "x_train")


def test_the_shortest_predictions_bound_what_can_be_asked_for(study):
    models = {"long": study.models["one"], "short": (GRID[:6], study.models["one"](GRID[:6]))}
    for asked in ({"horizon": 9.0}, {"times": [1.0, 9.0]}):
        result = study.evaluate(models, adjustments="ipcw", copula=None, **asked)
        [note] = [note for note in noted(result) if note.kind == "missing"]
        assert note.about.model == "short"
        for part in (*asked, "5", "models['short']", "9"):
            assert part in note.text
        only = {"short": models["short"]}
        refuses(lambda asked=asked, only=only: study.evaluate(only, **asked), *asked, "models['short']", "9")


FAULTS = {
    "NaN": (GRID, np.full((300, 21), np.nan)),
    "outside": (GRID, 1.5 * ONES),
    "shape": (GRID, ONES[:299]),
    "vector": np.ones(299),
    "class": cc.CoxPH,
    "not fitted": cc.CoxPH(),
    "none": None,
    "error": ValueError("the file is empty."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_one_models_predictions_costs_that_model_alone(study, fault):
    with_fault = {"bad": FAULTS[fault], **study.models}
    result, sound = (study.evaluate(models, copula=None) for models in (with_fault, study.models))
    assert result.models == ("bad", "three", "one")
    [note] = noted(result)
    assert (note.kind, note.about.model) == ("missing", "bad")
    for name in result.results:
        score = result.score("bad", adjustment=name)
        assert np.isnan(score.value)
        assert score.notes == (note,)
        assert standing(result, adjustment=name).ranks == standing(sound, adjustment=name).ranks
        for model in sound.models:
            assert result.score(model, adjustment=name).value == sound.score(model, adjustment=name).value
    assert (
        result.results["imputation"].fitted.design.columns
        == sound.results["imputation"].fitted.design.columns
    )
    assert list(result.table()["score"].isna()) == 2 * [True, False, False]
    assert f"bad: It has no score: {note.text}" in " ".join(repr(result).split())
    assert result.sensitivity("frank", [0.0, 0.3]).over_tau.leaders().keys() == {"frank"}
    held = {each["name"]: each["source"] for each in Report(result).to_dict()["models"]}
    assert held["bad"] is None


def test_where_all_models_are_at_fault_the_first_says_why(study):
    refuses(lambda: study.evaluate({"a": FAULTS["outside"], "b": FAULTS["NaN"]}), "models['a']", "1.5")


def test_with_one_model_that_can_be_scored_nothing_is_ranked(study):
    result = study.evaluate({"bad": FAULTS["NaN"], "one": study.models["one"]})
    assert list(result.verdict.standing.scores) == ["one"]
    assert [result.verdict.better_than_reference[name].here for name in ("one",)] == ["cannot tell"]
    assert "cannot tell whether one is better than Kaplan–Meier" in str(result.verdict)
    assert standing(result).ranks == {"one": 1}


@pytest.mark.parametrize("outcome", ["y", "structured"])
def test_outcomes_in_the_place_of_covariates_are_refused(study, outcome):
    y = study.test.y
    if outcome == "structured":
        y = np.rec.fromarrays([y.event, y.time], names="event,time").view(np.ndarray)
    refuses(
        lambda: cc.evaluate(study.models, study.test.y, y, metrics="ibs"), "x_test", "y_train", kind=TypeError
    )


def test_a_class_in_the_place_of_a_model_is_refused(study):
    refuses(lambda: study.evaluate({"cox": cc.CoxPH}), "models['cox']", "CoxPH", "class")


def test_what_a_model_says_keeps_its_own_end(study):
    class Failing:
        def predict_survival_function(self, X):
            raise ValueError("columns are missing:\n- age\n- ...\n")

    with pytest.raises(ValueError, match=r"Failing.predict_survival_function") as caught:
        study.evaluate({"bad": Failing()})
    assert "models['bad']" in str(caught.value)
    assert str(caught.value).endswith("- ...")


def test_an_adjustment_by_its_class_is_refused(study):
    refuses(lambda: study.evaluate(adjustments=cc.IPCW), "adjustments", "IPCW")
