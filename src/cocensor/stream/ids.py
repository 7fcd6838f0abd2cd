"""Which prediction is whose, by an id that the test subjects and the predictions have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from cocensor._validation import IntArray
from cocensor.stream.columns import Piece, checked, is_text, plain, plain_type, refuse_missing
from cocensor.stream.draw import hashed, hashed_texts
from cocensor.stream.files import Cursor, Files
from cocensor.stream.source import Keys

#: Up to this many subjects the hashes of all ids are held, to find ids that come twice or in another order.
MOST_HELD = 10_000_000
_ROWS = 2**16


def check_ids(test: Files, others: Sequence[Files], identity: str) -> None:
    """Refuse ids that are neither whole numbers nor texts, and texts here that are numbers there."""
    from pyarrow import types

    test.check(identity, lambda kind: types.is_integer(kind) or is_text(kind), "whole numbers or texts")
    text = is_text(plain_type(test.types[0][identity]))
    rule = f"{'texts' if text else 'whole numbers'}, like {test.paths[0]}"
    for files in (test, *others):
        files.check(identity, is_text if text else types.is_integer, rule)


def keys_of(pieces: Sequence[Piece], identity: str) -> Keys:
    """Hashes of ids: of whole numbers by value, of texts by their bytes in UTF-8; 7 and "7" are two ids."""
    return np.concatenate([_keys(_ids(piece, identity)) for piece in pieces])


def all_keys(files: Files, identity: str) -> Keys:
    """The hashes of all ids, each of which comes once."""
    keys = np.empty(files.n, dtype=np.uint64)
    start = 0
    for piece in files.read([identity], 0, files.n, _ROWS):
        stop = start + piece.data.num_rows
        keys[start:stop] = checked([piece], lambda pieces: keys_of(pieces, identity))
        start = stop
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if again.size:
        second = int(order[again + 1].min())
        first = int(np.flatnonzero(keys == keys[second])[0])
        (path, row), (other, earlier) = files.place(second), files.place(first)
        where = f"row {earlier}" if path == other else f"row {earlier} of {other}"
        raise ValueError(
            f"{path}: {identity} must differ between rows, but row {row} has {_id_at(files, identity, second)!r} "
            f"like {where}."
        )
    return keys


def places(wanted: Keys, test: Files, predicted: Files, identity: str) -> IntArray | None:
    """For each row of predictions that of its test subject, by the hashes of all ids; None where they are the same."""
    keys = all_keys(predicted, identity)
    if np.array_equal(keys, wanted):
        return None
    missing, unknown = (np.flatnonzero(~np.isin(*pair)) for pair in ((wanted, keys), (keys, wanted)))
    if missing.size:
        _refuse_missing(test, predicted.given, identity, int(missing[0]), missing.size)
    if unknown.size:
        _refuse_unknown(test.given, predicted, identity, int(unknown[0]), unknown.size)
    place = np.empty(keys.size, dtype=np.int64)
    place[np.argsort(keys)] = np.argsort(wanted)
    return place


def refuse_order(test: Files, predicted: Files, place: IntArray, identity: str, why: str) -> NoReturn:
    """Say where predictions leave the order of the test subjects."""
    row = int(np.flatnonzero(place != np.arange(place.size))[0])
    (path, own), (other, wanted) = predicted.place(row), test.place(row)
    raise ValueError(
        f"{path}: {identity} must be in the order of the test subjects, but row {own} has "
        f"{_id_at(predicted, identity, row)!r} where row {wanted} of {other} has {_id_at(test, identity, row)!r}, and "
        f"{why}: sort both by {identity}."
    )


def refuse_lengths(test: Files, predicted: Files, identity: str) -> NoReturn:
    """Name the first id that one of two tables of different lengths has alone, where ids increase."""
    common = min(test.n, predicted.n)
    wanted, found = (Cursor(each.read([identity], 0, common, _ROWS)) for each in (test, predicted))
    for start in range(0, common, _ROWS):
        size = min(_ROWS, common - start)
        compare(wanted.take(size), found.take(size), identity)
    if test.n > common:
        _refuse_missing(test, predicted.given, identity, common, test.n - common)
    _refuse_unknown(test.given, predicted, identity, common, predicted.n - common)


def compare(test: Sequence[Piece], predicted: Sequence[Piece], identity: str) -> None:
    """Refuse predictions of other subjects than those of the test sample in the same rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def joined(pieces: Sequence[Piece]) -> Any:
        return pa.concat_arrays([_ids(piece, identity) for piece in pieces])

    wanted, found = (checked(pieces, joined) for pieces in (test, predicted))
    for ids, pieces in ((wanted, test), (found, predicted)):
        again = pc.index(pc.equal(ids[1:], ids[:-1]), True).as_py()
        if again >= 0:
            path, row = _place(pieces, again + 1)
            raise ValueError(
                f"{path}: {identity} must differ between rows, but row {row} has {ids[again].as_py()!r} like the row "
                "before."
            )
    if wanted.equals(found):
        return
    at = pc.index(pc.not_equal(wanted, found), True).as_py()
    (path, row), (other, subject) = _place(predicted, at), _place(test, at)
    mine, theirs = found[at].as_py(), wanted[at].as_py()
    for ids, pieces in ((wanted, test), (found, predicted)):
        falls = pc.index(pc.less(ids[1 : at + 1], ids[:at]), True).as_py()
        if falls >= 0:
            broken, there = _place(pieces, falls + 1)
            raise ValueError(
                f"{path}: row {row} has {identity} {mine!r} where row {subject} of {other} has {theirs!r}, and ids are "
                f"not sorted (row {there} of {broken} breaks the order): sort both by {identity}."
            )
    if theirs < mine:
        raise ValueError(
            f"{path} has no row for {identity} {theirs!r} of {other}, row {subject}: its row {row} has {mine!r}."
        )
    raise ValueError(
        f"{path} has a row for {identity} {mine!r}, row {row}, not in {other}, where row {subject} has {theirs!r}."
    )


