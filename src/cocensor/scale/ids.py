"""Which prediction is whose in files that are not held: ids by their hashes, or compared as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from cocensor.data.ids import check_distinct, refuse_missing, refuse_unknown
from cocensor.data.tables import IDS, is_text, may_be_id
from cocensor.scale.draw import hashed, hashed_texts
from cocensor.scale.files import Cursor, Files, Piece
from cocensor.scale.source import Keys

#: Up to this many subjects the hashes of all ids are held, to find ids that come twice or in another order.
MOST_HELD = 10_000_000
_ROWS = 2**16


def check_ids(test: Files, others: Sequence[Files], name: str) -> None:
    """Refuse ids that are neither whole numbers nor texts, and texts here that are numbers there."""
    test.check(name, may_be_id, IDS)
    are_texts = is_text(test.types[0][name])
    rule = f"{'texts' if are_texts else 'whole numbers'}, like {test.paths[0]}"
    for files in (test, *others):
        files.check(name, lambda kind: may_be_id(kind) and is_text(kind) == are_texts, rule)


def keys_of(pieces: Sequence[Piece], name: str) -> Keys:
    """Return hashes of ids: of whole numbers by value, of texts by their bytes in UTF-8."""
    return np.concatenate([_keys(_ids(piece, name)) for piece in pieces])


def all_keys(files: Files, name: str) -> Keys:
    """Return the hashes of all ids, each of which comes once."""
    keys = np.concatenate([keys_of([piece], name) for piece in files.read([name], 0, files.n, _ROWS)])
    check_distinct(files, keys, name)
    return keys


def refuse_order(test: Files, predicted: Files, number: int, name: str, why: str) -> NoReturn:
    """Raise that a prediction is another's than that of the test subject of the same number, and ``why`` it stays."""
    (path, own), (other, wanted) = predicted.place(number), test.place(number)
    raise ValueError(
        f"{path}: {name} must be in the order of the test subjects, but row {own} has "
        f"{predicted.value(name, number)!r} where row {wanted} of {other} has {test.value(name, number)!r}, and "
        f"{why}: sort both by {name}."
    )


def refuse_lengths(test: Files, predicted: Files, name: str) -> NoReturn:
    """Name the first id that one of two tables of different lengths has alone, where both are in one order."""
    common = min(test.n, predicted.n)
    tables = [Cursor(files.read([name], 0, common, _ROWS)) for files in (test, predicted)]
    for start in range(0, common, _ROWS):
        wanted, own = (keys_of(table.take(min(_ROWS, common - start)), name) for table in tables)
        compare(test, predicted, start, wanted, own, name)
    if test.n > common:
        refuse_missing(test, predicted, name, common, test.n - common)
    refuse_unknown(test, predicted, name, common, predicted.n - common)


def compare(test: Files, predicted: Files, start: int, wanted: Keys, own: Keys, name: str) -> None:
    """Refuse predictions of others than the test subjects in the same rows, by their keys from row ``start`` on."""
    for files, keys in ((test, wanted), (predicted, own)):
        again = np.flatnonzero(keys[1:] == keys[:-1])
        if again.size:
            number = start + int(again[0]) + 1
            path, row = files.place(number)
            raise ValueError(
                f"{path}: {name} must differ between rows, but row {row} has {files.value(name, number)!r} like the "
                "row before."
            )
    differ = np.flatnonzero(wanted != own)
    if differ.size:
        many = f"more than {MOST_HELD:,} are not put into another order"
        refuse_order(test, predicted, start + int(differ[0]), name, many)


def _ids(piece: Piece, name: str) -> Any:
    """Return the ids of a piece, of one type for all files; what is missing or no id is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    values = piece.data.column(name)
    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = "int64" if types.is_integer(values.type) or types.is_floating(values.type) else "large_string"
    is_blank = kind != "int64" and pc.any(pc.equal(pc.utf8_trim_whitespace(values), "")).as_py()
    if values.null_count or is_blank or types.is_floating(values.type):
        return pa.array(piece.table.ids(name), type=kind)  # refuses what is no id
    return values.cast(kind, safe=False)


def _keys(ids: Any) -> Keys:
    from pyarrow import types

    if types.is_integer(ids.type):
        return hashed(ids.to_numpy(zero_copy_only=False))
    _, offsets, content = ids.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return hashed_texts(bounds, np.frombuffer(content or b"", dtype=np.uint8))
