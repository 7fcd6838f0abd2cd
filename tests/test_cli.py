import subprocess
import sys

import pytest
from typer.testing import CliRunner

import cocensor
from cocensor.cli import app


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_demo_prints_a_table_and_saves_a_figure(tmp_path):
    out = tmp_path / "figure.png"
    result = run("demo", "--n", "500", "--out", str(out))
    assert result.exit_code == 0, result.output
    for word in ("month", "truth", "Kaplan-Meier", "Copula-Graphic", "500 simulated patients"):
        assert word in result.output
    assert out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tau", "1.5"], "Error: tau of the clayton copula must lie in [0, 1), but is 1.5."),
        (["--family", "plackett"], "Error: name must be one of independence, clayton"),
        (["--family", "gaussian"], "Error: copula must be Archimedean"),
        (["--out", "missing/figure.png"], "Error: out must lie in an existing folder, but missing is none."),
        (["--out", "figure.gif"], "Error: out must end in .png, .pdf or .svg, but is figure.gif."),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", refuse)
    result = run("demo", "--n", "50", "--out", str(tmp_path / "figure.png"))
    assert result.exit_code == 2
    assert "Error: the figure cannot be written to" in result.output
    assert result.output.rstrip().endswith("No space left on device.")
    assert not list(tmp_path.iterdir())


def test_independence_is_called_so(tmp_path):
    result = run("demo", "--n", "50", "--tau", "0", "--out", str(tmp_path / "figure.png"))
    assert "Event and dropout are independent." in result.output


def test_version_and_help():
    assert run("--version").output.strip() == f"cocensor {cocensor.__version__}"
    assert "demo" in run("--help").output
    module = subprocess.run(
        [sys.executable, "-m", "cocensor", "--version"], capture_output=True, text=True, check=True
    )
    assert module.stdout.strip() == f"cocensor {cocensor.__version__}"
