"""What is refused of Parquet files: one sentence that names the file, the row in it, the column and the value."""

import datetime as dt
import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import cocensor as cc
from cocensor.scale import parquet as scans
from cocensor.scale.files import Files
from tests.refusals import refuses
from tests.scale.cuts import all_batches, scan, study, write

N = 30


@pytest.fixture
def files(tmp_path):
    """A study in three files of test subjects and four of predictions."""
    test, cox, _ = study(N)
    write(test, tmp_path / "test", [10, 20], 4)
    write(cox, tmp_path / "cox", [5, 12, 25], 3)
    return tmp_path


def changed(path, column, row, value):
    """Write a file again with another value in one row."""
    table = parquet.read_table(path)
    values = table[column].to_pylist()
    values[row] = value
    place = table.column_names.index(column)
    array = pa.array(values, table[column].type)
    parquet.write_table(table.set_column(place, column, array), path, row_group_size=4)


def read_all(folder, **options):
    return all_batches(scan(folder / "test", folder / "cox", **options))


@pytest.mark.parametrize("found", ["device", "pipe", "link"])
def test_what_is_no_file_is_refused_by_itself_and_in_a_pattern(tmp_path, found):
    path = tmp_path / f"{found}.parquet"
    if found == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"device": "/dev/zero", "link": tmp_path / "nowhere"}[found])
    for given in (path, tmp_path / "*.parquet"):
        refuses(lambda given=given: Files.of(given, "--test"), "--test: ", str(path), "must be a file")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("months", None, "no value"),
        ("months", float("nan"), "no value"),
        ("months", float("inf"), "inf"),
        ("months", -0.5, "-0.5"),
        ("died", None, "no value"),
        ("ended", None, "no value"),
        ("dose", float("inf"), "inf"),
    ],
)
def test_a_bad_value_of_a_subject_is_named_by_file_row_and_column(files, column, value, said):
    path = files / "test" / "part-1.parquet"
    changed(path, column, 6, value)
    refuses(
        lambda: read_all(files, covariates=["age", "dose"], administrative="ended"),
        str(path),
        "row 6",
        repr(column),
        said,
    )


def test_codes_of_competing_events_are_refused(files):
    path = files / "test" / "part-2.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.set_column(1, "died", table["died"].cast(pa.int8())), path)
    changed(path, "died", 8, 2)
    refuses(lambda: read_all(files), "part-2.parquet", "row 8", "'died'", "2", "competing")


def test_an_event_that_is_administrative_is_refused(files):
    path = files / "test" / "part-2.parquet"
    changed(path, "died", 9, True)
    changed(path, "ended", 9, True)
    refuses(lambda: read_all(files, administrative="ended"), str(path), "row 9", "administrative")


def test_a_dropout_without_a_reason_is_refused(files):
    path = files / "test" / "part-2.parquet"
    changed(path, "died", 3, False)
    changed(path, "not read", 3, None)
    refuses(lambda: read_all(files, reason="not read"), str(path), "row 3", "reason")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("1", None, "no value"),
        ("1", float("nan"), "no value"),
        ("0.5", 1.5, "1.5"),
        ("10", -0.25, "-0.25"),
        ("10", 1.0, "must not increase"),
    ],
)
def test_a_bad_prediction_is_named_by_file_row_and_time(files, column, value, said):
    path = files / "cox" / "part-2.parquet"
    changed(path, "1.5", 11, 0.125)
    changed(path, column, 11, value)
    refuses(lambda: read_all(files), str(path), "row 11", column, said)


def test_percents_and_risks_are_recognised(files):
    for path in (files / "cox").iterdir():
        table = parquet.read_table(path)
        parquet.write_table(
            pa.table({name: np.array(table[name]) * 100 for name in table.column_names}), path
        )
    refuses(lambda: read_all(files), "part-0.parquet", "row 0", "percent")
    for path in (files / "cox").iterdir():
        table = parquet.read_table(path)
        parquet.write_table(
            pa.table({name: 1 - np.array(table[name]) / 100 for name in table.column_names}), path
        )
    refuses(lambda: read_all(files), "part-0.parquet", "row 0", "risks")


