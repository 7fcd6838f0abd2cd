from dataclasses import dataclass

import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign, SyntheticSample


@dataclass(frozen=True)
class Study:
    train: SyntheticSample
    test: SyntheticSample
    models: dict[str, cc.SurvivalCurves]

    def evaluate(self, **options):
        given = {"x_train": self.train.X, "x_test": self.test.X, "copula": cc.Frank.from_tau(0.3)} | options
        return cc.evaluate(self.models, self.train.y, self.test.y, **given)


@pytest.fixture(scope="session")
def study():
    """400 training and 300 test subjects, a model of all features and one of a single feature."""
    data = SyntheticDesign(n=700, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(1)
    train, test = data[:400], data[400:]
    models = {
        name: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for name, k in (("three", 3), ("one", 1))
    }
    return Study(train, test, models)
