"""WHAS: the Worcester Heart Attack Study."""

from __future__ import annotations

from cocensor.paper.datasets._sources import ArrowTable, DataHome, Package, Recipe, from_pandas
from cocensor.paper.datasets.dataset import Dataset, read_rows


def load_whas(data_home: DataHome = None) -> Dataset:
    """Time from admission with a heart attack to death, in days: 500 patients, 14 features.

    All features are numeric; the binary ones are 0 and 1.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``whas500.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and scikit-survival.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from cocensor.paper.datasets import load_whas
    >>> load_whas().summary()
    'whas: 500 rows, 14 (14) features, 57.0% censored'
    """
    return read_rows(RECIPE, data_home).dataset()


def _from_scikit_survival() -> ArrowTable:
    from sksurv.datasets import load_whas500

    X, y = load_whas500()
    return from_pandas(X.assign(time=y["lenfol"], event=y["fstat"]))


RECIPE = Recipe(
    name="whas",
    file="whas500.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation="Hosmer, D. W., Lemeshow, S., May, S. (2008). Applied Survival Analysis, 2nd ed. Wiley.",
    features=(
        *("afb", "age", "av3", "bmi", "chf", "cvd", "diasbp"),
        *("gender", "hr", "los", "miord", "mitype", "sho", "sysbp"),
    ),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _from_scikit_survival),
)