def test_what_is_off_by_rounding_is_counted(files):
    changed(files / "cox" / "part-1.parquet", "0.5", 2, 1 + 5e-7)
    assert sum(batch.predictions["cox"].n_rounded for batch in read_all(files)) == 1


# What footers tell is refused before any work.


def opened(folder, test="test", cox="cox", **options):
    return lambda: scan(folder / test, folder / cox, **options)


def test_missing_columns_are_named(files):
    refuses(
        lambda: cc.scan_parquet(files / "test", {"cox": files / "cox"}, time="t", event="died"),
        "'t'",
        "part-0",
    )
    refuses(opened(files, covariates=["age", "weight"]), "'weight'", "part-0.parquet", "'age'")
    path = files / "test" / "part-1.parquet"
    parquet.write_table(parquet.read_table(path).drop_columns(["died"]), path)
    refuses(opened(files), str(path), "'died'")


@pytest.mark.parametrize(
    ("column", "value", "kind", "options", "said"),
    [
        ("months", "three", "String", {}, "numbers"),
        ("months", dt.date(2020, 1, 1), "Date", {}, "dates"),
        ("died", dt.date(2020, 1, 1), "Date", {}, "1 and 0"),
        ("age", "old", "String", {"covariates": ["age"]}, "numbers"),
        ("age", dt.date(2020, 1, 1), "Date", {"covariates": ["age"]}, "dates"),
        ("not read", dt.date(2020, 1, 1), "Date", {"reason": "not read"}, "texts"),
    ],
)
def test_a_column_of_another_type_in_one_file_is_named(files, column, value, kind, options, said):
    path = files / "test" / "part-2.parquet"
    table = parquet.read_table(path)
    array = pa.array([value] * table.num_rows)
    parquet.write_table(table.set_column(table.column_names.index(column), column, array), path)
    refuses(opened(files, **options), str(path), repr(column), said, kind)


def test_events_may_be_texts_as_by_every_door(files):
    path = files / "test" / "part-2.parquet"
    table = parquet.read_table(path)
    texts = pa.array(["TRUE" if died else "false" for died in table["died"].to_pylist()])
    expected = [batch.y.event.tolist() for batch in read_all(files)]
    parquet.write_table(table.set_column(1, "died", texts), path)
    assert table.column_names[1] == "died"
    assert [batch.y.event.tolist() for batch in read_all(files)] == expected
    changed(path, "died", 4, "yes")
    refuses(lambda: read_all(files), str(path), "'died'", "1 and 0", "row 4 is 'yes'")


def test_other_columns_or_types_of_predictions_are_named(files):
    path = files / "cox" / "part-3.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.rename_columns(["0.5", "1", "1.5", "11"]), path)
    refuses(opened(files), str(path), "'10'", "'11'")
    parquet.write_table(table.set_column(0, "0.5", pa.array(["a"] * table.num_rows)), path)
    refuses(opened(files), str(path), "'0.5'", "numbers", "String")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["id", "1", "2", "3"], "id='id'"),
        (["3", "2", "1", "4"], "increase"),
        (["-1", "2", "3", "4"], "negative"),
        (["1", "1.0", "3", "4"], "increase"),
    ],
)
def test_names_of_columns_that_are_no_times_are_refused(files, names, said):
    _, cox, _ = study(N)
    write(cox.rename_columns(names), files / "named")
    with pytest.raises(ValueError, match=said) as caught:
        opened(files, cox="named")()
    assert "part-0.parquet" in str(caught.value)


def test_numbers_of_rows_must_be_the_same(files):
    _, cox, _ = study(N - 1)
    write(cox, files / "short", [4])
    refuses(opened(files, cox="short"), "predictions['cox']", "30", "29", "short")


def test_files_that_pair_as_listed_but_not_by_name_are_refused(files):
    test, cox, _ = study(N)
    for table, names in ((test, ("b", "a")), (cox, ("x", "y"))):
        parquet.write_table(table.slice(0, 12), files / f"{names[0]}.parquet")
        parquet.write_table(table.slice(12), files / f"{names[1]}.parquet")
    listed = [[files / f"{name}.parquet" for name in names] for names in ("ba", "xy")]
    refuses(lambda: scan(listed[0], listed[1]), "predictions['cox']", "names")


