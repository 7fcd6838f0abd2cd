"""What every result keeps to: few names, no memory, no order of calls, no fits in views; nothing hangs on words."""

import json
import tokenize
from dataclasses import fields, replace
from datetime import date
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import Adjustment
from cocensor.adjustments.samples import Samples
from cocensor.inference.comparisons import Comparison
from cocensor.inference.estimates import Estimate
from cocensor.joint.fit import JointProblem
from cocensor.metrics import MetricValue
from cocensor.simulate import SyntheticDesign
from cocensor.study.curves import curve_errors
from cocensor.study.plan import SensitivityPlan
from cocensor.study.report import Report
from cocensor.study.scores import Score
from cocensor.views.html import page
from tests.study.words import readers

SOURCES = Path(cc.__file__).parent
AT = 6.0


@pytest.fixture(scope="module")
def asked():
    """What is asked of every evaluation here: two models of 80 subjects, by four metrics, under the default."""
    data = SyntheticDesign(n=160, n_features=2, copula=cc.Clayton.from_tau(0.4)).draw(0)
    train, test = data[:80], data[80:]
    models = {
        name: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        for name, k in (("two", 2), ("one", 1))
    }
    given = {"x_test": test.X, "y_train": train.y, "x_train": train.X}
    metrics = ["ibs", "auc", "ici", cc.metric("net_benefit", threshold=0.3)]
    return {"models": models, "y_test": test.y, **given, "metrics": metrics, "at": AT}


def evaluated(asked):
    """An evaluation whose sensitivity analysis is of a few points, unless it is told otherwise."""
    result = cc.evaluate(**asked)
    few = SensitivityPlan.of(["clayton", "hazard_ratio"], [0.0, 0.4], hazard_ratios=[1.0, 2.0])
    return replace(result, plan=replace(result.plan, sensitivity=few))


#: What may be asked of an evaluation, by what a report calls it; what none has a place for has no name there.
ANALYSES = {
    "sensitivity": lambda result: result.sensitivity(),
    "bounds": lambda result: result.bounds(),
    "benchmarks": lambda result: result.benchmarks(),
    "curves": lambda result: {("ibs", "imputation"): curve_errors(result)},
    "calibration": lambda result: {("imputation", "one", AT): result.calibration_curve("one", AT)},
    "d_calibration": lambda result: {("imputation", "one"): result.d_calibration("one")},
    "decision_curves": lambda result: {("imputation", AT): result.decision_curve(AT)},
    "a score": lambda result: result.score("one", at=3.0),
    "a comparison": lambda result: result.compare("one", "two", "auc", at=3.0),
    "tables": lambda result: [result.table(kind) for kind in ("scores", "ranks", "curves", "profiles")],
    "a bootstrap": lambda result: result.bootstrap(3),
    "a verdict": lambda result: result.verdict,
}


@pytest.fixture
def today(monkeypatch):
    class Fixed(date):
        @classmethod
        def today(cls):
            return cls(2025, 1, 1)

    monkeypatch.setattr(page, "date", Fixed)


# --- few names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "most"), [(cc.Evaluation, 25), (cc.study.sensitivity.Sensitivity, 15)])
def test_results_have_few_public_members(kind, most):
    members = {*dir(kind), *(each.name for each in fields(kind))}
    public = sorted(name for name in members if not name.startswith("_"))
    assert len(public) <= most, public


# --- no memory -----------------------------------------------------------------------------------------------


def held(result):
    """The names of all that a result holds, but for its verdict, which it makes once."""
    return set(vars(result)) - {"verdict"}


def test_results_remember_nothing(asked, tmp_path):
    result = evaluated(asked)
    before = {name: dict(vars(each)) for name, each in result.results.items()}
    found = {name: analysis(result) for name, analysis in ANALYSES.items()}
    repr(result), result.to_json()
    result.to_html(tmp_path / "page.html", sensitivity=found["sensitivity"], bounds=found["bounds"])
    assert held(result) == {each.name for each in fields(result)}
    assert {name: dict(vars(each)) for name, each in result.results.items()} == before
    over = found["sensitivity"]
    assert held(over) == {each.name for each in fields(over)}
    for grid in over.grids:
        assert set(vars(grid)) == {each.name for each in fields(grid)}
    full = result.full()
    assert set(vars(full)) == {each.name for each in fields(full)}


