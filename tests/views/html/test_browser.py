"""The report in a real browser: the system's chromium, driven by Playwright."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import cocensor as cc
from cocensor.study import Check
from cocensor.study.ranking import rankable, standing
from tests.views.html.conftest import HOSTILE, Sureness

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def numbers(handed):
    return json.loads(handed.to_json())


def shown(page):
    """Model and score of each row beside the sensitivity plot, and the score as displayed."""
    rows = page.locator("#now tbody tr")
    return {
        row.get_attribute("data-model"): (
            float(row.locator("td").nth(2).get_attribute("data-value")),
            row.locator("td").nth(2).locator("span").inner_text(),
            int(row.locator("td").nth(0).inner_text()),
        )
        for row in rows.all()
    }


def expected(numbers, metric, adjustment, family, k):
    scores = numbers["sensitivity"]["scores"][metric][adjustment][family]
    values = {model: along[k] for model, along in scores.items()}
    return {
        model: (
            pytest.approx(value, rel=1e-6),
            f"{value:.4f}",
            1 + sum(other < value for other in values.values()),
        )
        for model, value in values.items()
    }


def test_it_opens_in_silence_and_asks_for_nothing(opened, report):
    page = opened()
    page.wait_for_selector("#plot-scores svg")
    assert page.heard == []
    assert page.asked == [report.as_uri()]
    drawn = page.locator(".plot > svg").count()
    assert drawn == page.locator(".plot").count() == 11
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.locator(f"text={HOSTILE}").count() > 0


@pytest.mark.parametrize(
    ("names", "times", "taus"),
    [
        (["only"], None, (0.5,)),
        (["a", "__proto__"], [9.0, 3.0, 6.0], (-0.3, 0.3)),
    ],
)
def test_sparse_reports_open_in_silence_too(opened, split, cox, tmp_path, names, times, taus):
    train, test = split
    models = {name: cox(*range(k + 1)) for k, name in enumerate(names)}
    found = cc.evaluate(
        models, test.y, y_train=train.y, copula=cc.Gaussian.from_tau(0.2), times=times, metrics="ibs"
    )
    grid = found.sensitivity(("gaussian", "joe"), taus)
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert page.heard == []
    assert page.locator("#plot-scores > svg .line").count() == len(names)
    assert page.locator("#plot-less > svg .line").count() == len(names) - 1
    assert "NaN" not in page.locator("main").inner_html()


def test_without_a_model_that_may_be_best_all_else_is_drawn(opened, split, cox, tmp_path):
    train, test = split
    found = cc.evaluate({"a": cox(0), "b": cox(0, 1)}, test.y, y_train=train.y, metrics="ibs")
    found = replace(found, checks=(Check("negative_skill", None, {"skills": [-0.5], "cause": "flag"}),))
    grid = found.sensitivity(("clayton",), (0.0, 0.3))
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid, bounds=found.bounds()))
    assert page.heard == []
    assert page.locator("#plot-scores > svg .line").count() == 2
    assert page.locator("[data-bounds]:visible").count() == 0
    assert "★" not in page.locator("main").inner_text()


def test_slider_and_choices_show_the_numbers_of_to_json(opened, numbers):
    page = opened()
    first = page.locator("#sensitivity [data-choice=adjustment]").input_value()
    family = page.locator("[data-choice=family]").input_value()
    page.locator("[data-choice=tau]").focus()
    page.keyboard.press("Home")
    assert shown(page) == expected(numbers, "ibs", first, family, 0)
    page.keyboard.press("ArrowRight")
    assert page.locator("#sensitivity output").inner_text().startswith("τ = 0.3")
    assert shown(page) == expected(numbers, "ibs", first, family, 1)
    page.keyboard.press("End")
    page.locator("[data-choice=family]").select_option("frank")
    page.locator("#sensitivity [data-choice=adjustment]").select_option("cg_q")
    page.locator("#sensitivity [data-choice=metric]").select_option("ils")
    assert shown(page) == expected(numbers, "ils", "cg_q", "frank", 2)
    assert page.heard == []


def test_the_slider_starts_where_the_dependence_may_be_and_has_a_way_back(opened, handed, numbers):
    page = opened()
    slider, taus = page.locator("#sensitivity [data-choice=tau]"), numbers["sensitivity"]["taus"]
    hint = handed.hint.choice.copula
    plausible = numbers["sensitivity"]["plausible"]
    amid = plausible["high"] / 2 if hint.is_independence else hint.tau
    assert taus[int(slider.input_value())] == min(taus, key=lambda tau: abs(tau - amid))
    slider.fill("2")
    page.get_by_role("button", name="independence").click()
    assert taus[int(slider.input_value())] == 0
    assert "at τ = 0," in page.locator("#at-tau").inner_text()
    assert page.heard == []


def test_every_score_beside_the_slider_comes_with_its_interval(opened, numbers):
    page = opened()
    page.locator("#sensitivity [data-choice=tau]").fill("0")
    by, family = (
        page.locator(f"#sensitivity [data-choice={of}]").input_value() for of in ("adjustment", "family")
    )
    errors = numbers["sensitivity"]["errors"]["ibs"][by][family]
    for row in page.locator("#now tbody tr").all():
        own = errors[row.get_attribute("data-model")]
        assert row.locator("small").inner_text() == f"{own['low'][0]:.4f} to {own['high'][0]:.4f}"
    kept = numbers["sensitivity"]["best"]["ibs"][by][family][0]
    assert page.locator("#now td.best").count() == len(kept)
    titles = page.locator("#plot-scores circle title").evaluate_all("(all) => all.map((e) => e.textContent)")
    first = next(iter(errors))
    assert any(
        title.endswith(f"({errors[first]['low'][0]:.4f} to {errors[first]['high'][0]:.4f})")
        for title in titles
    )


def test_differences_along_tau_have_two_areas_and_the_turns(opened, numbers):
    page = opened()
    grid = numbers["sensitivity"]
    by_primary = grid["differences"]["ibs"][grid["primary"]]["families"]
    assert all(None not in each["band_low"] for by_model in by_primary.values() for each in by_model.values())
    for adjustment in grid["scores"]["ibs"]:
        page.locator("#sensitivity [data-choice=adjustment]").select_option(adjustment)
        for family in grid["differences"]["ibs"][adjustment]["families"]:
            page.locator("[data-choice=family]").select_option(family)
            against = grid["differences"]["ibs"][adjustment]["reference"]
            assert against.split("\u2028")[0].strip() in page.locator("#less").inner_text()
            turns = [
                point
                for pair in grid["pairs"]["ibs"][adjustment]
                if against in (pair["a"], pair["b"])
                for point in pair["tipping_points"]
                if point["family"] == family
            ]
            drawn = grid["differences"]["ibs"][adjustment]["families"][family].values()
            assert page.locator("#plot-less > svg .line").count() == len(drawn) == len(numbers["models"]) - 1
            shaded = sum(each["low"][0] is not None for each in drawn)
            assert page.locator("#plot-less .area.light").count() == shaded
            assert page.locator("#plot-less .area").count() == 2 * shaded
            assert page.locator("#plot-less .turn circle").count() == len(turns)
    assert page.heard == []


def test_curves_are_shaded_where_their_errors_were_handed_over(opened, numbers):
    page = opened()
    [shaded] = numbers["metrics"][0]["curve_errors"]
    for name in numbers["metrics"][0]["curves"]:
        page.locator("[data-choice=curves]").select_option(name)
        expected = len(numbers["models"]) if name == shaded else 0
        assert page.locator("#plot-curves .area").count() == expected
        assert page.locator("#plot-curves .edge").count() == 2 * expected
        assert page.locator("#curve-bands").is_visible() == (name == shaded)


def test_ties_are_said_beside_the_slider(opened, split, cox, tmp_path):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0, 1, 2)}
    found = cc.evaluate(models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], metrics="ibs")
    grid = found.sensitivity("frank", [0.0])
    assert len(grid.over_tau.best()["frank"][0.0]) == 2
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    [first] = grid.over_tau.leaders()["frank"][0.0]
    said = page.locator("#at-tau").inner_text()
    assert f"\u2068{first}\u2069 has the best score, and cannot be distinguished from" in said
    assert page.locator(".map td.open").count() == 1


def test_rows_of_differences_are_drawn_for_every_metric(opened, evaluation):
    page = opened()
    assert page.locator("[data-forest]").count() == len(evaluation.metrics)
    for metric in evaluation.metrics:
        drawn = page.locator(f"[data-forest={metric}]")
        assert drawn.locator(".whisker").count() == len(evaluation.models) - 1
        told = len(evaluation.models) - len(standing(evaluation, metric).best)
        assert drawn.locator(".hollow circle").count() == told


def test_a_page_without_intervals_shades_nothing(opened, split, cox, tmp_path):
    train, test = split
    models = {"a": cox(0), "b": cox(0, 1)}
    found = cc.evaluate(
        models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], confidence_level=None, metrics="ibs"
    )
    grid = found.sensitivity("frank", [0.0, 0.3])
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert page.heard == []
    assert page.locator(".area, .edge, .whisker, #plot-less, td small.interval").count() == 0
    assert "confidence_level" in page.locator("#differences").inner_text()


def test_a_page_without_analyses_opens_in_silence(opened, split, cox, tmp_path):
    _, test = split
    page = opened(at=cc.evaluate({"a": cox(0)}, test.y, metrics="ibs").to_html(tmp_path / "a.html"))
    assert page.heard == []
    assert page.locator(".plot > svg").count() == page.locator(".plot").count() == 1
    assert page.locator("#download-csv").count() == 0


def test_greater_is_better_where_the_metric_says_so(opened, split, cox, tmp_path):
    train, test = split
    models, metrics = {"a": cox(0, 1), "b": cox(0), "c": cox(1)}, [Sureness(), "ibs"]
    names = ["ipcw", "cg_q"]
    found = cc.evaluate(models, test.y, y_train=train.y, metrics=metrics, adjustments=names, copula=None)
    grid = found.sensitivity("frank", [0.0, 0.5])
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    ranks = {model: rank for model, (*_, rank) in shown(page).items()}
    assert ranks == grid.over_tau.standing("frank", 0.0, "sureness", "cg_q").ranks
    assert page.locator("#no-curves").is_visible()
    assert not page.locator("#plot-curves").is_visible()
    page.locator("#curves [data-choice=metric]").select_option("ibs")
    assert page.locator("#plot-curves > svg").is_visible()
    assert not page.locator("#no-curves").is_visible()
    assert page.heard == []


def test_a_family_without_an_answer_says_why(opened, sensitivity):
    page = opened()
    page.locator("#sensitivity [data-choice=adjustment]").select_option("dep")
    page.locator("[data-choice=family]").select_option("gaussian")
    page.locator("[data-choice=tau]").fill("2")
    said = page.locator("#at-tau").inner_text()
    assert sensitivity.over_tau.missing["dep", "gaussian"].text in said
    assert page.heard == []


def test_one_choice_moves_every_view_of_it(opened, evaluation):
    page = opened()
    page.locator("#answer [data-choice=adjustment]").select_option("dep")
    assert page.locator("#sensitivity [data-choice=adjustment]").input_value() == "dep"
    maps = page.locator("[data-map]:visible")
    assert maps.count() == 1
    label = evaluation.results["dep"].label
    assert label in maps.locator("caption").inner_text()
    assert label in maps.get_attribute("aria-label")


def test_the_map_shows_the_winners_of_every_choice(opened, evaluation, sensitivity):
    page, letters = opened(), dict(zip(evaluation.models, "ABC", strict=True))
    grid = sensitivity.over_tau
    for metric in evaluation.metrics:
        for adjustment in grid.answers:
            page.locator("#answer [data-choice=metric]").select_option(metric)
            page.locator("#answer [data-choice=adjustment]").select_option(adjustment)
            best = grid.best(metric, adjustment)
            rows = page.locator("[data-map=τ] tbody tr").all()
            for line, row in zip(grid.lines, rows, strict=True):
                shown = row.locator("td > span[aria-hidden]").all_inner_texts()
                wanted = [best.get(line, {}).get(tau, ()) for tau in grid.points]
                assert [set(each) & set("ABC") for each in shown] == [
                    {letters[m] for m in each} for each in wanted
                ]
                assert [
                    each.startswith(letters[w[0]]) if w else each == "–"
                    for each, w in zip(shown, wanted, strict=True)
                ]


@pytest.fixture(scope="module")
def with_nonsense(split, cox, tmp_path_factory):
    """One model whose times are twelve times those of the outcomes; by the AUC it is better than another."""
    train, test = split
    models = {"all": cox(0, 1, 2), "off": cox(0, 1, 2), "one": cox(0)}
    models["off"] = cc.Predictions(models["off"].times * 12.0, models["off"].probabilities, tail="last")
    found = cc.evaluate(
        {name: models[name] for name in ("off", "one")}, test.y, y_train=train.y, metrics=["auc", "ibs"]
    )
    grid = found.sensitivity(("clayton",), (0.0, 0.3))
    return grid, found.to_html(tmp_path_factory.mktemp("nonsense") / "a.html", sensitivity=grid)


def test_a_model_that_is_nonsense_has_no_rank_anywhere(opened, with_nonsense):
    grid, path = with_nonsense
    assert rankable(grid.evaluation) == ("one",)
    page = opened(at=path)
    assert page.heard == []
    rank = {row.get_attribute("data-model"): row for row in page.locator("#now tbody tr").all()}
    assert rank["off"].locator("td").nth(0).inner_text() == "–"
    assert rank["one"].locator("td").nth(0).inner_text() == "1"
    assert "best" not in page.locator("#at-tau").inner_text()
    page.locator("#sensitivity [data-choice=metric]").select_option("ibs")
    for cell in page.locator("[data-map] tbody td span[aria-hidden]").all():
        assert cell.inner_text() == "B"
    pandas = pytest.importorskip("pandas")
    with page.expect_download() as download:
        page.locator("#download-csv").click()
    pandas.testing.assert_frame_equal(
        pandas.read_csv(download.value.path(), float_precision="round_trip")[["model", "score", "rank"]],
        grid.table()[["model", "score", "rank"]],
        atol=2e-5,
    )


def test_tables_are_made_of_the_numbers_when_they_are_unfolded(opened, evaluation, sensitivity):
    page = opened()
    for section, grid in zip(("sensitivity", "after-dropout"), sensitivity.grids, strict=True):
        folded = page.locator(f"#{section} details", has=page.locator("summary", has_text="All numbers"))
        assert folded.locator("table").count() == 0
        for each, (metric, adjustment) in zip(
            folded.all(), product(evaluation.metrics, grid.answers), strict=True
        ):
            each.locator("summary").click()
            each.locator("table").wait_for()
            rows = each.locator("tbody tr").all()
            wanted = [(line, model) for line in grid.answers[adjustment] for model in evaluation.models]
            assert len(rows) == len(wanted)
            for row, (line, model) in zip(rows, wanted, strict=True):
                assert row.locator("th bdi").last.inner_text() == model
                cells = row.locator("td").all()
                for cell, point in zip(cells, grid.points, strict=True):
                    value = grid.values(line, point, metric, adjustment).get(model)
                    if value is None:
                        assert cell.inner_text() == "–"
                        continue
                    assert float(cell.get_attribute("data-value")) == pytest.approx(value, rel=1e-6)
                    best = grid.best(metric, adjustment)[line][point]
                    assert ("★" in cell.inner_text()) == (model in best)
                    errors = grid.errors(line, point, metric, adjustment)
                    low = high = np.nan
                    if errors is not None:
                        low, high = errors.estimate(model).confidence_interval(0.95)
                    assert cell.locator("small").count() == int(np.isfinite(low))
                    if np.isnan(low):
                        continue
                    ends = [float(end) for end in cell.locator("small").inner_text().split(" to ")]
                    assert ends == pytest.approx([low, high], abs=1.5e-4)
    assert page.heard == []


def test_curves_are_drawn_for_every_adjustment(opened, numbers):
    page = opened()
    for name in numbers["metrics"][0]["curves"]:
        page.locator("[data-choice=curves]").select_option(name)
        assert page.locator("#plot-curves > svg .line").count() == len(numbers["models"]) + 1
    page.locator("[data-choice=relative]").select_option("yes")
    page.locator("[data-choice=survival]").select_option("joe")
    assert page.locator("#plot-survival > svg .line").count() == 4
    assert page.heard == []


def test_the_downloads_are_the_numbers_of_the_page_and_the_table(opened, numbers, sensitivity):
    page = opened()
    with page.expect_download() as download:
        page.locator("#download-json").click()
    found = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert found["models"] == numbers["models"]
    for name, by_model in numbers["metrics"][0]["scores"].items():
        assert found["metrics"][0]["scores"][name] == pytest.approx(by_model, rel=1e-6)
    errors, whole = (each["sensitivity"]["errors"]["ibs"]["imputation"] for each in (found, numbers))
    for line, by_model in whole.items():
        for model, limits in by_model.items():
            for name in ("standard_errors", "low", "high", "band_low", "band_high"):
                assert errors[line][model][name] == pytest.approx(limits[name], abs=2e-5)
    assert "--json" in page.locator("#download").inner_text()
    pandas = pytest.importorskip("pandas")
    with page.expect_download() as download:
        page.locator("#download-csv").click()
    expected = sensitivity.table().astype({"reason": float})  # nobody names one
    assert "hazard_ratio" in set(expected["family"])
    pandas.testing.assert_frame_equal(
        pandas.read_csv(download.value.path(), float_precision="round_trip"), expected, atol=2e-5
    )


def test_names_in_the_csv_are_read_as_text(opened, split, cox, tmp_path):
    _, test = split
    models = {"=1+1": cox(0), "-ä": cox(0, 1)}
    found = cc.evaluate(
        models, test.y, adjustments=["ipcw", "imputation_margins"], copula=None, metrics="ibs"
    )
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [-0.3])))
    with page.expect_download() as download:
        page.locator("#download-csv").click()
    raw = Path(download.value.path()).read_bytes()
    assert raw.startswith("\ufeff".encode())
    rows = [line.split(",") for line in raw.decode("utf-8-sig").splitlines()]
    assert {row[rows[0].index("model")] for row in rows[1:]} == {"'=1+1", "'-ä"}
    assert {row[rows[0].index("tau")] for row in rows[1:]} == {"-0.3"}


@pytest.fixture(scope="module")
def tied(split, cox, tmp_path_factory):
    """Two models that are always equal, and far from the reference."""
    train, test = split
    models = {name: cox(0, 1) for name in ("one", "twin")}
    names = ["ipcw", "dep", "cg_q", "imputation_covariates"]
    samples = {"y_train": train.y, "x_train": train.X}
    found = cc.evaluate(
        models, test.y, test.X, **samples, adjustments=names, copula=cc.Clayton.from_tau(0.9), metrics="ibs"
    )
    grid = found.sensitivity("clayton", [k / 10 for k in range(10)])
    return found.to_html(tmp_path_factory.mktemp("tied") / "a.html", sensitivity=grid)


def test_on_a_phone_nothing_of_the_scores_and_of_tied_cells_is_cut_off(opened, tied):
    page = opened(360, at=tied)
    assert page.locator(".map td:visible").first.inner_text().replace("\n", "").startswith("A=B")
    wide = """(of) => [...document.querySelectorAll(of)].filter((each) => each.offsetParent
        && [...each.children].some((child) => !child.matches('.unseen')
        && child.getBoundingClientRect().right > each.getBoundingClientRect().right + 0.5)).length"""
    assert page.evaluate(wide, ".scores td") == 0
    assert page.evaluate(wide, ".map td") == 0
    boxes = page.locator(".scroll:visible").evaluate_all(
        "(all) => all.map((e) => e.scrollWidth - e.clientWidth)"
    )
    assert max(boxes) <= 1


def test_on_a_phone_every_ratio_is_inside_its_cell(opened):
    page = opened(360)
    page.locator("#imputation-fit summary").first.click()
    cells = page.locator(".ratios td:visible").evaluate_all(
        "(all) => all.map((e) => e.getBoundingClientRect().right - e.firstChild.getBoundingClientRect().right)"
    )
    assert len(cells) == 2 * 80  # of two models, ten deciles of four periods, events and dropouts
    assert min(cells) >= 0
    heights = page.locator(".ratios tr:has(td):visible").evaluate_all(
        "(all) => all.map((e) => e.offsetHeight)"
    )
    assert max(heights) - min(heights) <= 2


def test_labels_of_lines_are_in_the_colour_of_text(opened):
    page = opened()
    ink = page.evaluate("getComputedStyle(document.body).color")
    fills = page.locator(".plot .end").evaluate_all("(all) => all.map((e) => getComputedStyle(e).fill)")
    assert set(fills) == {ink}


def test_names_of_any_script_stand_apart_from_the_words(opened, split, cox, tmp_path):
    train, test = split
    names = "אבג", "דהו"
    models = dict.fromkeys(names, cox(0))
    found = cc.evaluate(
        models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], copula=None, metrics="ibs"
    )
    grid = found.sensitivity("frank", [0.0, 0.3])
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    for place in ("#scores > p bdi", ".scores tbody th bdi", "#now bdi", ".lead bdi"):
        assert set(page.locator(place).all_inner_texts()) >= set(names)
    assert "\u2068אבג\u2069 and \u2068דהו\u2069 are equally good" in page.locator("#at-tau").inner_text()


def test_broken_bytes_in_a_name_are_shown_escaped(opened, split, cox, tmp_path):
    train, test = split
    names = "a\udc80", "b"
    models = dict.fromkeys(names, cox(0))
    found = cc.evaluate(
        models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], copula=None, metrics="ibs"
    )
    grid = found.sensitivity("frank", [0.0, 0.3])
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert page.locator("#now bdi").all_inner_texts() == [r"a\udc80", "b"]
    assert r"a\udc80" in page.locator("#at-tau").inner_text()


def test_a_name_that_turns_text_around_stays_in_its_place(opened, split, cox, tmp_path):
    train, test = split
    names = "a\u2069\u202eb", "c"
    models = dict.fromkeys(names, cox(0))
    found = cc.evaluate(
        models, test.y, y_train=train.y, adjustments=["ipcw", "cg_q"], copula=None, metrics="ibs"
    )
    grid = found.sensitivity("frank", [0.0, 0.3])
    page = opened(at=found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert page.locator(".lead bdi").all_inner_texts() == ["ab", "c"]
    assert "\u2068ab\u2069 and \u2068c\u2069 are equally good" in page.locator("#at-tau").inner_text()
    assert page.locator(".scores:not(.summary) tbody th bdi").first.inner_text() == names[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_scrolling_sideways(opened, scheme):
    page = opened(360, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert dark == (scheme == "dark")


def test_without_scripts_the_answer_and_the_scores_stand_there(opened, evaluation):
    page = opened(java_script_enabled=False)
    assert page.locator(".controls:visible").count() == 0
    assert page.locator(".lead").is_visible()
    assert page.locator(".map:visible td").count() > 0
    values = {
        float(v)
        for v in page.locator("#scores td[data-value]").evaluate_all(
            "(all) => all.map((e) => e.dataset.value)"
        )
    }
    assert {evaluation.score(model).value for model in evaluation.models} <= values
    assert "need JavaScript" in page.locator("#sensitivity").inner_text()


def test_paper_is_light_and_leaves_raw_tables_out(opened):
    page = opened(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 29, 32)"
    assert (
        page.locator(".controls:visible, nav:visible, #download:visible, details:not(.more):visible").count()
        == 0
    )
    for kind in ("figure", ".card", "table.scores"):
        breaks = page.locator(kind).evaluate_all("(all) => all.map((e) => getComputedStyle(e).breakInside)")
        assert set(breaks) == {"avoid"}


def test_the_keyboard_reaches_every_control(opened):
    page = opened()
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.choice || document.activeElement.id"))
    wanted = {"adjustment", "metric", "family", "tau", "curves", "relative", "survival"}
    assert wanted | {"download-json", "download-csv"} <= reached
