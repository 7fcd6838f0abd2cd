"""Pages include tables that jobs print."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import KEPT
from benchmarks.jobs import JOBS

DOCS = Path(__file__).parents[2] / "docs"
INCLUDE = re.compile(r"```\{include\} [./]*/benchmarks/results/bench/([\w-]+)\.md\n(.*?)```", re.DOTALL)
INCLUDED = sorted(
    (page.relative_to(DOCS).as_posix(), *found)
    for page in DOCS.rglob("*.md")
    for found in INCLUDE.findall(page.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize(("page", "name", "options"), INCLUDED)
def test_an_included_table_is_there_between_its_marks(page, name, options):
    assert name in {"run", "studies", *(job.name for job in JOBS)}
    text = (KEPT / f"{name}.md").read_text(encoding="utf-8")
    for place in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.MULTILINE):
        assert text.count(place) == 1


def test_pages_of_validation_say_at_which_commit_their_tables_were_made():
    with_tables = {page for page, name, _ in INCLUDED if name != "run"}
    assert with_tables
    assert with_tables <= {page for page, name, _ in INCLUDED if name == "run"}


# --- figures that the first page of validation takes from tables of kept rows ----------------------------------


def table(name, slug):
    """Rows of a table by their first cell, as the first number of every other cell."""
    text = (KEPT / f"{name}.md").read_text(encoding="utf-8")
    inside = text.split(f"<!-- table: {slug} -->")[1].split(f"<!-- end: {slug} -->")[0]
    _, _, *lines = [line.strip("| ").split(" | ") for line in inside.splitlines() if line.startswith("|")]
    return {tuple(line): [first_number(cell) for cell in line[1:]] for line in lines}


def first_number(cell):
    found = re.search(r"-?\d+(?:\.\d+)?", cell)
    return float(found[0]) if found else np.nan


def test_the_first_page_has_the_figures_of_the_tables():
    page = " ".join((DOCS / "validation" / "index.md").read_text(encoding="utf-8").split())
    for slug in ("scores", "differences"):
        rows = {row[0]: values for row, values in table("coverage", slug).items()}
        of = [f"{law}, {n}" for law in ("linear", "nonlinear, form given") for n in ("500", "2,000")]
        assert np.mean([rows[each][:3] for each in of]) == pytest.approx(94.9, abs=0.1)
    assert "in 94.9% of the samples" in page
    rows = {row[0]: values for row, values in table("coverage", "scores").items()}
    both = np.mean([rows["linear, 2,000"], rows["nonlinear, 2,000"]], axis=0)
    assert f"{both[3]:.0f}% at τ = 0, in {both[4]:.0f}% at τ = 0.3 and in {both[5]:.0f}% at τ = 0.6" in page
    bands = np.mean([values[2:] for values in table("coverage", "bands").values()])
    tips = np.mean([values[4] for values in table("coverage", "tips").values()])
    assert f"in {bands:.1f}% and intervals of tipping points cover in {tips:.1f}% of the samples" in page
    floor = {row[0]: values for row, values in table("floor", "scores").items()}
    judge, ipcw = floor["imputed, true"][-2], floor["IPCW (KM)"][-2]
    assert f"{judge:.1f} times as far as the best that is possible; IPCW is {ipcw:.1f} times as far" in page
    ratios = {row[0]: values[-1] for row, values in table("discrimination", "goals-1000").items()}
    auc, concordance = 100 * ratios["auc"], 100 * ratios["concordance"]
    assert f"their errors are {auc:.0f} and {concordance:.0f}% of IPCW's" in page
