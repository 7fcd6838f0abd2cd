"""Tables from files as spreadsheets, R and Python write them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocensor._cached import cached_property
from cocensor._notes import Note
from cocensor._validation import refuse_column
from cocensor.cli.parquet import check_bytes, read_parquet
from cocensor.cli.workbook import first_sheet
from cocensor.curves.columns import NUMBER, repeated
from cocensor.stream.columns import is_text, plain

# Bytes of a pipe that are read at once.
_AT_ONCE = 2**20
_FLAG = re.compile("true|false|0|1", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, a pyarrow table; every refusal names the file."""

    path: Path
    data: Any
    decimal: str = "."
    #: The columns as they are spelt, where the decimal mark is not certain.
    texts: Any = None
    #: What was decided in reading the file.
    notes: Sequence[Note] = ()

    def __len__(self) -> int:
        return int(self.data.num_rows)

    def column(self, name: str, go_on: str = "") -> Any:
        """A column by name, without missing values; rows are counted from 0, without the header.

        ``go_on`` ends the refusal of a missing value: what else can be done.
        """
        import pyarrow.compute as pc

        values = self.sparse(name)
        missing = pc.is_null(values, nan_is_null=True)
        texts = plain(values)
        if is_text(texts.type):
            missing = pc.or_kleene(missing, pc.equal(pc.utf8_trim_whitespace(texts), ""))
        if pc.any(missing).as_py():
            row = pc.index(missing, True).as_py()
            raise ValueError(f"{self.path}: column {name!r} has no value in row {row}{go_on}.")
        if self.texts is not None:
            self._check_mark(name)
        return values

    def sparse(self, name: str) -> Any:
        """A column by name, in which values may be missing."""
        if name not in self._columns:
            refuse_column(name, list(self._columns), str(self.path))
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Any]:
        """The columns by name, of which there may be many."""
        return dict(zip(self.data.column_names, self.data.columns, strict=True))

    def numbers(self, name: str) -> Any:
        """A column that should have numbers; a text among them, which makes all of them texts, is pointed at."""
        return self._spelt(name, NUMBER, "numbers")

    def flags(self, name: str, limit: str = "") -> Any:
        """A column that should have TRUE and FALSE or 1 and 0; a refusal of another number adds the ``limit``."""
        rule = "TRUE and FALSE or 1 and 0"
        values = self._spelt(name, _FLAG, rule, limit)
        if is_text(values.type):
            return [text.lower() in ("true", "1") for text in values.to_pylist()]
        for row, value in enumerate(values.to_pylist()):
            if value not in (0, 1):
                raise ValueError(
                    f"{self.path}: column {name!r} must have {rule}{limit}, but row {row} is {value!r}."
                )
        return values

    def _spelt(self, name: str, pattern: re.Pattern[str], rule: str, limit: str = "") -> Any:
        values = plain(self.column(name))
        if is_text(values.type):
            for row, text in enumerate(values.to_pylist()):
                spelling = text.replace(self.decimal, ".")
                if not pattern.fullmatch(spelling):
                    limit = limit if NUMBER.fullmatch(spelling) else ""
                    raise ValueError(
                        f"{self.path}: column {name!r} must have {rule}{limit}, but row {row} is {text!r}."
                    )
        return values

    def _check_mark(self, name: str) -> None:
        """Refuse numbers whose mark may separate thousands: 1,206 beside 332, but not beside 33,2 or 0,332."""
        import pyarrow.compute as pc
        from pyarrow import types

        if not types.is_floating(self._columns[name].type):
            return
        texts = pc.utf8_trim_whitespace(self.texts.column(name))
        thousands = texts.filter(
            pc.match_substring_regex(texts, rf"^[-+]?[1-9]\d{{0,2}}[{self.decimal}]\d{{3}}$")
        )
        whole = texts.filter(pc.match_substring_regex(texts, r"^[-+]?[1-9]\d*$"))
        marked = pc.sum(pc.match_substring(texts, self.decimal)).as_py()
        if len(whole) and 0 < len(thousands) == marked:
            thousand, number = thousands[0].as_py(), whole[0].as_py()
            raise ValueError(
                f"{self.path}: column {name!r} has {thousand!r} beside {number!r}, which may be thousands or decimals: "
                f"write {thousand.replace(self.decimal, '')} or {number}{self.decimal}0."
            )

    @contextmanager
    def named(self) -> Iterator[None]:
        """Put the file's name before what is refused."""
        with _naming(self.path):
            yield


