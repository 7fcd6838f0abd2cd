"""Whatever a user has becomes Predictions, checked once."""

import lifelines
import numpy as np
import pandas as pd
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from cocensor import Predictions
from cocensor.data.border import as_predictions, predict
from tests.refusals import refuses

TIMES = np.array([0.5, 1.0, 2.0, 4.0])
TABLE = np.exp(-TIMES * np.array([[0.3], [0.6], [1.2]]))


class StepLike:
    def __init__(self, x, y, domain=None):
        self.x, self.y = np.array(x), np.array(y)
        if domain is not None:
            self.domain = domain


def test_from_scikit_survival_step_functions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = Surv.from_arrays(rng.random(60) < 0.7, rng.exponential(size=60))
    functions = CoxPHSurvivalAnalysis().fit(X, y).predict_survival_function(X[:5])
    curves = Predictions.from_step_functions(functions)
    times = np.linspace(functions[0].x[0], functions[0].x[-1], 50)
    np.testing.assert_allclose(curves(times), [f(times) for f in functions], atol=1e-15)
    assert curves.interpolation == "step"
    assert curves.end == y["time"].max()


def test_from_step_functions_on_different_grids():
    functions = [StepLike([1.0, 3.0], [0.8, 0.2]), StepLike([2.0, 3.0], [0.5, 0.4])]
    curves = Predictions.from_step_functions(functions)
    np.testing.assert_array_equal(curves.times, [1, 2, 3])
    np.testing.assert_array_equal(curves.probabilities, [[0.8, 0.8, 0.2], [1.0, 0.5, 0.4]])
    refuses(lambda: Predictions.from_step_functions([functions[0], 3]), "row 1", "int", kind=TypeError)
    refuses(lambda: Predictions.from_step_functions([]), "functions", "empty")


def test_step_functions_are_unknown_beyond_the_first_end_of_their_domains():
    functions = [StepLike([1.0, 3.0], [0.8, 0.2], (0, 6.0)), StepLike([2.0], [0.5], np.array([0, 2.5]))]
    curves = Predictions.from_step_functions(functions)
    assert curves.end == 2.5
    np.testing.assert_array_equal(curves([2.5]), [[0.8], [0.5]])
    refuses(lambda: curves([2.6]), "times", "2.5", "2.6")
    held = Predictions.from_step_functions(functions, tail="last")
    np.testing.assert_array_equal(held([9.0]), [[0.2], [0.5]])


def test_every_kind_becomes_the_same_predictions():
    steps = [StepLike(TIMES, row) for row in TABLE]
    made = Predictions(TIMES, TABLE)
    frame = pd.DataFrame(TABLE, columns=TIMES)
    kinds = [made, (TIMES, TABLE), TABLE, TABLE.tolist(), steps, np.array(steps, dtype=object), frame]
    for kind in kinds:
        found = as_predictions(kind, 3, times=TIMES)
        np.testing.assert_array_equal(found(TIMES), TABLE)
    assert as_predictions(made, 3) is made
    # Step functions are known to step; of all else nobody has said what holds between the times.
    between = [as_predictions(kind, 3, times=TIMES).interpolation for kind in kinds]
    assert between == [None] * 4 + ["step"] * 2 + [None]


def test_an_array_at_times_in_any_order_and_repeated():
    order = [2, 0, 1, 0, 3]
    found = as_predictions(TABLE[:, order], 3, times=TIMES[order])
    np.testing.assert_array_equal(found.times, TIMES)
    np.testing.assert_array_equal(found.probabilities, TABLE)
    twice = TABLE[:, order]
    twice[1, 3] -= 0.01
    refuses(
        lambda: as_predictions(twice, 3, times=TIMES[order], name="models['m']"), "models['m']", "repeated"
    )


@pytest.mark.parametrize(
    ("estimate", "parts"),
    [
        (TABLE[:2], ("models['m']", "(3, 4)", "(2, 4)")),
        (TABLE[:, :3], ("models['m']", "(3, 4)", "(3, 3)")),
        (TABLE + 1.0, ("models['m']", "[0, 1]", "row 0", "time 0.5")),
        (np.full((3, 4), np.nan), ("models['m']", "row 0", "nan")),
        (TABLE.astype(str), ("models['m']", "numeric")),
        (TABLE[:, ::-1], ("models['m']", "row 0")),
        ((TIMES, TABLE[:2]), ("models['m']", "3", "has 2")),
        (
            ([1.0, [2.0, 3.0]], TABLE),
            ("models['m']: times must be a rectangular array of numbers", "differ in shape."),
        ),
        (Predictions(TIMES, TABLE[:2]), ("models['m']", "3", "has 2")),
    ],
)
def test_what_is_wrong_is_named_as_the_user_names_it(estimate, parts):
    refuses(lambda: as_predictions(estimate, 3, times=TIMES, name="models['m']"), *parts)


def test_an_array_needs_its_times():
    refuses(lambda: as_predictions(TABLE, 3), "times", "pair (times, array)")


class Model:
    def __init__(self, gives):
        self.gives = gives

    def predict(self, X):
        return self.gives


def test_models_predict_and_are_known_as_far_as_they_were_fitted():
    held = predict(Model(Predictions(TIMES, TABLE, tail="last")), TABLE)
    assert held.end == 4.0
    assert held.source == "Model.predict"
    from_frame = predict(Model(pd.DataFrame(TABLE.T, index=TIMES)), TABLE)
    np.testing.assert_array_equal(from_frame.probabilities, TABLE)
    refuses(lambda: predict(Model(TABLE), TABLE), "Model", "predict", "ndarray", kind=TypeError)
    refuses(lambda: predict(Model(None), None), "x_test", "Model")
    refuses(lambda: predict(object(), TABLE), "object", kind=TypeError)


def test_a_model_of_lifelines_predicts_for_as_many_subjects_as_it_has_times():
    """Its frame has a row per time, also where a frame alone could be read both ways."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30), "t": rng.exponential(size=30), "e": 1})
    fitted = lifelines.CoxPHFitter().fit(frame, "t", "e")
    predicted = fitted.predict_survival_function(frame)
    assert predicted.shape == (30, 30)
    found = as_predictions(fitted, 30, X=frame)
    np.testing.assert_array_equal(found.times, predicted.index)
    np.testing.assert_array_equal(found.probabilities, predicted.to_numpy().T)
    assert found.interpolation == "step"


def test_lists_of_unequal_length_are_refused_as_risk_scores_too():
    refuses(
        lambda: as_predictions([[0.9, 0.8], [0.7]], 2, times=TIMES[:2], name="estimate", risk=True),
        "estimate",
    )
    assert as_predictions([0.3, 0.1], 2, risk=True).risk.tolist() == [0.3, 0.1]
