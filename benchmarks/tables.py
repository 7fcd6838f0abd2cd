"""Tables in Markdown between marks, ``<!-- table: SLUG -->`` and ``<!-- end: SLUG -->``, for pages to include."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_MARK = re.compile(r"<!-- (table|end): ([a-z0-9-]+) -->")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """The first ``left`` columns are set to the left, the others, which hold figures, to the right."""
    return "\n".join(_lines(head, rows, left))


def marked(slug: str, text: str) -> str:
    """A table between its marks."""
    return f"{_begin(slug)}\n\n{text}\n\n{_end(slug)}"


def print_table(slug: str, head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print a table between its marks, each row as soon as it is known."""
    print(f"{_begin(slug)}\n")
    for line in _lines(head, rows, left):
        print(line, flush=True)
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


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> Iterable[str]:
    yield _line(head)
    yield "|" + "---|" * left + "---:|" * (len(head) - left)
    for row in rows:
        yield _line(row)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _begin(slug: str) -> str:
    return f"<!-- table: {slug} -->"


def _end(slug: str) -> str:
    return f"<!-- end: {slug} -->"
