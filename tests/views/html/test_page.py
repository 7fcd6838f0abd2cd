"""What the file holds, without a browser."""

import json
import re
from functools import partial
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pytest

import cocensor as cc
from cocensor.study.curves import curve_errors, margin_curves
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.views.html import page
from cocensor.views.html.numbers import embedded, page_numbers
from cocensor.views.text.evaluation import winners_in_words
from cocensor.views.text.fits import TAU_MEANS
from cocensor.views.text.headline import headline
from tests.views.html.conftest import HOSTILE, Sureness
from tests.views.html.packed import block, embedded_in, numbers_of

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
    assert [each.get("type") for each in parsed.scripts] == ["application/gzip", None]


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


def test_the_embedded_numbers_are_safe_inside_of_a_script_and_the_same_at_any_time(report, monkeypatch):
    assert re.fullmatch("[A-Za-z0-9+/]+=*", block(report))
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert embedded(embedded_in(report)) == block(report)


def test_every_score_of_the_evaluation_stands_in_a_table(evaluation, report):
    values = {float(value) for _, name, value in Page(report).attributes if name == "data-value"}
    table = evaluation.table()
    assert set(table["score"][table["metric"] == "ibs"]) <= values
    [others] = [each for each in embedded_in(report)["tables"] if each["kind"] == "scores"]
    shown = {cell[0] for row in others["rows"] for cell in row["cells"]}
    assert {f"{score:.4f}" for score in table["score"][table["metric"] == "ils"]} <= shown


def test_the_first_screen_says_what_is_best_and_what_it_rests_on(evaluation, handed, report):
    words = Page(report).words
    assert handed.verdict.tied == evaluation.models
    assert "cannot tell the 3 models apart" in lead(report)
    assert headline(handed).lead == unescape(lead(report))
    for name in ("ipcw", "imputation"):
        assert evaluation.results[name].adjustment.assumption in words
    assert handed.sensitivity.over_tau.missing["dep", "gaussian"].text in words


def test_every_metric_has_its_own_winners(evaluation, report):
    assert " ".join(winners_in_words(evaluation).split()) in Page(report).words
    [metric, _], name = evaluation.data.metrics, evaluation.results["imputation"].label
    assert f"Kendall’s τ of event and dropout, by {name} and the {metric.label}" in Page(report).words


def test_what_was_not_handed_over_names_the_call_that_makes_it(split, cox, tmp_path):
    models = {"a": cox(0, 1), "b": cox(0)}
    found = evaluated(split, models, with_covariates=True)
    parsed = Page(found.to_html(tmp_path / "a.html"))
    assert parsed.open == []
    for call in ("sensitivity()", "benchmarks()", "suggest_copula()", "full()", "full(hint=True)"):
        assert call in parsed.words
    assert "about as fast as comparable subjects who stayed, " in lead(tmp_path / "a.html")
    numbers = numbers_of(tmp_path / "a.html")
    assert not {"sensitivity", "survival", "profile", "hint"} & numbers.keys()


def test_the_analysis_that_was_handed_over_is_shown(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0)}, adjustments="cg_q", copula=None)
    first = found.sensitivity("frank", [0.0, 0.3])
    found.sensitivity("joe", [0.0, 0.3])
    numbers = numbers_of(found.to_html(tmp_path / "a.html", sensitivity=first))
    assert numbers["sensitivity"]["families"] == ["frank"]
    assert "sensitivity" not in numbers_of(found.to_html(tmp_path / "b.html"))


def test_without_a_training_sample_the_page_has_the_test_sample_alone(split, cox, tmp_path):
    _, test = split
    found = cc.evaluate(
        {"a": cox(0), "b": cox(0, 1)}, test.y, adjustments=["ipcw", "cg_q"], copula=None, metrics="ibs"
    )
    curves = margin_curves(found)
    words = Page(Report(found, survival=curves).to_html(tmp_path / "a.html")).words
    assert curves.sample == "test"
    assert "Survival probability, test sample" in words
    assert "training sample" not in words.replace(found.notes[0].text, "")
    assert "y_train" not in code(tmp_path / "a.html")


