"""The short paper: as long as the journal wants it, with every reference in its bibliography."""

import re

from tests.docs.pages import ROOT

PAPER = (ROOT / "joss" / "paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (ROOT / "joss" / "paper.bib").read_text(encoding="utf-8")


def test_it_has_250_to_1000_words():
    text = PAPER.split("---", 2)[2]
    assert 250 <= len(re.findall(r"\w[\w'.,-]*", text)) <= 1000


def test_citations_and_references_are_the_same():
    cited = set(re.findall(r"@([a-z]+(?:\d{4})?)", PAPER.split("---", 2)[2]))
    listed = re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY)
    assert len(listed) == len(set(listed))
    assert cited == set(listed)
