"""Bounds, benchmarks, tipping points and hazard ratios after dropout on the page."""

import re

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from tests.views.html.conftest import HOSTILE
from tests.views.html.packed import numbers_of
from tests.views.html.test_page import Page, code
from tests.views.html.test_sections import table

TAUS, RATIOS = (-0.3, -0.1, 0.0, 0.1, 0.3, 0.5), (0.5, 1.0, 3.0)
REASONS = ("moved <b>away</b>", "עבר דירה")


@pytest.fixture(scope="module")
def given(split, cox):
    """Reasons of dropout and names of covariates that would break a page if they were not text."""
    train, test = split
    frame = pytest.importorskip("pandas").DataFrame
    columns = ["age", HOSTILE, "גיל"]
    why = np.where(np.arange(len(test.y)) % 3 == 0, *REASONS)
    return {
        "models": {"all": cox(0, 1, 2), "two": cox(0, 1), "one": cox(0)},
        "y_test": cc.Survival(test.y.time, test.y.event, reason=np.where(test.y.event == 1, None, why)),
        "x_test": frame(test.X, columns=columns),
        "y_train": train.y,
        "x_train": frame(train.X, columns=columns),
    }


@pytest.fixture(scope="module")
def dependent(given):
    return cc.evaluate(**given, metrics="ibs")


@pytest.fixture(scope="module")
def shown(dependent):
    grid = dependent.sensitivity(
        ("clayton", "frank", "hazard_ratio"), TAUS, hazard_ratios=RATIOS, plausible=(-0.15, 0.3)
    )
    return Report(dependent, sensitivity=grid, bounds=dependent.bounds())


@pytest.fixture(scope="module")
def path(shown, tmp_path_factory):
    return shown.to_html(tmp_path_factory.mktemp("dependent") / "a.html")


@pytest.fixture(scope="module")
def text(path):
    return path.read_text(encoding="utf-8")


def values(cells):
    found = [re.search(r'data-value="(.*?)"', cell) for cell in cells]
    return [None if each is None else float(each.group(1)) for each in found]


def test_names_of_reasons_and_covariates_are_text(path):
    parsed = Page(path)
    assert parsed.open == []
    assert "b" not in {tag for tag, *_ in parsed.attributes}
    for name in (*REASONS, HOSTILE):
        assert name in parsed.words


def test_bounds_of_models_and_pairs_stand_in_tables(dependent, shown, text):
    [bounds] = shown.bounds
    label = dependent.data.metrics[0].label
    models = table(text, f"{label} (lower is better), whatever the dependence")
    for name in dependent.models:
        assert values(models[(name,)])[:2] == [bounds[name].low, bounds[name].high]
        low, high = bounds[name].confidence_interval(0.95)
        assert f"{low:.4f} to {high:.4f}" in models[(name,)][2]
    pairs = table(text, f"difference of the {label}, whatever the dependence")
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in bounds.pairs}
    [leader] = standing(dependent).leaders
    assert leader not in {model for model, _ in pairs}  # which is subtracted, as in the figure
    for pair, cells in pairs.items():
        assert values(cells)[:2] == [bounds[pair].low, bounds[pair].high]
        better = bounds.certain(*pair, 0.95)
        assert ("open" if better is None else f"<bdi>{better}</bdi>") in cells[-1]


def test_pairs_without_bounds_say_why(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate({"a": cox(0), "b": cox(0, 1)}, test.y, metrics="auc", at=8.0, adjustments="ipcw")
    bounds = found.bounds("auc", at=8.0)
    text = found.to_html(tmp_path / "a.html", bounds=bounds).read_text(encoding="utf-8")
    assert (
        values(table(text, "AUC at 8 (higher is better), whatever the dependence")[("a",)])[1]
        == bounds["a"].high
    )
    assert bounds["a", "b"].missing in text
    assert "data-bounds=" not in text.split("<script", 1)[0]


def test_benchmarks_stand_in_tables(shown, text):
    found = shown.benchmarks
    rows = table(text, "what leaving out a covariate would induce")
    for each in found.benchmarks:
        numbers = [each.hazard_ratio_event, each.hazard_ratio_dropout, each.tau, each.shrunken_tau]
        assert values(rows[(each.name,)]) == numbers
        assert f"{each.interval.low:z.3f} to {each.interval.high:z.3f}" in rows[(each.name,)][2]
    assert values(rows[("all together",)])[2] == found.together
    factors = [value for cells in table(text, "what a stronger factor").values() for value in values(cells)]
    assert factors == [*found.multiples.values(), found.aligned]
    hidden = table(text, "how strong a hidden factor would have to be")
    assert list(hidden) == [("0.1",), ("0.3",), ("0.5",)]
    for (tau,), (ratio, multiple) in hidden.items():
        assert values([ratio]) == [cc.study.sensitivity.hidden_hazard_ratio(float(tau))]
        expected = found.multiple_for(float(tau))
        assert values([multiple]) == [expected if np.isfinite(expected) else None]


def test_tipping_points_stand_in_a_table_on_every_scale(dependent, shown, text):
    def known(value):
        return float(value) if np.isfinite(value) else None

    expected = [
        (a, b, known(tip.tau), known(tip.hazard_ratio), known(tip.multiple))
        for k, a in enumerate(dependent.models)
        for b in dependent.models[k + 1 :]
        for tip in shown.sensitivity.tipping_points(a, b)
    ]
    body = re.search(r"<caption>tipping points.*?</caption>(.*?)</table>", text, re.DOTALL).group(1)
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)[1:]
    found = [
        (
            *re.findall(r"<th scope=\"row\">(?:<span.*?</span> )?<bdi.*?>(.*?)</bdi>", row),
            *values(re.findall(r"<td.*?</td>", row, re.DOTALL)[2:5]),
        )
        for row in rows
    ]
    assert found == expected
    assert expected


