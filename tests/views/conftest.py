from functools import partial

import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from tests.strategies import cox_predictions


@pytest.fixture(scope="session")
def split():
    data = SyntheticDesign(n=300, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    return data[:150], data[150:]


@pytest.fixture(scope="session")
def cox(split):
    """Predictions of Cox models by their columns."""
    return partial(cox_predictions, *split)


@pytest.fixture(scope="session")
def three(split, cox):
    """Three models by IPCW and by the imputation model at independence."""
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0), "twin": cox(0, 1)}
    return cc.evaluate(models, test.y, test.X, y_train=train.y, x_train=train.X, metrics="ibs")
