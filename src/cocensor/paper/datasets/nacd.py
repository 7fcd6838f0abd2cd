"""NACD: the Northern Alberta Cancer Dataset."""

from __future__ import annotations

from cocensor.paper.datasets._sources import DataHome, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows


def load_nacd(data_home: DataHome = None) -> Dataset:
    r"""Survival time with cancers of many kinds, from the user's own file ``nacd.csv``.

    The file has the columns ``time`` and ``event``; all others are numeric features. Rows with a time of 0 or less
    are dropped. The paper has 2,396 rows, 48 (48) features and 36.4 % censored.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``nacd.csv`` in. Then comes the folder that the environment variable
        ``COCENSOR_DATA`` names.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_nacd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "nacd.csv").write_text("time,event,AGE\n5,1,70\n0,1,66\n9,0,58\n")
    ...     data = load_nacd(folder)
    >>> data.summary(), data.dropped
    ('nacd: 2 rows, 1 (1) features, 50.0% censored', ('1 row with a time of 0 or less',))
    """
    rows = read_rows(RECIPE, data_home)
    return rows.drop(rows.time <= 0, "with a time of 0 or less").dataset()


RECIPE = Recipe(
    name="nacd",
    file="nacd.csv",
    licence="as stated by its holders, http://pssp.srv.ualberta.ca",
    citation=(
        "Haider, H., Hoehn, B., Davis, S., Greiner, R. (2020). Effective ways to build and evaluate individual "
        "survival distributions. Journal of Machine Learning Research 21(85), 1–63."
    ),
    negative_times=True,
    access='it is found at http://pssp.srv.ualberta.ca under "Public Predictors"',
)