def test_what_is_asked_for_twice_is_made_twice_and_equal(asked):
    result = evaluated(asked)
    for name in ("bounds", "benchmarks"):
        one, other = (ANALYSES[name](result) for _ in range(2))
        assert one is not other
        assert one.to_dict() == other.to_dict()
    one, other = (ANALYSES["sensitivity"](result) for _ in range(2))
    assert one is not other
    assert one.table().equals(other.table())


def test_views_show_what_they_are_handed_and_nothing_else(asked, tmp_path):
    result = evaluated(asked)
    alone = result.to_json()
    shown = {name: analysis(result) for name, analysis in ANALYSES.items() if hasattr(Report(result), name)}
    assert result.to_json() == alone
    for name, analysis in shown.items():
        assert len(result.to_json(**{name: analysis})) > len(alone), name
    keys = {"sensitivity": "sensitivity", "bounds": "bounds", "benchmarks": "plausible_tau"}
    assert not set(keys.values()) & set(json.loads(result.to_json()))
    bare = result.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    for name, key in keys.items():
        assert key in json.loads(result.to_json(**{name: shown[name]}))
        page_with = result.to_html(tmp_path / "page.html", **{name: shown[name]}).read_text(encoding="utf-8")
        assert len(page_with) > len(bare), name


# --- no order of calls ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("today")
def test_the_order_of_calls_does_not_matter_byte_for_byte(asked, tmp_path):
    written = []
    for turn in (list, reversed):
        result = evaluated(asked)
        found = {}
        for name in turn(list(ANALYSES)):
            found[name] = ANALYSES[name](result)
            repr(result)
        report = Report(result, **{name: found[name] for name in found if hasattr(Report(result), name)})
        text = report.to_json(tmp_path / "numbers.json")
        assert (tmp_path / "numbers.json").read_text(encoding="utf-8") == text + "\n"
        pages = [
            report.to_html(tmp_path / "all.html").read_bytes(),
            result.to_html(tmp_path / "bare.html").read_bytes(),
            result.to_html(tmp_path / "some.html", sensitivity=found["sensitivity"]).read_bytes(),
        ]
        written.append([text, result.to_json(), repr(result), repr(found["sensitivity"]), *pages])
    assert written[0] == written[1]


@pytest.mark.usefixtures("today")
def test_one_call_for_a_full_report_writes_what_its_parts_do(asked, tmp_path):
    plain = {name: value for name, value in asked.items() if name != "at"} | {"metrics": "ibs"}
    full = evaluated(plain).full()
    result = evaluated(plain)
    parts = Report(
        result,
        bounds=(result.bounds(),),
        sensitivity=result.sensitivity(),
        curves={("ibs", "imputation"): curve_errors(result)},
        decision_curves={at: result.decision_curve(at[1]) for at in full.decision_curves},
        event_free=full.event_free,
        survival=full.survival,
    )
    assert parts.to_json() == full.to_json()
    one, other = (each.to_html(tmp_path / f"{k}.html").read_bytes() for k, each in enumerate((parts, full)))
    assert one == other


def test_an_analysis_of_other_dependences_before_changes_no_more_than_rounding(asked):
    """Fits start from those that are known, which takes Newton's method to the same optimum along another way."""
    asked = asked | {"metrics": "ibs", "at": None}
    first, second = ((["clayton"], [0.0, 0.4]), (["clayton"], [0.2, 0.6]))
    tables = []
    for turn in ((first, second), (second, first)):
        result = cc.evaluate(**asked)
        tables.append({str(grid): result.sensitivity(*grid).table() for grid in turn})
    for grid, table in tables[0].items():
        for column in ("score", "standard_error", "hazard_ratio"):
            np.testing.assert_allclose(tables[1][grid][column], table[column], rtol=1e-10)
        assert tables[1][grid]["rank"].equals(table["rank"])


# --- no fits in views ----------------------------------------------------------------------------------------


