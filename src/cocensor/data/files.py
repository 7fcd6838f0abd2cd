"""Tables from files as spreadsheets, R and Python write them: CSV, Parquet, and workbooks where openpyxl is installed.

A few bytes may stand for more than the machine can hold: what is too large is refused before it is read.
"""

from __future__ import annotations

import codecs
import csv
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from importlib import import_module
from io import BytesIO, StringIO
from math import inf
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import narwhals as nw

from cocensor._checks import naming, near_miss
from cocensor._notes import noted
from cocensor.data.tables import INDEX, Table, repeated

_SHARE = 0.25  # of the machine's memory: what is read is also copied, to numbers of double precision
_AT_ONCE = 2**20  # bytes of a pipe that are read at once
_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
_TEXTS = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_OFFSET = 4
_BYTES_PER_BYTE = 80  # what openpyxl holds of a byte of XML at worst: 308 bytes of an empty cell, <c/>
_MOST_ROWS = 2**20
_GO_ON = "leave out columns or rows, or let cocensor evaluate --stream read Parquet files in batches"


def read_table(path: Path, id: str | None = None, content: bytes | None = None) -> Table:
    """Return the table in a CSV or Parquet file, or in the first sheet of a workbook, recognised by content.

    CSV is UTF-8, UTF-16 with a byte-order mark, or else Windows-1252. A semicolon or a tab in the header separates
    columns, else a comma does; with the former two, numbers may have decimal commas, as spreadsheets of many countries
    write them. The column ``id`` of such a file is read as texts: 001 and 1 are two ids, and a long one is not rounded.
    """
    content = read_content(path) if content is None else content
    how: dict[str, Any] = {}
    with naming(str(path)):
        if content.startswith(b"PAR1"):
            data = _parquet(content)
        else:
            is_workbook = content.startswith(b"PK\x03\x04")
            content, decision = _first_sheet(content) if is_workbook else _as_utf8(content)
            data, how = _csv(content, id)
            how["is_of_lines"] = True
            how["notes"] = [noted("read_as", file=str(path), **decision)] if decision else []
        for name in repeated(data.column_names)[:1]:
            raise ValueError(f"two columns have the name {name!r}.")
        if not data.num_rows:
            raise ValueError("there are no rows.")
    index = next((name for name in data.column_names if name in INDEX and name != id), None)
    return Table(str(path), nw.from_native(data, eager_only=True), index=index, **how)


def read_texts(path: Path) -> Any:
    """Return the columns of a CSV file as texts, a pyarrow table; null where a field is empty or says NA or NaN."""
    content = read_content(path)
    with naming(str(path)):
        content, _ = _as_utf8(content)
        separator = _separator(content)
        return _parsed(content, separator, ".", _parsed(content, separator).column_names)


def read_content(path: Path) -> bytes:
    """Return what is in a file or comes through a pipe; nothing, or too much, is refused."""
    try:
        with naming(str(path)):
            if path.exists() and not path.is_file() and not path.is_dir() and not path.is_fifo():
                raise ValueError("it must be a file or a pipe, but is a device.")
            if not path.is_fifo():
                check_bytes(path.stat().st_size)
                return path.read_bytes()
            content = bytearray()  # a pipe does not tell how much will come
            with path.open("rb") as file:
                while part := file.read(_AT_ONCE):
                    content += part
                    check_bytes(len(content))
            return bytes(content)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and path.parent.is_dir():
            meant = near_miss(path.name, sorted(other.name for other in path.parent.iterdir()))
            raise ValueError(f"{path} is not there{meant}.") from None
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


def memory() -> float:
    """Return the bytes of memory of this machine, or those that this process may have; infinite where nothing tells."""
    try:
        size = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        size = inf
    if sys.platform == "win32":
        return size
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    return size if allowed == resource.RLIM_INFINITY else min(size, float(allowed))


def check_bytes(size: int) -> None:
    """Refuse a file whose bytes alone take more than a share of the memory."""
    limit = _SHARE * memory()
    if size > limit:
        more = f"more than a quarter of the memory of this machine, {limit / 2**30:.3g} GiB"
        raise ValueError(f"its {size / 2**30:.3g} GiB are {more}: {_GO_ON}.")


