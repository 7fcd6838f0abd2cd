"""What the file holds, without a browser."""

import json
import re
from functools import partial
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.curves import margin_curves
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.views.html import page
from cocensor.views.text.digits import number
from cocensor.views.text.face import face, in_other_metrics
from cocensor.views.text.fits import TAU_MEANS
from cocensor.views.text.verdict import conclusion, zones_in_words
from tests.views.html.conftest import HOSTILE, Sureness

VOID = {"meta", "link", "input", "br", "hr", "img"}
SHAPES = {"path", "line", "rect", "circle", "polygon"}  # of SVG, closed in place


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


def test_the_page_is_well_formed_and_small(report):
    parsed = Page(report)
    assert parsed.open == []
    assert report.stat().st_size < 300_000
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
    assert all(each.startswith("http://www.w3.org/") for each in outside)  # names, not addresses
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
    assert [each.get("type") for each in parsed.scripts] == [None]


def evaluated(split, models, with_covariates=False, **options):
    train, test = split
    samples = {"y_train": train.y} | ({"x_test": test.X, "x_train": train.X} if with_covariates else {})
    return cc.evaluate(models, test.y, **{"metrics": "ibs"} | samples | options)


def test_titles_and_column_names_are_text(split, cox, tmp_path):
    pandas = pytest.importorskip("pandas")
    x_train, x_test = (pandas.DataFrame(part.X, columns=["<b>age", "x", "y"]) for part in split)
    covariates = {"x_train": x_train, "x_test": x_test}
    found = evaluated(split, {"a": cox(0)}, **covariates, copula=None, adjustments=["imputation_covariates"])
    words = Page(found.to_html(tmp_path / "a.html", "<i>Trial</i>")).words
    assert "<b>age" in words
    assert "<i>Trial</i>" in words


@pytest.fixture(scope="module")
def broken(split, cox):
    """An evaluation whose names have broken bytes, as Python reads them from file names."""
    pandas = pytest.importorskip("pandas")
    x_train, x_test = (pandas.DataFrame(part.X, columns=["\udcff", "x", "y"]) for part in split)
    models, covariates = {"a\udc80": cox(0), "b": cox(0, 1)}, {"x_train": x_train, "x_test": x_test}
    return evaluated(split, models, **covariates, copula=None, adjustments=["ipcw", "imputation_covariates"])


def test_broken_bytes_in_names_are_shown_escaped(broken, tmp_path):
    grid = broken.sensitivity(("frank",), (0.0, 0.5))
    words = Page(broken.to_html(tmp_path / "a.html", "Trial \udcfe", sensitivity=grid)).words
    for name in (r"a\udc80", r"\udcff", r"Trial \udcfe"):
        assert name in words
    assert r"a\udc80" in repr(broken)
    for text in (repr(broken), str(broken.verdict), repr(grid), broken._repr_html_()):
        assert text.encode().decode() == text


def test_broken_bytes_in_names_are_kept_in_json(broken, tmp_path):
    broken.to_json(tmp_path / "a.json")
    numbers = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(numbers["metrics"][0]["scores"]["ipcw"]) == ["a\udc80", "b"]
    assert numbers["data"]["covariates"] == ["\udcff", "x", "y"]


def test_broken_bytes_in_names_are_drawn(broken, tmp_path):
    for drawn in (broken, broken.sensitivity(("frank",), (0.0, 0.5))):
        figure = np.atleast_1d(drawn.plot())[0].figure
        figure.savefig(tmp_path / "a.svg")
        assert (tmp_path / "a.svg").stat().st_size


def test_the_first_screen_is_the_face(evaluation, handed, report):
    """Facts, state, conclusion, sentences, and a table of all models."""
    words, shown = Page(report).words, face(handed)
    for text in (
        *shown.facts,
        shown.state,
        shown.conclusion,
        *shown.sentences,
        shown.warning,
        shown.reference,
    ):
        assert " ".join(text.split()) in words
    text = report.read_text(encoding="utf-8")
    table = re.search(r'<table class="models">(.*?)</table>', text, re.DOTALL).group(1)
    rows = re.findall("<tr.*?</tr>", table, re.DOTALL)[1:]
    assert len(rows) == len(evaluation.models) + 1
    for row, made in zip(rows, shown.rows, strict=False):
        parts = (made.model, made.score, made.interval, made.difference_interval, made.better_than_reference)
        assert all(escape(part) in row for part in parts)
        assert ('class="best"' in row) == made.is_best
    assert text.index('id="conclusion"') < text.index("<table")


def test_every_score_of_the_evaluation_stands_in_a_table(evaluation, report):
    words = Page(report).words
    for label, _, cells in in_other_metrics(evaluation):
        assert label in words
        for score, interval, _ in cells.values():
            assert score in words
            assert interval in words
    for name in evaluation.results:
        assert evaluation.results[name].adjustment.assumption in words


