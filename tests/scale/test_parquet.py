"""Parquet files give back what was written into them, however they are cut."""

import pickle
import sys
import tempfile
from pathlib import Path
from subprocess import run
from time import monotonic, sleep

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import cocensor as cc
from cocensor.scale import files
from cocensor.scale.scan import hashed
from tests.scale.cuts import TIMES, all_batches, scan, study, whole, write


@st.composite
def cuts(draw, n):
    """Bounds of files, some of which may be empty, and the size of their row groups."""
    bounds = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    return bounds, draw(st.integers(1, n + 1))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rows_come_back_however_files_and_batches_are_cut(data):
    n = data.draw(st.integers(1, 60))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    ids = data.draw(st.sampled_from([None, "int", "text"]))
    keys = {None: None, "int": np.arange(n) * 3, "text": [f"{k:04d}" for k in range(n)]}[ids]
    test, cox, curves = study(n, dtype=dtype, ids=keys)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("cocensor.scale.scan._FEWEST", 1)
        patch.setattr("cocensor.scale.scan._BATCH_VALUES", data.draw(st.integers(1, 300)))
        patch.setattr("cocensor.scale.parquet._SMALL_PART", data.draw(st.integers(1, n)))
        patch.setattr("cocensor.scale.parquet._PART_ROWS", data.draw(st.integers(1, n)))
        patch.setattr("cocensor.scale.files._HELD_VALUES", data.draw(st.sampled_from([0, 50, 2**24])))
        patch.setattr("cocensor.scale.files._COLUMNS_AT_ONCE", data.draw(st.integers(1, 5)))
        patch.setattr("cocensor.scale.parquet._MOST_HELD", data.draw(st.sampled_from([0, 10**7])))
        folder = Path(name)
        found = scan(
            write(test, folder / "test", *data.draw(cuts(n))),
            write(cox, folder / "cox", *data.draw(cuts(n))),
            administrative="ended",
            covariates=["age", "dose"],
            id=None if ids is None else "id",
        )
        got = whole(found, reverse=data.draw(st.booleans()))
        sizes = [part.stop - part.start for part in found.parts]
        some = whole(found, {"cox": np.array([0, 2])})
    assert found.n == n == sum(sizes)
    assert got.rows.tolist() == list(range(n))
    assert np.array_equal(got.y.time, test["months"].to_numpy())
    assert np.array_equal(got.y.event, test["died"].to_numpy())
    assert np.array_equal(got.y.administrative, test["ended"].to_numpy())
    assert np.array_equal(got.x, np.column_stack([test["age"], test["dose"]]))
    assert got.predictions["cox"].probabilities.dtype == dtype
    assert np.array_equal(got.predictions["cox"].probabilities, curves)
    assert np.array_equal(got.predictions["cox"].times, [0.5, 1, 1.5, 10])
    assert np.array_equal(some.predictions["cox"].probabilities, curves[:, [0, 2]])
    assert np.array_equal(some.predictions["cox"].times, [0.5, 1.5])
    if ids != "text":
        assert np.array_equal(got.key, hashed(np.arange(n) if ids is None else np.arange(n) * 3))


def test_keys_of_ids_follow_the_subjects_from_file_to_file(tmp_path):
    n = 40
    test, cox, _ = study(n, ids=[f"subject {k}" for k in range(n)])
    first = whole(scan(write(test, tmp_path / "a", [7, 30]), write(cox, tmp_path / "b"), id="id"))
    other = np.random.default_rng(1).permutation(n)
    second = whole(
        scan(
            write(test.take(other), tmp_path / "c", [1]),
            write(cox.take(other), tmp_path / "d", [20]),
            id="id",
        )
    )
    assert np.array_equal(first.key[other], second.key)