def test_a_greater_metric_without_curves(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0, 1), "b": cox(0)}, metrics=Sureness(), adjustments=["ipcw", "cg_q"])
    path = found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [0.0, 0.5]))
    words, ranks = Page(path).words, standing(found, "sureness", "ipcw").ranks
    best = max(found.models, key=lambda model: found.score(model, adjustment="ipcw").value)
    assert ranks[best] == 1
    assert f", {best} has the best score" in lead(path)  # as a metric of one's own has no interval
    assert "Higher is better." in words
    assert "Lower is better" not in words
    assert "Brier" not in words
    assert "None of the metrics has values over time." in words
    assert numbers_of(path)["metrics"][0]["direction"] == "higher"


def test_equal_scores_share_a_cell(split, cox, tmp_path):
    models = {"a": cox(0), "twin": cox(0)}
    found = evaluated(split, models, adjustments=["ipcw", "cg_q"], copula=None)
    path = found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", (0.0, 0.4)))
    assert ">A=B<" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("taus", [(0.5,), (-0.4, 0.0, 0.4)])
def test_grids_of_one_tau_and_of_negative_ones(split, cox, tmp_path, taus):
    names, copula = ["ipcw", "imputation_covariates"], cc.Frank.from_tau(0.3)
    models = {"a": cox(0, 1), "b": cox(0)}
    found = evaluated(split, models, with_covariates=True, adjustments=names, copula=copula)
    grid = found.sensitivity(("frank", "gumbel"), taus)
    parsed = Page(found.to_html(tmp_path / "a.html", sensitivity=grid))
    assert parsed.open == []
    if taus[0] < 0:
        assert "Gumbel cannot reach every τ." in parsed.words
    else:
        assert "over 2 families and τ = 0.5." in parsed.words


def test_one_model_has_no_rank_but_a_range(split, cox, tmp_path):
    found = evaluated(split, {"only": cox(0)}, copula=None)
    grid = found.sensitivity(("clayton",), (0.0, 0.5))
    path = found.to_html(tmp_path / "a.html", sensitivity=grid)
    scores = [grid.over_tau.values("clayton", tau)["only"] for tau in grid.over_tau.points]
    words = Page(path).words
    assert f"of only is {found.score('only').value:.4f}" in lead(path)
    assert f"{min(scores):.4f} to {max(scores):.4f}" in words


def test_what_does_not_vote_has_no_star_and_no_rank(evaluation, report):
    table = re.search(
        r'<table class="scores".*?</table>', report.read_text(encoding="utf-8"), re.DOTALL
    ).group(0)
    columns = list(evaluation.results)
    for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1 : 1 + len(evaluation.models)]:
        cells = dict(zip(columns, re.findall(r"<td.*?</td>", row, re.DOTALL), strict=True))
        assert ["rank" in cells[name] for name in columns] == [True, True, False, False]
        assert not any("★" in cells[name] for name in ("dep", "cg_q"))
    assert "not counted" in Page(report).words


def test_scores_have_intervals_and_ties_have_stars(evaluation, report):
    table = re.search(
        r'<table class="scores".*?</table>', report.read_text(encoding="utf-8"), re.DOTALL
    ).group(0)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1 : 1 + len(evaluation.models)]
    for model, row in zip(evaluation.models, rows, strict=True):
        for name, cell in zip(evaluation.results, re.findall(r"<td.*?</td>", row, re.DOTALL), strict=True):
            score = evaluation.score(model, adjustment=name)
            low, high = score.confidence_interval(evaluation.data.confidence_level)
            expected = "" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
            assert re.findall(r'<small class="interval">(.*?)</small>', cell) == [expected][: bool(expected)]
            assert ("★" in cell) == (model in standing(evaluation, adjustment=name).best)


def test_differences_of_the_primary_adjustment_stand_in_a_table(evaluation, report):
    [table] = re.findall(
        r'<table class="scores pairs">.*?</table>', report.read_text(encoding="utf-8"), re.DOTALL
    )
    shown = sorted(map(float, re.findall(r'data-value="(.*?)"', table)), key=abs)
    pairs = evaluation.table("differences", "ibs", "imputation")[["difference", "pvalue", "adjusted_pvalue"]]
    np.testing.assert_allclose(np.abs(shown), sorted(np.abs(pairs.to_numpy().ravel())))
    kinds = [each["kind"] for each in embedded_in(report)["tables"]]
    assert kinds.count("scores pairs") == len(evaluation.metrics) - 1


