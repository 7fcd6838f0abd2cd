"""Which prediction is whose in files that are not held: ids by their hashes, or compared as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from cocensor._checks import IntArray
from cocensor.data.ids import check_distinct, refuse_missing, refuse_unknown
from cocensor.data.tables import IDS, is_text, may_be_id
from cocensor.stream.draw import hashed, hashed_texts
from cocensor.stream.files import Cursor, Files, Piece
from cocensor.stream.source import Keys

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


def refuse_order(test: Files, predicted: Files, rows: IntArray, name: str, why: str) -> NoReturn:
    """Raise where predictions leave the order of the test subjects, and ``why`` they are not put into it."""
    row = int(np.flatnonzero(rows != np.arange(rows.size))[0])
    (path, own), (other, wanted) = predicted.place(row), test.place(row)
    raise ValueError(
        f"{path}: {name} must be in the order of the test subjects, but row {own} has {predicted.value(name, row)!r} "
        f"where row {wanted} of {other} has {test.value(name, row)!r}, and {why}: sort both by {name}."
    )


def refuse_lengths(test: Files, predicted: Files, name: str) -> NoReturn:
    """Name the first id that one of two tables of different lengths has alone, where ids increase."""
    common = min(test.n, predicted.n)
    wanted, own = (Cursor(files.read([name], 0, common, _ROWS)) for files in (test, predicted))
    for start in range(0, common, _ROWS):
        size = min(_ROWS, common - start)
        compare(wanted.take(size), own.take(size), name)
    if test.n > common:
        refuse_missing(test, predicted, name, common, test.n - common)
    refuse_unknown(test, predicted, name, common, predicted.n - common)


def compare(test: Sequence[Piece], predicted: Sequence[Piece], name: str) -> None:
    """Refuse predictions of other subjects than those of the test sample in the same rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, own = (pa.concat_arrays([_ids(piece, name) for piece in pieces]) for pieces in (test, predicted))
    for ids, pieces in ((wanted, test), (own, predicted)):
        again = pc.index(pc.equal(ids[1:], ids[:-1]), True).as_py()
        if again >= 0:
            path, row = _place(pieces, again + 1)
            raise ValueError(
                f"{path}: {name} must differ between rows, but row {row} has {ids[again].as_py()!r} like the row "
                "before."
            )
    if wanted.equals(own):
        return
    at = pc.index(pc.not_equal(wanted, own), True).as_py()
    (path, row), (other, subject) = _place(predicted, at), _place(test, at)
    mine, theirs = own[at].as_py(), wanted[at].as_py()
    for ids, pieces in ((wanted, test), (own, predicted)):
        falls = pc.index(pc.less(ids[1 : at + 1], ids[:at]), True).as_py()
        if falls >= 0:
            broken, there = _place(pieces, falls + 1)
            raise ValueError(
                f"{path}: row {row} has {name} {mine!r} where row {subject} of {other} has {theirs!r}, and ids are not "
                f"sorted (row {there} of {broken} breaks the order): sort both by {name}."
            )
    if theirs < mine:
        raise ValueError(
            f"{path} has no row for {name} {theirs!r} of {other}, row {subject}: its row {row} has {mine!r}."
        )
    raise ValueError(
        f"{path} has a row for {name} {mine!r}, row {row}, not in {other}, where row {subject} has {theirs!r}."
    )


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


def _place(pieces: Sequence[Piece], at: int) -> tuple[str, int]:
    """Return the file of a row of several pieces, and its row there."""
    for piece in pieces:
        if at < piece.data.num_rows:
            break
        at -= piece.data.num_rows
    return piece.path, piece.first + at
