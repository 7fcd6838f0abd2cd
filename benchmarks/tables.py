"""Tables in Markdown between marks, ``<!-- table: SLUG -->`` and ``<!-- end: SLUG -->``, for pages to include."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

#: Prints a row of cells.
PrintRow = Callable[..., None]
_MARK = re.compile(r"<!-- (table|end): ([a-z0-9-]+) -->")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """The first ``left`` columns are set to the left, the others, which hold figures, to the right."""
    return "\n".join(_lines(head, rows, left))


def marked(slug: str, text: str) -> str:
    """A table between its marks."""
    return f"{_begin(slug)}\n\n{text}\n\n{_end(slug)}"


def section(title: str, slug: str, table: str) -> str:
    """A marked table below its heading."""
    return f"## {title}\n\n{marked(slug, table)}"


def slug_of(*words: object) -> str:
    """A mark's name from labels and numbers."""
    return "-".join(
        re.findall(r"[a-z0-9]+", " ".join(map(str, words)).lower().replace(",", " ").replace("τ", "tau"))
    )


@contextmanager
def printed_table(slug: str, head: Sequence[str], left: int = 1) -> Iterator[PrintRow]:
    """Print a table between its marks: what is handed over prints a row of cells at once."""
    print(f"{_begin(slug)}\n\n" + "\n".join(_lines(head, (), left)), flush=True)
    yield lambda *cells: print(_line(cells), flush=True)
    print(f"\n{_end(slug)}\n", flush=True)


def check_marks(text: str) -> None:
    """Refuse a mark that opens twice, or that is not closed before the next one opens."""
    marks = _MARK.findall(text)
    twice = [
        slug for slug, times in Counter(slug for kind, slug in marks if kind == "table").items() if times > 1
    ]
    if twice:
        raise ValueError(f"the mark {twice[0]!r} stands before more than one table.")
    kinds = [kind for kind, _ in marks]
    opened, closed = ([slug for kind, slug in marks if kind == which] for which in ("table", "end"))
    if opened != closed or kinds != ["table", "end"] * len(opened):
        raise ValueError(f"marks must come in pairs, but these were printed: {marks}.")
    bare = re.search(r"^\|", _without_tables(text), re.MULTILINE)
    if bare:
        raise ValueError("a table is printed without marks.")


def _without_tables(text: str) -> str:
    return re.sub(r"<!-- table: ([a-z0-9-]+) -->.*?<!-- end: \1 -->", "", text, flags=re.DOTALL)


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> Iterator[str]:
    yield _line(head)
    yield _line(["---"] * left + ["---:"] * (len(head) - left))
    for row in rows:
        yield _line(row)


def _line(cells: Sequence[str]) -> str:
    # A bar within a cell, as in |error|, would end it.
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _begin(slug: str) -> str:
    return f"<!-- table: {slug} -->"


def _end(slug: str) -> str:
    return f"<!-- end: {slug} -->"
