"""``cocensor evaluate`` gives the numbers of the library, and says what they rest on."""

import json

import numpy as np
import pytest

import cocensor as cc
from cocensor.metrics import MetricValue, unregister_metric
from tests.cli.study import TIMES, refusal


@pytest.fixture
def samples(study):
    return [cc.Survival.from_frame(frame, time="months", event="died") for frame in (study.train, study.test)]


@pytest.fixture
def models(study):
    return {name: (TIMES, frame.drop(columns="patient")) for name, frame in study.predictions.items()}


def scores(numbers):
    return {metric["name"]: metric["scores"] for metric in numbers["metrics"]}


def scores_of(evaluation):
    """Scores of the library as the command writes them."""
    return {
        metric: {
            name: {model: pytest.approx(each.value(metric, model), abs=1e-12) for model in evaluation.models}
            for name, each in evaluation.results.items()
        }
        for metric in evaluation.metrics
    }


def test_the_numbers_are_those_of_the_library(study, samples, models):
    train, test = samples
    expected = cc.evaluate(models, test, y_train=train, copula=cc.Clayton.from_tau(0.4), metrics="ibs")
    found = study.numbers("--adjustments", ",".join(expected.results))
    assert scores(found) == scores_of(expected)
    assert (found["primary"], found["horizon"]["time"]) == (expected.primary, expected.data.horizon.time)


@pytest.mark.parametrize("covariates", [None, ["age"]])
def test_without_a_training_sample_all_is_learned_from_the_test_sample(study, samples, models, covariates):
    x = None if covariates is None else study.test[covariates]
    names = ["ipcw", "dep", "cg_q", "imputation_prediction" if x is None else "imputation_covariates"]
    expected = cc.evaluate(
        models, samples[1], x, adjustments=names, copula=cc.Clayton.from_tau(0.4), metrics="ibs"
    )
    given = [] if x is None else ["--covariates", ",".join(covariates)]
    found = study.numbers(*given, "--adjustments", ",".join(names), train=None)
    assert scores(found) == scores_of(expected)
    assert found["data"]["train"] is None
    assert found["data"]["test"]["n"] == 60
    assert found["data"]["covariates"] == covariates
    assert scores(found) != scores(study.numbers(*given, "--adjustments", ",".join(names)))


def test_the_copula_is_the_one_that_select_copula_selects(study, samples):
    x = study.train[["age"]]
    expected = cc.select_copula(x, samples[0])
    given = ["--copula", "select", "--covariates", "age", "--adjustments", "dep"]
    numbers = study.numbers(*given)
    found, hint = numbers["copula"], numbers["hint"]
    assert (found["origin"], found["family"]) == ("selected", expected.copula.name)
    assert (hint["given"], hint["columns"], hint["how"]) == ("covariates", ["age"], expected.how)
    assert {each["family"]: each["tau"] for each in hint["candidates"]} == {
        name: pytest.approx(model.copula.tau, abs=1e-9) for name, model in expected.models.items()
    }


def test_intervals_are_those_of_the_library(study, samples, models):
    train, test = samples
    asked = {"y_train": train, "adjustments": "ipcw", "confidence_level": 0.8}
    for given, more in (([], {}), (["--bootstrap", "12", "--seed", "5"], {"n_resamples": 12, "seed": 5})):
        expected = cc.evaluate(models, test, **asked, **more, metrics="ibs")
        found = study.numbers("--adjustments", "ipcw", "--confidence", "0.8", *given)
        held = found["metrics"][0]["intervals"]["ipcw"]
        assert found["confidence_level"] == 0.8
        for model in expected.models:
            assert held[model] == pytest.approx(expected.score(model).confidence_interval(0.8), rel=1e-9)


def test_the_outputs_have_intervals_over_time_of_the_primary_adjustment_alone(study):
    found = study.numbers()
    assert list(found["metrics"][0]["curve_errors"]) == [found["primary"]]
    asked = ["--metrics", "auc,ici,net_benefit:0.2", "--at", "1"]
    several = study.numbers(*asked, "--adjustments", "ipcw")
    details, models = several["details"], [each["name"] for each in several["models"]]
    for kind in ("calibration", "d_calibration"):
        assert [each["model"] for each in details[kind]] == models
    assert [each["time"] for each in details["decision_curves"]] == [1]
    roc = next(each for each in several["metrics"] if each["name"] == "auc at 1")
    assert list(roc["profile_errors"]["ipcw"]) == models
    none = study.numbers("--confidence", "none")
    assert none["confidence_level"] is None
    assert not any(none["details"].values())
    assert "intervals" not in none["metrics"][0]
    assert "errors" not in none["sensitivity"]


