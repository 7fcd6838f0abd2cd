"""Several Parquet files as one table: found, looked at from their footers, and read by row numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import IntArray, listed, refuse_column
from cocensor.data.files import first_sentence
from cocensor.data.tables import Table, repeated

#: What a user may give for several files: a path, a folder, a pattern, or a list of these.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
_SUFFIXES = (".parquet", ".parq", ".pq")
# Bytes read at once of a column: without, the compressed columns of whole row groups would be held.
_BUFFER = 2**18
# A row group of at most so many values is held; of a larger one, pages of all columns are.
_HELD_VALUES = 2**24
# So many columns of it are decoded at once: what that takes is several times what comes of it.
_COLUMNS_AT_ONCE = 8


class Piece(NamedTuple):
    """Some rows of one file: a record batch of pyarrow, and the row of the file that it starts with."""

    path: str
    first: int
    data: Any

    @property
    def table(self) -> Table:
        """The rows as a table, which counts them as the file does."""
        import pyarrow as pa

        return Table.of(pa.Table.from_batches([self.data]), self.path, self.first)


@dataclass(frozen=True, eq=False)
class Files:
    """Parquet files as one table, whose rows are numbered through in the natural order of their paths.

    Picklable: nothing is opened but for the time of reading.
    """

    #: What the user gave, in words.
    given: str
    #: As the user knows them, and from the root on.
    paths: tuple[str, ...]
    absolute: tuple[str, ...]
    #: The numbers of rows of the row groups, by file.
    groups: tuple[tuple[int, ...], ...]
    #: The names of columns and their narwhals types, by file.
    types: tuple[dict[str, Any], ...]
    #: The places of the files in the order in which they were given.
    listed: tuple[int, ...]
    #: What a subject has in them, as of other tables with ids.
    what = "row"

    @classmethod
    def found(cls, given: Paths, name: str) -> Files:
        """The files of an argument, each of which is looked into: one that is broken is refused before any work."""
        paths = _expanded(given, name)
        absolute = [os.path.abspath(path) for path in paths]
        twice = repeated(absolute)
        if twice:
            raise ValueError(f"{name} must not have a file twice, but has {paths[absolute.index(twice[0])]}.")
        order = sorted(range(len(paths)), key=lambda k: natural(absolute[k]))
        footers = [_footer(paths[k]) for k in order]
        # Files have mostly the same columns: these are kept, and sent to other processes, only once.
        kinds = {tuple(types.items()): types for _, types in footers}
        found = cls(
            _in_words(given),
            tuple(paths[k] for k in order),
            tuple(absolute[k] for k in order),
            tuple(groups for groups, _ in footers),
            tuple(kinds[tuple(types.items())] for _, types in footers),
            tuple(np.argsort(order).tolist()),
        )
        if not found.n:
            raise ValueError(f"{name}: there are no rows in {found.given}.")
        return found

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows of the files."""
        return [sum(groups) for groups in self.groups]

    @cached_property
    def starts(self) -> IntArray:
        """The number of each file's first row, and at last the number of all."""
        return np.cumsum([0, *self.sizes])

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def ends(self) -> IntArray:
        """The numbers after the last row of each row group, each once."""
        return np.unique(np.cumsum([rows for groups in self.groups for rows in groups if rows]))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the first file."""
        return list(self.types[0])

    def place(self, row: int) -> tuple[str, int]:
        """Return the file of a row, and its row there."""
        k = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.paths[k], row - int(self.starts[k])

    def value(self, column: str, row: int) -> Any:
        """Return the value of a column in one row."""
        return next(self.read([column], row, row + 1, 1)).data.column(0)[0].as_py()

    def check(self, column: str, fits: Callable[[Any], bool], rule: str) -> None:
        """Refuse a column that is missing in a file, or not of the type that it must have."""
        for path, types in zip(self.paths, self.types, strict=True):
            if column not in types:
                refuse_column(column, list(types), path)
            if not fits(types[column]):
                raise ValueError(f"{path}: column {column!r} must have {rule}, but has type {types[column]}.")

    def check_alike(self) -> None:
        """Refuse files that differ in the names of their columns."""
        first = self.types[0]
        for path, types in zip(self.paths, self.types, strict=True):
            if set(types) != set(first):
                other = sorted(set(types) ^ set(first))
                raise ValueError(
                    f"{path} must have the columns of {self.paths[0]}, but {listed(other)} "
                    f"{'is' if len(other) == 1 else 'are'} in one of them alone."
                )

    def read(self, columns: Sequence[str], start: int, stop: int, size: int) -> Iterator[Piece]:
        """Some columns of the rows from ``start`` to before ``stop``, at most ``size`` rows at once."""
        first, last = np.searchsorted(self.starts, [start, stop - 1], side="right") - 1
        for k in range(first, last + 1):
            begin, end = self.starts[k : k + 2].tolist()
            if begin < end:
                yield from self._read(k, columns, max(start, begin) - begin, min(stop, end) - begin, size)

    def _read(self, k: int, columns: Sequence[str], start: int, stop: int, size: int) -> Iterator[Piece]:
        """The same of one file, by its own rows."""
        from pyarrow import parquet

        ends = np.cumsum(self.groups[k])
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        row = int(ends[first]) - self.groups[k][first]
        names = list(columns)
        path = self.paths[k]
        with (
            _refusing(path),
            parquet.ParquetFile(self.absolute[k], buffer_size=_BUFFER, pre_buffer=False) as file,
        ):
            if [file.metadata.row_group(j).num_rows for j in range(file.num_row_groups)] != list(
                self.groups[k]
            ):
                raise ValueError(f"{path} has changed since the scan began.")
            groups = range(int(first), int(last) + 1)
            for batch in (each for j in groups for each in _batches(file, j, names, size)):
                begin, end = max(start - row, 0), min(stop - row, batch.num_rows)
                if begin < end:
                    yield Piece(path, row + begin, batch.slice(begin, end - begin))
                row += batch.num_rows
                if row >= stop:
                    break


class Cursor:
    """Pieces of one table, handed out by any number of rows."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self._left: Piece | None = None

    def take(self, n: int) -> list[Piece]:
        """The next ``n`` rows."""
        taken = []
        while n:
            piece = self._left or next(self._pieces)
            size = piece.data.num_rows
            self._left = None
            if size > n:
                self._left = Piece(piece.path, piece.first + n, piece.data.slice(n))
                piece, size = Piece(piece.path, piece.first, piece.data.slice(0, n)), n
            taken.append(piece)
            n -= size
        return taken