def test_what_is_not_there_is_named(files):
    refuses(opened(files, cox="nowhere"), "predictions['cox']", "nowhere")
    refuses(opened(files, test="test/*.csv"), "test", "*.csv")
    (files / "empty").mkdir()
    refuses(opened(files, test="empty"), "test", "empty", "folder")
    refuses(lambda: scan([], files / "cox"), "test", "empty")
    refuses(lambda: scan(files / "test", {}), "predictions", "empty")
    refuses(lambda: scan(files / "test", {"cox": 3}), "predictions['cox']", "3")
    refuses(
        lambda: cc.scan_parquet(files / "test", files / "cox", time="months", event="died"),
        "predictions",
        "dict",
    )
    refuses(
        lambda: scan([files / "test", files / "test" / "part-1.parquet"], files / "cox"),
        "twice",
        "part-1.parquet",
    )
    refuses(opened(files, covariates=["age", "died"]), "covariates", "'died'")
    refuses(opened(files, tail="flat"), "tail", "'flat'")
    refuses(opened(files, interpolation="cubic"), "interpolation", "'cubic'")


def test_files_without_any_row_are_refused_but_one_among_others_is_not(files):
    path = files / "test" / "part-9.parquet"
    parquet.write_table(parquet.read_table(files / "test" / "part-0.parquet").slice(0, 0), path)
    assert sum(map(len, read_all(files))) == N
    refuses(lambda: scan(path, files / "cox"), "test", "no rows", str(path))


def test_a_broken_file_among_many_is_named_before_any_work(files):
    path = files / "cox" / "part-1.parquet"
    content = path.read_bytes()
    for broken in (content[:-20], b"not a table at all", b""):
        path.write_bytes(broken)
        refuses(opened(files), str(path))


def test_a_file_that_is_broken_inside_is_named_when_it_is_read(files):
    path = files / "cox" / "part-2.parquet"
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(bytes(content))
    refuses(lambda: read_all(files), str(path))


def test_a_file_that_changes_under_way_is_named(files):
    found = scan(files / "test", files / "cox")
    path = files / "cox" / "part-2.parquet"
    parquet.write_table(parquet.read_table(path).slice(0, 2), path)
    refuses(lambda: all_batches(found), str(path), "changed")
    path.unlink()
    refuses(lambda: all_batches(found), str(path))


def test_two_columns_of_one_name_are_refused(files):
    table = pa.Table.from_arrays([pa.array([0.5]), pa.array([0.4])], names=["1", "1"])
    parquet.write_table(table, files / "double.parquet")
    refuses(opened(files, cox="double.parquet"), "double.parquet", "'1'")


# Ids, held all at once or compared as they come.

HELD = pytest.mark.parametrize("most_held", [10**7, 0])
KINDS = pytest.mark.parametrize("spell", [int, lambda k: f"s{k:03d}"])


def by_id(folder, monkeypatch, most_held, test_ids, cox_ids):
    """All batches of a study whose rows have these ids."""
    monkeypatch.setattr(scans, "_MOST_HELD", most_held)
    test, _, _ = study(len(test_ids), ids=test_ids)
    _, cox, _ = study(len(cox_ids), ids=cox_ids)
    found = scan(
        write(test, folder / "test", [2], 3),
        write(cox, folder / "cox", [5], 2),
        id="id",
    )
    return all_batches(found)


@HELD
@KINDS
def test_an_id_without_a_prediction_is_named(tmp_path, monkeypatch, most_held, spell):
    ids = [spell(k) for k in range(10)]
    for fewer in (ids[:6] + ids[7:] + [spell(50)], ids[:6] + ids[7:]):
        refuses(
            lambda fewer=fewer: by_id(tmp_path, monkeypatch, most_held, ids, fewer),
            repr(ids[6]),
            "row 4",
            str(tmp_path / "test" / "part-1.parquet"),
            str(tmp_path / "cox"),
        )


