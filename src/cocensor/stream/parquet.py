"""Outcomes and predictions in Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cocensor._notes import Note
from cocensor._validation import as_tuple, check_choice
from cocensor.curves import TAILS, Interpolation, Tail
from cocensor.stream.files import Files, Paths
from cocensor.stream.ids import MOST_HELD, all_keys, check_ids, places, refuse_lengths, refuse_order
from cocensor.stream.models import HeldModel, Model
from cocensor.stream.parquet_scan import ParquetScan
from cocensor.stream.source import Scan
from cocensor.stream.subjects import SubjectColumns

# Predictions in another order than the test subjects are held up to so many bytes.
_MOST_BYTES = 2**29


def scan_parquet(
    test: Paths,
    predictions: Mapping[str, Paths],
    *,
    time: str,
    event: str,
    covariates: str | Sequence[str] | None = None,
    administrative: str | None = None,
    reason: str | None = None,
    id: str | None = None,
    interpolation: Interpolation | None = None,
    tail: Tail | None = None,
) -> Scan:
    """Outcomes and predictions in Parquet files of any size, to be read in batches.

    Files are found, and their footers read; a file that is broken, or whose columns do not fit, is refused before any
    work. Rows are numbered through in the natural order of the files' paths ("part-2" before "part-10"), whatever the
    order in which they are given or read, and a hash of the number, or of the id, says who is drawn.

    Parameters
    ----------
    test : path, folder, pattern such as ``"test/*.parquet"``, or list of these
        A row per subject. Of a folder all files named ``.parquet``, ``.parq`` or ``.pq`` are read, those of folders in
        it included.
    predictions : dict
        The same for each model by name: survival probabilities, a row per subject and columns named after times. One
        column is a prediction at that time alone, or, named "risk", a risk score, the greater the riskier. Files need
        not be cut like those of ``test``.
    time, event : str
        Columns of the test files: observed times, and True or 1 where the event was observed. Dates are not read.
    covariates : str or list of str, optional
        Columns of numbers, texts or categories in the test files, as of :func:`evaluate`. A level that is not among the
        subjects fitted to is refused.
    administrative, reason : str, optional
        Columns of the test files, as of :class:`Survival`.
    id : str, optional
        The column of ids, whole numbers or texts, in the test files and in all files of predictions. Up to 10,000,000
        subjects ids are compared here and now; predictions in another order are then put into that of the test subjects
        if they take no more than 512 MiB, and a note says so. Beyond, ids are compared as they are read, and must be in
        the same order: sort both. Without ids, rows must be in the same order.
    interpolation, tail
        What holds between the times of a model and beyond them, as of :class:`Predictions`: lines by default.

    Returns
    -------
    Scan

    Notes
    -----
    Of each file a row group is held at once, or of a large one some rows and a page of each column. Parts, which
    several workers read at once, end where row groups do: those of about 100,000 rows, cut alike in all files, take
    least memory and occupy most workers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> import cocensor as cc
    >>> folder = tempfile.TemporaryDirectory()
    >>> at = Path(folder.name)
    >>> parquet.write_table(pa.table({"months": [3.0, 8.0], "died": [1, 0]}), at / "test-1.parquet")
    >>> parquet.write_table(pa.table({"months": [5.0], "died": [1]}), at / "test-2.parquet")
    >>> parquet.write_table(pa.table({"4": [0.4, 0.9, 0.6], "8": [0.1, 0.7, 0.2]}), at / "cox.parquet")
    >>> scan = cc.scan_parquet(at / "test-*.parquet", {"cox": at / "cox.parquet"}, time="months", event="died")
    >>> scan
    ParquetScan(n=3 in 2 files; cox (2 times, 4 to 8))
    >>> for part in scan.parts:
    ...     for batch in scan.batches(part):
    ...         print(batch.rows, batch.y, batch.predictions["cox"].probabilities[:, 0])
    [0 1 2] Survival(n=3, events=2, censored=33.3%, times 3 to 8) [0.4 0.9 0.6]
    >>> folder.cleanup()
    """
    if interpolation is not None:
        check_choice(interpolation, "interpolation", ("linear", "step"))
    if tail is not None:
        check_choice(tail, "tail", TAILS)
    if not isinstance(predictions, Mapping):
        raise TypeError(
            f"predictions must be a dict of files by model, but is of type {type(predictions).__name__}."
        )
    if not predictions:
        raise ValueError("predictions is empty: at least one model is needed.")
    given = () if covariates is None else as_tuple(covariates, "covariates", str)
    columns = SubjectColumns(time, event, given, administrative, reason, id)
    subjects = Files.found(test, "test")
    columns.check(subjects)
    models = {
        name: Model.found(Files.found(paths, f"predictions[{name!r}]"), id, interpolation, tail)
        for name, paths in predictions.items()
    }
    if id is not None:
        check_ids(subjects, [model.files for model in models.values()], id)
        if subjects.n <= MOST_HELD:
            models, notes = _matched(models, subjects, id)
            return ParquetScan(subjects, columns, models, tuple(notes), compared=False)
    for name, model in models.items():
        _check_rows(name, model.files, subjects, id)
    notes = [] if id is not None else _order_notes(subjects, models)
    return ParquetScan(subjects, columns, models, tuple(notes), compared=id is not None)


def _matched(models: Mapping[str, Model], test: Files, identity: str) -> tuple[dict[str, Model], list[Note]]:
    """Models whose predictions are in the order of the test subjects, or are put into it."""
    keys, matched, notes = all_keys(test, identity), dict[str, Model](), list[Note]()
    for name, model in models.items():
        place = places(keys, test, model.files, identity)
        if place is not None:
            if model.n_bytes > _MOST_BYTES:
                size = f"{model.n_bytes / 2**20:.0f} MiB are too many to be held"
                refuse_order(test, model.files, place, identity, size)
            text = f"The predictions of {name!r} are put into the order of the test subjects by {identity!r}, and held."
            notes.append(Note("decision", text, model=name))
        matched[name] = model if place is None else HeldModel.of(model, place)
    return matched, notes


def _check_rows(name: str, files: Files, test: Files, identity: str | None) -> None:
    """Refuse predictions that cannot be those of the test subjects, by their numbers."""
    if files.n != test.n:
        if identity is not None:
            refuse_lengths(test, files, identity)
        raise ValueError(
            f"predictions[{name!r}] must have a row for each of the {test.n:,} rows of {test.given}, but {files.given} "
            f"has {files.n:,}."
        )
    if identity is None:
        as_listed = [[each.sizes[k] for k in each.listed] for each in (test, files)]
        if as_listed[0] == as_listed[1] and test.sizes != files.sizes:
            raise ValueError(
                f"predictions[{name!r}] has as many rows as test file by file in the order of the lists, but not in "
                "that of their names, by which rows are numbered: name files alike, or give an id."
            )


def _order_notes(test: Files, models: Mapping[str, Model]) -> list[Note]:
    """What was decided about files that were not listed in the order of their names."""
    tables = {"test": test} | {f"predictions[{name!r}]": model.files for name, model in models.items()}
    return [
        Note(
            "decision", f"The files of {name} are read in the order of their names, from {files.paths[0]} on."
        )
        for name, files in tables.items()
        if list(files.listed) != sorted(files.listed)
    ]
