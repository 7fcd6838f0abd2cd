"""Which data sets can be loaded here."""

from __future__ import annotations

from typing import Any

from cocensor._checks import make_frame
from cocensor.paper.datasets._sources import DataHome, locate
from cocensor.paper.datasets.downloaded import CHURN, EMPLOYEE, METABRIC
from cocensor.paper.datasets.own_files import MIMIC_IV, NACD, SEER
from cocensor.paper.datasets.packaged import FLCHAIN, GBSG, SUPPORT, WHAS

RECIPES = (WHAS, GBSG, METABRIC, CHURN, NACD, FLCHAIN, SUPPORT, EMPLOYEE, MIMIC_IV, *SEER.values())


def available(data_home: DataHome = None) -> Any:
    """Which data sets can be loaded, and from where; nothing is read or downloaded.

    Parameters
    ----------
    data_home : path, optional
        As for the loaders: a folder to look into first.

    Returns
    -------
    data frame
        One row per data set: ``name``, ``loadable``, and ``source``, the copy that would be read or what is
        missing. An address says that the loader would download; whether it can be reached is not tried.

    Examples
    --------
    >>> from cocensor.paper.datasets import available
    >>> frame = available()
    >>> frame.columns.tolist()
    ['name', 'loadable', 'source']
    >>> frame["loadable"].tolist()[:2]
    [True, True]
    """
    names, loadable, sources = [], [], []
    for recipe in RECIPES:
        names.append(recipe.name)
        try:
            sources.append(locate(recipe, data_home).source)
            loadable.append(True)
        except (ImportError, FileNotFoundError) as missing:
            sources.append(str(missing))
            loadable.append(False)
    return make_frame({"name": names, "loadable": loadable, "source": sources})
