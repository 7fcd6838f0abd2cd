import os
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import Metric, MetricValue
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors, margin_curves
from cocensor.study.plan import SensitivityPlan
from cocensor.study.report import Report
from tests.browser import NAMES, chromium
from tests.strategies import cox_predictions

HOSTILE = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Sureness(Metric):
    """The weighted mean of the probability that was given to what happened, at the last time; no values over time."""

    name: ClassVar[str] = "sureness"
    label: ClassVar[str] = "mean sureness"
    direction: ClassVar[str] = "higher"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def evaluate(self, status, predictions):
        at = np.array([status.times.max()])
        a, b = status.a[:, np.argmax(status.times)], status.b[:, np.argmax(status.times)]
        read = {name: each.read(at, slice(None))[:, 0] for name, each in predictions.items()}
        return {name: MetricValue(float((a * p + b * (1 - p)).sum() / status.n)) for name, p in read.items()}


@pytest.fixture(scope="session")
def split():
    data = SyntheticDesign(n=400, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    return data[:200], data[200:]


@pytest.fixture(scope="session")
def cox(split):
    """Predictions of Cox models by their columns."""
    return partial(cox_predictions, *split)


@pytest.fixture(scope="session")
def evaluation(split, cox):
    """The paper's adjustments too, two metrics, and a name that would run if it were not escaped."""
    train, test = split
    models = {"all": cox(0, 1, 2), HOSTILE: cox(0, 1), "one & \\u003c \u2028": cox(0)}
    metrics = [cc.metric("ibs"), cc.metric("ils", floor=0.01)]
    return cc.evaluate(
        models, test.y, test.X, y_train=train.y, x_train=train.X, metrics=metrics, adjustments="paper"
    )


@pytest.fixture(scope="session")
def sensitivity(evaluation):
    return evaluation.sensitivity(("clayton", "frank", "gaussian", "hazard_ratio"), (0.0, 0.3, 0.6))


@pytest.fixture(scope="session")
def handed(evaluation, sensitivity):
    """What the page shows: sensitivity, the copula that fits best, its likelihood, and curves."""
    hint = evaluation.suggest_copula()
    return Report(
        evaluation,
        sensitivity=sensitivity,
        hint=hint,
        profile=hint.choice.profile(),
        survival=margin_curves(evaluation),
        curves={("ibs", evaluation.primary): curve_errors(evaluation)},
    )


@pytest.fixture(scope="session")
def report(handed, tmp_path_factory):
    return handed.to_html(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def several(split, cox):
    """Ranks, calibration and benefit at two times."""
    train, test = split
    models = {"all": cox(0, 1, 2), HOSTILE: cox(0)}
    metrics = ["ibs", "auc", "concordance", "ici", cc.metric("net_benefit", threshold=0.3), "d_calibration"]
    return over_small_grid(cc.evaluate(models, test.y, y_train=train.y, metrics=metrics, at=[8.0, 12.0]))


def over_small_grid(evaluation):
    """The same evaluation, whose plan has a small sensitivity analysis."""
    small = SensitivityPlan.of(("clayton", "frank"), (0.0, 0.4))
    return replace(evaluation, plan=replace(evaluation.plan, sensitivity=small))


@pytest.fixture(scope="session")
def full_of_several(several):
    """With all that stands behind the scores."""
    return several.full()


@pytest.fixture(scope="session")
def page_of_several(full_of_several, tmp_path_factory):
    return full_of_several.to_html(tmp_path_factory.mktemp("several") / "a.html")


@pytest.fixture(scope="module")
def browser():
    """The system's chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    path = chromium()
    if path is None and os.environ.get("CI") != "true":
        pytest.skip("chromium is not installed")
    assert path, f"One of {NAMES} is needed where CI is true."
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, report):
    """The page, with all that it said and asked for."""

    def open_at(width=1280, at=report, **settings):
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        page = context.new_page()
        page.heard, page.asked = [], []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("dialog", lambda dialog: (page.heard.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(at.as_uri())
        return page

    yield open_at
    for context in browser.contexts:
        context.close()
