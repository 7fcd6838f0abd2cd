"""docs/reproduction.md says what benchmarks/results say."""

from pathlib import Path

import pytest

from benchmarks.reproduction import __main__ as reproduction

AUTHORS = Path(__file__).parents[3] / "shared" / "paper" / "published_results"


def test_the_page_holds_the_tables_of_the_results():
    page = reproduction.PAGE.read_text(encoding="utf-8")
    assert reproduction.fill(page, reproduction.own_tables()) == page


def test_the_page_holds_the_tables_beside_the_authors():
    if not AUTHORS.is_dir():
        pytest.skip("the authors' results are not there")
    page = reproduction.PAGE.read_text(encoding="utf-8")
    assert reproduction.fill(page, reproduction.tables_beside(AUTHORS)) == page


def test_the_page_has_its_figures():
    page = reproduction.PAGE.read_text(encoding="utf-8")
    for source, names in reproduction.FIGURES.items():
        for name in names:
            figure = f"figures/{name}-{source.rsplit('-', 1)[1]}.png"
            assert (reproduction.DOCS / figure).is_file()
            assert figure in page


def test_a_table_without_a_place_is_an_error():
    with pytest.raises(ValueError, match="must have one place for nothing, but has 0"):
        reproduction.fill("a page", {"nothing": "a table"})
