import json

import pytest

import cocensor as cc
from tests.cli.study import refusal, run


def fit(study, *more):
    columns = ["--time", "months", "--event", "died", "--covariates", "age"]
    return run("fit-copula", "--train", study.folder / "train.csv", *columns, *more)


def test_the_numbers_are_those_of_the_library(study):
    numbers, figure = study.folder / "tau.json", study.folder / "tau.png"
    result = fit(study, "--families", "clayton,frank", "--json", numbers, "--figure", figure)
    assert result.exit_code == 0, result.output
    y = cc.Survival.from_frame(study.train, time="months", event="died")
    choice = cc.select_copula(study.train[["age"]], y, families=("clayton", "frank"))
    profile = choice.profile()
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert [each["family"] for each in found["candidates"]] == ["independence", "clayton", "frank"]
    for row in found["candidates"]:
        assert row["tau"] == pytest.approx(choice.models[row["family"]].copula.tau, abs=1e-9)
        assert row["validation_nll"] == pytest.approx(choice.validation[row["family"]], abs=1e-9)
    assert (found["chosen"], found["margins"]) == (choice.copula.name, "spline")
    for family, curve in found["profile"]["families"].items():
        assert curve["supported"] == pytest.approx(list(profile.supported(family)))
        assert curve["loglik"] == pytest.approx(profile.curves[family][1].tolist(), abs=1e-6)
    benchmarks = cc.plausible_tau(study.train[["age"]], y)
    assert found["plausible_tau"]["together"] == pytest.approx(benchmarks.together, abs=1e-12)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert not [name for name in study.files() if name.startswith(".")]


def test_output_has_the_table_the_profile_and_all_caveats(study):
    numbers = study.folder / "tau.json"
    result = fit(study, "--families", "frank", "--json", numbers)
    assert result.exit_code == 0, result.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    for row in found["candidates"]:
        assert row["family"] in result.stdout
        assert f"{row['validation_nll']:.5f}" in result.stdout
    assert found["profile"]["statement"] in result.stdout
    assert found["plausible_tau"]["statement"] in result.stdout
    for note in found["notes"]:
        assert note["text"] in result.stdout


@pytest.mark.parametrize("penalty", [None, 0.0])
def test_a_penalty_is_noted(study, penalty):
    numbers = study.folder / "tau.json"
    given = [] if penalty is None else ["--penalty", penalty]
    assert fit(study, "--families", "frank", "--json", numbers, *given).exit_code == 0
    notes = json.loads(numbers.read_text(encoding="utf-8"))["notes"]
    assert [note["kind"] for note in notes if "--penalty 0" in note["text"]] == (
        ["decision"] if penalty is None else []
    )


def test_a_validation_part(study):
    numbers = study.folder / "tau.json"
    part = ["--validation", study.folder / "test.csv"]
    result = fit(study, *part, "--families", "frank", "--margins", "weibull", "--json", numbers)
    assert result.exit_code == 0, result.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert (found["how"], found["margins"]) == ("validation part", "weibull")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--families", "magic"], ["--families", "'independence', ", "'magic'"]),
        (["--families", "independence"], ["--families", "besides independence"]),
        (["--margins", "cox"], ["--margins", "'weibull', 'spline'", "'cox'"]),
        (["--penalty", "-1"], ["penalty", "-1"]),
        (["--figure", "tau.gif"], ["--figure", ".png or .pdf or .svg", "tau.gif"]),
        (["--json", "none/tau.json"], ["--json", "folder", "none"]),
        (["--validation", "other.csv"], ["other.csv is not there"]),
        (["--covariates", "died"], ["--covariates", "--event", "'died'"]),
        (["--administrative", "ended"], ["train.csv has no column 'ended'"]),
    ],
)
def test_options_that_are_refused(study, monkeypatch, options, parts):
    monkeypatch.chdir(study.folder)
    before = study.files()
    refusal(fit(study, *options), *parts)
    assert study.files() == before
