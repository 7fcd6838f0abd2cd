import csv
import os
import subprocess
import sys
from contextlib import suppress
from datetime import date
from io import BytesIO
from threading import Thread
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from cocensor.data import files
from cocensor.data.files import as_csv, read_table
from tests.cli.study import refusal, said
from tests.refusals import refuses

FILES = ("train", "test", "cox", "flat")


def rewrite(study, write):
    """Write every file of the study anew."""
    for name, frame in (("train", study.train), ("test", study.test), *study.predictions.items()):
        write(frame, study.folder / f"{name}.csv")


def test_parquet_and_csv_say_the_same(study):
    expected = study.json("--covariates", "age,stage")
    for name, frame in (("train", study.train), ("test", study.test), *study.predictions.items()):
        categories = {"stage": "category"} if "stage" in frame else {}
        frame.astype(categories).to_parquet(study.folder / f"{name}.parquet")
    found = study.json("--covariates", "age,stage", **{name: f"{name}.parquet" for name in FILES})
    assert found == expected.replace(".csv", ".parquet")


@pytest.mark.parametrize(
    "dialect",
    [
        {"encoding": "utf-8-sig"},
        {"sep": ";"},
        {"sep": "\t"},
        {"sep": ";", "decimal": ",", "encoding": "utf-8-sig"},
        {"quoting": csv.QUOTE_ALL},
        {"lineterminator": "\r\n"},
    ],
    ids=str,
)
def test_dialects_of_spreadsheets(study, dialect):
    expected = study.json("--covariates", "age,stage")
    rewrite(study, lambda frame, path: frame.to_csv(path, index=False, **dialect))
    assert study.json("--covariates", "age,stage") == expected


def test_decimal_commas_in_column_names_and_empty_lines_at_the_end(study):
    expected = study.json()
    frame = study.predictions["cox"].set_axis(["patient", "0", "0,5", "1", "1,5", "2,5"], axis=1)
    text = frame.to_csv(index=False, sep=";", decimal=",")
    (study.folder / "cox.csv").write_text(text + "\n\n", encoding="utf-8")
    assert study.json() == expected


def test_what_r_writes(study):
    expected = study.numbers()

    def write(frame, path):
        names = [f"X{name}" if name[0].isdigit() else name for name in frame.columns]
        frame = frame.set_axis(names, axis=1).replace({True: "TRUE", False: "FALSE"})
        frame.index = pd.RangeIndex(1, len(frame) + 1).astype(str)
        frame.to_csv(path, quoting=csv.QUOTE_NONNUMERIC)

    rewrite(study, write)
    assert (study.folder / "cox.csv").read_text().startswith('"","patient","X0","X0.5"')
    found = study.numbers()
    notes = [note for note in found.pop("notes") if note["kind"] == "decision"]
    assert ["cox.csv" in notes[0]["text"], "flat.csv" in notes[1]["text"]] == [True, True]
    assert not any("csv" in note["text"] for note in expected.pop("notes"))
    assert found == expected


def test_a_first_column_without_a_name_that_numbers_nothing(study):
    frame = study.predictions["cox"].drop(columns="patient").set_index(study.test["patient"]).rename_axis("")
    frame.to_csv(study.folder / "cox.csv")
    refusal(study.evaluate(by_id=False), "cox.csv: rows are labelled 'p2-0'", "--id")


