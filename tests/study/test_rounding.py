"""No result hangs on the last bit of its input: on another processor every product is rounded in another way."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors
from cocensor.study.report import Report


def leaves(result: object, path: str = "") -> Iterator[tuple[str, object]]:
    """All values of nested mappings and lists, by where they are."""
    if isinstance(result, Mapping):
        for key, value in result.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(result, Sequence) and not isinstance(result, str):
        for i, value in enumerate(result):
            yield from leaves(value, f"{path}/{i}")
    else:
        yield path, result


def study(seed, rounded_values):
    """All numbers of a study whose covariates are off by 1e-15 of themselves, in the same way where they are equal."""
    n = 150
    data = SyntheticDesign(n=2 * n, n_features=4, copula=cc.Clayton.from_tau(0.4)).draw(0)
    X, y = data.X.copy(), data.y
    if rounded_values:
        X, y = np.round(2 * X) / 2, cc.Survival(np.ceil(y.time), y.event)
    if seed is not None:
        rng = np.random.default_rng(seed)
        for column in X.T:
            values, place = np.unique(column, return_inverse=True)
            column[:] = (values * (1.0 + 1e-15 * rng.uniform(-1.0, 1.0, values.size)))[place]
    models = {
        name: cc.CoxPH().fit(X[:n, columns], y[:n]).predict_survival_function(X[n:, columns])
        for name, columns in {"few": [0], "many": [0, 1, 2, 3], "two": [1, 2]}.items()
    }
    result = cc.evaluate(
        models,
        y[n:],
        X[n:],
        y_train=y[:n],
        x_train=X[:n],
        at=8.0,
        metrics=["ibs", "auc", "concordance", "d_calibration"],
        adjustments=["ipcw", "ipcw_cox", "imputation", "aipcw"],
    )
    sensitivity = result.sensitivity(("clayton", "frank"), (0.0, 0.2, 0.4))
    curves = {("ibs", "imputation"): curve_errors(result)}
    return dict(leaves(Report(result, sensitivity, curves=curves).to_dict()))


@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.HorizonWarning", "ignore::cocensor.warnings.FitWarning"
)
@pytest.mark.parametrize("rounded_values", [False, True], ids=["continuous", "with ties"])
def test_no_number_hangs_on_rounding(rounded_values):
    expected = study(None, rounded_values)
    assert len(expected) > 1_000
    for seed in range(3):
        found = study(seed, rounded_values)
        assert found.keys() == expected.keys()
        for at, value in expected.items():
            if isinstance(value, float):
                assert found[at] == pytest.approx(value, rel=1e-5, abs=1e-8, nan_ok=True), at
            else:
                assert found[at] == value, at
