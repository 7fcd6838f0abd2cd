"""Every block of code on every page runs.

Python at a prompt is run by doctest. Shell commands are run here, page by page and in their order, in a folder with the
files that they name; scripts that a page tells to save are saved there first. It takes a minute: `make docs` does it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from tests.docs.pages import PAGES, ROOT, Block, blocks

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ELSEWHERE = {
    "README.md": "tests/test_readme.py",
    "from-r.md": "tests/docs/test_from_r.py",
}
# What sets up a machine or runs for hours is not run: environments, clones, servers.
SETS_UP = re.compile(
    r"^(python3 -m venv|\. env/|\S*pip install|git clone|cd |dask |\S*Rscript |cocensor demo$)"
)
MAKES = re.compile(r"^make( [A-Z]+=\S+)* ([a-z-]+)")


def commands(block: Block) -> list[str]:
    joined = block.text.replace("\\\n", " ")
    return [line.strip() for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def with_shell(page: Path) -> bool:
    return page.name not in ELSEWHERE and any(block.language in ("sh", "toml") for block in blocks(page))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with all files that pages speak of: 60 test subjects, and as many to train with."""
    folder = tmp_path_factory.mktemp("study")
    data = SyntheticDesign(n=120, n_features=2, copula=cc.Clayton.from_tau(0.3)).draw(1)
    rng = np.random.default_rng(1)
    months = np.maximum(np.round(data.y.time / np.quantile(data.y.time, 0.9) * 60, 1), 0.1)
    admitted = pd.Timestamp("2014-01-01") + pd.to_timedelta(rng.integers(0, 700, 120), unit="D")
    last_seen = admitted + pd.to_timedelta(np.round(months * 30.4375), unit="D")
    locked = pd.Timestamp("2020-12-31")
    ended = last_seen > locked
    died = data.y.event & ~ended
    table = pd.DataFrame(
        {
            "patient": np.arange(120),
            "months": months,
            "died": died,
            "age": 60 + 10 * data.X[:, 0],
            "stage": np.where(data.X[:, 1] > 0.5, "II", "I"),
            "study_ended": ended,
            "admitted": admitted.date,
            "last_seen": last_seen.where(~ended, locked).date,
            "why_left": np.where(died | ended, "", np.where(data.X[:, 0] > 0.5, "moved", "side effects")),
            "score": data.X[:, 0],
        }
    )
    times = [6.0, 12.0, 24.0, 36.0, 48.0, 60.0]
    outcomes = cc.Survival(months[:60], died[:60])
    for name, part in (("train", table[:60]), ("test", table[60:])):
        part.to_csv(folder / f"{name}.csv", index=False)
    predicted = {}
    for name, columns in (("cox", [0, 1]), ("rsf", [0])):
        curves = cc.CoxPH().fit(data.X[:60, columns], outcomes).survival(times, data.X[60:, columns])
        predicted[name] = pd.DataFrame(curves, columns=[f"{time:g}" for time in times])
        predicted[name].insert(0, "patient", np.arange(60, 120))
    predicted["cox"].to_csv(folder / "cox.csv", index=False)
    predicted["rsf"].to_parquet(folder / "rsf.parquet", index=False)
    for name, part in {"test": table[60:], **predicted}.items():
        (folder / name).mkdir()
        for k, rows in enumerate((slice(0, 25), slice(25, None))):
            part[rows].to_parquet(folder / name / f"part-{k}.parquet", index=False)
    return folder


def test_every_block_has_a_language_that_is_run():
    unknown = [
        str(block)
        for page in PAGES
        for block in blocks(page)
        if block.language not in ("", "sh", "toml", "python", "console")
    ]
    assert not unknown


def test_what_is_shown_at_a_prompt_of_the_shell_only_sets_up():
    """Blocks of a terminal are not run."""
    run_nowhere = [
        f"{block}: {line}"
        for page in PAGES
        for block in blocks(page)
        if block.language == "console"
        for line in commands(block)
        if not SETS_UP.match(line.removeprefix("$ "))
    ]
    assert not run_nowhere


def test_python_is_at_a_prompt_or_a_script_with_a_name():
    """What is neither is run by nothing."""
    loose = [
        str(block)
        for page in PAGES
        for block in blocks(page)
        if block.language == "python"
        and page.name not in ELSEWHERE
        and not block.text.lstrip().startswith(">>>")
        and not re.search(r"`\w+\.py`", block.before)
    ]
    assert not loose


@pytest.mark.site
@pytest.mark.parametrize("page", list(filter(with_shell, PAGES)), ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, study, tmp_path, request):
    for kept in study.iterdir():
        (tmp_path / kept.name).symlink_to(kept)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    for block in blocks(page):
        if block.language == "toml":
            (tmp_path / "by_hand.toml").write_text(block.text, encoding="utf-8")
            run("cocensor evaluate --config by_hand.toml", tmp_path, environment, block)
        elif block.language == "python" and not block.text.lstrip().startswith(">>>"):
            [name] = re.findall(r"`(\w+\.py)`", block.before)
            (tmp_path / name).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            for command in commands(block):
                made = MAKES.match(command)
                if made:
                    assert re.search(rf"^{made[2]}:", MAKEFILE, re.MULTILINE), f"{block}: {command}"
                elif not SETS_UP.match(command):
                    run(spelled_out(command, request), tmp_path, environment, block)


def spelled_out(command: str, request: pytest.FixtureRequest) -> str:
    """With the options that an ellipsis stands for, and a cluster that is there."""
    command = re.sub(r"^env/bin/", "", command)
    if "tcp://scheduler:8786" in command:
        cluster = request.getfixturevalue("cluster")
        command = command.replace("tcp://scheduler:8786", cluster.scheduler_address)
    streamed = "'test/*.parquet'" in command
    more = (
        "--id patient --predictions cox='cox/*.parquet'"
        if streamed
        else "--test test.csv --id patient --predictions cox=cox.csv"
    )
    return re.sub(r" (\.\.\.|…)", f" {more} --time months --event died", command)


def run(command: str, folder: Path, environment: dict[str, str], block: Block) -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{block}: {command}\n{done.stdout}{done.stderr}"
