"""What a stranger's machine installs and needs: the lock, the Makefile's environments, a browser."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import browser
from tests.release.bounds import ROOT

PINS = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
RUN = ROOT / ".ci" / "run"


def all_requirements():
    """Of users, of all groups, and of the build."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, groups = pyproject["project"], pyproject["dependency-groups"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), *groups.values()]
    for line in [*pyproject["build-system"]["requires"], *(line for lines in lists for line in lines)]:
        if isinstance(line, str) and not line.startswith("cocensor["):
            yield Requirement(line)


def made(target, *variables, path=None):
    """What ``make`` would run for a target."""
    environment = os.environ | ({} if path is None else {"PATH": str(path)})
    command = [shutil.which("make"), "--always-make", "--dry-run", target, *variables]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_the_lock_has_a_version_of_all_that_is_required():
    """Else: make lock"""
    wanted = [(canonicalize_name(each.name), each.specifier) for each in all_requirements()]
    assert "pip" in PINS
    assert not [name for name, specifier in wanted if name not in PINS or PINS[name] not in specifier]
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in PINS)
    assert all(re.fullmatch(r"[0-9.a-z]+", version) for version in PINS.values())


def test_what_is_installed_as_locked_needs_only_what_is_locked():
    """Else: make lock"""
    extras = {canonicalize_name(each.name): each.extras for each in all_requirements()}
    missing = set()
    for name, version in PINS.items():
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of a group that is not installed
            continue
        if found.version.split("+")[0] != version:
            continue
        for line in found.requires or ():
            needed = Requirement(line)
            asked = ({"extra": extra} for extra in extras.get(name, set()) | {""})
            if needed.marker is None or any(map(needed.marker.evaluate, asked)):
                missing |= {canonicalize_name(needed.name)} - set(PINS)
    assert not missing


@pytest.mark.parametrize("target", ["demo", "test", "lint", "docs", "dist"])
def test_versions_are_those_of_the_lock(target):
    lines = made(target)
    installed = [line for line in lines if " pip " in line and " install " in line]
    assert any("--editable" in line for line in installed)
    assert all("--constraint constraints.txt" in line for line in installed)
    assert all("PIP_CONSTRAINT=constraints.txt" in line for line in lines if " -m build " in line)


@pytest.mark.parametrize("target", ["test-newest", "test-oldest"])
def test_the_newest_and_the_oldest_are_not_held_by_the_lock(target):
    lines = made(target, "PYTHONS=python3")
    [installed] = [line for line in lines if "--editable" in line]
    assert f"'torch=={PINS['torch']}'" in installed
    assert ("constraints-oldest.txt" in installed) == (target == "test-oldest")
    assert " constraints.txt" not in installed


def commands(folder, *names, **scripts):
    """A folder with some of the system's commands, and with scripts."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    for name, script in scripts.items():
        at = folder / name
        at.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        at.chmod(0o755)
    return folder


def test_help_needs_no_sed(tmp_path):
    """BSD's writes a letter for a tab."""
    # The Makefile asks a shell which Pythons there are, before any target.
    path = commands(tmp_path / "bin", "sh", "awk", "grep")
    ran = subprocess.run(
        [shutil.which("make"), "help"], cwd=ROOT, env={"PATH": str(path)}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert all(re.fullmatch(r"[a-z-]{3,14} +[A-Z].+", line) for line in lines)
    phony = re.search(r"^\.PHONY: (help .*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert [line.split()[0] for line in lines] == phony[1].split()


@pytest.mark.parametrize("name", browser.NAMES)
def test_the_browser_is_found_by_any_of_its_names(name, tmp_path, monkeypatch):
    path = commands(tmp_path / "bin", **{name: "exit 0"})
    monkeypatch.setenv("PATH", str(path))
    assert browser.chromium() == str(path / name)


@pytest.mark.skipif(not RUN.exists(), reason="a source distribution has no .ci")
@pytest.mark.parametrize("there", ["a browser", "apt-get", "nothing"])
def test_apt_get_is_called_where_it_is_and_no_browser(there, tmp_path):
    told = {"make": "echo make $@", "id": "echo 0", "python3": f"exec '{sys.executable}' \"$@\""}
    told |= {"a browser": {"google-chrome": "exit 0"}, "apt-get": {}, "nothing": {}}[there]
    told |= {} if there == "nothing" else {"apt-get": "echo apt-get $@ >&2"}
    path = commands(tmp_path / "bin", "bash", "dirname", **told)
    ran = subprocess.run(
        [shutil.which("bash"), RUN], cwd=tmp_path, env={"PATH": str(path)}, capture_output=True, text=True
    )
    installed = "apt-get install" in ran.stderr
    assert installed == (there == "apt-get")
    if there == "nothing":
        assert ran.returncode == 1
        assert ran.stdout == ""
        [sentence] = ran.stderr.splitlines()
        assert "chromium" in sentence
    else:
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.split("\n")[:2] == ["make lint", "make test"]
