"""Options that stand for nothing are refused before a file is read or written."""

import pytest

import cocensor as cc
from tests.cli.study import TIMES, Study, refusal, run


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--copula", "clayton"], ["--tau", "clayton"]),
        (["--copula", "select", "--tau", "0.5"], ["--tau", "--copula", "select"]),
        (["--copula", "plackett"], ["--copula", "'select', 'independence', 'clayton'", "'plackett'"]),
        (["--copula", "gumbel", "--tau", "-0.5"], ["tau of the gumbel copula", "[0, 1)", "-0.5"]),
        (["--horizon", "late"], ["--horizon", "'late'"]),
        (["--horizon", "150%"], ["horizon['at_risk']", "1.5"]),
        (["--horizon", "-1"], ["horizon", "-1"]),
        (["--adjustments", "magic"], ["--adjustments", "'ipcw', ", "'magic'"]),
        (["--adjustments", "ipcw,ipcw"], ["--adjustments", "'ipcw' twice"]),
        (["--adjustments", "imputation_covariates"], ["--covariates", "'imputation_covariates'"]),
        (["--metrics", "gini"], ["--metrics", "'default', 'ibs', 'brier'", "'gini'"]),
        (["--metrics", "ibs,ibs"], ["--metrics", "'ibs' twice"]),
        (["--metrics", "default,brier"], ["--metrics", "'default,brier'"]),
        (["--metrics", "ils"], ["--metrics ils must be given as ils:0.01, but is 'ils'"]),
        (["--metrics", "ibs:0.1"], ["--metrics ibs must be given as ibs, but is 'ibs:0.1'"]),
        (["--metrics", "net_benefit"], ["--metrics net_benefit must be given as net_benefit:0.2"]),
        (["--metrics", "net_benefit:2"], ["threshold", "2"]),
        (["--metrics", "brierr"], ["did you mean 'brier'?"]),
        (["--time", "month"], ["no column 'month' (did you mean 'months'?)"]),
        (["--margin", "-1"], ["--margin must not be negative, but is -1"]),
        (["--metrics", "brier", "--at", "1,x"], ["--at", "'x'"]),
        (["--metrics", "brier", "--at", "-1"], ["--at", "-1"]),
        (["--metrics", "brier", "--at", "1,77"], ["at", "77"]),
        (["--risk", "age"], ["--risk", "NAME=COLUMN", "'age'"]),
        (["--risk", "cox=age"], ["--risk", "'cox' comes twice"]),
        (["--risk", "old=aeg"], ["test.csv", "'aeg'"]),
        (["--risk", "stage=stage"], ["test.csv", "'stage'"]),
        (["--confidence", "sure"], ["--confidence", "'sure'"]),
        (["--confidence", "95"], ["--confidence", "0 and 1", "95"]),
        (["--confidence", "0"], ["--confidence", "0 and 1", "is 0."]),
        (["--confidence", "nan"], ["--confidence", "nan"]),
        (["--bootstrap", "1"], ["--bootstrap", "from 2 on", "is 1."]),
        (["--bootstrap", "9", "--seed", "-1"], ["--seed", "-1"]),
        (["--bootstrap", "9", "--confidence", "none"], ["--bootstrap", "--confidence", "none"]),
        (["--seed", "1"], ["--seed", "--bootstrap"]),
        (["--families", "magic"], ["--families", "'clayton'", "'magic'"]),
        (["--families", "clayton,independence"], ["--families", "independence"]),
        (["--families", "clayton,joe", "--taus", "0,-0.5"], ["--taus", "-0.5", "clayton, joe"]),
        (["--taus", "0,x"], ["--taus", "'x'"]),
        (["--families", "hazard_ratio"], ["--families", "hazard_ratio"]),
        (["--hazard-ratios", "1,0"], ["--hazard-ratios", "0"]),
        (["--hazard-ratios", "1,2", "--families", "frank"], ["--families", "--hazard-ratios", "frank."]),
        (["--hazard-ratio-by", "stage", "--families", "joe"], ["--families", "--hazard-ratio-by", "joe"]),
        (
            ["--hazard-ratio-by", "patient", "--families", "joe,hazard_ratio"],
            ["test.csv", "--hazard-ratio-by", "at most"],
        ),
        (["--plausible", "0.3,0"], ["--plausible", "0.3, 0"]),
        (["--plausible", "0,1"], ["--plausible", "1"]),
        (["--hazard-ratio-by", "nowhere", "--families", "joe,hazard_ratio"], ["nowhere"]),
        (["--taus", "0,1"], ["--taus", "-1 and 1", "is 1."]),
        (["--covariates", "age,,stage"], ["--covariates", "'age,,stage'"]),
        (["--covariates", "age,months"], ["--covariates", "--time", "'months'"]),
        (["--covariates", "died"], ["--covariates", "--event", "'died'"]),
        (
            ["--covariates", "stage", "--administrative", "stage"],
            ["--covariates", "--administrative", "'stage'"],
        ),
        (["--covariates", "patient"], ["--covariates", "--id", "'patient'"]),
        (["--interpolation", "cubic"], ["--interpolation", "'linear', 'step'", "'cubic'"]),
        (["--tail", "zero"], ["--tail", "'none', 'last'", "'zero'"]),
        (["--title", "A study"], ["--title", "--out"]),
        (["--predictions", "rsf"], ["--predictions", "NAME=FILE", "'rsf'"]),
        (["--predictions", "new/rsf.csv"], ["--predictions", "NAME=FILE", "'rsf=new/rsf.csv'"]),
        (["--predictions", "=rsf.csv"], ["--predictions", "NAME=FILE", "'=rsf.csv'"]),
        (["--predictions", "a\x1b[2J=rsf.csv"], ["--predictions", "NAME=FILE", "'a\\x1b[2J=rsf.csv'"]),
        (["--predictions", "a\nb=rsf.csv"], ["--predictions", "NAME=FILE", "'a\\nb=rsf.csv'"]),
        (["--predictions", "a\u2028b=rsf.csv"], ["--predictions", "NAME=FILE", "'a\\u2028b=rsf.csv'"]),
        (["--predictions", "cox=rsf.csv"], ["--predictions", "'cox' comes twice"]),
        (["--predictions", "rsf=rsf.csv"], ["rsf.csv is not there"]),
    ],
)
def test_options_that_are_refused(study, monkeypatch, options, parts):
    monkeypatch.chdir(study.folder)
    before = study.files()
    refusal(study.evaluate(*options, "--json", "out.json"), *parts)
    assert study.files() == before


