"""The page of parity names all values of other software, and the tests and tolerances that it speaks of are there."""

import ast
import re
from pathlib import Path

import pytest

from tests.oracles.data import VALUES, values

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "tests" / "oracles" / "README.md").read_text(encoding="utf-8")
FILES = sorted(path.stem for path in VALUES.glob("*.json"))
# Every row of a table that names a test.
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and "::test_" in line]
NUMBER = re.compile(r"\b\d(?:\.\d)?e-\d+\b")


def rows_of(name):
    return [row for row in ROWS if f"`{name}.json`" in row]


def test_rows_were_found():
    assert len(ROWS) >= 35


@pytest.mark.parametrize("name", FILES)
def test_values_of_r_have_a_row_their_script_and_their_versions(name):
    assert rows_of(name)
    assert (ROOT / "tests" / "oracles" / "scripts" / f"{name}.R").exists()
    for package, version in re.findall(r"(\w+) (\d[\d.]+)", values(name)["source"]):
        assert f"{package} {version}" in PAGE


@pytest.mark.parametrize("name", FILES)
def test_the_data_of_a_file_are_those_of_its_rows(name):
    data_sets = {key for key, value in values(name).items() if isinstance(value, dict)}
    named = set(re.findall(r"`(gbsg\w*|whas500|veteran)`", " ".join(rows_of(name))))
    assert named == data_sets


def test_no_row_speaks_of_a_file_that_is_not_there():
    assert set(re.findall(r"`(\w+)\.json`", " ".join(ROWS))) == set(FILES)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_test_with_its_tolerances(row):
    path, name = re.search(r"`(tests/[\w/]+\.py)::(test_\w+)`", row).groups()
    source = (ROOT / path).read_text(encoding="utf-8")
    statements = ast.parse(source).body
    [test] = [each for each in statements if isinstance(each, ast.FunctionDef) and each.name == name]
    # Tolerances stand in the test, in its parameters, or in what the tests of the file share.
    shared = [each for each in statements if not getattr(each, "name", "").startswith("test_")]
    parts = [*test.decorator_list, test, *shared]
    used = set(NUMBER.findall(" ".join(ast.get_source_segment(source, part) for part in parts)))
    stated = set(NUMBER.findall(row))
    assert stated
    assert stated <= used