def _as_utf8(content: bytes) -> tuple[bytes, dict[str, str]]:
    """Return the text of a CSV file in UTF-8, and what was decided where it is not in UTF-8 itself."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for codec in ["utf-16"] if is_utf16 else ["utf-8-sig", "cp1252"]:
        try:
            text = content.decode(codec)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        if codec == "utf-8-sig":
            return content, {}
        # The first word with a letter that is not ASCII, of which a long one is cut.
        word = re.search(r"[0-9A-Za-z_]{0,20}[^\0-\x7f]\w{0,19}", text) if codec == "cp1252" else None
        return text.encode(), {"encoding": codec} | ({"word": word.group()} if word else {})
    raise ValueError(
        "it must be a Parquet file or a CSV file in UTF-8, UTF-16 or Windows-1252: save it as one of these."
    )


def _csv(content: bytes, id: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the columns of a CSV file in UTF-8, and what a table should know of them."""
    separator = _separator(content)
    decimal = "." if separator == "," else _decimal_mark(content.decode("utf-8-sig"), separator)
    data = _parsed(content, separator, decimal, [] if id is None else [id])
    if separator == ",":
        return data, {"is_typed": False}
    texts = _parsed(content, separator, decimal, data.column_names)
    doubts = {name: _doubt(data[name], texts[name], decimal) for name in data.column_names}
    own = {name: doubt for name, doubt in doubts.items() if doubt is not None}
    return data, {"is_typed": False, "decimal": decimal, "doubts": own}


def _separator(content: bytes) -> str:
    """Return what separates the columns in the first line that is not empty."""
    line = re.search(rb"[^\r\n]+", content.removeprefix(codecs.BOM_UTF8))
    header = re.sub(r'"[^"]*"', "", line.group().decode() if line else "")
    return next((sign for sign in ";\t" if sign in header), ",")


def _parsed(content: bytes, separator: str, decimal: str = ".", texts: Sequence[str] = ()) -> Any:
    """Return the columns of a CSV file, a pyarrow table, some of them as texts."""
    import pyarrow as pa
    from pyarrow import csv

    types = dict.fromkeys(texts, pa.string())
    with refusing("it cannot be read as CSV"):
        return csv.read_csv(
            pa.BufferReader(content),
            # One block: a column's type is inferred from all of its values.
            csv.ReadOptions(block_size=min(len(content) + 1, 2**31 - 1)),
            csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            csv.ConvertOptions(strings_can_be_null=True, decimal_point=decimal, column_types=types),
        )


def _decimal_mark(text: str, separator: str) -> str:
    """Return the decimal mark where a comma separates nothing; with both marks, 1,234 could be a thousand or one."""
    number = rf'(?:^|{separator})"?([-+]?\d+{{}}\d+)"?(?={separator}|\r?$)'
    comma = re.search(number.format(","), text, re.MULTILINE)
    # R's write.csv2 leaves decimal points in the names of columns.
    point = re.search(number.format(r"\."), text.lstrip("\r\n").partition("\n")[2], re.MULTILINE)
    if comma and point:
        raise ValueError(f"numbers have decimal commas and decimal points: {comma[1]} and {point[1]}.")
    return "," if comma else "."


def _doubt(values: Any, texts: Any, decimal: str) -> str | None:
    """Return why numbers may be thousands by their mark: 1,206 beside 332, but not beside 33,2 or 0,332."""
    import pyarrow.compute as pc
    from pyarrow import types

    if not types.is_floating(values.type):
        return None
    texts = pc.utf8_trim_whitespace(texts)
    thousands = texts.filter(pc.match_substring_regex(texts, rf"^[-+]?[1-9]\d{{0,2}}[{decimal}]\d{{3}}$"))
    whole = texts.filter(pc.match_substring_regex(texts, r"^[-+]?[1-9]\d*$"))
    marked = pc.sum(pc.match_substring(texts, decimal)).as_py()
    if not len(whole) or not 0 < len(thousands) == marked:
        return None
    thousand, number = thousands[0].as_py(), whole[0].as_py()
    instead = f"write {thousand.replace(decimal, '')} or {number}{decimal}0"
    return f"has {thousand!r} beside {number!r}, which may be thousands or decimals: {instead}."


