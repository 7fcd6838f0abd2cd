"""Results that survive whatever happens to the run: one line per finished cell."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cocensor._files import write_whole
from cocensor.experiments.base import Cell, Row

_LINES = "cells.jsonl"
_MANIFEST = "manifest.json"


def key_of(cell: Cell) -> str:
    """A cell as text, the same for equal cells."""
    return json.dumps(cell, sort_keys=True)


@dataclass
class Results:
    """The finished cells of one experiment in one folder.

    Each is appended as one line and forced to disk before the next begins. A run that was killed in the middle of one
    leaves half a line, which the next run cuts off. Cells that failed are kept with their error, and tried again.
    """

    folder: Path
    config: dict[str, Any]
    finished: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_config()
        self._read()

    @property
    def path(self) -> Path:
        """The file of finished cells."""
        return self.folder / _LINES

    def append(self, cell: Cell, rows: list[Row], error: str | None, seconds: float) -> None:
        """Keep a cell, durably."""
        entry = {"cell": cell, "rows": rows, "error": error, "seconds": round(seconds, 3)}
        line = (json.dumps(entry) + "\n").encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
        self.finished[key_of(cell)] = entry

    def missing(self, cells: list[Cell]) -> list[Cell]:
        """The cells that are not there yet, or failed."""
        return [cell for cell in cells if self.finished.get(key_of(cell), {"error": ""})["error"] is not None]

    def failed(self, cells: list[Cell]) -> list[tuple[Cell, str]]:
        """The cells that failed, with their errors."""
        found = [(cell, self.finished.get(key_of(cell))) for cell in cells]
        return [(cell, entry["error"]) for cell, entry in found if entry and entry["error"] is not None]

    def rows(self, cells: list[Cell]) -> list[Row]:
        """The rows of the finished ones among ``cells``, in their order, each with its cell's own entries."""
        return [
            {**cell, **row} for cell in cells for row in self.finished.get(key_of(cell), {"rows": []})["rows"]
        ]

    def write_manifest(self, more: dict[str, Any]) -> None:
        """What was run, with which versions; written whole or not at all."""
        write_whole(self.folder / _MANIFEST, json.dumps({"config": self.config, **more}, indent=1) + "\n")

    def _check_config(self) -> None:
        manifest = self.folder / _MANIFEST
        if not manifest.exists():
            self.write_manifest({})
            return
        found = json.loads(manifest.read_text(encoding="utf-8"))["config"]
        if found != self.config:
            changed = sorted(k for k in {*found, *self.config} if found.get(k) != self.config.get(k))
            raise ValueError(
                f"{self.folder} holds results of another configuration, which differs in {', '.join(changed)}: "
                "take another folder, or remove this one."
            )

    def _read(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as handle:
                handle.truncate(len(whole))
        for line in whole.splitlines():
            entry = json.loads(line)
            self.finished[key_of(entry["cell"])] = entry
