"""The pages of the project, and the blocks of code in them."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MADE = ("docs/_build", "docs/gallery", "docs/api/generated")  # by `make docs`
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))
    if not page.relative_to(ROOT).as_posix().startswith(MADE)
)
_FENCE = re.compile(r"^ *(`{3,})(.*)$")  # `:::` holds text as any other


@dataclass(frozen=True)
class Block:
    """Code between fences, by its language (empty for plain text)."""

    page: Path
    line: int
    language: str
    text: str
    #: The last line of prose before it.
    before: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All of a page, also within directives of the site."""
    return _blocks(page, page.read_text(encoding="utf-8").split("\n"), 0)


def _blocks(page: Path, lines: list[str], first: int) -> list[Block]:
    found, before, k = [], "", 0
    while k < len(lines):
        opened = _FENCE.match(lines[k])
        if opened:
            language, start = opened[2].strip(), k + 1
            k = next(at for at in range(start, len(lines)) if lines[at].strip() == opened[1])
            inside = lines[start:k]
            if language.startswith("{"):
                found += _blocks(page, inside, first + start)
            else:
                text = textwrap.dedent("\n".join(inside))
                found.append(Block(page, first + start + 1, language, text, before))
        elif lines[k].strip():
            before = lines[k]
        k += 1
    return found
