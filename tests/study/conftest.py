from dataclasses import dataclass

import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign, SyntheticSample


@dataclass(frozen=True)
class Study:
    train: SyntheticSample
    test: SyntheticSample
    models: dict[str, cc.Predictions]

    def evaluate(self, models=None, **options):
        given = {
            "x_test": self.test.X,
            "y_train": self.train.y,
            "x_train": self.train.X,
            "copula": cc.Frank.from_tau(0.3),
            "metrics": "ibs",
        }
        return cc.evaluate(self.models if models is None else models, self.test.y, **(given | options))


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
