"""Discrimination, calibration and benefit in a real browser."""

import pytest

from tests.scale.studies import study
from tests.study.test_extension import InTheLarge

pytestmark = pytest.mark.no_cover


def test_time_family_and_tau_move_discrimination_calibration_and_benefit(
    opened, several, full_of_several, page_of_several
):
    page, numbers = opened(at=page_of_several), full_of_several.to_dict()
    metrics = {each["name"]: each for each in numbers["metrics"]}

    def told(section):
        cells = page.locator(f"#{section} .told td[data-value]")
        return [float(cell.get_attribute("data-value")) for cell in cells.all()]

    def drawn():
        plots = page.locator("#discrimination .plot, #calibration .plot, #benefit .plot")
        return [plot.inner_html() for plot in plots.all()]

    names = ("auc", "auc at 8", "concordance")
    assert told("discrimination") == pytest.approx(
        [metrics[name]["scores"]["imputation"][model] for model in several.models for name in names]
    )
    shaded = page.locator("#discrimination .area, #calibration .area, #benefit .area")
    for plot in page.locator("[data-profile], [data-over-time]").all():
        assert plot.locator(".area").count() >= len(several.models)
    assert page.locator("#benefit .plot > svg .line").count() == len(several.models) + 1
    assert page.locator("#calibration .block rect").count() == 11 * len(several.models)
    before = drawn()
    page.locator("#calibration [data-choice=at]").select_option("12.0")
    later = drawn()
    assert [a != b for a, b in zip(before, later, strict=True)] == [False, True, True, False, True]
    page.locator("#calibration [data-choice=dependence]").select_option("frank")
    page.locator("#calibration [data-choice=tau]").fill("1")
    assert all(a != b for a, b in zip(later, drawn(), strict=True))
    grid = numbers["sensitivity"]["scores"]
    names = ("auc", "auc at 12", "concordance")
    assert told("discrimination") == pytest.approx(
        [grid[name]["imputation"]["frank"][model][1] for model in several.models for name in names]
    )
    assert told("benefit") == pytest.approx(
        [grid["net_benefit at 12"]["imputation"]["frank"][m][1] for m in several.models]
    )
    assert shaded.count() == 0
    page.locator("#benefit [data-choice=curves]").select_option("ipcw")
    assert "rests on no copula" in page.locator("#benefit .where").inner_text()
    assert page.locator("#benefit [data-choice=tau]").is_disabled()
    assert page.heard == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_sections_need_no_scrolling_sideways(opened, page_of_several, scheme):
    page = opened(360, at=page_of_several, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.heard == []


def test_what_is_unfolded_is_drawn_to_its_width(opened, several, page_of_several):
    page = opened(at=page_of_several)
    page.locator("#differences summary", has_text="By the other metrics").click()
    drawn = page.locator("#differences details .plot > svg")
    assert drawn.count() == len(several.metrics) - 1
    widths = drawn.evaluate_all("(all) => all.map((e) => e.viewBox.baseVal.width - e.clientWidth)")
    assert max(map(abs, widths)) <= 1


def test_the_curve_behind_a_metric_from_outside_is_drawn(opened, tmp_path):
    data = study(400)
    result = data.evaluate(metrics=["ibs", InTheLarge()], adjustments="ipcw", times=[0.3, 0.9])
    page = opened(at=result.to_html(tmp_path / "a.html"))
    assert page.locator("#calibration .plot > svg .line").count() == len(data.models)
    assert page.locator("#calibration .told td[data-value]").count() == len(data.models)
    assert page.heard == []