def test_the_map_marks_plausible_columns_and_has_a_row_for_each_reason(text):
    [over_tau, over_ratio] = re.findall(r'<table class="map">.*?</table>', text, re.DOTALL)[:2]
    marked = re.findall(r'<th scope="col" class="plausible">(.*?)<span class="unseen">, plausible', over_tau)
    assert marked == ["-0.1", "0", "0.1", "0.3"]
    assert "plausible" not in over_ratio
    assert re.findall(r'<th scope="col">([\d.]+)</th>', over_ratio) == ["0.5", "1", "3"]
    assert over_ratio.count('<th scope="row"') == 1 + len(REASONS)


def test_what_was_not_handed_over_names_its_call(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate({"a": cox(0), "b": cox(0, 1)}, test.y, metrics="ibs", copula=None)
    words = Page(found.to_html(tmp_path / "a.html")).words
    assert "bounds()" in words
    assert "benchmarks()" in words
    grid = found.sensitivity("frank", [0.0, 0.3])
    words = Page(found.to_html(tmp_path / "b.html", sensitivity=grid)).words
    assert 'families=[..., "hazard_ratio"]' in words
    assert "There are no benchmarks: x_test" in words
    margins = cc.evaluate({"a": cox(0)}, test.y, metrics="ibs", adjustments="imputation_margins", copula=None)
    grid = margins.sensitivity(("frank", "hazard_ratio"), [0.0, 0.3])
    words = Page(margins.to_html(tmp_path / "c.html", sensitivity=grid)).words
    assert "does not accept a hazard ratio" in words


def test_the_code_computes_all_of_it_again(given, path, tmp_path):
    names = dict(given)
    exec(code(path).replace("report.html", str(tmp_path / "again.html")), names)
    again, first = (numbers_of(each) for each in (tmp_path / "again.html", path))
    for analysis in ("sensitivity", "bounds", "plausible_tau"):
        assert again[analysis] == first[analysis]


# --- in a browser ----------------------------------------------------------------------------------------


def across(text):
    """Where a text of a figure stands along its axis."""
    return float(re.match(r"translate\(([^,]+),", text.get_attribute("transform")).group(1))


def test_figures_along_tau_have_ratios_above_marks_below_and_a_plausible_range(opened, shown, path):
    page, numbers = opened(at=path), shown.to_dict()
    slider = page.locator("#sensitivity [data-choice=tau]")
    for family in ("clayton", "frank"):
        page.locator("#sensitivity [data-choice=family]").select_option(family)
        ratios = numbers["sensitivity"]["hazard_ratios"]["imputation"][family]
        for plot in ("scores", "less", "ranks"):
            box = page.locator(f"#plot-{plot}")
            assert box.locator("> svg .plausible rect").count() == 1
            assert box.locator(".mark path").count() == len(shown.benchmarks.benchmarks) + 1
            texts = box.locator(".above[aria-label='x-axis tick label'] text").all()
            ticks = {float(t.text_content()): across(t) for t in texts}
            known = [(tau, ratio) for tau, ratio in zip(TAUS, ratios, strict=True) if ratio is not None]
            assert min(ticks) >= min(ratio for _, ratio in known) - 1e-9
            # Positions along the axis are linear in τ; that of a ratio lies where its logarithm is between two τ.
            taus = np.interp(
                np.log(sorted(ticks)), np.log([ratio for _, ratio in known]), [t for t, _ in known]
            )
            places = [ticks[ratio] for ratio in sorted(ticks)]
            slope = (places[-1] - places[0]) / (taus[-1] - taus[0])
            np.testing.assert_allclose(places, places[0] + slope * (taus - taus[0]), atol=0.5)
        slider.fill("5")
        said = f"τ = 0.5 · hazard ratio after leaving {ratios[5]:.2g}"
        assert slider.get_attribute("aria-valuetext") == said
        slider.fill("0")
        ratio = "" if ratios[0] is None else f" · hazard ratio after leaving {ratios[0]:.2g}"
        assert page.locator("#sensitivity output").inner_text() == f"τ = -0.3{ratio}"
    assert page.heard == []


def test_hazard_ratios_move_by_reason(opened, dependent, shown, path):
    page, after = opened(at=path), shown.to_dict()["sensitivity"]["after_dropout"]
    for line in after["lines"]:
        page.locator("[data-choice=whose]").select_option(line)
        titles = page.locator("#plot-ratio-scores circle title").evaluate_all(
            "(all) => all.map((e) => e.textContent)"
        )
        for model, along in after["scores"]["ibs"]["imputation"][line].items():
            own = [title.split(": ")[1].split(" ")[0] for title in titles if title.startswith(f"{model}:")]
            assert [float(value) for value in own] == pytest.approx(along)
        assert page.locator("#plot-ratio-less path.line").count() == len(dependent.models) - 1
    assert page.locator("#bounds .reach").count() == len(dependent.models) - 1
    assert page.locator("#plot-benchmarks circle").count() == len(shown.benchmarks.benchmarks) + 1
    assert page.heard == []


def test_the_csv_has_the_hazard_ratios_and_reasons(opened, shown, path):
    pandas, page = pytest.importorskip("pandas"), opened(at=path)
    with page.expect_download() as download:
        page.locator("#download-csv").click()
    found = pandas.read_csv(download.value.path(), float_precision="round_trip")
    expected = shown.sensitivity.table()
    expected["reason"] = expected["reason"].fillna(np.nan)
    pandas.testing.assert_frame_equal(found, expected, check_dtype=False, atol=2e-5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_needs_scrolling_sideways(opened, path, scheme):
    page = opened(360, at=path, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.heard == []
