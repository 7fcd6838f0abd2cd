"""Several Parquet files as one table, whose rows pyarrow.dataset reads by their numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import glob
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import IntArray, listed, refuse_column, row_blocks
from cocensor.data.files import refusing
from cocensor.data.ids import Identified
from cocensor.data.tables import Table, repeated
from cocensor.scale.scan import Keys, hashed

#: What a user may give for several files: a path, a folder, a pattern, or a list of these.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
_UNREADABLE = "cannot be read as a Parquet file"
_SUFFIXES = (".parquet", ".parq", ".pq")
# Bytes read at once of a column: without, the compressed columns of whole row groups would be held.
_BUFFER = 2**18
# A row group of at most so many values is held; of a larger one, pages of all columns are.
_HELD_VALUES = 2**24
# So many columns of it are decoded at once: what that takes is several times what comes of it.
_COLUMNS_AT_ONCE = 8


class Piece(NamedTuple):
    """Rows of one file: a record batch of pyarrow, and the row of the file that it starts with."""

    path: str
    first: int
    data: Any

    @property
    def table(self) -> Table:
        """The rows as a table, which counts them as the file does."""
        import pyarrow as pa

        return Table.of(pa.Table.from_batches([self.data]), self.path, self.first)

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers, as it is stored where that is plain."""
        column = self.data.column(name)
        is_plain = not column.null_count and column.type.bit_width in (32, 64)
        return column.to_numpy(zero_copy_only=False) if is_plain else self.table.numbers(name)

    def keys(self, id: str) -> Keys:
        """Return hashes of ids, of one type for all files; what is missing or no id is refused."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import types

        ids = self.data.column(id)
        if types.is_dictionary(ids.type):
            ids = ids.cast(ids.type.value_type)
        are_numbers = types.is_integer(ids.type) or types.is_floating(ids.type)
        kind = "int64" if are_numbers else "large_string"
        is_blank = not are_numbers and pc.any(pc.equal(pc.utf8_trim_whitespace(ids), "")).as_py()
        if ids.null_count or is_blank or types.is_floating(ids.type):
            ids = pa.array(self.table.ids(id), type=kind)  # refuses what is no id
        ids = ids.cast(kind, safe=False)
        if are_numbers:
            return hashed(ids.to_numpy(zero_copy_only=False))
        _, offsets, content = ids.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
        return hashed_texts(bounds, np.frombuffer(content or b"", dtype=np.uint8))


class File(NamedTuple):
    """A Parquet file: its path as the user knows it and from the root on, and what its footer says."""

    path: str
    absolute: str
    #: The numbers of rows of its row groups.
    groups: tuple[int, ...]
    #: The names of its columns and their narwhals types.
    types: dict[str, Any]
    #: Its place among the files as they were given.
    place: int


@dataclass(frozen=True, eq=False)
class Files(Identified):
    """Parquet files as one table, with rows numbered through in the natural order of paths; opened only to be read."""

    #: What the user gave, in words.
    given: str
    files: tuple[File, ...]

    @classmethod
    def of(cls, given: Paths, name: str) -> Files:
        """Return the files of an argument, each of which is opened: one that is broken is refused before any work."""
        one = str, os.PathLike
        several = [given] if isinstance(given, one) else given
        if not isinstance(several, Sequence) or not all(isinstance(path, one) for path in several):
            kinds = "a path, a folder, a pattern, or a list of these"
            raise TypeError(f"{name} must be {kinds}, but is {given!r}.")
        if not several:
            raise ValueError(f"{name} is an empty list: at least one file is needed.")
        texts = [os.fspath(path) for path in several]
        paths = [file for text in texts for file in _files_of(text, name)]
        absolute = [os.path.abspath(path) for path in paths]
        for twice in repeated(absolute):
            raise ValueError(f"{name} must not have a file twice, but has {paths[absolute.index(twice)]}.")
        files = list[File]()
        alike: dict[tuple[Any, ...], dict[str, Any]] = {}
        for k in sorted(range(len(paths)), key=lambda k: natural(absolute[k])):
            with refusing(f"{paths[k]} {_UNREADABLE}"):
                fragment = _fragment(absolute[k])
                schema = fragment.physical_schema
                for twice in repeated(schema.names):
                    raise ValueError(f"{paths[k]}: two columns have the name {twice!r}.")
                types = dict(nw.from_native(schema.empty_table(), eager_only=True).schema)
                groups = tuple(group.num_rows for group in fragment.row_groups)
            # Files have mostly the same columns: these are kept, and sent to other processes, only once.
            types = alike.setdefault(tuple(types.items()), types)
            files.append(File(paths[k], absolute[k], groups, types, k))
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        table = cls(f"{texts[0]}{more}", tuple(files))
        if not table.n:
            raise ValueError(f"{name}: there are no rows in {table.given}.")
        return table

    @cached_property
    def starts(self) -> IntArray:
        """The number of each file's first row, and at last the number of all."""
        return np.cumsum([0, *(sum(file.groups) for file in self.files)])

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def ends(self) -> IntArray:
        """The numbers after the last row of each row group, each once."""
        return np.unique(np.cumsum([rows for file in self.files for rows in file.groups if rows]))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the first file."""
        return list(self.files[0].types)

    @property
    def places(self) -> list[int]:
        """Where the files were as they were given."""
        return [file.place for file in self.files]

    def place(self, number: int) -> tuple[str, str]:
        """Return the file of a row, and what its row there is called."""
        k = int(np.searchsorted(self.starts, number, side="right")) - 1
        return self.files[k].path, f"row {number - int(self.starts[k])}"

    def value(self, column: str, number: int) -> Any:
        """Return the value of a column in one row."""
        [[piece]] = self.read([column], number, number + 1, 1)
        return piece.data.column(0)[0].as_py()

    def check(self, column: str, fits: Callable[[Any], bool], rule: str) -> None:
        """Refuse a column that is missing in a file, or not of the type that it must have."""
        for path, _, _, types, _ in self.files:
            if column not in types:
                refuse_column(column, list(types), path)
            if not fits(types[column]):
                raise ValueError(f"{path}: column {column!r} must have {rule}, but has type {types[column]}.")

    def check_alike(self) -> None:
        """Refuse files that differ in the names of their columns."""
        first = self.files[0]
        for file in self.files:
            if other := sorted(set(file.types) ^ set(first.types)):
                raise ValueError(
                    f"{file.path} must have the columns of {first.path}, but {listed(other)} "
                    f"{'is' if len(other) == 1 else 'are'} in one of them alone."
                )

    def read(self, columns: Sequence[str], start: int, stop: int, size: int) -> Iterator[list[Piece]]:
        """Yield some columns of the rows from ``start`` to before ``stop``, ``size`` rows at once."""
        lot, missing = list[Piece](), size
        for path, first, data in self._pieces(list(columns), start, stop, size):
            for begin, end in pairwise([0, *range(missing, data.num_rows, size), data.num_rows]):
                lot.append(Piece(path, first + begin, data.slice(begin, end - begin)))
                missing -= end - begin
                if not missing:
                    yield lot
                    lot, missing = [], size
        if lot:
            yield lot

    def _pieces(self, columns: list[str], start: int, stop: int, size: int) -> Iterator[Piece]:
        """Yield the same rows as they come, a row group or ``size`` rows at most."""
        for file, (begin, end) in zip(self.files, pairwise(self.starts.tolist()), strict=True):
            if end <= start or begin >= stop:
                continue
            with refusing(f"{file.path} {_UNREADABLE}"):
                fragment = _fragment(file.absolute)
                if tuple(group.num_rows for group in fragment.row_groups) != file.groups:
                    raise ValueError(f"{file.path} has changed since the scan began.")
                row = begin
                for j, n_rows in enumerate(file.groups):
                    if row + n_rows <= start or row >= stop:
                        row += n_rows
                        continue
                    for batch in _batches(fragment.subset(row_group_ids=[j]), n_rows, columns, size):
                        inside = slice(max(start - row, 0), min(stop - row, batch.num_rows))
                        if inside.start < inside.stop:
                            yield Piece(file.path, row - begin + inside.start, batch[inside])
                        row += batch.num_rows


def hashed_texts(offsets: IntArray, content: npt.NDArray[np.uint8]) -> Keys:
    """Hashes of texts: of their lengths, and then of eight bytes after the other; a pad of zeros ends a text."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    keys = hashed(lengths)
    width = -(-int(lengths.max(initial=0)) // 8) * 8
    for rows in row_blocks(lengths.size, width):
        inside = np.arange(width) < lengths[rows, None]
        padded = np.zeros(inside.shape, dtype=np.uint8)
        ends = starts[rows][-1] + lengths[rows][-1]
        padded[inside] = content[starts[rows][0] : ends]
        for k, word in enumerate(padded.view("<u8").T):
            there = lengths[rows] > 8 * k
            keys[rows][there] = hashed(keys[rows][there] ^ word[there])
    return keys


def natural(path: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts paths as people do: part-2 before part-10."""
    parts = re.split(r"(\d+)", path)
    # Numbers of the same value may be spelt differently: the text itself comes last.
    return [(0, int(part), "") if k % 2 else (1, 0, part) for k, part in enumerate(parts)] + [(2, 0, path)]


def _files_of(path: str, name: str) -> list[str]:
    """Return the files of a path, a folder or a pattern."""
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        held = [file for file in Path(path).rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file()]
        files = [str(file) for file in held if not file.name.startswith(("_", "."))]
        if not files:
            raise ValueError(f"{name}: there is no Parquet file in the folder {path}.")
        return sorted(files, key=natural)
    if os.path.lexists(path):
        kinds = "a device, a pipe or a broken link"
        raise ValueError(f"{name}: {path} must be a file or a folder, but is {kinds}.")
    matches = [match for match in glob(path, recursive=True) if not os.path.basename(match).startswith("_")]
    if not matches:
        what = "no file matches" if re.search(r"[*?\[]", path) else "there is no file"
        raise ValueError(f"{name}: {what} {path}.")
    # A pattern may match a folder and the files in it.
    files = [file for match in sorted(matches, key=natural) for file in _files_of(match, name)]
    return list({os.path.abspath(file): file for file in files}.values())


def _fragment(path: str) -> Any:
    from pyarrow import dataset, fs

    how = dataset.ParquetFragmentScanOptions(use_buffered_stream=True, buffer_size=_BUFFER, pre_buffer=False)
    form = dataset.ParquetFileFormat(default_fragment_scan_options=how)
    return form.make_fragment(path, filesystem=fs.LocalFileSystem())


def _batches(group: Any, n_rows: int, names: list[str], size: int) -> Iterator[Any]:
    """Yield the rows of a row group with some columns: all at once, or ``size`` of many."""
    import pyarrow as pa

    how = {"batch_size": size, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    scanner = partial(group.scanner, **how)
    if n_rows * len(names) > _HELD_VALUES:
        yield from scanner(columns=names).to_batches()
        return
    lots = [names[k : k + _COLUMNS_AT_ONCE] for k in range(0, len(names), _COLUMNS_AT_ONCE)]
    columns = [column.combine_chunks() for lot in lots for column in scanner(columns=lot).to_table().columns]
    yield pa.RecordBatch.from_arrays(columns, names)