def test_the_order_of_files_does_not_matter(tmp_path):
    test, cox, curves = study(33)
    tests = sorted(write(test, tmp_path / "test", range(3, 33, 3)).iterdir())
    others = sorted(write(cox, tmp_path / "cox", [11, 22]).iterdir())
    assert tests[1].name == "part-1.parquet"
    assert tests[2].name == "part-10.parquet"
    for order in (1, -1):
        got = whole(scan(tests[::order], {"cox": others[::order]}))
        assert np.array_equal(got.predictions["cox"].probabilities, curves)
        assert np.array_equal(got.y.time, test["months"].to_numpy())


def test_files_in_another_order_than_their_names_are_noted(tmp_path):
    test, cox, _ = study(9)
    tests = sorted(write(test, tmp_path / "test", [2, 5]).iterdir())
    cox = write(cox, tmp_path / "cox")
    assert scan(tests, cox).notes == ()
    (note,) = scan(tests[::-1], cox).notes
    assert note.kind == "decision"
    assert "part-0.parquet" in note.text


def test_a_path_a_folder_a_pattern_and_a_list_are_the_same_files(tmp_path):
    test, cox, curves = study(12)
    write(test, tmp_path / "test", [5])
    write(cox, tmp_path / "cox", [3, 3])
    (tmp_path / "cox" / "_SUCCESS").touch()
    for paths in (
        tmp_path / "cox",
        str(tmp_path / "cox" / "*.parquet"),
        str(tmp_path / "co[x]" / "**"),
        [tmp_path / "cox" / "part-0.parquet", str(tmp_path / "cox" / "part-[12].parquet")],
    ):
        got = whole(scan(tmp_path / "test", paths))
        assert np.array_equal(got.predictions["cox"].probabilities, curves), paths


def test_predictions_in_another_order_are_matched_by_id_and_noted(tmp_path):
    n = 50
    test, cox, curves = study(n, ids=np.arange(n))
    risks = pa.table({"id": np.arange(n), "risk": -1.0 * np.arange(n)})
    other = np.random.default_rng(2).permutation(n)
    found = scan(
        write(test, tmp_path / "test", [20], 7),
        {
            "cox": write(cox.take(other), tmp_path / "cox", [31], 5),
            "score": write(risks.take(other[::-1]), tmp_path / "score"),
            "same": write(cox, tmp_path / "same"),
        },
        id="id",
    )
    for each in (found, pickle.loads(pickle.dumps(found))):
        got = whole(each)
        assert np.array_equal(got.predictions["cox"].probabilities, curves)
        assert np.array_equal(got.predictions["same"].probabilities, curves)
        assert np.array_equal(got.predictions["score"].risk, -1.0 * np.arange(n))
    assert [note.about.model for note in found.notes] == ["cox", "score"]


def test_a_scan_and_its_parts_can_be_sent_elsewhere(tmp_path, monkeypatch):
    test, cox, curves = study(30)
    write(test, tmp_path / "test", [10], 5)
    write(cox, tmp_path / "cox", [10], 5)
    monkeypatch.setattr("cocensor.scale.parquet._SMALL_PART", 5)
    monkeypatch.chdir(tmp_path)
    found = scan("test/*.parquet", "cox/*.parquet")
    assert len(found.parts) > 2
    sent, part = pickle.loads(pickle.dumps((found, found.parts[1])))
    monkeypatch.chdir("/")
    (batch,) = sent.batches(part)
    rows = slice(batch.rows[0], batch.rows[-1] + 1)
    assert np.array_equal(batch.predictions["cox"].probabilities, curves[rows])
    assert repr(sent) == "ParquetScan(n=30 in 2 files; cox (4 times, 0.5 to 10))"