class ShareAtEnd(cc.metrics.Metric):
    """The mean prediction at the end, whatever happened."""

    name, label, curve_label, direction, range = "share", "mean at the end", None, "higher", (0.0, 1.0)

    def evaluate(self, status, predictions):
        return {
            name: MetricValue(float(each.read(status.times[-1:], slice(None)).mean()))
            for name, each in predictions.items()
        }


def test_a_metric_that_was_registered_is_known_by_name(study):
    cc.metrics.register_metric(ShareAtEnd)
    try:
        found = study.numbers("--metrics", "share,ibs")
    finally:
        unregister_metric("share")
    metric = found["metrics"][0]
    assert (metric["name"], metric["direction"]) == ("share", "higher")
    better = max(metric["scores"]["ipcw"], key=metric["scores"]["ipcw"].get)
    assert metric["ranks"]["ipcw"][better] == 1
    assert set(found["sensitivity"]["scores"]) == {"share", "ibs"}


# --- what is shown -----------------------------------------------------------------------------------


def test_output_tells_scores_sensitivity_and_files(study):
    result = study.evaluate("--json", study.folder / "numbers.json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    numbers = json.loads((study.folder / "numbers.json").read_text(encoding="utf-8"))
    lines = result.stdout.splitlines()
    assert len(lines) <= 20
    state, _, conclusion = numbers["verdict"]["statement"].partition(": ")
    assert f"{state.upper()}: {conclusion.partition('.')[0]}" in " ".join(result.stdout.split())
    assert numbers["verdict"]["tied"] == ["cox", "flat"]
    scores = numbers["metrics"][0]["scores"][numbers["verdict"]["adjustment"]]
    assert all(f"{score:.2f}" in result.stdout for score in scores.values())
    assert str(study.folder / "numbers.json") in result.stdout
    assert "--administrative COLUMN" in result.stdout


def test_bounds_and_benchmarks_are_told_beside_the_scores(study):
    given = [
        "--covariates",
        "age",
        "--adjustments",
        "ipcw,imputation",
        "--plausible",
        "0,0.3",
        "--taus",
        "0,0.3",
    ]
    numbers = study.numbers(*given)
    [bounds] = numbers["bounds"].values()
    shown = study.evaluate(*given, "--verbose").stdout
    for words in (bounds["statement"], numbers["plausible_tau"]["statement"]):
        assert words in shown
        assert words not in study.evaluate(*given).stdout
    without = " ".join(study.evaluate("--metrics", "concordance", "--verbose").stdout.split())
    assert "for the concordance, sharp bounds cannot be computed" in without
    assert "per SD" not in without


def test_without_outputs_it_only_prints(study):
    before = study.files()
    assert "integrated Brier score" in study.evaluate().stdout
    assert study.files() == before


def test_page_and_numbers_have_the_analyses_that_were_computed(study):
    report, numbers = study.folder / "report.html", study.folder / "out.json"
    given = ["--copula", "select", "--adjustments", "ipcw,dep", "--hint"]
    result = study.evaluate("--out", report, "--json", numbers, "--title", "Our <study>", *given)
    assert result.exit_code == 0, result.output
    page, found = report.read_text(encoding="utf-8"), json.loads(numbers.read_text(encoding="utf-8"))
    assert set(found["sensitivity"]["scores"]["ibs"]["dep"]) == {"clayton", "frank"}
    assert set(found["profile"]["families"]) == {"clayton", "frank", "gumbel", "joe"}
    assert {"clayton", "frank"} <= set(found["survival"]["copula_graphic"])
    assert "<summary>Likelihood</summary>" in page
    assert "<summary>Map over families</summary>" in page
    assert "Our &lt;study&gt;" in page
    assert "Our <study>" not in page
    assert not [name for name in study.files() if name.startswith(".")]


def test_what_does_not_rest_on_a_copula_has_a_page_without_sensitivity(study):
    report = study.folder / "report.html"
    result = study.evaluate("--adjustments", "ipcw", "--out", report)
    assert result.exit_code == 0, result.output
    assert "If dropouts had the event" not in result.stdout
    assert "Map over families" not in report.read_text(encoding="utf-8")
    found = study.numbers("--adjustments", "ipcw")
    assert not {"sensitivity", "profile"} & set(found)
    assert "survival" in found
    assert found["copula"]["origin"] == "unused"


def test_without_a_judge_there_are_the_other_scores_and_a_page(study):
    study.test.assign(died=study.test.index == 7).to_csv(study.folder / "one.csv", index=False)
    report = study.folder / "report.html"
    result = study.evaluate("--adjustments", "ipcw,imputation", "--out", report, test="one.csv")
    assert result.exit_code == 0, result.output
    assert "1 event, 59 dropouts" in result.stdout
    assert "Map over families" not in report.read_text(encoding="utf-8")


def test_names_are_printed_as_they_are(study):
    name = "[red]x[/red] <b>é</b> {0} می\u200cروم"
    result = study.evaluate("--predictions", f"{name}={study.folder / 'flat.csv'}")
    assert result.exit_code == 0, result.output
    assert "[red]x" in result.stdout  # shortened
    assert name in " ".join(
        study.evaluate("--predictions", f"{name}={study.folder / 'flat.csv'}", "--verbose").stdout.split()
    )


# --- settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["t_max", "1.5", "20%"])
def test_horizons(study, option):
    found = study.numbers("--horizon", option, "--tail", "last")["horizon"]
    y = study.train["months"], study.test["months"]
    share = min(np.sort(t)[-int(np.ceil(0.2 * len(t)))] for t in y)
    expected = {"t_max": min(t.max() for t in y), "1.5": 1.5, "20%": share}
    assert found["time"] == pytest.approx(expected[option])
    assert found["by"] == "asked"


def test_warnings_become_notes(study):
    late = str(max(study.train["months"].max(), study.test["months"].max()) - 0.001)
    given = ["--horizon", late, "--tail", "last", "--adjustments", "dep"]
    result = study.evaluate(*given, "--verbose")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    cautions = [note["text"] for note in study.numbers(*given)["notes"] if note["kind"] == "caution"]
    assert any("at risk" in text for text in cautions)
    assert all(text in result.stdout for text in cautions)


def test_metrics_adjustments_and_grid(study):
    metrics = ["--metrics", "ibs,ils:0.01"]
    grid = ["--families", "gumbel", "--taus", "0.2,0.6"]
    found = study.numbers(*metrics, "--adjustments", "ipcw,dep", *grid)
    assert [each["name"] for each in found["metrics"]] == ["ibs", "ils"]
    assert found["metrics"][1]["settings"] == repr(cc.metric("ils", floor=0.01))
    assert [each["name"] for each in found["adjustments"]] == ["ipcw", "dep"]
    assert found["sensitivity"]["families"] == ["gumbel"]
    assert found["sensitivity"]["taus"] == [0.2, 0.6]


def test_hazard_ratios_after_dropout_by_group(study):
    grid = [
        "--families",
        "clayton,hazard_ratio",
        "--taus",
        "0",
        "--hazard-ratios",
        "1,2",
        "--plausible",
        "0,0.3",
    ]
    found = study.numbers(
        "--metrics", "ibs", "--adjustments", "imputation", "--hazard-ratio-by", "stage", *grid
    )
    found = found["sensitivity"]
    assert found["after_dropout"]["hazard_ratios"] == [1.0, 2.0]
    assert found["after_dropout"]["lines"] == ["all", "I", "II", "III"]
    why = found["plausible"].pop("why")
    assert "x_test is needed" in why  # for benchmarks, which are not needed for a range as asked
    assert (found["plausible"]["low"], found["plausible"]["high"]) == (0.0, 0.3)
    assert (found["plausible"]["origin"], found["plausible"]["lacking"]) == ("asked", "covariates")


def test_every_adjustment_is_known_by_its_name(study):
    names = cc.adjustments.adjustment_names()
    found = study.numbers("--covariates", "age", "--adjustments", ",".join(names), "--taus", "0.4")
    assert [each["name"] for each in found["adjustments"]] == names
    expected = {name: repr(cc.adjustment(name)) for name in ("ipcw", "ipcw_cox")}
    assert expected == {
        each["name"]: each["settings"] for each in found["adjustments"] if each["name"] in expected
    }


def test_independence_may_be_given(study):
    found = study.numbers("--copula", "independence", "--adjustments", "dep")["copula"]
    assert (found["origin"], found["family"], found["tau"]) == ("independence", "independence", 0.0)


def test_a_hint_is_there_on_request_alone(study):
    report = study.folder / "report.html"
    given = ["--copula", "independence", "--covariates", "age"]
    found = study.numbers(*given, "--out", report)
    assert not {"hint", "profile"} & set(found)
    assert "<summary>Likelihood</summary>" not in report.read_text(encoding="utf-8")


def test_by_default_the_imputation_model_is_at_independence_and_a_hint_beside_it(study):
    report, numbers = study.folder / "report.html", study.folder / "out.json"
    given = ["--copula", "independence", "--covariates", "age", "--hint", "--out", report, "--json", numbers]
    result = study.evaluate(*given, "--verbose")
    assert result.exit_code == 0, result.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert [each["name"] for each in found["adjustments"]] == ["ipcw", "imputation"]
    assert (found["primary"], found["copula"]["family"]) == ("imputation", "independence")
    assert found["hint"]["given"] == "imputation"
    assert "age" in found["imputation"]["columns"]
    assert result.stdout.count(found["hint"]["statement"]) == 1
    assert found["adjustments"][1]["imputation_fit"]["statement"] in result.stdout
    assert "profile" in found


def test_the_fit_of_the_imputation_model_is_told_once_without_a_hint_too(study):
    given = ["--copula", "independence", "--covariates", "age", "--adjustments", "ipcw,imputation"]
    numbers = study.folder / "numbers.json"
    result = study.evaluate(*given, "--json", numbers, "--verbose")
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert "hint" not in found
    by_name = {each["name"]: each["imputation_fit"] for each in found["adjustments"]}
    assert by_name["ipcw"] is None
    assert result.stdout.count(by_name["imputation"]["statement"]) == 1
    assert "joint model" not in study.evaluate().stdout  # of adjustments that have none


def test_a_misfit_of_the_imputation_model_is_told_once_as_a_caution(study, monkeypatch):
    monkeypatch.setattr(cc.study.ImputationFit, "failed", (("cox", "event"),))
    monkeypatch.setattr(
        cc.study.ImputationFit,
        "misfits",
        {"event": {"model": "cox", "misfit": 0.3, "statistic": 50.0, "df": 9}},
    )
    given = ["--copula", "independence", "--covariates", "age", "--adjustments", "ipcw,imputation"]
    assert study.evaluate(*given, "--verbose").stdout.count("does not fit the data") == 1


def test_the_papers_adjustments_are_there_on_request(study):
    found = study.numbers("--adjustments", "paper")
    assert {each["name"]: each["votes"] for each in found["adjustments"]} == {
        "ipcw": True,
        "imputation": True,
        "dep": False,
        "cg_q": False,
    }


def test_folds_are_a_column_of_the_test_sample(study, samples, models):
    folds = np.arange(60) % 3
    study.test.assign(fold=folds).to_csv(study.folder / "test.csv", index=False)
    given = ["--adjustments", "imputation", "--folds", "fold", "--copula", "independence"]
    expected = cc.evaluate(
        models, samples[1], y_train=samples[0], adjustments="imputation", folds=folds, metrics="ibs"
    )
    assert scores(study.numbers(*given)) == scores_of(expected)


def test_metrics_at_single_times_and_risk_scores_from_a_column(study):
    asked = [
        "--metrics",
        "ibs,brier,auc,net_benefit:0.2",
        "--at",
        "1,0.5",
        "--risk",
        "age=age",
    ]
    found = study.numbers(*asked, models=("cox",))
    names = [each["name"] for each in found["metrics"]]
    assert names[:4] == ["ibs", "brier at 0.5", "brier at 1", "auc at 0.5"]
    assert names[-1] == "net_benefit at 1"
    assert found["at"] == [0.5, 1.0]
    # The curves of the model have the order of age.
    for adjustment, scores in found["metrics"][names.index("auc at 1")]["scores"].items():
        assert scores["age"] == pytest.approx(scores["cox"]), adjustment
    assert found["models"][1] == {
        "name": "age",
        "source": "column 'age' of test.csv",
        "risk_score": True,
        "only_at": None,
    }


def test_a_risk_score_may_come_alone(study):
    found = study.numbers("--metrics", "auc", "--risk", "age=age", models=())
    assert [each["name"] for each in found["models"]] == ["age"]
    refusal(study.evaluate(models=()), "--predictions", "--risk")