def test_the_main_figure_states_its_finding_and_has_its_values(handed, report):
    text = report.read_text(encoding="utf-8")
    [course, *_] = handed.verdict.courses
    wide, narrow = re.findall(r'<svg class="chart (?:wide|narrow)".*?</svg>', text, re.DOTALL)
    alt = unescape(re.search('aria-label="(.*?)"', wide).group(1))
    assert conclusion(handed.verdict) in alt
    assert all(where in alt and what in alt for where, what in zones_in_words(course))
    tips = json.loads(unescape(re.search('data-tips="(.*?)"', wide).group(1)))
    assert len(tips["x"]) == len(tips["at"]) == len(course.points)
    [line] = tips["lines"]
    for value, shown in zip(course.curve.values, line["t"], strict=True):
        assert shown.startswith(number(float(value), 4))
    assert ">plausible range<" in wide
    assert ">plausible range<" in narrow


def test_what_there_is_nothing_of_has_no_section(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0), "b": cox(0, 1)}, adjustments="ipcw")
    parsed = Page(found.to_html(tmp_path / "a.html"))
    assert parsed.open == []
    identifiers = {value for _, name, value in parsed.attributes if name == "id"}
    assert not {"why", "metrics"} & identifiers
    assert "Other dependences were not tried" in parsed.words


def test_the_paragraph_and_the_table_can_be_pasted(handed, report):
    words = Page(report).words
    assert " ".join(handed.paragraph.split()) in words
    for table in (handed.minimal_table().to_markdown(), handed.minimal_table().to_latex()):
        assert " ".join(table.split()) in words


def test_provenance_has_versions_fingerprint_and_margin(handed, report):
    words = Page(report).words
    for part in (cc.__version__, np.__version__, handed.fingerprint, f"{handed.verdict.margin:.3g}"):
        assert part in words


def test_a_greater_metric_without_curves(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0, 1), "b": cox(0)}, metrics=Sureness(), adjustments=["ipcw", "cg_q"])
    path = found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [0.0, 0.5]))
    words, ranks = Page(path).words, standing(found, "sureness", "ipcw").ranks
    best = max(found.models, key=lambda model: found.score(model, adjustment="ipcw").value)
    assert ranks[best] == 1
    assert face(Report(found)).rows[0].model == best
    assert "higher is better" in words
    assert "lower is better" not in words
    assert "Brier" not in words


@pytest.mark.parametrize("taus", [(0.5,), (-0.4, 0.0, 0.4)])
def test_grids_of_one_tau_and_of_negative_ones(split, cox, tmp_path, taus):
    names, copula = ["ipcw", "imputation_covariates"], cc.Frank.from_tau(0.3)
    models = {"a": cox(0, 1), "b": cox(0)}
    found = evaluated(split, models, with_covariates=True, adjustments=names, copula=copula)
    grid = found.sensitivity(("frank", "gumbel"), taus)
    parsed = Page(found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert parsed.open == []
    assert "points of the plausible range have no answer" in parsed.words or taus[0] < 0


def test_one_model_is_held_against_kaplan_meier(split, cox, tmp_path):
    found = evaluated(split, {"only": cox(0)}, copula=None)
    grid = found.sensitivity(("clayton",), (0.0, 0.5))
    words = Page(found.to_html(tmp_path / "a.html", sensitivity=grid)).words
    assert "Minus best" not in words
    assert "Kaplan–Meier and only" in words
    assert found.score("only").value == pytest.approx(float(face(Report(found)).rows[0].score), abs=5e-3)


def test_without_intervals_the_page_says_so(split, cox, tmp_path):
    models = {"a": cox(0), "b": cox(0, 1)}
    found = evaluated(split, models, adjustments=["ipcw"], confidence_level=None)
    path = found.to_html(tmp_path / "a.html")
    words = Page(path).words
    assert "there are no intervals" in words
    assert "95%" not in words
    assert "confidence_level=None" in code(path)


def test_the_code_repeats_the_level_and_the_bootstrap(split, cox, tmp_path):
    models = {"a": cox(0), "b": cox(0, 1)}
    found = evaluated(split, models, adjustments=["ipcw"], confidence_level=0.8, n_resamples=9, seed=4)
    path = found.to_html(tmp_path / "a.html")
    train, test = split
    given = {"models": found.data.predictions, "y_train": train.y, "y_test": test.y}
    exec(code(path).replace("report.html", str(tmp_path / "again.html")), given)
    again = given["result"]
    assert again.results["ipcw"].resampling == found.results["ipcw"].resampling
    assert again.score("a").confidence_interval(0.8) == found.score("a").confidence_interval(0.8)
    assert "9 bootstrap samples, seed 4" in Page(path).words


def test_the_page_says_what_the_imputation_model_conditions_on_and_what_tau_means(evaluation, report):
    words = Page(report).words
    assert evaluation.results["imputation"].adjustment.assumption in words
    assert evaluation.results["imputation"].imputation_fit.statement in words
    assert TAU_MEANS in words


def test_a_model_whose_predictions_are_refused_is_on_the_page_without_scores(split, cox, tmp_path):
    models = {"a": cox(0, 1), "b": cox(0), "bad": ([0.0, 50.0], np.full((200, 2), np.nan))}
    found = evaluated(split, models)
    parsed = Page(found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [0.0, 0.4])))
    [note] = [note for note in found.notes if note.kind == "missing"]
    assert f"bad: It has no score: {note.text}" in parsed.words
    assert "bad" in [row.model for row in face(Report(found)).rows if row.score == "–"]


