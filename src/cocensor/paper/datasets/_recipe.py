"""What is known of a data set before it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ArrowTable = Any  # a pyarrow.Table; pyarrow is imported only where it is used


@dataclass(frozen=True)
class Package:
    """An installed package that brings the rows along; ``read`` gives them the names of the CSV file."""

    name: str
    module: str
    install: str
    read: Callable[[], ArrowTable]


@dataclass(frozen=True)
class Download:
    """A file at an address, with the checksum that it must have and what reading it takes."""

    file: str
    url: str
    sha256: str
    read: Callable[[Path], ArrowTable]
    needs: tuple[str, ...] = ("pooch",)


@dataclass(frozen=True)
class Recipe:
    """The columns of a data set and the places where it is found.

    Without ``features`` every column but time and event is one, in the order of the file. Features that are
    not ``categorical`` are numeric. ``single_precision`` numbers are so at their source: as text they have lost
    digits, and come back exactly when rounded to single precision. A file with ``negative_times`` has its
    loader drop them.
    """

    name: str
    file: str
    licence: str
    citation: str
    features: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    time: str = "time"
    event: str = "event"
    single_precision: bool = False
    negative_times: bool = False
    package: Package | None = None
    download: Download | None = None
    access: str = ""
    loader: str = ""

    @property
    def call(self) -> str:
        """How a user calls the loader."""
        return self.loader or f"load_{self.name}"

    @property
    def required(self) -> tuple[str, ...]:
        """The columns without which a file is the wrong one."""
        named = self.categorical if self.features is None else self.features
        return (self.time, self.event, *named)
