"""Workbooks of spreadsheets, where openpyxl is installed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime, time
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

from cocensor.cli.parquet import check_bytes, memory_limit

# What openpyxl holds of a byte of XML at worst: 308 bytes of an empty cell, <c/>.
_BYTES_PER_BYTE = 80
_MOST_ROWS = 2**20


def first_sheet(content: bytes) -> tuple[str, bytes]:
    """The name of the first sheet in the bytes of an xlsx file, and its values as CSV in UTF-8, without empty rows."""
    try:
        _check_unpacked(content)
        openpyxl: Any = import_module("openpyxl")
        # Values as they were last computed, not formulas.
        sheet = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True).worksheets[0]
        # The size that a sheet claims to have may be too small, or far too large.
        sheet.reset_dimensions()
        return str(sheet.title), as_csv(sheet.iter_rows(values_only=True))
    except ImportError:
        raise ValueError(
            "workbooks are read only where openpyxl is installed: save it as CSV or Parquet."
        ) from None
    except Exception as error:  # whatever openpyxl and zipfile make of a broken file
        raise ValueError(f"it starts as a workbook, but cannot be read: {error}") from None


def as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows of values as CSV in UTF-8, without empty rows; refused as soon as they are too many for the memory."""
    lines: list[tuple[bytes, int]] = []
    size = width = 0
    for number, row in enumerate(rows):
        if number == _MOST_ROWS:
            raise ValueError(f"a sheet must have at most {_MOST_ROWS} rows, but has more.")
        n_values = max((k + 1 for k, value in enumerate(row) if value is not None), default=0)
        if not n_values:
            continue
        text = StringIO()
        csv.writer(text, lineterminator="").writerow(map(_spelt, row[:n_values]))
        lines.append((text.getvalue().encode(), n_values))
        size, width = size + len(lines[-1][0]), max(width, n_values)
        check_bytes(size + len(lines) * width)
    return b"".join(line + b"," * (width - n_values) + b"\n" for line, n_values in lines)


def _check_unpacked(content: bytes) -> None:
    """Refuse what may take more than a share of the memory, by the sizes that its directory states.

    No more than these is unpacked.
    """
    with ZipFile(BytesIO(content)) as archive:
        size = len(content) + sum(member.file_size for member in archive.infolist())
    limit = memory_limit() / _BYTES_PER_BYTE
    if size > limit:
        raise ValueError(
            f"its {size / 2**20:.3g} MiB, unpacked, are more than the {limit / 2**20:.3g} MiB of a workbook that are "
            "certain to fit into a quarter of the memory of this machine: save it as CSV or Parquet."
        )


def _spelt(value: Any) -> Any:
    """A value as a CSV file has it: a date without midnight, 12.0 as 12."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return int(value) if isinstance(value, float) and value.is_integer() else value