def test_a_type_is_inferred_from_the_whole_file(study):
    """Whole numbers in the first megabyte say nothing about the rest."""
    frame = study.train.loc[study.train.index.repeat(400)].reset_index(drop=True)
    frame = frame.assign(age=[*([1] * (len(frame) - 1)), 1.5], note="x" * 40)
    frame.to_csv(study.folder / "train.csv", index=False)
    assert (study.folder / "train.csv").stat().st_size > 2**21
    assert study.evaluate("--covariates", "age", "--adjustments", "ipcw").exit_code == 0


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "Empty CSV file"),
        (b"patient,0,1\n", "no rows"),
        (b"patient,0,1\na,1\n", "Expected 3 columns, got 2"),
        (b"patient\na\n", "no column name is a time"),
        ("patient,0,1\na,1,1\n".encode("utf-16-le"), "UTF-16"),
        ("patient,0,1\na,1,1\n".encode("utf-32"), "UTF-16"),
        (b"\xff\xfep\x00a", "UTF-16"),
        (b"patient,0,1\n\x81,1,1\n", "Windows-1252"),
        (b"patient,0,1\n\xe9\0,1,1\n", "Windows-1252"),
        (b"PK\x03\x04\xff", "workbook"),
        (b"PAR1 and no more", "Parquet"),
    ],
)
def test_files_that_cannot_be_read(study, content, part):
    (study.folder / "cox.csv").write_bytes(content)
    assert refusal(study.evaluate(models=["cox"]), part).startswith(str(study.folder / "cox.csv"))


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-8", ""), ("utf-8-sig", ""), ("cp1252", "Windows-1252"), ("utf-16", "UTF-16")],
)
@pytest.mark.parametrize("dialect", [{}, {"sep": ";", "decimal": ","}, {"sep": "\t"}], ids=str)
def test_encodings_of_spreadsheets(study, encoding, name, dialect):
    """The same numbers from each; what is not UTF-8 is said, of each file by its name, with a text to check."""
    levels = {"I": "früh", "II": "mäßig", "III": "spät – 2 €"}
    study.train, study.test = (each.replace({"stage": levels}) for each in (study.train, study.test))
    ids = "Zoë " + study.test["patient"]
    study.test["patient"] = ids
    study.predictions = {model: each.assign(patient=ids) for model, each in study.predictions.items()}
    rewrite(study, lambda frame, path: frame.to_csv(path, index=False))
    expected = study.numbers("--covariates", "age,stage")
    rewrite(study, lambda frame, path: frame.to_csv(path, index=False, encoding=encoding, **dialect))
    found = study.numbers("--covariates", "age,stage")
    told = [note["text"] for note in found["notes"] if name and name in note["text"]]
    assert [f"{file}.csv" in text for file, text in zip(FILES, told, strict=False)] == [True] * len(told)
    assert len(told) == (4 if name else 0)
    assert all("'Zoë'" in text for text in told[1:]) == (encoding != "utf-16")
    found["notes"] = [note for note in found["notes"] if note["text"] not in told]
    assert found == expected
    if told:
        assert name in study.evaluate("--covariates", "age,stage", "--verbose").stdout


def test_a_workbook_is_read_where_openpyxl_is_installed(study):
    study.train, study.test = study.train.round(4), study.test.round(4)  # it writes 16 digits
    rewrite(study, lambda frame, path: frame.to_csv(path, index=False))
    expected = study.numbers("--covariates", "age,stage")
    files = {name: f"{name}.xlsx" for name in FILES}
    numbered = {
        name: frame.rename(columns=lambda name: float(name) if name[0].isdigit() else name)
        for name, frame in study.predictions.items()
    }
    for name, frame in (("train", study.train), ("test", study.test), *numbered.items()):
        with pd.ExcelWriter(study.folder / files[name]) as book:
            frame.to_excel(book, index=False, sheet_name="first")
            frame.iloc[:1].to_excel(book, index=False, sheet_name="second")
    found = study.numbers("--covariates", "age,stage", **files)
    assert found["metrics"] == expected["metrics"]
    assert said(found, "decision").count("'first'") == 4