def test_parts_end_where_row_groups_do(tmp_path, monkeypatch):
    monkeypatch.setattr("cocensor.scale.parquet._SMALL_PART", 10)
    monkeypatch.setattr("cocensor.scale.parquet._PART_ROWS", 40)
    test, cox, _ = study(100)
    alike = scan(write(test, tmp_path / "a", groups=5), write(cox, tmp_path / "b", groups=5))
    assert [part.stop - part.start for part in alike.parts] == [10] * 10
    # Row groups of 15 and 5 rows end together after 15, 30, ...
    multiple = scan(tmp_path / "a", write(cox, tmp_path / "c", groups=15))
    assert [part.stop - part.start for part in multiple.parts] == [15, 15, 15, 15, 15, 15, 10]
    # Those of 15 and 7 rows hardly ever do: the larger ones end a part.
    write(test, tmp_path / "e", groups=7)
    few = scan(tmp_path / "e", tmp_path / "c")
    assert [part.stop - part.start for part in few.parts] == [30, 30, 40]
    # A row group is not cut.
    large = scan(tmp_path / "a", write(cox, tmp_path / "d", groups=70))
    assert [part.stop - part.start for part in large.parts] == [70, 30]


def test_predictions_at_one_time_and_risk_scores(tmp_path):
    test, _, _ = study(5)
    one = pa.table({"12": [0.1, 0.2, 0.3, 0.4, 0.5]})
    score = pa.table({"Risk": pa.array([3, 1, 4, 1, 5], pa.int8())})
    found = scan(
        write(test, tmp_path / "test"),
        {"one": write(one, tmp_path / "one"), "score": write(score, tmp_path / "score")},
        tail="last",
    )
    got = whole(found)
    assert got.predictions["one"].time == 12.0
    assert got.predictions["score"].risk.tolist() == [3, 1, 4, 1, 5]
    assert found.grid("score") is None
    assert found.grid("one").tolist() == [12.0]
    assert "score (risk score)" in repr(found)


def test_numbers_are_read_as_numbers_and_texts_as_categories(tmp_path):
    test = pa.table(
        {
            "months": pa.array(["1.5", "2", "3"]).cast(pa.decimal128(6, 2)),
            "died": pa.array([1.0, 0.0, 0.0], pa.float32()),
            "why": pa.array(["", "moved", "ill"]).dictionary_encode(),
            "smokes": [True, False, True],
            "stage": pa.array([3, 1, 3]).dictionary_encode(),
            "cost": pa.array(["0.5", "2", "3"]).cast(pa.decimal128(6, 2)).dictionary_encode(),
            "site": pa.array(["b", "a", "b"]).dictionary_encode(),
            "town": ["B", "B", "A"],
        }
    )
    cox = pa.table(
        {"X1": pa.array([1, 1, 0], pa.int8()), "X2.5": pa.array(np.array([0.5, 0.25, 0], np.float16))}
    )
    found = scan(
        write(test, tmp_path / "t"),
        write(cox, tmp_path / "c"),
        covariates=["smokes", "stage", "cost", "site", "town"],
        reason="why",
        interpolation="step",
    )
    got = whole(found)
    assert got.y.time.tolist() == [1.5, 2.0, 3.0]
    assert got.y.reason.tolist() == [None, "moved", "ill"]
    assert np.asarray(got.x).tolist() == [[1, 3, 0.5, "b", "B"], [0, 1, 2, "a", "B"], [1, 3, 3, "b", "A"]]
    assert got.predictions["cox"].probabilities.tolist() == [[1, 0.5], [1, 0.25], [0, 0]]
    assert got.predictions["cox"].interpolation == "step"


def test_precision_is_double_where_one_file_has_it(tmp_path):
    test, single, curves = study(8)
    double = pa.table({name: single[name].cast(pa.float64()) for name in TIMES})
    (tmp_path / "cox").mkdir()
    parquet.write_table(single.slice(0, 4), tmp_path / "cox" / "1.parquet")
    parquet.write_table(double.slice(4), tmp_path / "cox" / "2.parquet")
    got = whole(scan(write(test, tmp_path / "test"), tmp_path / "cox"))
    assert got.predictions["cox"].probabilities.dtype == np.float64
    assert np.array_equal(got.predictions["cox"].probabilities, curves.astype(np.float64))


