import subprocess
import sys

import pytest
from typer.testing import CliRunner

import cocensor
from cocensor.cli import app
from tests.cli.study import refusal, run


def test_version_and_help():
    assert run("--version").output.strip() == f"cocensor {cocensor.__version__}"
    assert "demo" in run("--help").output
    module = subprocess.run(
        [sys.executable, "-m", "cocensor", "--version"], capture_output=True, text=True, check=True
    )
    assert module.stdout.strip() == f"cocensor {cocensor.__version__}"


@pytest.mark.parametrize("command", ["evaluate", "fit-copula", "demo", "reproduce"])
def test_every_command_shows_an_example(command):
    shown = run(command, "--help")
    assert shown.exit_code == 0
    assert f"Example: cocensor {command}" in " ".join(shown.output.split())


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["demo", "--help"]], ids=" ".join)
def test_what_the_terminal_cannot_spell_becomes_a_question_mark(encoding, arguments):
    shown = CliRunner(charset=encoding).invoke(app, arguments)
    assert shown.exit_code == 0, shown.exception
    assert ("?" in shown.output) or "τ" not in run(*arguments).output


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["demo", "--n", "many"], "--n"),
        (["demo", "--colour", "red"], "--colour"),
        (["evaluate", "--train", "a.csv"], "--test"),
        (["guess"], "guess"),
    ],
)
def test_wrong_options_are_one_line(arguments, part):
    refusal(run(*arguments), part)


@pytest.mark.parametrize("option", ["--weights", "--sample-weight", "--groups", "--clusters", "--landmark"])
def test_options_that_are_not_there_yet(option):
    refusal(
        run("evaluate", "--test", "test.csv", "--event", "died", option, "w"),
        f"{option} is not supported yet: ",
    )