def test_dates_and_empty_cells_of_a_workbook(tmp_path):
    book = openpyxl.Workbook()
    for row in (["id", "day", "x"], [1, date(2021, 3, 31), 0.5], [None, None, None], [2.0, date(2021, 4, 1)]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx", "id")
    assert table.data.to_dict(as_series=False) == {
        "id": ["1", "2"],
        "day": [date(2021, 3, 31), date(2021, 4, 1)],
        "x": [0.5, None],
    }


def test_a_workbook_without_openpyxl_is_refused(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (study.folder / "cox.xlsx").write_bytes(zipped(b"<worksheet/>"))
    refusal(study.evaluate(models=["cox"], cox="cox.xlsx"), "cox.xlsx: ", "openpyxl", "CSV or Parquet")


def zipped(*parts):
    """The bytes of an archive of a sheet in ``parts``."""
    content = BytesIO()
    with (
        ZipFile(content, "w", ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as sheet,
    ):
        for part in parts:
            sheet.write(part)
    return content.getvalue()


UNDER_A_LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
from cocensor.cli import app
app(["evaluate", "--test", sys.argv[1], "--event", "died", "--time", "months", "--risk", "a=age"])
"""


def test_a_small_workbook_that_expands_is_refused_before_it_is_unpacked(tmp_path):
    """300 kilobytes of empty cells, 300 megabytes unpacked, would take 20 gigabytes; the process may have three."""
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(zipped(b"<worksheet><sheetData><row>", *[b"<c/>" * 750_000] * 100))
    assert path.stat().st_size < 400_000
    process = subprocess.run(
        [sys.executable, "-c", UNDER_A_LIMIT, str(path)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 2
    assert process.stderr.startswith(f"Error: {path}: ")
    assert "its 286 MiB, unpacked, are more than" in process.stderr
    assert process.stderr.endswith("save it as CSV or Parquet.\n")


def test_values_of_a_workbook_are_counted_as_they_come(monkeypatch):
    """A shared text, or the width of one row, may make much of little."""
    monkeypatch.setattr(files, "memory", lambda: 4.0 * 10_000)
    assert as_csv([["a", None], (), [None, 2.0]]) == b"a,\n,2\n"
    refuses(lambda: as_csv([["a" * 1000]] * 11), "more than a quarter of the memory", kind=ValueError)
    refuses(lambda: as_csv([[1] * 1000, *[[1]] * 9]), "more than a quarter of the memory", kind=ValueError)
    refuses(lambda: as_csv(() for _ in range(2**20 + 1)), "at most 1048576 rows", kind=ValueError)


@pytest.mark.parametrize("option", ["test", "train", "cox"])
def test_a_device_is_refused_before_it_is_read(study, option):
    said = refusal(study.evaluate(models=("cox",), **{option: "/dev/zero"}))
    assert said == "/dev/zero: it must be a file or a pipe, but is a device."


def test_a_pipe_is_read_up_to_a_limit(study, monkeypatch):
    expected = study.numbers("--adjustments", "ipcw")
    pipe = study.folder / "pipe"
    os.mkfifo(pipe)

    def fed(content):
        writer = Thread(target=lambda: suppressed_write(pipe, content))
        writer.start()
        return writer

    writer = fed((study.folder / "test.csv").read_bytes())
    assert study.numbers("--adjustments", "ipcw", test="pipe")["metrics"] == expected["metrics"]
    writer.join()
    monkeypatch.setattr(files, "memory", lambda: 4.0 * 2**20)
    writer = fed(bytes(3 * 2**20))
    refusal(study.evaluate(test="pipe"), "pipe: ", "more than a quarter of the memory")
    writer.join()


def suppressed_write(pipe, content):
    with suppress(BrokenPipeError):
        pipe.write_bytes(content)


def test_numbers_with_the_other_decimal_mark_are_no_levels(study):
    for frame, name in ((study.train, "train"), (study.test, "test")):
        ages = [f"{age:.3f}".replace(".", ",") for age in frame["age"]]
        frame.assign(age=ages).to_csv(study.folder / f"{name}.csv", index=False)
    refusal(study.evaluate("--covariates", "age"), "train.csv: column 'age'", "mostly numbers", "1.5")


@pytest.mark.parametrize(
    "dialect", [{"sep": "\t", "mark": ","}, {"sep": ";", "mark": ","}, {"sep": ";", "mark": "."}]
)
def test_what_may_be_thousands_is_refused(study, dialect):
    days = [f"{day:,}".replace(",", dialect["mark"]) for day in 300 * np.arange(1, 121)]
    frame = study.train.assign(age=1, months=days)
    frame.to_csv(study.folder / "train.csv", index=False, sep=dialect["sep"])
    mark = dialect["mark"]
    shown = f"'1{mark}200' beside '300'", f"1200 or 300{mark}0"
    refusal(study.evaluate(), "train.csv: column 'months'", *shown)


def test_three_decimals_are_no_thousands(study):
    """What starts with 0 or has fewer decimals is a fraction, and so are its neighbours."""
    days = ["1,206", "2", "3,5", *(f"{k},125" for k in range(117))]
    study.train.assign(age=1, months=days).to_csv(study.folder / "train.csv", index=False, sep=";")
    frame = study.predictions["cox"].round(3)
    frame.to_csv(study.folder / "cox.csv", index=False, sep=";", decimal=",", float_format="%.3f")
    text = (study.folder / "cox.csv").read_text()
    (study.folder / "cox.csv").write_text(text.replace(";1,000;", ";1;").replace(";0,000\n", ";0\n"))
    assert study.evaluate().exit_code == 0


def test_a_column_that_nobody_asks_for_may_have_thousands(study):
    cost = ["1,234", *["332"] * 119]
    study.train.assign(age=1, months=1, cost=cost).to_csv(study.folder / "train.csv", index=False, sep=";")
    assert study.evaluate().exit_code == 0
    study.test.assign(cost=1).to_csv(study.folder / "test.csv", index=False)
    refusal(study.evaluate("--covariates", "cost"), "train.csv: column 'cost'", "'1,234' beside '332'")


@pytest.mark.parametrize("kind", ["object", "category"])
@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_texts_of_parquet_are_missing(study, kind, blank):
    frame = study.train.copy()
    frame.loc[5, "stage"] = blank
    frame.astype({"stage": kind}).to_parquet(study.folder / "train.parquet")
    asked = "--covariates", "stage", "--adjustments"
    result = study.evaluate(*asked, "imputation_covariates", train="train.parquet")
    refusal(result, "train.parquet: column 'stage' has no value in row 5")
    assert study.evaluate(*asked, "imputation", train="train.parquet").exit_code == 0


@pytest.mark.parametrize("kind", ["object", "category"])
def test_events_of_parquet_may_be_texts(study, kind):
    expected = study.json()
    died = study.train["died"].map({True: "TRUE", False: "False"}).astype(kind)
    study.train.assign(died=died).to_parquet(study.folder / "train.parquet")
    assert study.json(train="train.parquet") == expected


def test_numbers_among_the_categories_of_parquet_are_levels(study):
    for frame, name in ((study.train, "train"), (study.test, "test")):
        grade = frame["stage"].map({"I": "1", "II": "2", "III": "X"}).astype("category")
        frame.assign(grade=grade).to_parquet(study.folder / f"{name}.parquet")
    parts = {name: f"{name}.parquet" for name in ("train", "test")}
    found = study.numbers("--covariates", "grade", **parts)
    assert found["data"]["covariates"] == ["grade"]
    assert {"grade=2", "grade=X"} <= set(found["imputation"]["columns"])


def test_a_thousand_is_not_taken_for_one(study):
    """In a file with decimal points, 1,234 is no decimal fraction."""
    thousands = study.train.assign(cost="1,234")
    thousands.to_csv(study.folder / "train.csv", index=False, sep=";")
    refusal(study.evaluate(), "train.csv: ", "decimal commas and decimal points", "1,234")


def test_what_write_csv2_of_r_writes(study):
    expected = study.json()
    rewrite(study, lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","))
    header = (study.folder / "cox.csv").read_text().partition("\n")[0]
    assert header == "patient;0;0.5;1;1.5;2.5"
    assert study.json() == expected


def test_reading_a_file_does_not_import_pandas(tmp_path):
    """pyarrow would, and that takes longer than the evaluation of a small study."""
    (tmp_path / "test.csv").write_text("id,time,event,stage,age\na,1.5,1,II,60\nb,2.5,0,I,\n")
    code = """if True:
        import sys
        from pathlib import Path
        from cocensor.data.files import read_table
        table = read_table(Path(sys.argv[1]), "id")
        print(table.times("time"), table.flags("event"), table.ids("id"), table.texts("stage"), table.sparse("age"))
        print("pandas" in sys.modules)
    """
    run = [sys.executable, "-c", code, str(tmp_path / "test.csv")]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1.5 2.5] [ True False] ['a', 'b'] ['II', 'I'] [60. nan]", "False"]