def test_help_groups_its_options():
    shown = run("evaluate", "--help").output
    for panel in ("Data", "Predictions", "Assumptions about the censoring", "Scores", "Output"):
        assert panel in shown


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Whether Python accepts what is asked, and whether the command line does."""
    study = Study(tmp_path_factory.mktemp("both"))
    y = cc.Survival(study.test["months"].to_numpy(), study.test["died"].to_numpy())
    models = {
        "cox": cc.Predictions(TIMES, study.predictions["cox"].drop(columns="patient").to_numpy(), "linear")
    }
    files = ["--test", study.folder / "test.csv", "--predictions", f"cox={study.folder / 'cox.csv'}"]
    columns = ["--time", "months", "--event", "died", "--id", "patient"]

    def accepted(asked, grid):
        asked = {"metrics": "ibs", "adjustments": "imputation"} | asked
        grid = {"families": "clayton", "taus": 0.2} | grid
        try:
            cc.evaluate(models, y, **asked).sensitivity(**grid)
            by_python = True
        except ValueError:
            by_python = False
        options = [f"--{name.replace('_', '-')}={written(value)}" for name, value in (asked | grid).items()]
        by_command = run("evaluate", *files, *columns, *options)
        assert by_command.exit_code in (0, 2), by_command.output
        assert by_command.exit_code == 0 or not by_command.stdout, "refused when scores were there"
        return by_python, by_command.exit_code == 0

    return accepted


def written(value):
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(
    ("asked", "grid", "fine"),
    [
        ({"adjustments": "default"}, {}, True),
        ({"adjustments": ["default", "ipcw"]}, {}, False),
        ({"metrics": []}, {}, False),
        ({"metrics": "brier", "at": [1, 1]}, {}, True),
        ({"metrics": "brier", "at": [1e400]}, {}, False),
        ({"metrics": "brier", "at": []}, {}, False),
        ({"horizon": 0}, {}, False),
        ({}, {"taus": [0.2, 0.2]}, True),
        ({}, {"taus": [-0.2]}, False),
        ({}, {"taus": []}, False),
        ({}, {"families": ["clayton", "independence"]}, False),
        ({}, {"families": ["clayton", "clayton"]}, False),
        ({}, {"plausible": [0.1, 0.1]}, True),
        ({}, {"plausible": [0.2, 0.1]}, False),
        ({}, {"families": ["clayton", "hazard_ratio"], "hazard_ratios": [2, 2]}, True),
        ({}, {"families": ["clayton", "hazard_ratio"], "hazard_ratios": [1e400]}, False),
    ],
    ids=str,
)
def test_python_and_the_command_line_refuse_the_same(both, asked, grid, fine):
    assert both(asked, grid) == (fine, fine)
