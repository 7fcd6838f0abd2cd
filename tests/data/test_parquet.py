import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cocensor.data import files as reading
from cocensor.data.files import read_table
from tests.refusals import refuses

N = 100_000
MIB = 2**20


def written(folder, **columns):
    """A file of a few kilobytes, whatever the columns take in memory."""
    path = folder / "small.parquet"
    parquet.write_table(pa.table(columns), path, compression="zstd")
    assert path.stat().st_size < 50_000
    return path


def a_quarter_is(monkeypatch, size):
    monkeypatch.setattr(reading, "memory", lambda: 4.0 * size)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (np.ones(N), 8 * N),
        (pa.array(["x" * 100] * N), 104 * N),
        (pa.array(["x" * 100] * N).dictionary_encode(), 104 * N),
        (pa.array([[1.0] * 10] * N), 80 * N),
    ],
    ids=["numbers", "texts", "categories", "lists"],
)
def test_a_small_file_that_expands_is_refused_before_it_is_read(tmp_path, monkeypatch, values, size):
    path = written(tmp_path, a=values)
    a_quarter_is(monkeypatch, size)
    assert len(read_table(path)) == N
    a_quarter_is(monkeypatch, size - 1)
    monkeypatch.setattr(parquet.ParquetFile, "read", _unless_of_dictionaries(parquet.ParquetFile.read))
    refuses(
        lambda: read_table(path), "small.parquet", "100000 × 1 values", "GiB", "--stream", kind=ValueError
    )


def test_a_large_file_is_refused_before_its_bytes_are_read(tmp_path, monkeypatch):
    path = written(tmp_path, a=np.ones(N))
    a_quarter_is(monkeypatch, path.stat().st_size - 1)
    monkeypatch.setattr(type(path), "read_bytes", None)
    refuses(lambda: read_table(path), "small.parquet", "GiB", "--stream", kind=ValueError)


def _unless_of_dictionaries(read):
    """Reading that fails where texts are repeated in memory."""

    def checked(self, columns=None, **how):
        assert columns is not None, "the file was read before it was refused"
        return read(self, columns, **how)

    return checked


def test_long_texts_that_differ_are_read_where_they_fit(tmp_path, monkeypatch):
    """The longest text tells little: one of a megabyte beside short ones."""
    path = written(tmp_path, a=["x" * MIB, *["y"] * (N - 1)])
    a_quarter_is(monkeypatch, 2 * MIB)
    assert len(read_table(path)) == N


def test_the_memory_of_this_machine_is_told():
    assert reading.memory() > 2**28


def test_without_a_word_from_the_system_all_is_read(tmp_path, monkeypatch):
    monkeypatch.delattr(reading.os, "sysconf")
    assert reading.memory() == np.inf
    assert len(read_table(written(tmp_path, a=np.ones(N)))) == N
