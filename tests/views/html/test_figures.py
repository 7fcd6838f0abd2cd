"""What the page's figures show, in a real browser."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.curves import margin_curves
from cocensor.study.report import Report

pytestmark = pytest.mark.no_cover

N_MODELS = 12


@pytest.fixture(scope="module")
def crowded(split, cox):
    """Twelve models that can hardly be told apart; time has a name and a unit, and the true times are known."""
    train, test = split
    rng, known = np.random.default_rng(0), cox(0, 1)
    risks = np.log(np.clip(known.probabilities, 1e-9, 1.0))
    models = {
        f"model {k}": (known.times, np.exp(risks * np.exp(0.02 * rng.standard_normal((len(risks), 1)))))
        for k in range(N_MODELS)
    }
    samples = {"y_train": train.y, "true_times": test.event_time, "time_name": "rfstime", "time_unit": "days"}
    return cc.evaluate(models, test.y, **samples, metrics="ibs")


@pytest.fixture(scope="module")
def shown(crowded):
    grid, hint = crowded.sensitivity(("clayton", "frank"), (0.0, 0.3, 0.6)), crowded.suggest_copula()
    curves = {"profile": hint.choice.profile(), "survival": margin_curves(crowded)}
    return Report(crowded, sensitivity=grid, hint=hint, **curves)


@pytest.fixture(scope="module")
def path(shown, tmp_path_factory):
    return shown.to_html(tmp_path_factory.mktemp("crowded") / "a.html")


def places(texts):
    """Of texts of a figure, what they say and where their middle is across."""
    boxes = [(each.text_content(), each.bounding_box()) for each in texts.all()]
    return {text: box["x"] + box["width"] / 2 for text, box in boxes}


def test_numbers_at_risk_stand_below_the_ticks_of_every_curve_over_time(opened, crowded, path):
    page, samples = opened(at=path), crowded.data.samples
    for plot, y in {"curves": samples.y_test, "survival": samples.y_train}.items():
        box = page.locator(f"#plot-{plot}")
        ticks = places(box.locator("[aria-label='x-axis tick label'] text"))
        counts = [(each.text_content(), each.bounding_box()) for each in box.locator(".at-risk text").all()]
        assert counts.pop()[0] == "at risk"
        assert [int(count) for count, _ in counts] == [np.sum(y.time >= float(time)) for time in ticks]
        middles = [place["x"] + place["width"] / 2 for _, place in counts]
        np.testing.assert_allclose(middles, list(ticks.values()), atol=1.0)
        assert box.locator("[aria-label='x-axis label']").text_content() == "rfstime (days)"
    assert page.heard == []


def test_every_line_has_its_name_in_a_legend(opened, crowded, shown, path):
    page = opened(at=path)
    legends = {
        plot: page.locator(f"#plot-{plot} .key bdi").all_inner_texts()
        for plot in ("scores", "less", "ranks", "curves", "survival", "likelihood")
    }
    for plot in ("scores", "ranks", "curves"):
        assert set(legends[plot]) >= set(crowded.models)
    assert len(set(legends["less"]) & set(crowded.models)) == N_MODELS - 1
    assert "Kaplan–Meier" in legends["curves"]
    assert {"independence", "by the true event times", "τ = 0, as chosen"} <= set(legends["scores"])
    families = {family.capitalize() for family in shown.profile.to_dict()["families"]}
    assert families | {"independence", "95 % limit"} <= set(legends["likelihood"])
    for plot, names in legends.items():
        drawn = page.locator(f"#plot-{plot} > svg .line").count()
        assert page.locator(f"#plot-{plot} .key button").count() == drawn <= len(names)


def test_labels_of_tied_lines_do_not_cover_each_other(opened, path):
    page = opened(at=path)
    for plot in ("scores", "less", "curves"):
        boxes = [each.bounding_box() for each in page.locator(f"#plot-{plot} .end").all()]
        assert len(boxes) >= N_MODELS - 1
        tops = sorted(box["y"] for box in boxes)
        assert np.diff(tops).min() > 12
        frame = page.locator(f"#plot-{plot} > svg").bounding_box()
        assert max(box["x"] + box["width"] for box in boxes) <= frame["x"] + frame["width"] + 1
        assert max(tops) < frame["y"] + frame["height"] - 50


def test_the_true_scores_are_dashed_lines(opened, shown, path):
    page, truth = opened(at=path), shown.to_dict()["truth"]["ibs"]
    titles = page.locator("#plot-scores .truth title").all_text_contents()
    told = dict(title.split(", by the true event times: ") for title in titles)
    assert {name: float(value) for name, value in told.items()} == pytest.approx(truth, abs=1e-4)
    style = page.locator("#plot-scores > svg .truth").first.evaluate(
        "(e) => getComputedStyle(e).strokeDasharray"
    )
    assert style != "none"


def test_pointer_and_keyboard_make_one_line_stand_out(opened, path):
    page = opened(at=path)
    names, figure = page.locator("#plot-scores .key button"), page.locator("#plot-scores > svg")

    def lit():
        return figure.locator(".line.lit title").all_text_contents()

    names.nth(3).hover()
    assert lit() == ["model 3"]
    names.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert lit() == ["model 1"]
    page.keyboard.press("Tab")
    assert lit() == []
    assert page.locator("#plot-scores .key button[tabindex='0']").count() == 1


def test_figures_have_a_name_for_screen_readers(opened, path):
    figures = opened(at=path).locator(".plot > svg")
    assert set(figures.evaluate_all("(all) => all.map((e) => e.getAttribute('role'))")) == {"img"}
    assert all(figures.evaluate_all("(all) => all.map((e) => e.getAttribute('aria-label'))"))


def test_the_page_has_the_licences_of_what_it_draws_with(path):
    text = path.read_text(encoding="utf-8")
    bundle = (files("cocensor.views.html") / "templates" / "vendor" / "plot.min.js").read_text(
        encoding="utf-8"
    )
    head = bundle[: bundle.index("*/")]
    assert head in text
    assert "Permission to use, copy, modify, and/or distribute this software" in head
    for name in ("@observablehq/plot", "d3-array", "d3-scale", "d3-shape", "internmap"):
        assert re.search(rf"^{name} [\d.]+: Copyright", head, flags=re.MULTILINE)
    beside = Path(__file__).parents[3] / "vendor" / "LICENSE"
    assert beside.read_text(encoding="utf-8").strip() in head


def test_the_library_cannot_end_the_script(path):
    [script] = re.findall(r"<script>(.*?)</script>", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert script.rstrip().endswith("})();")
    assert "<!--" not in script
