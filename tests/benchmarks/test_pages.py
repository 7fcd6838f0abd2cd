"""Pages include tables that jobs print."""

import re
from pathlib import Path

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