def test_of_many_models_those_with_the_best_come_first_and_all_pairs_on_demand(split, cox, tmp_path):
    models = {f"m{k}": cox(*range(1 + k % 3)) for k in range(5)}
    found = evaluated(split, models, adjustments=["ipcw"])
    path = found.to_html(tmp_path / "a.html")
    [first] = re.findall(
        r'<table class="scores pairs">.*?</table>', path.read_text(encoding="utf-8"), re.DOTALL
    )
    assert first.count("<tr>") == 1 + 4
    [every] = [each for each in embedded_in(path)["tables"] if each["kind"] == "scores pairs"]
    equal = found.compare("m0", "m3")
    assert (equal.difference, equal.pvalue) == (0.0, 1.0)
    assert len(every["rows"]) == 10
    assert (["m0", "m3"], "+0.0000") in [(row["head"], row["cells"][0][0]) for row in every["rows"]]


def test_without_intervals_the_page_says_so(split, cox, tmp_path):
    models = {"a": cox(0), "b": cox(0, 1)}
    found = evaluated(split, models, adjustments=["ipcw"], confidence_level=None)
    path = found.to_html(tmp_path / "a.html")
    words = Page(path).words
    assert "There are no intervals" in words
    assert "95 %" not in words
    assert "confidence_level=None" in code(path)


def test_models_that_cannot_be_told_apart_share_a_pale_cell(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0, 1, 2), "b": cox(0, 1), "c": cox(0, 2)}, with_covariates=True)
    grid = found.sensitivity("frank", (0.0, 0.9))
    text = found.to_html(tmp_path / "a.html", sensitivity=grid).read_text(encoding="utf-8")
    cells = re.findall(r'<td class="k\d( open)?" title="(.*?)">', text)
    kept = list(grid.over_tau.best()["frank"].values())
    tied = [len(best) > 1 for best in kept]
    assert any(tied)
    assert [bool(is_open) for is_open, _ in cells] == tied
    for (_, title), best in zip(cells, kept, strict=True):
        assert all(model in title for model in best)


def test_the_code_repeats_the_level_and_the_bootstrap(split, cox, tmp_path):
    models = {"a": cox(0), "b": cox(0, 1)}
    found = evaluated(split, models, adjustments=["ipcw"], confidence_level=0.8, n_resamples=9, seed=4)
    path = found.to_html(tmp_path / "a.html")
    train, test = split
    given = {"models": found.data.predictions, "y_train": train.y, "y_test": test.y}
    exec(code(path).replace("report.html", str(tmp_path / "again.html")), given)
    again, first = (numbers_of(each) for each in (tmp_path / "again.html", path))
    assert again["metrics"] == first["metrics"]
    assert again["adjustments"] == first["adjustments"]
    assert first["adjustments"][0]["resampling"] == {"n_resamples": 9, "seed": 4}
    assert "bootstrap of 9 resamples, seed 4" in Page(path).words


def test_the_page_says_what_the_imputation_model_conditions_on_and_what_tau_means(evaluation, report):
    words = Page(report).words
    for column in evaluation.results["imputation"].fitted.design.columns:
        assert " ".join(column.split()) in words
    assert TAU_MEANS in words


def test_the_fit_of_the_imputation_model_stands_beside_the_hint_with_a_ratio_per_cell(evaluation, report):
    fit = evaluation.results["imputation"].imputation_fit
    text = report.read_text(encoding="utf-8")
    footing = text[text.index('<div class="footing">') : text.index('<section id="scores">')]
    assert escape(fit.statement, quote=False).replace("'", "&#39;") in footing
    tables = re.findall(r'<table class="map ratios">.*?</table>', text, re.DOTALL)
    assert len(tables) == len(evaluation.models)
    for model, table in zip(
        sorted(evaluation.models, key=lambda model: model != fit.worst), tables, strict=True
    ):
        assert escape(model) in table
        numbers = fit.table()
        rows = numbers[numbers["model"] == model].sort_values(
            ["kind", "end", "decile"], ascending=[False, True, True]
        )  # events before dropouts
        cells = re.findall(
            r'<td title="(\d+) observed, ([\d.]+) expected.*?"( class="off")?><span>(.*?)<', table
        )
        assert [int(cell[0]) for cell in cells] == rows["observed"].tolist()
        np.testing.assert_allclose([float(cell[1]) for cell in cells], rows["expected"], atol=0.05)
        enough = (rows["expected"] >= 1).to_numpy()
        off = enough & ((rows["lower"] > 1) | (rows["upper"] < 1))
        assert [bool(cell[2]) for cell in cells] == off.tolist()
        shown = np.array([np.nan if cell[3] == "–" else float(cell[3]) for cell in cells])
        np.testing.assert_allclose(shown, np.where(enough, rows["ratio"], np.nan), atol=5e-3)


