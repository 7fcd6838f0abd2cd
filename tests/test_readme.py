"""What the README promises: its script and its commands, word by word, in an empty folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
OWN_FILES = README.split("## Your own files")[1].split("\n## ")[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the files that the script writes."""
    made = tmp_path_factory.mktemp("own")
    [script] = re.findall(r"```python\n(.*?)```", OWN_FILES, re.DOTALL)
    (made / "models.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, "models.py"], cwd=made, check=True)
    return made


@pytest.fixture(scope="module")
def command():
    [found] = re.findall(r"env/bin/(cocensor evaluate .*?)\n```", OWN_FILES, re.DOTALL)
    return shlex.split(found.replace("\\\n", " "))[1:]


def printed(arguments, folder):
    run = [sys.executable, "-m", "cocensor", *arguments]
    done = subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True)
    return " ".join(done.stdout.split())


def promised(section):
    """The parts of what a section says is printed."""
    [found] = re.findall(r"prints\n\n```\n(.*?)```", section, re.DOTALL)
    return [" ".join(part.split()) for part in found.split("...\n")]


@pytest.mark.program
def test_from_own_files_to_a_report(folder, command):
    shown = printed(command, folder)
    assert all(part in shown for part in promised(OWN_FILES))
    assert (folder / "report.html").stat().st_size < 2e6


def test_it_is_short_and_its_links_lead_somewhere():
    assert README.count("\n") <= 110
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    assert links
    assert not [link for link in links if not (Path(__file__).parent.parent / link).exists()]
