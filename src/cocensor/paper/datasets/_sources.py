"""Where a data set is found: in a folder, in an installed package, at an address."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cocensor.data.files import read_texts

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
        """The call of the loader, as a user writes it."""
        return self.loader or f"load_{self.name}"

    @property
    def required(self) -> tuple[str, ...]:
        """The columns without which a file is the wrong one."""
        named = self.categorical if self.features is None else self.features
        return (self.time, self.event, *named)


FOLDER_VARIABLE = "COCENSOR_DATA"
DataHome = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Copy:
    """One copy of a data set: where it is, and how to read it."""

    source: str
    read: Callable[[], ArrowTable]


def locate(recipe: Recipe, data_home: DataHome = None) -> Copy:
    """Return the first copy in ``data_home``, the folder of COCENSOR_DATA, a package or a download; reads nothing."""
    for folder in _folders(data_home):
        path = folder / recipe.file
        if path.is_file():
            return Copy(str(path), partial(read_texts, path))
    if recipe.package and find_spec(recipe.package.module):
        return Copy(f"{recipe.package.name} {metadata.version(recipe.package.name)}", recipe.package.read)
    download = recipe.download
    if download and all(find_spec(module) for module in download.needs):
        home = None if data_home is None else Path(data_home)
        return Copy(
            download.url,
            lambda: download.read(fetch(download.file, download.url, download.sha256, home)),
        )
    raise _not_found(recipe)


def fetch(file: str, url: str, sha256: str, folder: Path | None = None) -> Path:
    """Return the path of ``file``, downloaded if it is not yet in ``folder`` (the user's cache without one).

    A download is written under another name, and gets its own only when its checksum is right.
    """
    import pooch

    folder = Path(pooch.os_cache("cocensor")) if folder is None else folder
    try:
        return Path(pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=file, path=folder))
    except OSError as error:
        raise OSError(
            f"{url} could not be downloaded ({type(error).__name__}); a copy fetched by other means may be put "
            f"into {folder} as {file}."
        ) from error
    except ValueError:
        raise ValueError(f"{url} does not have the SHA-256 checksum {sha256}; nothing was kept.") from None


def from_pandas(frame: Any) -> ArrowTable:
    """Return a table of a pandas frame."""
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def _folders(data_home: DataHome) -> Iterator[Path]:
    """Yield the folders to look into, each checked when its turn comes."""
    named = {"data_home": data_home, FOLDER_VARIABLE: os.environ.get(FOLDER_VARIABLE) or None}
    for name, value in named.items():
        if value is None:
            continue
        if not Path(value).is_dir():
            raise ValueError(f"{name} must be an existing folder, but is {str(value)!r}.")
        yield Path(value)


def _not_found(recipe: Recipe) -> ImportError | FileNotFoundError:
    place = f"{recipe.file} in data_home or in the folder that {FOLDER_VARIABLE} names"
    if recipe.package:
        needs, install = recipe.package.name, recipe.package.install
    elif recipe.download:
        needs, install = " and ".join(recipe.download.needs), "'cocensor[datasets]'"
    else:
        columns = ", ".join(map(repr, recipe.required))
        return FileNotFoundError(
            f"{recipe.call} needs your own {place}, with the columns {columns} and further numeric ones; "
            f"{recipe.access}."
        )
    return ImportError(f"{recipe.call} needs {needs}: pip install {install}, or have {place}.")
