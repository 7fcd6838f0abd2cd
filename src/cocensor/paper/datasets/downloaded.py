"""Data sets that are downloaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cocensor.data.files import read_texts
from cocensor.paper.datasets._sources import ArrowTable, DataHome, Download, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows

_PYSURVIVAL = (
    "https://raw.githubusercontent.com/square/pysurvival/841b9bc6ce700ba8898d2a1488aa9cd25ee7a8e6/"
    "pysurvival/datasets"
)
_LICENCE = "Apache-2.0, as part of PySurvival"
_CITATION = "Fotso, S., et al. (2019). PySurvival: open source package for survival analysis modeling."


def load_churn(data_home: DataHome = None) -> Dataset:
    r"""Time until a customer of a software company leaves, in months: 1,958 customers, 12 features.

    The three products, ``company_size`` and ``us_region`` are categorical, all others numeric. 42 customers with
    time 0, all of them censored, are dropped.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``churn.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and a download from PySurvival's repository, kept in ``data_home`` or else in the
        user's cache. The download needs ``pip install 'cocensor[datasets]'``.

    Returns
    -------
    Dataset

    Examples
    --------
    A file of one's own, as it may look:

    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_churn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "churn.csv").write_text(
    ...         "product_data_storage,product_travel_expense,product_payroll,product_accounting,csat_score,"
    ...         "articles_viewed,smartphone_notifications_viewed,marketing_emails_clicked,social_media_ads_viewed,"
    ...         "minutes_customer_support,company_size,us_region,time,event\n"
    ...         "2048,Free-Trial,Active,No,9,4,0,14,1,8.3,10-50,Pacific,3,1\n"
    ...         "500,Active,No,No,10,0,0,12,2,0.0,1-10,Mountain,7,0\n"
    ...     )
    ...     data = load_churn(folder)
    >>> data.categorical
    ('product_travel_expense', 'product_payroll', 'product_accounting', 'company_size', 'us_region')
    """
    rows = read_rows(CHURN, data_home)
    return rows.drop(rows.time == 0, "with time 0").dataset()


def _read_pysurvival(path: Path) -> ArrowTable:
    table = read_texts(path)
    outcome = {
        "months_active": "time",
        "churned": "event",
        "time_spend_company": "time",
        "left": "event",
    }
    return table.rename_columns([outcome.get(name, name) for name in table.column_names])


CHURN = Recipe(
    name="churn",
    file="churn.csv",
    licence=_LICENCE,
    citation=_CITATION,
    features=(
        *("product_data_storage", "product_travel_expense", "product_payroll", "product_accounting"),
        *("csat_score", "articles_viewed", "smartphone_notifications_viewed", "marketing_emails_clicked"),
        *("social_media_ads_viewed", "minutes_customer_support", "company_size", "us_region"),
    ),
    categorical=(
        *("product_travel_expense", "product_payroll", "product_accounting"),
        *("company_size", "us_region"),
    ),
    download=Download(
        file="pysurvival-churn.csv",
        url=f"{_PYSURVIVAL}/churn.csv",
        sha256="e24e4fbd37ab8e7505f346ee8a7dd696da425f697666c42d3fb56edd65c1e50e",
        read=_read_pysurvival,
    ),
)


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
    rows = read_rows(EMPLOYEE, data_home)
    if not duplicates:
        repeated = rows.repeats()
        rows = rows.drop(repeated, f"that {'repeats' if repeated.sum() == 1 else 'repeat'} an earlier one")
    return rows.dataset()


EMPLOYEE = Recipe(
    name="employee",
    file="employee.csv",
    licence=_LICENCE,
    citation=_CITATION,
    features=(
        *("satisfaction_level", "last_evaluation", "number_projects", "average_montly_hours"),
        *("work_accident", "promotion_last_5years", "department", "salary"),
    ),
    categorical=("department", "salary"),
    download=Download(
        file="pysurvival-employee_attrition.csv",
        url=f"{_PYSURVIVAL}/employee_attrition.csv",
        sha256="664af9fafc88277d149ef2135564b575bea28a3dc95c8999d4f6e17dd455db1b",
        read=_read_pysurvival,
    ),
)


def load_metabric(data_home: DataHome = None) -> Dataset:
    r"""Time to death after breast cancer, in months: 1,902 patients, 9 features.

    DeepSurv's selection, under its names, all numeric: x0 to x3 the expressions of MKI67, EGFR, PGR and ERBB2, x4
    hormone treatment, x5 radiotherapy, x6 chemotherapy, x7 ER-positive, x8 age at diagnosis. DeepSurv's training and
    test parts are put together. Two patients whose time rounds to 0 are dropped; the times are not rounded.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``metabric.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and a download from DeepSurv's repository, kept in ``data_home`` or else in the
        user's cache. The download needs ``pip install 'cocensor[datasets]'``.

    Returns
    -------
    Dataset

    Notes
    -----
    Rows come in the order of a hash of their values: the same from every source, and as if shuffled.

    Examples
    --------
    A file of one's own, as it may look:

    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_metabric
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "metabric.csv").write_text(
    ...         "x0,x1,x2,x3,x4,x5,x6,x7,x8,time,event\n"
    ...         "5.6,7.8,10.8,6.0,1,1,0,1,56.84,99.3,0\n"
    ...         "5.3,9.6,10.2,5.7,1,0,0,1,85.94,0.1,1\n"
    ...     )
    ...     data = load_metabric(folder)
    >>> data.dropped
    ('1 row with a time that rounds to 0',)
    """
    rows = read_rows(METABRIC, data_home)
    rows = rows.drop(np.rint(rows.time) == 0, "with a time that rounds to 0")
    return rows.in_common_order().dataset()


_COLUMNS = tuple(f"x{i}" for i in range(9))


def _read_hdf5(path: Path) -> ArrowTable:
    import h5py
    import pyarrow as pa

    with h5py.File(path, "r") as file:
        x, time, event = (
            np.concatenate([np.asarray(file[part][key]) for part in ("train", "test")]) for key in "xte"
        )
    return pa.table({**dict(zip(_COLUMNS, x.T, strict=True)), "time": time, "event": event})


METABRIC = Recipe(
    name="metabric",
    file="metabric.csv",
    licence="MIT, as part of DeepSurv's repository",
    citation=(
        "Curtis, C., et al. (2012). The genomic and transcriptomic architecture of 2,000 breast tumours reveals novel "
        "subgroups. Nature 486, 346–352. Selected by Katzman, J. L., et al. (2018). DeepSurv. BMC Medical Research "
        "Methodology 18, 24."
    ),
    features=_COLUMNS,
    single_precision=True,
    download=Download(
        file="deepsurv-metabric.h5",
        url=(
            "https://raw.githubusercontent.com/jaredleekatzman/DeepSurv/41eed003e5b892c81e7855e400861fa7a2d9da4f/"
            "experiments/data/metabric/metabric_IHC4_clinical_train_test.h5"
        ),
        sha256="e959131973c906c7e8b1e662c81160914768156a6da145a9bfed9b9ee8bf3e72",
        read=_read_hdf5,
        needs=("pooch", "h5py"),
    ),
)
