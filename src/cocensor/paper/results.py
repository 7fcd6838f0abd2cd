"""Results that survive whatever happens to the run: one line per finished cell."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cocensor._files import write_whole, written_whole
from cocensor.paper.base import Cell, Row

_LINES = "cells.jsonl"
_MANIFEST = "manifest.json"


def key_of(cell: Cell) -> str:
    """A cell as text, the same for equal cells."""
    return json.dumps(cell, sort_keys=True)


@dataclass
class Results:
    """The finished cells of one experiment in one folder.

    Each is appended as one line and forced to disk before the next begins. A line that is damaged, as when a run was
    killed in the middle of it, is set aside in a file of its own, and its cell is run again. Cells that failed are kept
    with their error, and tried again.
    """

    folder: Path
    config: dict[str, Any]
    finished: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    #: What was found that a reader should know.
    notes: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_config()
        self._read()

    @property
    def path(self) -> Path:
        """The file of finished cells."""
        return self.folder / _LINES

    def append(self, cell: Cell, rows: list[Row], error: str | None, seconds: float) -> None:
        """Keep a cell, durably; on an error the file is as it was."""
        entry = {"cell": cell, "rows": rows, "error": error, "seconds": round(seconds, 3)}
        _append(self.path, (json.dumps(entry) + "\n").encode())
        self.finished[key_of(cell)] = entry

    def missing(self, cells: list[Cell]) -> list[Cell]:
        """The cells that are not there yet, or failed."""
        return [cell for cell in cells if self.finished.get(key_of(cell), {"error": ""})["error"] is not None]

    def failed(self, cells: list[Cell]) -> list[tuple[Cell, str]]:
        """The cells that failed, with their errors."""
        entries = [(cell, self.finished.get(key_of(cell))) for cell in cells]
        return [(cell, entry["error"]) for cell, entry in entries if entry and entry["error"] is not None]

    def rows(self, cells: list[Cell]) -> list[Row]:
        """The rows of the finished ones among ``cells``, in their order, each with its cell's own entries."""
        return [
            {**cell, **row} for cell in cells for row in self.finished.get(key_of(cell), {"rows": []})["rows"]
        ]

    def write_manifest(self, more: dict[str, Any]) -> None:
        """Write what was run, with which versions, whole or not at all."""
        write_whole(self.folder / _MANIFEST, json.dumps({"config": self.config, **more}, indent=1) + "\n")

    def _check_config(self) -> None:
        manifest = self.folder / _MANIFEST
        if not manifest.exists():
            self.write_manifest({})
            return
        try:
            config = dict(json.loads(manifest.read_bytes())["config"])
        except (KeyError, RecursionError, TypeError, ValueError):
            raise ValueError(
                f"{manifest} must hold the configuration of the results beside it, but is damaged: "
                f"restore it, take another folder, or remove {self.folder}."
            ) from None
        if config != self.config:
            changed = sorted(k for k in {*config, *self.config} if config.get(k) != self.config.get(k))
            raise ValueError(
                f"{self.folder} holds results of another configuration, which differs in {', '.join(changed)}: "
                "take another folder, or remove this one."
            )

    def _read(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole, damaged = [], {}
        for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1) if content else ():
            try:
                entry = _entry(line)
            except (KeyError, RecursionError, TypeError, ValueError):
                damaged[number] = line
            else:
                whole.append(line)
                self.finished[key_of(entry["cell"])] = entry
        if damaged:
            aside = self.path.with_name(f"{_LINES}.damaged")
            _append(aside, _joined(damaged.values()))
            numbers = ", ".join(map(str, damaged))
            self.notes.append(
                f"{self.path} was damaged in line {numbers}: what stood there is in {aside.name} now, and the cells "
                "that are missing are run again."
            )
        if _joined(whole) != content:
            with written_whole(self.path) as (place,):
                place.write_bytes(_joined(whole))


def _entry(line: bytes) -> dict[str, Any]:
    """A line of the file; an error where it is none."""
    entry = json.loads(line)
    kinds: dict[str, Any] = {"cell": dict, "rows": list, "error": (str, type(None)), "seconds": (int, float)}
    if any(not isinstance(entry[name], kind) for name, kind in kinds.items()):
        raise TypeError("its parts must be those of a cell.")
    if any(not isinstance(row, dict) for row in entry["rows"]):
        raise TypeError("its rows must be of names and values.")
    return entry


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _append(path: Path, lines: bytes) -> None:
    """Append all of ``lines`` or nothing, durably."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        begin = os.fstat(handle).st_size
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except BaseException as error:
            os.ftruncate(handle, begin)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, str(path)) from None
            raise
    finally:
        os.close(handle)