@pytest.mark.parametrize("most_held", [10**9, 0])
def test_only_the_columns_that_are_needed_are_read(tmp_path, monkeypatch, most_held):
    """Of small row groups all rows at once, of large ones some after the other."""
    read = []

    def noted(group, n_rows, names, size):
        for batch in batches(group, n_rows, names, size):
            read.append(batch.schema.names)
            yield batch

    batches = files._batches
    monkeypatch.setattr(files, "_HELD_VALUES", most_held)
    test, cox, _ = study(10)
    found = scan(write(test, tmp_path / "test"), write(cox, tmp_path / "cox"))
    monkeypatch.setattr(files, "_batches", noted)
    (batch,) = found.batches(found.parts[0], {})
    assert batch.predictions == {}
    assert read == [["months", "died"]]
    (batch,) = found.batches(found.parts[0], {"cox": np.array([1])})
    assert batch.predictions["cox"].times.tolist() == [1.0]
    assert ["1"] in read


def test_a_batch_is_in_fortran_order(tmp_path):
    test, cox, _ = study(100)
    found = scan(write(test, tmp_path / "test"), write(cox, tmp_path / "cox"))
    (batch,) = all_batches(found)
    assert batch.predictions["cox"].probabilities.flags.f_contiguous


def test_a_model_that_is_not_asked_for_is_not_read(tmp_path):
    test, cox, _ = study(10)
    found = scan(
        write(test, tmp_path / "test"), {"a": write(cox, tmp_path / "a"), "b": write(cox, tmp_path / "b")}
    )
    (batch,) = all_batches(found, {"b": slice(0, 2)})
    assert list(batch.predictions) == ["b"]
    assert batch.predictions["b"].times.tolist() == [0.5, 1.0]


def test_importing_the_package_imports_no_pyarrow():
    script = "import sys, cocensor; cocensor.scale.scan_chunks; assert 'pyarrow' not in sys.modules"
    assert run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_scan_is_public():
    assert issubclass(
        type(cc.scale.scan_chunks([({"a": (1.0, np.array([0.5]))}, ([1.0], [1]))])), cc.scale.Scan
    )


def test_little_is_held_of_large_files(tmp_path, monkeypatch):
    monkeypatch.setattr("cocensor.scale.scan._BATCH_VALUES", 2**18)
    n, width = 200_000, 40
    rng = np.random.default_rng(0)
    test = pa.table({"months": rng.exponential(size=n), "died": rng.random(n) < 0.5})
    rate = rng.exponential(size=n)
    cox = pa.table({str(k): np.exp(-rate * k) for k in range(1, width + 1)})
    found = scan(write(test, tmp_path / "test"), write(cox, tmp_path / "cox", groups=10_000))
    del test, cox
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for part in found.parts for _ in found.batches(part)]
    assert max(held) < 0.3 * 8 * n * width
    deadline = monotonic() + 10.0
    while pa.total_allocated_bytes() > before and monotonic() < deadline:
        sleep(0.01)  # threads of the scanner let go of what they read after the last batch
    assert pa.total_allocated_bytes() <= before


def test_of_wide_files_a_few_columns_are_decoded_at_once(tmp_path):
    """All at once would take dictionaries and pages of all columns, several times what comes of them."""
    n, width = 100_000, 60
    rate = np.random.default_rng(0).exponential(size=n)
    test = pa.table({"months": rate + 1.0, "died": np.ones(n, dtype=bool)})
    cox = pa.table({str(k): np.exp(-rate * k).astype(np.float32) for k in range(1, width + 1)})
    found = scan(write(test, tmp_path / "test"), write(cox, tmp_path / "cox"))
    del test, cox
    code = (
        "import pickle, sys\nimport pyarrow as pa\nfound = pickle.load(sys.stdin.buffer)\n"
        "for part in found.parts:\n    for _ in found.batches(part): pass\n"
        "print(pa.default_memory_pool().max_memory())"
    )
    done = run([sys.executable, "-c", code], input=pickle.dumps(found), capture_output=True, check=True)
    assert int(done.stdout) < 2 * 4 * n * width
