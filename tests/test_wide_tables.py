"""Tables of many columns: every name is looked at a few times, however many there are."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cocensor._checks import as_matrix
from cocensor.cli.inputs import covariates_of
from cocensor.data.tables import Table, repeated
from cocensor.paper.datasets.encoding import Encoder

N_COLUMNS = 1000
# A search among all names takes 500 comparisons on average.
PER_COLUMN = 100


class Name(str):
    """A text that counts how often it is compared or hashed."""

    __slots__ = ()
    looked_at = 0

    def __eq__(self, other):
        Name.looked_at += 1
        return str.__eq__(self, other)

    def __hash__(self):
        Name.looked_at += 1
        return str.__hash__(self)


@pytest.fixture
def names():
    Name.looked_at = 0
    return [Name(f"c{k}") for k in range(N_COLUMNS)]


def test_names_that_come_twice(names):
    assert repeated([*names, *names[:2]]) == ["c0", "c1"]
    assert repeated(names) == []
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS


def test_columns_of_a_file(names):
    table = Table.of(pa.table({str(name): [1.0, float(k)] for k, name in enumerate(names)}), "wide.csv")
    assert [table.numbers(name)[1] for name in names] == list(range(N_COLUMNS))
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS


def test_covariates_of_files(names):
    levels = {str(name): ["a", "b", "a"] for name in names}
    tables = [Table.of(pa.table(levels), f"{part}.csv") for part in ("train", "test")]
    encoded = covariates_of(names, tables)
    assert [part.num_columns for part in encoded] == [N_COLUMNS, N_COLUMNS]
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS


def test_covariates_in_a_frame(names):
    frame = pd.DataFrame(np.ones((2, N_COLUMNS)), columns=pd.Index(names, dtype=object))
    assert as_matrix(frame, "X").shape == (2, N_COLUMNS)
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS


def test_categories_in_a_frame(names):
    table = np.array([["a"] * N_COLUMNS, ["b"] * N_COLUMNS])
    frame = pd.DataFrame(table, columns=pd.Index(names, dtype=object))
    assert Encoder(names).fit_transform(frame).shape == (2, N_COLUMNS)
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS


def test_columns_that_do_not_vary(names):
    frame = pd.DataFrame(np.ones((2, N_COLUMNS)), columns=pd.Index(names, dtype=object))
    frame["varies"] = [0.0, 1.0]
    encoder = Encoder().fit(frame)
    assert encoder.columns_ == ("varies",)
    assert encoder.left_out_ == tuple(map(str, names))
    assert Name.looked_at <= PER_COLUMN * N_COLUMNS
