"""Employee: when people quit their job."""

from __future__ import annotations

from pathlib import Path

from cocensor.data.files import read_texts
from cocensor.paper.datasets._sources import ArrowTable, DataHome, Download, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows


def load_employee(data_home: DataHome = None, *, duplicates: bool = False) -> Dataset:
    r"""Time until an employee quits, in years: 11,991 employees, or 14,999 rows with duplicates, 8 features.

    ``department`` and ``salary`` are categorical, all others numeric.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``employee.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and a download from PySurvival's repository, kept in ``data_home`` or else in the
        user's cache. The download needs ``pip install 'cocensor[datasets]'``.
    duplicates : bool
        Whether to keep rows that repeat an earlier one in all features and the outcome. Kept, they put the same
        employee into training and test data. The paper's text drops them; its published numbers and its table, with
        14,999 rows, have them.

    Returns
    -------
    Dataset

    Examples
    --------
    A file of one's own, as it may look:

    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_employee
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "employee.csv").write_text(
    ...         "satisfaction_level,last_evaluation,number_projects,average_montly_hours,time,work_accident,event,"
    ...         "promotion_last_5years,department,salary\n"
    ...         "0.38,0.53,2,157,3,0,1,0,sales,low\n"
    ...         "0.80,0.86,5,262,6,0,1,0,sales,medium\n"
    ...         "0.38,0.53,2,157,3,0,1,0,sales,low\n"
    ...     )
    ...     data = load_employee(folder)
    >>> data.dropped
    ('1 row that repeats an earlier one',)
    """
    rows = read_rows(RECIPE, data_home)
    if not duplicates:
        repeated = rows.repeats()
        rows = rows.drop(repeated, f"that {'repeats' if repeated.sum() == 1 else 'repeat'} an earlier one")
    return rows.dataset()


def _read_original(path: Path) -> ArrowTable:
    table = read_texts(path)
    outcome = {"time_spend_company": "time", "left": "event"}
    return table.rename_columns([outcome.get(name, name) for name in table.column_names])


RECIPE = Recipe(
    name="employee",
    file="employee.csv",
    licence="Apache-2.0, as part of PySurvival",
    citation="Fotso, S., et al. (2019). PySurvival: open source package for survival analysis modeling.",
    features=(
        *("satisfaction_level", "last_evaluation", "number_projects", "average_montly_hours"),
        *("work_accident", "promotion_last_5years", "department", "salary"),
    ),
    categorical=("department", "salary"),
    download=Download(
        file="pysurvival-employee_attrition.csv",
        url=(
            "https://raw.githubusercontent.com/square/pysurvival/841b9bc6ce700ba8898d2a1488aa9cd25ee7a8e6/"
            "pysurvival/datasets/employee_attrition.csv"
        ),
        sha256="664af9fafc88277d149ef2135564b575bea28a3dc95c8999d4f6e17dd455db1b",
        read=_read_original,
    ),
)
