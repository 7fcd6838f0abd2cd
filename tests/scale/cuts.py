"""A study cut into Parquet files."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import cocensor as cc

TIMES = ("0.5", "1", "1.5", "10")


def study(n, seed=0, dtype=np.float32, ids=None):
    """Tables of test subjects and of a model's predictions, a row per subject."""
    rng = np.random.default_rng(seed)
    event = rng.random(n) < 0.5
    test = {
        "months": rng.exponential(3.0, n),
        "died": event,
        "ended": ~event & (rng.random(n) < 0.3),
        "age": rng.integers(20, 90, n),
        "dose": rng.normal(size=n).astype(np.float32),
        "not read": ["text"] * n,
    }
    curves = np.sort(rng.random((n, len(TIMES))), axis=1)[:, ::-1].astype(dtype)
    cox = {name: np.ascontiguousarray(curves[:, k]) for k, name in enumerate(TIMES)}
    if ids is not None:
        test, cox = {"id": ids, **test}, {**cox, "id": ids}
    return pa.table(test), pa.table(cox), curves


def write(table, folder, bounds=(), groups=None):
    """Write rows between bounds into files part-0, part-1, ... of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [0, *bounds, table.num_rows]
    for k, (start, stop) in enumerate(pairwise(edges)):
        parquet.write_table(
            table.slice(start, stop - start), folder / f"part-{k}.parquet", row_group_size=groups
        )
    return folder


def scan(test, predictions, **options):
    columns = {"time": "months", "event": "died"} | options
    return cc.scan_parquet(
        test, predictions if isinstance(predictions, dict) else {"cox": predictions}, **columns
    )


def all_batches(scan, columns=None, reverse=False):
    parts = scan.parts[::-1] if reverse else scan.parts
    return [batch for part in parts for batch in scan.batches(part, columns)]


def whole(scan, columns=None, reverse=False):
    """All batches as one, in the order of row numbers."""
    from cocensor.scale.scan import Batch

    joined = Batch.joined(all_batches(scan, columns, reverse))
    return joined[np.argsort(joined.rows)]
