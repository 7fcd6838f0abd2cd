"""The report in a real browser: the system's chromium, driven by Playwright."""

import numpy as np
import pytest

import cocensor as cc
from tests.views.html.conftest import HOSTILE

pytestmark = pytest.mark.no_cover


def test_it_opens_in_silence_and_asks_for_nothing(opened, report):
    page = opened()
    assert page.heard == []
    assert page.asked == [report.as_uri()]
    assert page.locator(f"text={HOSTILE}").count() > 0
    assert page.locator("figure svg:visible").count() > 0


def test_a_full_page_has_at_most_five_open_screens(opened, page_of_several):
    page = opened(at=page_of_several)
    assert page.heard == []
    assert page.evaluate("document.documentElement.scrollHeight") <= 5 * 800
    assert page.locator("details[open]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_sideways(opened, page_of_several, scheme):
    page = opened(360, at=page_of_several, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert dark == (scheme == "dark")
    small = (
        "(all) => Math.min(...all.map((e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))"
    )
    assert page.locator("figure svg:visible text").evaluate_all(small) >= 10


def test_without_scripts_the_first_screen_stands_there(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".state, h1, .lead, .models, figure svg.wide").count() == 5
    assert page.locator("figure svg.wide").is_visible()
    assert page.locator("button").count() == 0


@pytest.mark.parametrize("way", ["pointer", "touch", "keyboard"])
def test_values_are_read_by_pointer_touch_and_keyboard(opened, handed, way):
    page = opened(has_touch=way == "touch")
    figure = page.locator("svg.wide")
    if way == "keyboard":
        figure.focus()
        page.keyboard.press("ArrowRight")
    else:
        (figure.tap if way == "touch" else figure.hover)(position={"x": 60, "y": 150})
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert "difference: " in tip.inner_text()
    assert " times as fast" in tip.inner_text()
    if way == "keyboard":
        assert page.locator("#said").inner_text().startswith(tip.inner_text().splitlines()[0])
        page.keyboard.press("Escape")
        assert tip.is_hidden()


def test_the_legend_clicks_and_says_so(opened, page_of_several):
    page = opened(at=page_of_several)
    figure = page.locator("figure:has(button[aria-pressed])").first
    toggle = figure.locator("button[aria-pressed]").first
    line = figure.locator(f"path.line[data-name='{toggle.inner_text()}']").first
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    assert "off" in line.get_attribute("class").split()
    toggle.click()
    assert "off" not in line.get_attribute("class").split()


def test_a_figure_can_be_taken_away(opened):
    page = opened()
    with page.expect_download() as download:
        page.locator("figure button", has_text="SVG").first.click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "plausible range" in text
    assert "stroke=" in text


def test_the_keyboard_skips_to_the_result_and_reaches_figures(opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#result")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName.toLowerCase()"))
    assert {"svg", "button", "summary"} <= reached


def test_paper_is_light_and_leaves_tools_out(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 30, 33)"
    assert page.locator("nav:visible, .tools:visible, button:visible, .paste:visible").count() == 0
    assert page.locator("svg.wide").is_visible()


def test_text_has_contrast_in_light_and_dark(opened, page_of_several):
    """At least 4.5 to 1, as WCAG asks for."""
    code = """() => {
      const light = (colour) => {
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
          const share = part / 255;
          return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
      };
      const behind = (own) => {
        for (let at = own; at; at = at.parentElement) {
          const colour = getComputedStyle(at).backgroundColor;
          if (colour !== "rgba(0, 0, 0, 0)") return colour;
        }
        return "rgb(255, 255, 255)";
      };
      return [...document.querySelectorAll("p, td, th, li, h1, h2, h3, small, a, summary, svg text")]
        .filter((own) => own.getClientRects().length && own.textContent.trim() && !own.matches(".skip"))
        .map((own) => {
          const style = getComputedStyle(own), svg = own.closest("svg");
          const pair = [light(svg ? style.fill : style.color), light(behind(svg ? svg.parentElement : own))];
          return [(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), own.textContent.trim().slice(0, 40)];
        });
    }"""
    for scheme in ("light", "dark"):
        page = opened(at=page_of_several, color_scheme=scheme)
        low = [found for found in page.evaluate(code) if found[0] < 4.5]
        assert low == []


def test_names_of_any_script_stand_apart_from_the_words(opened, split, cox, tmp_path):
    train, test = split
    names = "אבג", "a\u2069\u202eb", "c\udc80"
    models = dict(zip(names, (cox(0, 1, 2), cox(0), cox(1)), strict=True))
    found = cc.evaluate(
        models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], copula=None, metrics="ibs"
    )
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [0.0, 0.3])))
    assert page.heard == []
    assert set(page.locator(".models bdi").all_inner_texts()) == {names[0], names[1], r"c\udc80"}
    assert set(page.locator("h1 bdi, .lead bdi").all_inner_texts()) <= {names[0], "ab", r"c\udc80"}


def test_twelve_models_fit_a_phone(opened, split, cox, tmp_path):
    train, test = split
    rng = np.random.default_rng(0)
    models = {f"{k} {'w' * 80}": cox(*rng.choice(3, 2, replace=False)) for k in range(12)}
    found = cc.evaluate(models, test.y, y_train=train.y, adjustments="ipcw", metrics=["ibs", "auc"])
    page = opened(360, at=found.full().to_html(tmp_path / "a.html"))
    assert page.heard == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
