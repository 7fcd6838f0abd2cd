"""What the file holds, without a browser."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import cocensor as cc
from cocensor.report import figures, page
from tests.report.conftest import HOSTILE

VOID = {"meta", "link", "input", "br", "hr", "img"}
SHAPES = {"path"}  # of SVG, closed in place


class Page(HTMLParser):
    """Elements opened and closed in order, the text of the page, and every attribute."""

    def __init__(self, path):
        super().__init__()
        self.open, self.text, self.attributes, self.scripts = [], [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *each) for each in attrs]
        if tag == "script":
            self.scripts.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in SHAPES
        self.attributes += [(tag, *each) for each in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


def lead(path):
    found = re.search(r'<p class="lead">(.*?)</p>', path.read_text(encoding="utf-8")).group(1)
    return re.sub("</?bdi>", "", found)


def block(path, name):
    text = path.read_text(encoding="utf-8")
    return re.search(f'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL).group(1)


def test_the_page_is_well_formed_and_small(report):
    parsed = Page(report)
    assert parsed.open == []
    assert report.stat().st_size < 1_000_000
    identifiers = [value for _, name, value in parsed.attributes if name == "id"]
    assert len(identifiers) == len(set(identifiers))
    anchors = {value[1:] for tag, name, value in parsed.attributes if tag == "a" and name == "href"}
    assert anchors <= set(identifiers)


def test_nothing_is_loaded_from_elsewhere(report):
    parsed = Page(report)
    assert not [each for each in parsed.attributes if each[1] in ("src", "srcset", "action", "style")]
    links = [value for tag, name, value in parsed.attributes if name == "href" and tag != "a"]
    assert links == ["data:,"]
    outside = re.findall(r"https?://[^\s\"']+", report.read_text(encoding="utf-8"))
    assert set(outside) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "@import" not in report.read_text(encoding="utf-8")
    policy = next(
        value for _, name, value in parsed.attributes if name == "content" and "default-src" in value
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_hostile_name_is_text(report):
    parsed = Page(report)
    assert HOSTILE in parsed.words
    assert HOSTILE not in report.read_text(encoding="utf-8")
    assert [each.get("type") for each in parsed.scripts] == ["application/json", "application/json", None]


def test_titles_and_column_names_are_text(split, cox, tmp_path):
    pandas = pytest.importorskip("pandas")
    train, test = split
    x_train, x_test = (pandas.DataFrame(part.X, columns=["<b>age", "x", "y"]) for part in split)
    found = cc.evaluate(
        {"a": cox(0)}, train.y, test.y, x_train, x_test, copula=None, adjustments=["given_covariates"]
    )
    path = found.to_html(tmp_path / "a.html", found.sensitivity(("frank",), (0.0, 0.5)), "<i>Trial</i>")
    assert "<b>age" in Page(path).words
    assert "<i>Trial</i>" in Page(path).words


@pytest.fixture(scope="module")
def broken(split, cox):
    """An evaluation whose names have broken bytes, as Python reads them from file names."""
    pandas = pytest.importorskip("pandas")
    x_train, x_test = (pandas.DataFrame(part.X, columns=["\udcff", "x", "y"]) for part in split)
    outcomes = [part.y for part in split]
    models = {"a\udc80": cox(0), "b": cox(0, 1)}
    return cc.evaluate(
        models, *outcomes, x_train, x_test, copula=None, adjustments=["ipcw", "given_covariates"]
    )


def test_broken_bytes_in_names_are_shown_escaped(broken, tmp_path):
    grid = broken.sensitivity(("frank",), (0.0, 0.5))
    page = broken.to_html(tmp_path / "a.html", grid, "Trial \udcfe")
    words = Page(page).words
    for name in (r"a\udc80", r"\udcff", r"Trial \udcfe"):
        assert name in words
    assert r"a\udc80" in repr(broken)
    for text in (repr(broken), repr(broken.ranking()), repr(grid), broken._repr_html_()):
        text.encode()


def test_broken_bytes_in_names_are_kept_in_json(broken, tmp_path):
    broken.to_json(tmp_path / "a.json")
    numbers = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(numbers["metrics"][0]["scores"]["ipcw"]) == ["a\udc80", "b"]
    assert numbers["data"]["covariates"] == ["\udcff", "x", "y"]


def test_broken_bytes_in_names_are_drawn(broken, tmp_path):
    for drawn in (broken, broken.sensitivity(("frank",), (0.0, 0.5))):
        figure = np.atleast_1d(drawn.plot())[0].figure
        figure.savefig(tmp_path / "a.svg")


def test_the_embedded_numbers_are_those_of_to_json(evaluation, sensitivity, report):
    embedded = block(report, "numbers")
    assert json.loads(embedded) == json.loads(evaluation.to_json(sensitivity=sensitivity))
    assert not set("<>&\u2028\u2029") & set(embedded)


def test_every_score_of_the_evaluation_and_of_the_grid_stands_in_a_table(evaluation, sensitivity, report):
    values = {float(value) for _, name, value in Page(report).attributes if name == "data-value"}
    table = evaluation.table()
    assert set(table["score"]) <= values
    assert set(sensitivity.table()["score"]) <= values


def test_the_first_screen_says_what_is_best_how_far_and_what_it_rests_on(evaluation, report):
    words = Page(report).words
    ranked = evaluation.ranks("ipcw")
    best = min(ranked, key=ranked.get)
    assert f"If censoring is independent, {' '.join(best.split())} is best" in words
    assert "Sampling intervals are not given yet: differences between models may be within chance." in words
    assert "Censoring is independent of the event and of the predictions." in words
    assert "τ is identified by the assumed form of the margins alone" in words
    assert "No answer under Gaussian: copula must be Archimedean" in words


def test_every_metric_has_its_own_winners(evaluation, report):
    text = Page(report).words
    assert " ".join(evaluation.winners_in_words().split()) in text
    for metric in evaluation.question.metrics:
        assert f"By the {metric.label}: " in text
        assert f"Kendall’s τ of event and dropout, by “given covariates” and the {metric.label}" in text


@pytest.fixture
def two(split, cox):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}
    return cc.evaluate(
        models,
        train.y,
        test.y,
        train.X,
        test.X,
        adjustments=["ipcw", "given_covariates"],
        copula=cc.Frank.from_tau(0.3),
    )


def test_equal_scores_share_a_cell(split, cox, tmp_path):
    train, test = split
    models = {"a": cox(0), "twin": cox(0)}
    found = cc.evaluate(models, train.y, test.y, adjustments=["ipcw", "cg_q"], copula=None)
    path = found.to_html(tmp_path / "a.html", found.sensitivity("frank", (0.0, 0.4)))
    assert ">A=B<" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("taus", [(0.5,), (-0.4, 0.0, 0.4)])
def test_grids_of_one_tau_and_of_negative_ones(two, tmp_path, taus):
    path = two.to_html(tmp_path / "a.html", two.sensitivity(("frank", "gumbel"), taus))
    parsed = Page(path)
    assert parsed.open == []
    if taus[0] < 0:
        assert "Not every τ is one that Gumbel can have." in parsed.words
    else:
        assert "over 2 families and τ = 0.5:" in parsed.words


def test_one_model_has_no_rank_but_a_range(split, cox, tmp_path):
    train, test = split
    found = cc.evaluate({"only": cox(0)}, train.y, test.y, copula=None)
    path = found.to_html(tmp_path / "a.html", found.sensitivity(("clayton",), (0.0, 0.5)))
    assert lead(path) == "There is one model, only, and nothing to rank."
    words = Page(path).words
    assert "Its score lies between" in words
    assert "No copula was selected from the data, so that there is no likelihood to show." in words
    assert "No copula was given or selected" in words


def test_without_ipcw_the_answer_starts_at_independence_of_the_grid(split, cox, tmp_path):
    train, test = split
    models = {"a": cox(0, 1), "b": cox(0)}
    found = cc.evaluate(models, train.y, test.y, adjustments=["cg_q"], copula=cc.Frank.from_tau(0.2))
    grid = found.sensitivity(("frank",), (0.0, 0.5))
    [best] = grid.best()["frank"][0.0]
    path = found.to_html(tmp_path / "a.html", grid)
    assert (
        lead(path) == f"If censoring is independent, {best} is best, and at every dependence that was tried."
    )


def test_an_adjustment_without_an_answer_says_why(split, cox, tmp_path):
    train, test = split
    found = cc.evaluate(
        {"a": cox(0, 1), "b": cox(0)},
        train.y,
        test.y,
        adjustments={"truth": cc.Oracle([1.0]), "ipcw": "ipcw", "dep": "dep"},
        copula=cc.Clayton(1.0),
    )
    path = found.to_html(tmp_path / "a.html", found.sensitivity(("clayton",), (0.0, 0.5)))
    assert "No score: event_times has length 1, but y_test has length 200." in Page(path).words


def test_twelve_models_with_long_names(split, cox, tmp_path):
    train, test = split
    curves = cox(0, 1)
    models = {f"{k} {'w' * 80}": curves for k in range(12)}
    found = cc.evaluate(models, train.y, test.y, adjustments=["ipcw", "dep"], copula=cc.Clayton(1.0))
    path = found.to_html(tmp_path / "a.html", found.sensitivity(("clayton",), (0.0, 0.5)))
    looks = json.loads(block(path, "figures"))["series"]
    assert [each["letter"] for each in looks] == list("ABCDEFGHIJKL")
    assert len({(each["colour"], each["dash"]) for each in looks}) == 12


def test_the_survival_curves_are_those_of_the_estimators(evaluation, report):
    shown = json.loads(block(report, "figures"))["survival"]
    y = evaluation.question.y_train
    assert len(shown["times"]) <= 200
    assert shown["times"][-1] == min(evaluation.horizon, y.t_max)
    np.testing.assert_allclose(shown["kaplan_meier"], cc.KaplanMeier().fit(y).predict(shown["times"]))
    joe = cc.CopulaGraphic(cc.Joe.from_tau(0.5)).fit(y)
    np.testing.assert_allclose(shown["copula_graphic"]["joe"][1], joe.predict(shown["times"]))


def test_many_subjects_go_without_a_profile(evaluation, sensitivity, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "MOST_PROFILED", 100)
    words = Page(evaluation.to_html(tmp_path / "a.html", sensitivity)).words
    assert "The profile likelihood of 200 training subjects with" in words
    assert "is left out" in words


def test_a_choice_that_the_likelihood_does_not_share_is_explained(evaluation):
    family, tau, _ = evaluation.profile.best
    other = next(name for name in ("clayton", "frank") if name != family)
    models = evaluation.choice.models
    said = figures.likelihood(replace(evaluation, copula=models[other].copula)).statement
    assert tau
    assert (
        f"The first screen has {other.capitalize()}, which was chosen by 5-fold cross-validation; this is the "
        "likelihood of the training sample itself. That the two disagree shows how little the data tell."
        in said
    )
    same = replace(evaluation, copula=models[family].copula)
    assert "The first screen has" not in figures.likelihood(same).statement


def code(path):
    text = path.read_text(encoding="utf-8")
    return unescape(re.search(r"<pre[^>]*><code>(.*?)</code>", text, re.DOTALL).group(1))


def test_the_code_of_the_settings_gives_the_numbers_again(evaluation, report, split, tmp_path):
    train, test = split
    given = {
        "models": {name: evaluation.question.curves[name] for name in evaluation.models},
        "y_train": train.y,
        "y_test": test.y,
        "x_train": train.X,
        "x_test": test.X,
    }
    exec(code(report).replace("report.html", str(tmp_path / "again.html")), given)
    again, first = (json.loads(block(path, "numbers")) for path in (tmp_path / "again.html", report))
    assert again["metrics"] == first["metrics"]
    assert again["sensitivity"] == first["sensitivity"]


def test_objects_are_shown_by_their_settings(split, cox, tmp_path):
    train, test = split
    own = {"mine": cc.MarginTime(cc.Clayton(2.0), weighting="uncertainty", beyond="last"), "ipcw": "ipcw"}
    found = cc.evaluate({"a": cox(0)}, train.y, test.y, adjustments=own, copula=None)
    said = code(found.to_html(tmp_path / "a.html", found.sensitivity("clayton", [0.0])))
    assert "adjustments={'mine': MarginTime(Clayton(theta=2.0), weighting='uncertainty'" in said
    assert "'ipcw': 'ipcw'}" in said
    assert "# 'mine' is an object of your own code: this text alone does not make the numbers again." in said


def test_a_folder_is_refused(evaluation, sensitivity, tmp_path):
    with pytest.raises(ValueError, match="path must be a file, but .* is a folder."):
        evaluation.to_html(tmp_path, sensitivity)


def test_a_missing_folder_is_refused(evaluation, sensitivity, tmp_path):
    with pytest.raises(ValueError, match="path must lie in a folder that exists, but .*nowhere is none."):
        evaluation.to_html(tmp_path / "nowhere" / "a.html", sensitivity)


def test_what_fails_leaves_the_old_report(evaluation, sensitivity, tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old")

    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(page, "headline", fail)
    with pytest.raises(RuntimeError):
        evaluation.to_html(path, sensitivity)
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_text() == "old"
