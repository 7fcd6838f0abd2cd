"""The map in CONTRIBUTING.md names the rooms and files that there are, in few words."""

import re

from tests.docs.pages import ROOT

SOURCE = ROOT / "src/cocensor"
MOST_WORDS = 25


def rooms():
    """The rows of the map, by room."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1]
    rows = (line.strip("| ").split(" | ", 1) for line in section.splitlines() if line.startswith("| `"))
    return {re.findall(r"`([\w/]+)`", names)[0]: text for names, text in rows}


def test_every_room_is_on_the_map_in_few_words():
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.glob("*/__init__.py")}
    assert packages <= set(rooms())
    for room, text in rooms().items():
        assert len(re.sub(r"\]\([^)]*\)|`[^`]*`", "x", text).split()) <= MOST_WORDS, room


def test_files_that_the_map_names_are_there():
    for room, text in rooms().items():
        folder = SOURCE if room.startswith("_") else SOURCE / room
        for name in re.findall(r"`(\w+\.py)`", text):
            assert list(folder.glob(f"**/{name}")), (room, name)


def test_other_files_that_the_page_names_are_there():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+/\w+\.py)[`:]", page):
        assert any((folder / name).exists() for folder in (ROOT, SOURCE)), name
