"""Twelve models that hardly differ, with long names: what their page weighs, how it reads, and how it prints."""

import re

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign

pytestmark = pytest.mark.no_cover
MODELS = 12
NAME = "Cox proportional hazards <elastic net> & splines, “tuned” by 5×2 cross-validation/β"


@pytest.fixture(scope="module")
def crowd():
    """All that a report shows, over the whole grid."""
    data = SyntheticDesign(n=400, n_features=6, copula=cc.Clayton.from_tau(0.3)).draw(0)
    train, test = data[:200], data[200:]
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.97)), 3000)
    models = {}
    for k in range(MODELS):
        used = np.roll(np.arange(6), k)[: 5 - k // 6]
        curves = cc.CoxPH().fit(train.X[:, used], train.y).survival(times, test.X[:, used])
        models[f"{k + 1:02d} {NAME}"[:80]] = cc.Predictions(times, curves)
    found = cc.evaluate(
        models,
        test.y,
        test.X,
        y_train=train.y,
        x_train=train.X,
        metrics=["ibs", "auc", "ici"],
        at=[8.0, 12.0],
    )
    return found.full()


@pytest.fixture(scope="module")
def page_of_crowd(crowd, tmp_path_factory):
    return crowd.to_html(tmp_path_factory.mktemp("crowd") / "a.html")


def test_the_page_of_twelve_models_stays_small(crowd, page_of_crowd):
    # A page of thirty metrics has two megabytes beside its script.
    text = page_of_crowd.read_text(encoding="utf-8")
    assert len(crowd.to_json()) > 3_000_000
    own = len(text.encode()) - sum(map(len, re.findall(r"<script>(.*?)</script>", text, re.DOTALL)))
    assert own < 900_000


def test_sentences_name_a_few_and_count_the_others(page_of_crowd):
    text = page_of_crowd.read_text(encoding="utf-8")
    lead = re.search(r'<p class="lead">(.*?)</p>', text, re.DOTALL).group(1)
    assert lead.count("<bdi") <= 6
    assert f"all {MODELS}" in text or re.search(r">[A-L] \+\d+<", text)
    names = re.findall(r'<bdi title="(.*?)">(.*?)</bdi>', lead)
    assert all(len(full) > len(short) for full, short in names)


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_of_many_models_is_wider_than_the_screen(opened, page_of_crowd, width):
    page = opened(width, at=page_of_crowd)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#sensitivity summary", has_text="All numbers").first.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#sensitivity details .scroll:visible").first
    head = box.locator("tbody th:has(+ td)").first
    before = head.bounding_box()["x"]
    box.evaluate("(each) => { each.scrollLeft = 200; }")
    assert head.bounding_box()["x"] <= before
    assert head.bounding_box()["x"] >= box.bounding_box()["x"] - 1
    assert page.heard == []


@pytest.mark.parametrize("of", ["page_of_crowd", "report", "page_of_several"])
def test_a_print_has_at_most_eight_pages(opened, request, of):
    page = opened(at=request.getfixturevalue(of))
    data = page.pdf(prefer_css_page_size=True)
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", data)) <= 8
    assert page.evaluate("document.documentElement.classList.contains('printing')") is False
    assert page.heard == []
