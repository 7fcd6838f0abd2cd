"""Discrimination, calibration and benefit on the page, without a browser."""

import json
import re
from html import escape, unescape

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics.base import label_without_time
from cocensor.study.lookup import results_of
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.views.text.headline import headline
from tests.views.html.conftest import HOSTILE
from tests.views.html.packed import numbers_of
from tests.views.html.test_page import Page, code


@pytest.fixture(scope="module")
def text(page_of_several):
    return page_of_several.read_text(encoding="utf-8")


def table(text, caption):
    """The cells of a table by the headings of its rows: shown value, full value and interval."""
    body = re.search(
        f"<caption>{re.escape(escape(caption))}.*?</caption>(.*?)</table>", text, re.DOTALL
    ).group(1)
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)[1:]:
        head = tuple(
            map(unescape, re.findall(r"<th scope=\"row\">(?:<span.*?</span> )?<bdi.*?>(.*?)</bdi>", row))
        )
        rows[head] = re.findall(r"<td.*?</td>", row, re.DOTALL)
    return rows


def test_one_table_has_every_metric_of_every_model(several, text):
    rows = table(text, f"all metrics under “{results_of(several).label}”")
    assert len(rows) == len(several.metrics)
    for metric, cells in zip(several.metrics, rows.values(), strict=True):
        for model, cell in zip(several.models, cells, strict=True):
            score = several.score(model, metric)
            assert float(re.search(r'data-value="(.*?)"', cell).group(1)) == score.value
            assert ("★" in cell) == (model in standing(several, metric).best)
            low, high = score.confidence_interval(several.data.confidence_level)
            assert (f"{low:z.4f} to {high:z.4f}" in cell) == np.isfinite(low)


def test_the_range_of_each_score_is_that_of_the_grid(several, full_of_several, text):
    grid, scores = full_of_several.sensitivity.over_tau, full_of_several.sensitivity.table()
    rows = table(text, "the same over all families and τ")
    for metric, cells in zip(several.metrics, rows.values(), strict=True):
        for model, cell in zip(several.models, cells, strict=False):
            found = scores[(scores["metric"] == metric) & (scores["model"] == model)]["score"]
            assert f"{found.min():.4f} to {found.max():.4f}" in cell
        points = [models for line in grid.leaders(metric).values() for models in line.values()]
        for letter, model in zip("AB", several.models, strict=True):
            count = sum(model in models for models in points)
            everywhere = f"always {letter}" in cells[-1]
            assert everywhere == (count == len(points)) or len(set(points)) == 1
            assert (f"{letter} at {count}" in cells[-1]) == (0 < count < len(points))


def test_calibration_in_full_and_its_test_stand_in_tables(several, text):
    rows = table(text, f"calibration under “{results_of(several).label}”")
    for at in (8.0, 12.0):
        for model in several.models:
            curve = several.calibration_curve(model, at)
            shown = [
                float(re.search(r'data-value="(.*?)"', cell).group(1)) for cell in rows[f"at {at:g}", model]
            ]
            names = [
                "mean_predicted",
                "mean_observed",
                "observed_expected",
                "slope",
                "intercept",
                "ici",
                "e50",
                "e90",
            ]
            np.testing.assert_allclose(shown, [getattr(curve, name).value for name in names])
    tests = table(text, f"test of D-calibration under “{results_of(several).label}”")
    for model in several.models:
        assert f'data-value="{several.d_calibration(model).pvalue}"' in tests[(model,)][-1]


def test_an_interval_of_a_distance_does_not_pass_0(full_of_several):
    for each in full_of_several.to_dict()["details"]["calibration"]:
        assert min(each[name]["low"] for name in ("ici", "e50", "e90")) >= 0


def test_curves_of_the_grid_are_those_of_its_answers_at_some_points(full_of_several):
    numbers, grid = full_of_several.to_dict()["sensitivity"], full_of_several.sensitivity.over_tau
    for metric in ("auc at 8", "ici at 12", "net_benefit at 8"):
        answer = grid.answers["imputation"]["frank"][0.4].values[metric][HOSTILE].profile
        x = numbers["profile_points"][metric][HOSTILE]
        y = numbers["profiles"][metric]["imputation"]["frank"][HOSTILE][1]
        assert len(x) == len(y) <= 41
        np.testing.assert_allclose((x[0], x[-1]), (answer.x[0], answer.x[-1]), rtol=1e-3)
        np.testing.assert_allclose((y[0], y[-1]), (answer.y[0], answer.y[-1]), rtol=1e-3)
    curve = grid.answers["imputation"]["clayton"][0.0].values["auc"]["all"].curve
    shown = numbers["curves"]["auc"]["imputation"]["clayton"]["all"][0]
    assert shown[-1] == pytest.approx(curve[-1], rel=1e-3)


def test_numbers_of_a_list_stand_on_one_line(full_of_several):
    text = full_of_several.to_json()
    assert not re.search(r"\n\s*-?\d", text)
    assert json.loads(text) == json.loads(json.dumps(full_of_several.to_dict()))


def test_every_metric_is_explained_once(several, page_of_several):
    terms = re.findall("<dt>(.*?)</dt>", page_of_several.read_text(encoding="utf-8"))
    assert len(terms) == len(set(terms))
    assert {"AUC", "Concordance", "Calibration", "D-calibration", "Net benefit"} <= set(terms)


def test_the_headline_says_who_is_best_by_each_of_the_other_metrics(several, full_of_several):
    found = headline(full_of_several)
    for metric in several.data.metrics[1:]:
        assert found.others.count(label_without_time(metric)) >= 1
    assert several.data.metrics[0].label not in found.others
    alone = cc.evaluate({"a": several.data.predictions["all"]}, several.data.samples.y_test)
    assert headline(Report(alone)).others == ""


def test_absent_sections_name_the_call_that_fills_them(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate({"a": cox(0), "b": cox(0, 1)}, test.y, metrics="ibs", adjustments="ipcw")
    words = Page(found.to_html(tmp_path / "a.html")).words
    for asked in ('"auc"', '"ici"', "net_benefit"):
        assert asked in words
    for section in ("discrimination", "calibration", "benefit"):
        assert f'<section id="{section}">' in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_the_code_computes_what_stands_behind_the_scores_again(several, page_of_several, split, tmp_path):
    train, test = split
    given = {"models": several.data.predictions, "y_train": train.y, "y_test": test.y}
    said = code(page_of_several)
    exec(said.replace("report.html", str(tmp_path / "again.html")), given)
    again, first = (numbers_of(path) for path in (tmp_path / "again.html", page_of_several))
    for part in ("sensitivity", "bounds", "details", "metrics"):
        assert again[part] == first[part]
