"""The README's second section, word by word: its script and its command, in an empty folder."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.fixture(scope="module")
def section():
    return README.read_text(encoding="utf-8").split("## From your files to a report")[1].split("\n## ")[0]


def test_from_files_to_a_report(section, tmp_path):
    [script] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    [command] = re.findall(r"env/bin/(cocensor evaluate .*?)\n```", section, re.DOTALL)
    [promised] = re.findall(r"It prints\n\n```\n(.*?)```", section, re.DOTALL)
    (tmp_path / "models.py").write_text(script, encoding="utf-8")
    subprocess.run([sys.executable, "models.py"], cwd=tmp_path, check=True)
    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "cocensor", *arguments],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    printed = " ".join(done.stdout.split())
    for part in promised.split("...\n"):
        assert " ".join(part.split()) in printed
    assert (tmp_path / "report.html").stat().st_size < 8e6