def _parquet(content: bytes) -> Any:
    """Return the table in a Parquet file; what takes more than a share of the memory is refused by its metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    with refusing("it starts as a Parquet file, but cannot be read"):
        file = parquet.ParquetFile(pa.BufferReader(content))
        limit, size = _SHARE * memory(), 0
        most: Counter[str] = Counter()
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        for chunk in (group.column(k) for group in groups for k in range(file.metadata.num_columns)):
            size += chunk.num_values * _BYTES.get(chunk.physical_type, _OFFSET)
            if chunk.physical_type in _TEXTS:
                # No text is longer than its chunk.
                most[chunk.path_in_schema] += chunk.num_values * chunk.total_uncompressed_size
        if size <= limit < size + most.total():
            size += _texts_size(content, list(most))
        if size > limit:
            shape = f"{file.metadata.num_rows} × {file.metadata.num_columns}"
            share = f"more than a quarter of what this machine has, {limit / 2**30:.3g} GiB"
            raise ValueError(f"its {shape} values take {size / 2**30:.3g} GiB of memory, {share}: {_GO_ON}.")
        return file.read()


def _texts_size(content: bytes, names: list[str]) -> int:
    """Return the bytes of texts, counted where each is held once."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet, types

    file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=names)
    # Nested columns are no dictionaries, and nothing that a command takes.
    top = set(file.schema_arrow.names)
    size = 0
    for values in file.read([name for name in names if name in top]).columns:
        for chunk in values.chunks if types.is_dictionary(values.type) else ():
            lengths = pc.binary_length(chunk.dictionary.cast(pa.large_binary()))
            size += pc.sum(lengths.take(chunk.indices), min_count=0).as_py()
    return size


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Say in one sentence ``what`` pyarrow cannot do, and the first sentence of why."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split()).split(". ")[0].rstrip(".")
        raise ValueError(f"{what}: {why}.") from None


def _first_sheet(content: bytes) -> tuple[bytes, dict[str, str]]:
    """Return the values of the first sheet in the bytes of an xlsx file as CSV in UTF-8, and its name."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            size = len(content) + sum(member.file_size for member in archive.infolist())
        limit = _SHARE * memory() / _BYTES_PER_BYTE
        if size > limit:  # no more is unpacked than its directory says
            raise ValueError(
                f"its {size / 2**20:.3g} MiB, unpacked, are more than the {limit / 2**20:.3g} MiB of a workbook that "
                "are certain to fit into a quarter of the memory of this machine: save it as CSV or Parquet."
            )
        openpyxl: Any = import_module("openpyxl")
        # Values as they were last computed, not formulas.
        sheet = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True).worksheets[0]
        # The size that a sheet claims to have may be too small, or far too large.
        sheet.reset_dimensions()
        return as_csv(sheet.iter_rows(values_only=True)), {"sheet": str(sheet.title)}
    except ImportError:
        message = "workbooks are read only where openpyxl is installed: save it as CSV or Parquet."
        raise ValueError(message) from None
    except Exception as error:  # whatever openpyxl and zipfile make of a broken file
        raise ValueError(f"it starts as a workbook, but cannot be read: {error}") from None


def as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows of values as CSV in UTF-8, without empty rows; too many for the memory are refused as they come."""
    lines: list[tuple[bytes, int]] = []
    size = width = 0
    for number, row in enumerate(rows):
        if number == _MOST_ROWS:
            raise ValueError(f"a sheet must have at most {_MOST_ROWS} rows, but has more.")
        n_values = max((k + 1 for k, value in enumerate(row) if value is not None), default=0)
        if not n_values:
            continue
        text = StringIO()
        csv.writer(text, lineterminator="").writerow(map(_cell, row[:n_values]))
        lines.append((text.getvalue().encode(), n_values))
        size, width = size + len(lines[-1][0]), max(width, n_values)
        check_bytes(size + len(lines) * width)
    return b"".join(line + b"," * (width - n_values) + b"\n" for line, n_values in lines)


def _cell(value: Any) -> Any:
    """Return a value as a CSV file has it: a date without midnight, 12.0 as 12."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return int(value) if isinstance(value, float) and value.is_integer() else value