def _ids(piece: Piece, identity: str) -> Any:
    """The ids of a piece, of one type for all files."""
    values = piece.data.column(identity)
    refuse_missing(values, identity)
    values = plain(values)
    return values.cast("large_string" if is_text(values.type) else "int64", safe=False)


def _keys(ids: Any) -> Keys:
    if not is_text(ids.type):
        return hashed(ids.to_numpy(zero_copy_only=False))
    _, offsets, content = ids.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return hashed_texts(bounds, np.frombuffer(content or b"", dtype=np.uint8))


def _id_at(files: Files, identity: str, row: int) -> Any:
    return next(files.read([identity], row, row + 1, _ROWS)).data.column(0)[0].as_py()


def _place(pieces: Sequence[Piece], at: int) -> tuple[str, int]:
    """The file of a row of several pieces, and its row there."""
    for piece in pieces:
        if at < piece.data.num_rows:
            break
        at -= piece.data.num_rows
    return piece.path, piece.first + at


def _refuse_missing(test: Files, given: str, identity: str, row: int, n: int) -> NoReturn:
    path, own = test.place(row)
    more = f" and {n - 1} more" if n > 1 else ""
    other = ": predictions for another sample?" if n == test.n else "."
    raise ValueError(
        f"{given} has no row for {identity} {_id_at(test, identity, row)!r}{more} of {path}, row {own}{other}"
    )


def _refuse_unknown(given: str, predicted: Files, identity: str, row: int, n: int) -> NoReturn:
    path, own = predicted.place(row)
    more = f" and {n - 1} more" if n > 1 else ""
    raise ValueError(
        f"{path} has a row for {identity} {_id_at(predicted, identity, row)!r}{more}, row {own}, not in {given}."
    )
