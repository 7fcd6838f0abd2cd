"""FLCHAIN: serum free light chain and mortality."""

from __future__ import annotations

from dataclasses import replace

from cocensor.paper.datasets._sources import ArrowTable, DataHome, Package, Recipe, from_pandas
from cocensor.paper.datasets.dataset import Dataset, read_rows

_CHAPTER = "chapter"


def load_flchain(data_home: DataHome = None, *, chapter: bool = False) -> Dataset:
    """Time to death of residents aged 50 or more, in days: 7,871 subjects, 8 features.

    ``flc.grp``, ``mgus`` and ``sex`` are categorical, all others numeric. 1,350 values of ``creatinine`` are
    missing, and left so. Three subjects with time 0 are dropped.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``flchain.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and scikit-survival.
    chapter : bool
        Whether to keep the cause of death. Only the dead have one: it tells a model who had the event. The paper's
        text leaves it out; its published numbers and its table, with 9 (31) features, have it.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from cocensor.paper.datasets import load_flchain
    >>> data = load_flchain()
    >>> data.summary()
    'flchain: 7,871 rows, 8 (16) features, 72.5% censored'
    >>> data.dropped
    ('3 rows with time 0', 'column chapter, which reveals who died')
    >>> load_flchain(chapter=True).summary()
    'flchain: 7,871 rows, 9 (31) features, 72.5% censored'
    """
    rows = read_rows(RECIPE, data_home).drop_zero_times()
    if not chapter:
        columns = {name: column for name, column in rows.columns.items() if name != _CHAPTER}
        note = f"column {_CHAPTER}, which reveals who died"
        rows = replace(rows, columns=columns, dropped=(*rows.dropped, note))
    return rows.dataset()


def _from_scikit_survival() -> ArrowTable:
    from sksurv.datasets import load_flchain as load

    X, y = load()
    return from_pandas(X.assign(time=y["futime"], event=y["death"]))


RECIPE = Recipe(
    name="flchain",
    file="flchain.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation=(
        "Dispenzieri, A., et al. (2012). Use of nonclonal serum immunoglobulin free light chains to predict overall "
        "survival in the general population. Mayo Clinic Proceedings 87, 517–523."
    ),
    features=("age", _CHAPTER, "creatinine", "flc.grp", "kappa", "lambda", "mgus", "sample.yr", "sex"),
    categorical=(_CHAPTER, "flc.grp", "mgus", "sex"),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _from_scikit_survival),
)