def test_without_a_joint_model_of_the_test_outcomes_no_fit_is_shown(split, cox, tmp_path):
    found = evaluated(split, {"a": cox(0, 1), "b": cox(0)}, adjustments=["ipcw", "cg_q"], copula=None)
    page = found.to_html(tmp_path / "a.html")
    assert "no adjustment here fits a joint model" in Page(page).words.lower()
    assert 'class="map ratios"' not in page.read_text(encoding="utf-8")


def test_a_model_whose_predictions_are_refused_is_on_the_page_without_scores(split, cox, tmp_path):
    models = {"a": cox(0, 1), "b": cox(0), "bad": ([0.0, 50.0], np.full((200, 2), np.nan))}
    found = evaluated(split, models)
    parsed = Page(found.to_html(tmp_path / "a.html", sensitivity=found.sensitivity("frank", [0.0, 0.4])))
    [note] = [note for note in found.notes if note.kind == "missing"]
    assert f"bad: no score: {note.text}" in parsed.words


def test_an_adjustment_without_an_answer_says_why(split, cox, tmp_path):
    asked = {"truth": cc.Oracle([1.0]), "ipcw": "ipcw", "dep": "dep"}
    models = {"a": cox(0, 1), "b": cox(0)}
    found = evaluated(split, models, adjustments=asked, copula=cc.Clayton(1.0))
    [note] = found.results["truth"].notes_of("missing")
    assert note.text in Page(found.to_html(tmp_path / "a.html")).words


def test_twelve_models_with_long_names(split, cox, tmp_path):
    curves = cox(0, 1)
    models = {f"{k} {'w' * 80}": curves for k in range(12)}
    found = evaluated(split, models, adjustments=["ipcw", "dep"], copula=cc.Clayton(1.0))
    looks = embedded_in(found.to_html(tmp_path / "a.html"))["models"]
    assert [each["letter"] for each in looks] == list("ABCDEFGHIJKL")
    assert len({(each["colour"], each["dash"]) for each in looks}) == 12


def test_the_survival_curves_are_those_of_the_estimators(evaluation, handed, report):
    shown = numbers_of(report)["survival"]
    y = evaluation.data.samples.y_train
    assert shown["sample"] == "training"
    assert len(shown["times"]) <= 200
    assert shown["times"][-1] == pytest.approx(min(evaluation.data.horizon.time, y.t_max), rel=1e-4)
    times = handed.survival.times
    np.testing.assert_allclose(shown["kaplan_meier"], cc.KaplanMeier().fit(y).predict(times), atol=1e-4)
    joe = cc.CopulaGraphic(cc.Joe.from_tau(0.5)).fit(y)
    np.testing.assert_allclose(shown["copula_graphic"]["joe"][1], joe.predict(times), atol=1e-4)


def test_long_computations_tell_their_progress(split, cox):
    found = evaluated(split, {"a": cox(0)}, adjustments=["cg_q"])
    for analyse in (partial(margin_curves, found), found.suggest_copula().choice.profile):
        seen = []
        analyse(progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert [done for done, _ in seen] == list(range(seen[-1][1] + 1))


def code(path):
    text = path.read_text(encoding="utf-8")
    return unescape(re.search(r"<pre[^>]*><code>(.*?)</code>", text, re.DOTALL).group(1))


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
    again, first = (numbers_of(path) for path in (tmp_path / "again.html", report))
    for part in ("sensitivity", "hint"):
        assert again[part] == first[part]
    result = given["result"]
    curves = {("ibs", result.primary): curve_errors(result)}
    shown = {"survival": margin_curves(result), "profile": result.suggest_copula().choice.profile()}
    again = json.loads(json.dumps(page_numbers(Report(result, curves=curves, **shown).to_dict())))
    for part in ("metrics", "survival", "profile"):
        assert again[part] == first[part]


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

    monkeypatch.setattr(page, "headline", fail)
    with pytest.raises(RuntimeError):
        evaluation.to_html(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_text() == "old"
