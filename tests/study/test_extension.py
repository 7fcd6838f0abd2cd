"""A metric and an adjustment from outside the package appear wherever ours do."""

import json
from dataclasses import dataclass
from inspect import getsource
from typing import Any, ClassVar

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import (
    Adjustment,
    EventWeights,
    Fitted,
    Modelled,
    unregister_adjustment,
)
from cocensor.data.times import TimeGrid
from cocensor.metrics import Loss, Metric, MetricValue, PointwiseMetric, unregister_metric
from cocensor.metrics.base import Profile
from cocensor.simulate import SyntheticDesign
from cocensor.study.ranking import standing
from cocensor.views.text.names import briefly, doing
from tests.scale.studies import study

TAUS = (0.0, 0.3, 0.6)


@dataclass(frozen=True)
class AUC(Metric):
    """How often one with the event by the last time is given a higher risk than one without it: pairs of subjects."""

    name: ClassVar[str] = "own_auc"
    label: ClassVar[str] = "AUC at the horizon"
    direction: ClassVar[str] = "higher"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    kind: ClassVar[str] = "discrimination"
    in_brief: ClassVar[str] = "the chance that two subjects are in the right order"

    def evaluate(self, status, predictions):
        last = np.argmax(status.times)
        pairs = np.outer(status.b[:, last], status.a[:, last])
        found = {}
        for model, each in predictions.items():
            p = each.read(status.times[[last]], slice(None))[:, 0]
            wins = (p[:, None] < p) + 0.5 * (p[:, None] == p)
            found[model] = MetricValue(float((pairs * wins).sum() / pairs.sum()))
        return found


class Absolute(PointwiseMetric):
    """The mean distance of predictions from who is event-free, averaged over time."""

    name, label, range = "absolute", "mean absolute error", (0.0, 1.0)

    @property
    def loss(self):
        return Loss(event_free=lambda p: 1.0 - p, event=lambda p: p, largest=1.0)


class InTheLarge(Metric):
    """The mean prediction for the last time against the share that is event-free then."""

    name, label, direction, range = "in_the_large", "calibration in the large", "lower", (0.0, 1.0)
    kind = "calibration"
    profile_labels = ("prediction", "share of subjects with less")

    def evaluate(self, status, predictions):
        own = self.accumulator(status.grid, tuple(predictions), status.n)
        own.update(status, predictions)
        return own.result(np.inf)

    def accumulator(self, grid, models, n):
        return Sums(grid, models)


class Sums:
    """Sums over subjects of predictions, of who is event-free, and of all weights."""

    covariance = None

    def __init__(self, grid, models):
        self.grid, self.models, self.total = grid, models, dict.fromkeys(models, 0.0)

    def update(self, status, predictions):
        event_free, points = status.a[:, -1].sum(), np.linspace(0.0, 1.0, 5)
        for name in self.models:
            p = predictions[name].read(self.grid.sorted[-1:], slice(None))
            below = (p <= points).sum(axis=0)
            self.total[name] += np.array([p.sum() - event_free, status.normaliser, *below])

    def merge(self, other):
        self.total = {name: each + other.total[name] for name, each in self.total.items()}

    def result(self, until):
        points = np.linspace(0.0, 1.0, 5)
        return {
            name: MetricValue(float(abs(each[0] / each[1])), profile=Profile(points, each[2:] / each[1]))
            for name, each in self.total.items()
        }


@dataclass(frozen=True, eq=False)
class Blend(Adjustment):
    """Half way between the imputation from the margins under the copula and that under independence."""

    copula: Any

    @property
    def assumption(self):
        return "Half of the subjects, nobody knows which, drop out under the stated copula."

    def fit_to(self, sample, predictions):
        return FittedBlend(
            self, *(cc.Imputation((), c).fit(sample.y) for c in (self.copula, cc.Independence()))
        )


@dataclass(frozen=True, eq=False)
class FittedBlend(Fitted):
    adjustment: Blend
    dependent: Fitted
    independent: Fitted

    def with_copula(self, copula):
        return FittedBlend(Blend(copula), self.dependent.with_copula(copula), self.independent)

    def weights_for(self, sample, grid, predictions, whole):
        y = sample.y
        half = [each.weights(y, TimeGrid.of(grid.sorted)).a for each in (self.dependent, self.independent)]
        q = 0.5 * (half[0] + half[1])
        at_once = np.zeros(len(y), int)
        blend = Modelled(np.arange(len(y)), at_once, lambda rows, columns: q[rows, columns])
        return EventWeights(grid, at_once, modelled=(blend,))