def test_an_adjustment_without_an_answer_says_why(split, cox, tmp_path):
    asked = {"truth": cc.Oracle([1.0]), "ipcw": "ipcw", "dep": "dep"}
    models = {"a": cox(0, 1), "b": cox(0)}
    found = evaluated(split, models, adjustments=asked, copula=cc.Clayton(1.0))
    [note] = found.results["truth"].notes_of("missing")
    assert note.text in Page(found.to_html(tmp_path / "a.html")).words


def test_long_computations_tell_their_progress(split, cox):
    found = evaluated(split, {"a": cox(0)}, adjustments=["cg_q"])
    for analyse in (partial(margin_curves, found), found.suggest_copula().choice.profile):
        seen = []
        analyse(progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert [done for done, _ in seen] == list(range(seen[-1][1] + 1))


def code(path):
    text = path.read_text(encoding="utf-8")
    return unescape(re.search(r'<pre data-copy="code"[^>]*>(.*?)</pre>', text, re.DOTALL).group(1))


def test_the_code_of_the_settings_gives_the_numbers_again(evaluation, handed, report, split, tmp_path):
    train, test = split
    given = {
        "models": evaluation.data.predictions,
        "y_train": train.y,
        "y_test": test.y,
        "x_train": train.X,
        "x_test": test.X,
    }
    exec(code(report).replace("report.html", str(tmp_path / "again.html")), given)
    again = Report(given["result"], given["sensitivity"])
    assert again.fingerprint == handed.fingerprint
    for name, numbers in again.to_dict().items():
        if name in ("metrics", "sensitivity", "verdict"):
            first = Report(evaluation, handed.sensitivity).to_dict()[name]
            assert json.dumps(numbers) == json.dumps(first)


def test_the_code_names_the_covariates_that_were_chosen_and_a_judge_that_was_given(split, cox, tmp_path):
    models = {"a": cox(0), "b": cox(0, 1)}
    first = evaluated(split, models, with_covariates=True, covariates=[0, 2])
    assert "covariates=[0, 2]" in code(first.to_html(tmp_path / "a.html"))
    again = evaluated(split, models, adjustments={"imputation": first.results["imputation"].fitted})
    assert code(again.to_html(tmp_path / "b.html")).startswith("# 'imputation' is an object of your own code")


def test_objects_are_shown_by_their_settings(split, cox, tmp_path):
    own = {"mine": cc.adjustments.MarginTime(cc.Clayton(2.0), weighting="uncertainty"), "ipcw": "ipcw"}
    found = evaluated(split, {"a": cox(0)}, adjustments=own, metrics=Sureness(), copula=None)
    said = code(found.to_html(tmp_path / "a.html"))
    assert f"'mine': {own['mine']!r}" in said
    assert "'ipcw': 'ipcw'}" in said
    assert said.startswith("# 'mine', 'sureness' are objects of your own code")


def test_a_known_name_with_other_settings_is_shown_by_these(split, cox, tmp_path):
    own = {"ipcw": cc.IPCW(min_probability=0.1)}
    found = evaluated(split, {"a": cox(0)}, adjustments=own)
    assert "min_probability=0.1" in code(found.to_html(tmp_path / "a.html"))


@pytest.mark.parametrize("place", [".", "nowhere/a.html"])
def test_what_is_no_file_is_refused(evaluation, tmp_path, place):
    with pytest.raises(ValueError, match="path must"):
        evaluation.to_html(tmp_path / place)


def test_what_fails_leaves_the_old_report(evaluation, tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old")

    def fail(*_):
        raise RuntimeError

    monkeypatch.setattr(page, "face", fail)
    with pytest.raises(RuntimeError):
        evaluation.to_html(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_text() == "old"
