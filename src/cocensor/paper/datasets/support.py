"""SUPPORT: seriously ill hospitalised patients."""

from __future__ import annotations

import warnings

import numpy as np

from cocensor.paper.datasets._sources import ArrowTable, DataHome, Package, Recipe, from_pandas
from cocensor.paper.datasets.dataset import Dataset, read_rows

_MEASURED = {
    "x7": "meanbp",
    "x8": "hrt",
    "x9": "resp",
    "x10": "temp",
    "x11": "sod",
    "x12": "wblc",
    "x13": "crea",
}


def load_support(data_home: DataHome = None) -> Dataset:
    """Time to death of seriously ill hospitalised patients, in days: 8,873 patients, 14 features.

    The selection and the codes of DeepSurv, under its names:

    - x0 age, x1 sex (female 1), x4 diabetes, x5 dementia, x7 mean blood pressure, x8 heart rate, x9 respiration
      rate, x10 temperature, x11 sodium, x12 white blood cells, x13 creatinine: numeric;
    - x2 number of comorbidities, x3 race (other 0, white 1, black 2, hispanic 3, asian 4, missing 5), x6 cancer
      (metastatic 0, no 1, yes 2): categorical.

    Rows with a missing value among x7 to x13 are dropped.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``support.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and the ``support2`` of SurvSet.

    Returns
    -------
    Dataset

    Notes
    -----
    Sources order the rows differently. Here they come in the order of a hash of their values: the same from
    every source, and as if shuffled.

    Examples
    --------
    >>> from cocensor.paper.datasets import load_support
    >>> data = load_support()
    >>> data.summary()
    'support: 8,873 rows, 14 (27) features, 32.0% censored'
    >>> data.categorical
    ('x2', 'x3', 'x6')
    """
    rows = read_rows(RECIPE, data_home)
    missing = np.isnan(np.column_stack([rows.columns[name] for name in _MEASURED])).any(axis=1)
    return rows.drop(missing, "with a missing value among x7 to x13").in_common_order().dataset()


def _from_survset() -> ArrowTable:
    import pandas as pd
    from SurvSet.data import SurvLoader

    with warnings.catch_warnings():
        # SurvSet's pickles were written by an older numpy, whose modules had other names.
        warnings.filterwarnings("ignore", "numpy.core", DeprecationWarning)
        frame = SurvLoader().load_dataset("support2")["df"]
    race = {"other": 0, "white": 1, "black": 2, "hispanic": 3, "asian": 4, "missing": 5}
    return from_pandas(
        pd.DataFrame(
            {
                "x0": frame["num_age"],
                "x1": frame["fac_sex"].astype(str).map({"male": 0, "female": 1}),
                "x2": frame["num_num_co"],
                "x3": frame["fac_race"].astype(str).map(race),
                "x4": frame["fac_diabetes"].astype(float),
                "x5": frame["fac_dementia"].astype(float),
                "x6": frame["fac_ca"].astype(str).map({"metastatic": 0, "no": 1, "yes": 2}),
                **{name: frame[f"num_{measured}"] for name, measured in _MEASURED.items()},
                "time": frame["time"],
                "event": frame["event"],
            }
        )
    )


RECIPE = Recipe(
    name="support",
    file="support.csv",
    licence="GPL-3.0, as part of SurvSet",
    citation=(
        "Knaus, W. A., et al. (1995). The SUPPORT prognostic model: objective estimates of survival for seriously ill "
        "hospitalized adults. Annals of Internal Medicine 122, 191–203."
    ),
    features=tuple(f"x{i}" for i in range(14)),
    categorical=("x2", "x3", "x6"),
    single_precision=True,
    package=Package("SurvSet", "SurvSet", "'cocensor[datasets]'", _from_survset),
)
