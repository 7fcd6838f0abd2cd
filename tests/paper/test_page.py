"""benchmarks/reproduction/README.md says what benchmarks/results say."""

import os
from pathlib import Path

import pytest

from benchmarks.reproduction import __main__ as reproduction


def test_the_page_holds_the_tables_of_the_results():
    page = reproduction.PAGE.read_text(encoding="utf-8")
    assert reproduction.fill(page, reproduction.own_tables()) == page


def test_the_page_holds_the_tables_beside_the_authors():
    authors = os.environ.get("COCENSOR_PUBLISHED")
    if authors is None:
        pytest.skip("COCENSOR_PUBLISHED names no folder with the authors' results")
    page = reproduction.PAGE.read_text(encoding="utf-8")
    assert reproduction.fill(page, reproduction.tables_beside(Path(authors))) == page


def test_the_page_has_its_figures():
    page = reproduction.PAGE.read_text(encoding="utf-8")
    for source, names in reproduction.FIGURES.items():
        for name in names:
            figure = f"figures/{name}-{source.rsplit('-', 1)[1]}.png"
            assert (reproduction.FOLDER / figure).is_file()
            assert figure in page


def test_a_table_without_a_place_is_an_error():
    with pytest.raises(ValueError, match="nothing.* 0"):
        reproduction.fill("a page", {"nothing": "a table"})
