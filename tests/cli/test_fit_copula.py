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
    choice = cc.select_copula(study.train[["age"]], y, families=("clayton", "frank"), penalty=2 / len(y))
    profile = choice.profile()
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert [each["family"] for each in found["candidates"]] == ["independence", "clayton", "frank"]
    for row in found["candidates"]:
        assert row["tau"] == pytest.approx(choice.models[row["family"]].copula.tau, abs=1e-9)
        assert row["validation_nll"] == pytest.approx(choice.validation[row["family"]], abs=1e-9)
    assert found["supported"]["frank"] == pytest.approx(list(profile.supported("frank")))
    assert found["statement"] == profile.statement
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert not [name for name in study.files() if name.startswith(".")]


def test_output_has_the_table_the_profile_and_all_caveats(study):
    result = fit(study, "--families", "frank")
    assert result.exit_code == 0, result.output
    for words in (
        "independence",
        "frank",
        "converged",
        "← chosen",
        "not told from the best (95 %)",
        "τ is identified by the assumed form of the margins alone",
        "draws θ and τ of the candidates towards independence",
    ):
        assert words in result.stdout
    assert "draws θ" not in fit(study, "--families", "frank", "--penalty", "0").stdout


def test_a_validation_part(study):
    numbers = study.folder / "tau.json"
    part = ["--validation", study.folder / "test.csv"]
    result = fit(study, *part, "--families", "frank", "--margins", "spline", "--json", numbers)
    assert result.exit_code == 0, result.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    assert (found["how"], found["margins"]) == ("validation part", "spline")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--families", "magic"], "--families must be one of 'independence', "),
        (["--families", "independence"], "--families must have one besides independence."),
        (["--margins", "cox"], "--margins must be one of 'weibull', 'spline', but is 'cox'."),
        (["--penalty", "-1"], "penalty must "),
        (["--figure", "tau.gif"], "--figure must end in .png or .pdf or .svg, but is tau.gif."),
        (["--json", "none/tau.json"], "--json must lie in an existing folder, but none is none."),
        (["--validation", "other.csv"], "other.csv cannot be read: No such file or directory."),
        (["--covariates", "died"], "--covariates must not name the column of --event, but has 'died'."),
        (["--administrative", "ended"], "train.csv has no column 'ended'"),
    ],
)
def test_options_that_are_refused(study, monkeypatch, options, message):
    monkeypatch.chdir(study.folder)
    before = study.files()
    assert message in refusal(fit(study, *options))
    assert study.files() == before