def natural(path: str) -> list[tuple[int, int, str]]:
    """What sorts paths as people do: part-2 before part-10.

    Examples
    --------
    >>> sorted(["part-10.parquet", "part-2.parquet"], key=natural)
    ['part-2.parquet', 'part-10.parquet']
    """
    parts = re.split(r"(\d+)", path)
    # Numbers of the same value may be spelt differently: the text itself comes last.
    return [(0, int(part), "") if k % 2 else (1, 0, part) for k, part in enumerate(parts)] + [(2, 0, path)]


def _expanded(given: Any, name: str) -> list[str]:
    """The files that a path, a folder, a pattern, or a list of these stands for; those of a list as they are listed."""
    if isinstance(given, str | os.PathLike):
        return _files_of(os.fspath(given), name)
    if not isinstance(given, Sequence) or not all(isinstance(each, str | os.PathLike) for each in given):
        raise TypeError(f"{name} must be a path, a folder, a pattern, or a list of these, but is {given!r}.")
    if not given:
        raise ValueError(f"{name} is an empty list: at least one file is needed.")
    return [path for each in given for path in _files_of(os.fspath(each), name)]


def _files_of(path: str, name: str) -> list[str]:
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        found = [
            str(each)
            for each in sorted(Path(path).rglob("*"), key=lambda each: natural(str(each)))
            if each.suffix.lower() in _SUFFIXES and each.is_file() and not each.name.startswith(("_", "."))
        ]
        if not found:
            raise ValueError(f"{name}: there is no Parquet file in the folder {path}.")
        return found
    if os.path.lexists(path):
        raise ValueError(
            f"{name}: {path} must be a file or a folder, but is a device, a pipe or a broken link."
        )
    matches = [each for each in glob(path, recursive=True) if not os.path.basename(each).startswith("_")]
    if not matches:
        what = "no file matches" if re.search(r"[*?\[]", path) else "there is no file"
        raise ValueError(f"{name}: {what} {path}.")
    # A pattern may match a folder and the files in it.
    found = [each for match in sorted(matches, key=natural) for each in _files_of(match, name)]
    return list({os.path.abspath(each): each for each in found}.values())


def _footer(path: str) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The numbers of rows of a file's row groups, and its columns with their types."""
    from pyarrow import parquet

    with _refusing(path), parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        twice = repeated(names)
        if twice:
            raise ValueError(f"{path}: two columns have the name {twice[0]!r}.")
        groups = tuple(file.metadata.row_group(k).num_rows for k in range(file.num_row_groups))
        return groups, dict(nw.from_native(file.schema_arrow.empty_table(), eager_only=True).schema)


def _batches(file: Any, group: int, names: list[str], size: int) -> Iterator[Any]:
    """The rows of a row group with some columns: all at once, or ``size`` of many."""
    import pyarrow as pa

    # A name such as "1" reads columns like "1.5" too, which pyarrow takes for a part of it.
    n_rows = file.metadata.row_group(group).num_rows
    if n_rows * len(names) > _HELD_VALUES:
        for batch in file.iter_batches(size, [group], names, use_threads=False):
            yield batch.select(names)
        return
    lots = [names[k : k + _COLUMNS_AT_ONCE] for k in range(0, len(names), _COLUMNS_AT_ONCE)]
    columns = [
        column.combine_chunks()
        for lot in lots
        for column in file.read_row_group(group, lot, use_threads=False).select(lot).columns
    ]
    yield pa.RecordBatch.from_arrays(columns, names)


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Name a file that pyarrow cannot read."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        why = first_sentence(error)
        raise ValueError(f"{path} cannot be read as a Parquet file: {why}.") from None


def _in_words(given: Any) -> str:
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    texts = [os.fspath(each) for each in given]
    return texts[0] if len(texts) == 1 else f"{texts[0]} and {len(texts) - 1} more"