@pytest.fixture
def fits(monkeypatch):
    """Grows by a name whenever something is fitted."""
    counted = []

    def count(kind, name):
        original = getattr(kind, name)

        def fitting(*args, **options):
            counted.append(f"{kind.__name__}.{name}")
            return original(*args, **options)

        monkeypatch.setattr(kind, name, fitting)

    for kind in (cc.CoxPH, cc.KaplanMeier, cc.CopulaGraphic, Adjustment, Samples):
        count(kind, "fit")
    for name in ("fit", "optimum", "margins_at"):
        count(JointProblem, name)
    return counted


def test_views_fit_nothing(asked, fits, tmp_path):
    result = evaluated(asked)
    over, bounds, benchmarks = result.sensitivity(), result.bounds(), result.benchmarks()
    full = result.full()
    assert {"CoxPH.fit", "KaplanMeier.fit", "CopulaGraphic.fit", "Samples.fit"} <= set(fits)
    assert {"JointProblem.fit", "JointProblem.margins_at"} & set(fits)
    fits.clear()
    for shown in (result, over, bounds, benchmarks, full, result.verdict, over.verdict):
        repr(shown), str(shown)
    result._repr_html_()
    result.to_json(), result.to_json(sensitivity=over, bounds=bounds, benchmarks=benchmarks)
    result.to_html(tmp_path / "bare.html")
    result.to_html(tmp_path / "some.html", sensitivity=over, bounds=bounds, benchmarks=benchmarks)
    full.to_html(tmp_path / "full.html"), full.to_json(tmp_path / "full.json")
    assert not fits


# --- nothing hangs on words ----------------------------------------------------------------------------------

#: Where words are read, by file and function, and why they may be.
ALLOWED = {
    ("_checks.py", "naming"): "whether what a user's model raised ends as a sentence does",
    ("data/files.py", "refusing"): "of what pyarrow says, the first sentence is passed on",
    ("study/lookup.py", "_named"): "a label that a user gave is looked for among labels",
    ("views/plots/forest.py", "from_metrics"): "what is called alike but for its time shares a panel",
    ("views/text/names.py", "metrics_in_words"): "what is called alike but for its time is named once",
}


def test_nothing_branches_on_words():
    found = {
        (path.relative_to(SOURCES).as_posix(), function)
        for path in sorted(SOURCES.rglob("*.py"))
        for function in readers(path.read_text(encoding="utf-8"))
    }
    assert sorted(found) == sorted(ALLOWED)


@pytest.mark.parametrize(
    "line",
    [
        "note.text == 'a'",
        "'a' in result.statement",
        "note.text.startswith('a')",
        "str(error).partition(':')",
        "each.label.casefold() == asked",
        "re.search('a', note.text)",
        "{each.label: 1 for each in metrics}",
        "{note.text for note in notes}",
        "by.setdefault(note.text, [])",
        "by[note.label, 1]",
        "sorted(notes, key=lambda note: note.text)",
    ],
)
def test_what_reads_words_is_found(line):
    assert readers(f"def f():\n    return {line}") == {"f"}


def test_words_are_followed_through_names_and_may_be_passed_on():
    assert readers("def f():\n    said, n = note.text, 1\n    return said.split(n)") == {"f"}
    assert not readers("def f():\n    said, n = note.text, 1\n    return n == 1, said")
    assert not readers("def f():\n    return [note.text, f'{error}.', {'label': metric.label}, str(error)]")


def test_a_result_may_be_changed_without_touching_the_first(asked):
    result = evaluated(asked)
    before = result.to_json()
    other = replace(result, data=replace(result.data, confidence_level=None))
    assert other.to_json() != before
    assert result.to_json() == before


def identifiers(source):
    """All names in a source, of attributes and keywords too, but not what stands in texts and comments."""
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def test_a_name_means_one_thing():
    """The model that imputes is called so, and a bound is one over all dependences."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.py"))]
    names = set().union(*map(identifiers, sources))
    assert not {name for name in names if "judge" in name.lower()}
    for kind in (Estimate, Score, Comparison, MetricValue):
        assert "bound" not in {each.name for each in fields(kind)}
    assert "imputation" in cc.adjustments.adjustment_names()