@pytest.fixture(scope="module")
def result():
    cc.metrics.register_metric(AUC)
    cc.adjustments.register_adjustment("blend", Blend, label="blend of two", with_copula=True)
    data = SyntheticDesign(n=400, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(3)
    train, test = data[:200], data[200:]
    cox = {k: cc.CoxPH().fit(train.X[:, :k], train.y) for k in (3, 1)}
    models = {f"{k}": model.predict_survival_function(test.X[:, :k]) for k, model in cox.items()}
    asked = {"metrics": ["own_auc", "ibs"], "adjustments": ["ipcw", "blend"], "copula": cc.Clayton(2.0)}
    found = cc.evaluate(models, test.y, y_train=train.y, **asked)
    yield found
    unregister_metric("own_auc")
    unregister_adjustment("blend")


@pytest.fixture(scope="module")
def sensitivity(result):
    return result.sensitivity(("clayton", "frank"), TAUS)


def test_neither_takes_more_than_30_lines():
    lines = {kind: len(getsource(kind).splitlines()) for kind in (AUC, Blend, FittedBlend)}
    assert lines[AUC] <= 30
    assert lines[Blend] + lines[FittedBlend] <= 30


def test_both_are_in_the_table_and_greater_is_better(result):
    table = result.table()
    rows = table[(table["metric"] == "own_auc") & (table["adjustment"] == "blend")].set_index("model")
    assert rows["score"].between(0.5, 1.0).all()
    assert rows["rank"].idxmin() == rows["score"].idxmax()
    assert rows["best"].all()  # as a metric without a gradient has no interval to tell by
    assert rows["skill"].to_dict() == pytest.approx({m: 2 * s - 1 for m, s in rows["score"].items()})
    assert result.primary == "blend"
    assert "AUC at the horizon (higher is better" in repr(result)


def test_a_perfect_order_has_an_auc_of_one():
    times = np.array([1.0, 2.0, 3.0, 4.0])
    y = cc.Survival(times, np.ones(4))
    curves = {"right": times[:, None] * [0.1, 0.2], "wrong": times[::-1, None] * [0.1, 0.2]}
    found = cc.evaluate(curves, y, adjustments="ipcw", metrics=AUC(), times=[2.5, 0.5])
    assert found.score("right").value == 1.0
    assert found.score("wrong").value == 0.0
    assert standing(found).ranks == {"right": 1, "wrong": 2}


def test_both_are_in_the_sensitivity_analysis(result, sensitivity):
    grid = sensitivity.over_tau
    for family in grid.lines:
        for tau in TAUS:
            values = grid.values(family, tau, "own_auc", "blend")
            assert grid.leaders("own_auc", "blend")[family][tau] == (max(values, key=values.get),)
    again = result.data.samples.fit(Blend(cc.Clayton.from_tau(0.6)), {})
    status = result.data.samples.weights(again, result.data.grid)
    expected = {m: v.value for m, v in AUC().evaluate(status, result.data.predictions).items()}
    assert grid.values("clayton", 0.6, "own_auc", "blend") == pytest.approx(expected)
    assert sensitivity.verdict.adjustment == "blend"


def test_both_are_in_the_json(result, sensitivity):
    numbers = json.loads(result.to_json(sensitivity=sensitivity))
    auc = numbers["metrics"][0]
    assert (auc["name"], auc["direction"], auc["curve_label"]) == ("own_auc", "higher", None)
    assert auc["scores"]["blend"].keys() == {"3", "1"}
    assert numbers["adjustments"][1]["assumption"] == Blend(None).assumption
    assert numbers["sensitivity"]["scores"]["own_auc"]["blend"]["frank"].keys() == {"3", "1"}


def test_both_are_on_the_page(result, sensitivity, tmp_path):
    page = result.to_html(tmp_path / "a.html", sensitivity=sensitivity)
    text = page.read_text(encoding="utf-8")
    for said in ("AUC at the horizon", "higher is better", "blend of two", Blend(None).assumption):
        assert said in text
    for score in (result.score("3", "own_auc", "blend"), result.score("1", "ibs", "blend")):
        assert f"{score.value:.2f}" in text


def test_a_score_that_is_not_defined_is_missing_and_says_so():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1])
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="AUC at the horizon"):
        cc.evaluate({"a": [[0.5, 0.5]] * 4}, y, adjustments="ipcw", metrics=AUC(), times=[0.2, 0.5])


def test_a_metric_has_the_verb_of_its_kind(result):
    assert doing(AUC()).beats == "ranks subjects better than"
    assert briefly(AUC()) == f"This is {AUC.in_brief}; higher is better."
    assert json.loads(result.to_json())["metrics"][0]["kind"] == "discrimination"


def test_a_stream_adds_metrics_up_as_if_all_subjects_were_held(tmp_path):
    data = study(400)
    asked = {"metrics": [Absolute(), InTheLarge()], "adjustments": "ipcw", "times": [0.3, 0.9]}
    held, streamed = data.evaluate(**asked), data.scan(3).evaluate(**asked, n_kept=100)
    assert streamed.data.streamed.metrics == {"absolute", "in_the_large"}
    for name in ("absolute", "in_the_large"):
        for model in data.models:
            assert streamed.score(model, name).value == pytest.approx(
                held.score(model, name).value, rel=1e-12
            )
    assert "calibration in the large" in held.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
