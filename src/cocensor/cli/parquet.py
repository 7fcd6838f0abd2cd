"""Parquet files, whose few bytes may stand for more than the machine can hold."""

from __future__ import annotations

import os
import sys
from collections import Counter
from math import inf
from typing import Any

# Of the machine's memory: what is read is also copied, to numbers of double precision.
_SHARE = 0.25
_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
_TEXTS = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_OFFSET = 4
_GO_ON = "leave out columns or rows, or let cocensor evaluate --stream read Parquet files in batches"


def read_parquet(content: bytes) -> Any:
    """The table in the bytes of a Parquet file; what is too large for the memory is refused before it is read."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        _check_size(content, file.metadata)
        return file.read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"it starts as a Parquet file, but cannot be read: {error}") from None


def memory() -> float:
    """The bytes of memory of this machine, or those that this process may have; infinite where nothing tells."""
    try:
        found = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        found = inf
    if sys.platform == "win32":
        return found
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    return found if allowed == resource.RLIM_INFINITY else min(found, float(allowed))


def memory_limit() -> float:
    """The bytes of memory that a file may take."""
    return _SHARE * memory()


def check_bytes(size: int) -> None:
    """Refuse a file whose bytes alone take more than a share of the memory."""
    limit = memory_limit()
    if size > limit:
        raise ValueError(
            f"its {size / 2**30:.3g} GiB are more than a quarter of the memory of this machine, "
            f"{limit / 2**30:.3g} GiB: {_GO_ON}."
        )


def _check_size(content: bytes, metadata: Any) -> None:
    """Refuse what takes more than a share of the memory, by the numbers of values that the file states."""
    limit = memory_limit()
    size = 0
    most: Counter[str] = Counter()
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        for j in range(metadata.num_columns):
            chunk = group.column(j)
            size += chunk.num_values * _BYTES.get(chunk.physical_type, _OFFSET)
            if chunk.physical_type in _TEXTS:
                # No text is longer than its chunk.
                most[chunk.path_in_schema] += chunk.num_values * chunk.total_uncompressed_size
    if size <= limit < size + most.total():
        size += _texts_size(content, list(most))
    if size > limit:
        raise ValueError(
            f"its {metadata.num_rows} × {metadata.num_columns} values take {size / 2**30:.3g} GiB of memory, more than "
            f"a quarter of what this machine has, {limit / 2**30:.3g} GiB: {_GO_ON}."
        )


def _texts_size(content: bytes, names: list[str]) -> int:
    """The bytes of texts, counted where each is held once."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet, types

    file = parquet.ParquetFile(pa.BufferReader(content), read_dictionary=names)
    # Nested columns are no dictionaries, and nothing that a command takes.
    top = set(file.schema_arrow.names)
    flat = [name for name in names if name in top]
    size = 0
    for values in file.read(flat).columns:
        for chunk in values.chunks if types.is_dictionary(values.type) else ():
            lengths = pc.binary_length(chunk.dictionary.cast(pa.large_binary()))
            size += pc.sum(lengths.take(chunk.indices), min_count=0).as_py()
    return size