def read_content(path: Path) -> bytes:
    """What is in a file or comes through a pipe, or a refusal where there is nothing, or too much."""
    try:
        with _naming(path):
            if path.is_fifo():
                return _through(path)
            if path.exists() and not path.is_file() and not path.is_dir():
                raise ValueError("it must be a file or a pipe, but is a device.")
            check_bytes(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


def _through(pipe: Path) -> bytes:
    """What comes through a pipe, which does not tell how much will come."""
    parts, size = [], 0
    with pipe.open("rb") as file:
        while part := file.read(_AT_ONCE):
            parts.append(part)
            size += len(part)
            check_bytes(size)
    return b"".join(parts)


def read_table(path: Path, identity: str | None = None, content: bytes | None = None) -> Table:
    """The table in a CSV or Parquet file, or in the first sheet of a workbook, recognised by content.

    CSV is UTF-8, UTF-16 with a byte-order mark, or else Windows-1252. A semicolon or a tab in the header separates
    columns, else a comma does; with the former two, numbers may have decimal commas, as spreadsheets of many countries
    write them. The column ``identity`` is read as texts: 001 and 1 are two ids, and a long one is not rounded.
    ``content`` is that of the file, where it has been read.
    """
    content = read_content(path) if content is None else content
    with _naming(path):
        if content.startswith(b"PAR1"):
            table = Table(path, read_parquet(content))
        elif content.startswith(b"PK\x03\x04"):
            sheet, content = first_sheet(content)
            table = _csv(path, content, f"the first sheet, {sheet!r}, is read.", identity)
        else:
            table = _csv(path, *_as_utf8(content), identity)
        twice = repeated(table.data.column_names)
        if twice:
            raise ValueError(f"two columns have the name {twice[0]!r}.")
        if not len(table):
            raise ValueError("there are no rows.")
    return table


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _as_utf8(content: bytes) -> tuple[bytes, str]:
    """The text of a CSV file in UTF-8, and what was decided where it is not in UTF-8 itself."""
    ways = [("utf-8-sig", ""), ("cp1252", "it is not UTF-8 and is read as Windows-1252")]
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        ways = [("utf-16", "it is read as UTF-16, as its first bytes say.")]
    for codec, decision in ways:
        try:
            text = content.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        if codec == "cp1252":
            decision += f": check its text, such as {_first_beyond_ascii(text)!r}."
        return content if not decision else text.encode(), decision
    raise ValueError(
        "it must be a Parquet file or a CSV file in UTF-8, UTF-16 or Windows-1252: save it as one of these."
    )


def _first_beyond_ascii(text: str) -> str:
    """The first word with a letter that is not ASCII, of which a long one is cut."""
    found = re.search(r"[^\0-\x7f]", text)
    at = found.start() if found else 0
    before = re.search(r"\w*$", text[max(at - 20, 0) : at])
    after = re.match(r".\w*", text[at : at + 20])
    return "".join(part.group() for part in (before, after) if part)


def _csv(path: Path, content: bytes, decision: str, identity: str | None) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    text = content.decode("utf-8-sig")
    first = re.search(r"[^\r\n]+", text)
    header = re.sub(r'"[^"]*"', "", first.group() if first else "")
    separator = next((each for each in ";\t" if each in header), ",")
    decimal = "." if separator == "," else _decimal_mark(text, separator)

    def columns(texts: Sequence[str]) -> Any:
        return csv.read_csv(
            pa.BufferReader(content),
            # One block: a column's type is inferred from all of its values.
            csv.ReadOptions(block_size=min(len(content) + 1, 2**31 - 1)),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(
                strings_can_be_null=True,
                decimal_point=decimal,
                column_types=dict.fromkeys(texts, pa.string()),
            ),
        )

    table = columns([] if identity is None else [identity])
    spelt = None if separator == "," else columns(table.column_names)
    return Table(path, table, decimal, spelt, [Note("decision", f"{path}: {decision}")] if decision else [])


def _decimal_mark(text: str, separator: str) -> str:
    """The decimal mark where a comma separates nothing; with both marks, 1,234 could be a thousand or one."""
    points, commas = (
        re.compile(rf'(?:^|{separator})"?([-+]?\d+{mark}\d+)"?(?={separator}|\r?$)', re.MULTILINE)
        for mark in (r"\.", ",")
    )
    comma = commas.search(text)
    # R's write.csv2 leaves decimal points in the names of columns.
    point = points.search(text.lstrip("\r\n").partition("\n")[2])
    if comma and point:
        raise ValueError(f"numbers have decimal commas and decimal points: {comma[1]} and {point[1]}.")
    return "," if comma else "."
