"""Churn: when customers leave."""

from __future__ import annotations

from pathlib import Path

from cocensor.data.files import read_texts
from cocensor.paper.datasets._sources import ArrowTable, DataHome, Download, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows


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
    return read_rows(RECIPE, data_home).drop_zero_times().dataset()


def _read_original(path: Path) -> ArrowTable:
    table = read_texts(path)
    outcome = {"months_active": "time", "churned": "event"}
    return table.rename_columns([outcome.get(name, name) for name in table.column_names])


RECIPE = Recipe(
    name="churn",
    file="churn.csv",
    licence="Apache-2.0, as part of PySurvival",
    citation="Fotso, S., et al. (2019). PySurvival: open source package for survival analysis modeling.",
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
        url=(
            "https://raw.githubusercontent.com/square/pysurvival/841b9bc6ce700ba8898d2a1488aa9cd25ee7a8e6/"
            "pysurvival/datasets/churn.csv"
        ),
        sha256="e24e4fbd37ab8e7505f346ee8a7dd696da425f697666c42d3fb56edd65c1e50e",
        read=_read_original,
    ),
)