@HELD
@KINDS
def test_a_prediction_without_a_subject_is_named(tmp_path, monkeypatch, most_held, spell):
    ids = [spell(2 * k) for k in range(10)]
    more = [*ids[:6], spell(11), *ids[6:]]
    for fewer in (more, [*ids, spell(99)]):
        new = (set(fewer) - set(ids)).pop()
        said = refuses(
            lambda fewer=fewer: by_id(tmp_path, monkeypatch, most_held, ids, fewer),
            repr(new),
            str(tmp_path / "cox" / "part-1.parquet"),
        )
        assert f"row {fewer.index(new) - 5}" in said


@HELD
def test_an_id_that_comes_again_is_named(tmp_path, monkeypatch, most_held):
    ids = [*range(8), 7]
    refuses(
        lambda: by_id(tmp_path, monkeypatch, most_held, ids, ids), "part-1.parquet", "row 6", "7", "differ"
    )


@HELD
def test_ids_that_are_missing_or_of_other_types_are_refused(tmp_path, monkeypatch, most_held):
    ids = list(range(8))

    def call(test, cox):
        return lambda: by_id(tmp_path, monkeypatch, most_held, test, cox)

    refuses(call(ids, list(map(str, ids))), "'id'", "String", "whole numbers", "cox")
    refuses(call([True, *[False] * 7], ids), "'id'", "Boolean", "test")
    refuses(call([0.5, *ids[1:]], ids), "'id'", "row 0 is 0.5", "test")
    refuses(call(pa.array([0, 1, 2, None, 4]), ids[:5]), "'id'", "row 1", "part-1.parquet", "no value")
    texts = [f"p{k}" for k in ids]
    refuses(call([*texts[:5], " ", *texts[6:]], texts), "'id'", "row 3", "part-1.parquet", "no value")
    test, cox, _ = study(8, ids=ids)
    write(cox.drop_columns(["id"]), tmp_path / "other")
    write(test, tmp_path / "test")
    refuses(lambda: scan(tmp_path / "test", tmp_path / "other", id="id"), "'id'", "other")
    write(
        cox.rename_columns(["customer" if name == "id" else name for name in cox.column_names]),
        tmp_path / "renamed",
    )
    refuses(
        lambda: scan(tmp_path / "test", tmp_path / "renamed", id="id"),
        "no column 'id'",
        "renamed",
        "'customer'",
    )


def test_ids_in_another_order_beyond_memory_get_one_sentence(tmp_path, monkeypatch):
    ids = list(range(12))
    turned = [*ids[:7], 8, 7, *ids[9:]]
    where = ("part-1.parquet", "row 2", "8", "7", "sort both by id")
    with monkeypatch.context() as patch:
        patch.setattr(scans, "_MOST_BYTES", 100)
        refuses(lambda: by_id(tmp_path, monkeypatch, 10**7, ids, turned), *where)
    # Ids that are compared as they come.
    refuses(lambda: by_id(tmp_path, monkeypatch, 0, ids, turned), *where)
    refuses(
        lambda: by_id(tmp_path, monkeypatch, 0, turned, ids),
        "part-1.parquet",
        "row 2",
        "7",
        "8",
        "sort both by id",
    )
    refuses(
        lambda: by_id(tmp_path, monkeypatch, 0, [5, 3, *range(6, 16)], [5, 4, *range(6, 16)]),
        "sort both by id",
    )


def test_unsorted_ids_in_the_same_order_beyond_memory_are_fine(tmp_path, monkeypatch):
    ids = np.random.default_rng(0).permutation(20)
    assert sum(map(len, by_id(tmp_path, monkeypatch, 0, ids, ids))) == 20


def test_parts_of_another_scan_are_refused(files):
    chunks = cc.scale.scan_chunks([({"a": (1.0, np.array([0.5]))}, ([1.0], [1]))])
    found = scan(files / "test", files / "cox")
    refuses(lambda: list(found.batches(chunks.parts[0])), "part", "chunks[0]")
    refuses(lambda: list(chunks.batches(found.parts[0])), "part", "part-0.parquet")
