"""Workbooks of spreadsheets, where openpyxl is installed."""

from __future__ import annotations

import csv
from datetime import datetime, time
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any
from zipfile import BadZipFile


def first_sheet(content: bytes) -> tuple[str, bytes]:
    """The name of the first sheet in the bytes of an xlsx file, and its values as CSV in UTF-8, without empty rows."""
    try:
        openpyxl: Any = import_module("openpyxl")
    except ImportError:
        raise ValueError(
            "workbooks are read only where openpyxl is installed: save it as CSV or Parquet."
        ) from None
    try:
        # Values as they were last computed, not formulas.
        sheet = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True).worksheets[0]
        rows = [row for row in sheet.iter_rows(values_only=True) if any(value is not None for value in row)]
    except (BadZipFile, LookupError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(f"it starts as a workbook, but cannot be read: {error}") from None
    width = max((k + 1 for row in rows for k, value in enumerate(row) if value is not None), default=0)
    text = StringIO()
    csv.writer(text).writerows([*map(_spelt, row[:width]), *[None] * (width - len(row))] for row in rows)
    return str(sheet.title), text.getvalue().encode()


def _spelt(value: Any) -> Any:
    """A value as a CSV file has it: a date without midnight, 12.0 as 12."""
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    return int(value) if isinstance(value, float) and value.is_integer() else value
