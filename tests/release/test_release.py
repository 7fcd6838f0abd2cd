"""What a release promises in its files: versions, bounds, contents, names of the changelog."""

import inspect
import re
from types import SimpleNamespace

import typer.main

import cocensor
from cocensor import paper
from cocensor.cli import app
from cocensor.paper import datasets, learners
from cocensor.study import sensitivity
from tests.release.bounds import ROOT, oldest
from tests.release.contents import sdist_faults, wheel_faults
from tests.release.versions import version_faults

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
# What stands before the second version: what earlier ones had may be gone.
NEWEST = CHANGELOG[: [found.start() for found in re.finditer("^## ", CHANGELOG, re.MULTILINE)][1]]
BESIDE = {
    "FutureWarning",
    "openpyxl",
    "pyproject.toml",
    "demo",
    "reproduce",
}  # of Python, of files, of commands
BESIDE |= {"predict", "weights", "groups", "entry"}  # of models, and not there yet
BESIDE |= {"cocensor.__all__", "__all__", "sample_weight", "line", "point", "family", "tau"}


def test_version_and_date_are_the_same_everywhere():
    assert not list(version_faults())


def test_the_oldest_dependencies_are_the_bounds_of_the_project():
    """Else: python -m tests.release.bounds > constraints-oldest.txt"""
    assert (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8") == oldest()


def test_what_a_wheel_lacks_or_has_too_much_is_named():
    wheel = ["cocensor/__init__.py", "tests/test_a.py", "cocensor-0.2.0.dist-info/licenses/LICENSE"]
    faults = " ".join(
        wheel_faults(wheel, {"src/cocensor/__init__.py", "src/cocensor/b.py", "tests/test_a.py"})
    )
    assert all(name in faults for name in ("py.typed", "report.js", "tests/test_a.py", "cocensor/b.py"))
    assert "__init__.py, which" not in faults


def test_a_source_distribution_is_what_is_under_version_control():
    tracked = {"src/a.py", "examples/plot_a.py", ".ci/run", ".github/workflows/ci.yml"}
    assert not list(sdist_faults({"src/a.py", "examples/plot_a.py", "PKG-INFO", ".gitignore"}, tracked))
    faults = list(sdist_faults({"src/a.py", "data/patients.csv"}, tracked))
    assert len(faults) == 2
    assert "data/patients.csv" in faults[0]
    assert "examples/plot_a.py" in faults[1]


def test_the_changelog_is_short():
    assert CHANGELOG.count("\n") < 200


def test_what_the_changelog_names_is_there():
    texts = sorted(set(re.findall(r"`([^`\n]+)`", NEWEST)) - BESIDE)
    missing = [text for text in texts if re.match(r"[A-Za-z_.]+(\(.*\))?$", text) and not _is_there(text)]
    commands = typer.main.get_command(app).commands.values()
    options = {option for command in commands for entry in command.params for option in entry.opts}
    missing += [text for text in texts if not set(re.findall(r"(?<= )--[a-z-]+|^--[a-z-]+", text)) <= options]
    assert not missing


def _is_there(text: str) -> bool:
    """Whether a name, with its attributes and arguments, is one of the package or of its results."""
    dotted, _, arguments = text.partition("(")
    holder: object = _namespace()
    for name in dotted.removeprefix("cocensor.").split("."):
        if not hasattr(holder, name):
            return name in getattr(holder, "__dataclass_fields__", ())
        holder = getattr(holder, name)
    named = set(re.findall(r"(\w+)=", arguments))
    return not named or named <= set(inspect.signature(holder).parameters)


def _namespace() -> SimpleNamespace:
    homes = (
        "adjustments",
        "copulas",
        "data",
        "inference",
        "joint",
        "metrics",
        "plots",
        "scale",
        "simulate",
        "study",
    )
    homes += ("warnings",)
    by_name = {name: getattr(cocensor, name) for name in homes} | {"paper": paper}
    rooms = (
        learners,
        datasets,
        *by_name.values(),
        sensitivity,
        cocensor,
        sensitivity.Sensitivity,
        cocensor.Evaluation,
    )
    names = {name: getattr(room, name) for room in rooms for name in _public(room)}
    return SimpleNamespace(**names | by_name, cc=cocensor, result=cocensor.Evaluation)


def _public(room: object) -> list[str]:
    return getattr(room, "__all__", None) or [name for name in dir(room) if name[0] != "_"]
