"""Data sets that an installed package brings along."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

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
    return read_rows(WHAS, data_home).dataset()


def _read_whas() -> ArrowTable:
    from sksurv.datasets import load_whas500

    X, y = load_whas500()
    return from_pandas(X.assign(time=y["lenfol"], event=y["fstat"]))


WHAS = Recipe(
    name="whas",
    file="whas500.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation="Hosmer, D. W., Lemeshow, S., May, S. (2008). Applied Survival Analysis, 2nd ed. Wiley.",
    features=(
        *("afb", "age", "av3", "bmi", "chf", "cvd", "diasbp"),
        *("gender", "hr", "los", "miord", "mitype", "sho", "sysbp"),
    ),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _read_whas),
)


def load_gbsg(data_home: DataHome = None) -> Dataset:
    """Time to recurrence of breast cancer or death, in days: 686 patients, 8 features.

    All features are numeric, with the names of R's survival package: ``age``, ``meno`` (1 after menopause),
    ``size`` of the tumour in mm, ``grade`` 1 to 3, ``nodes``, the receptors ``pgr`` and ``er`` in fmol/l, and
    ``hormon`` (1 with hormonal therapy).

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``gbsg.csv`` in. Then come the folder that the environment variable
        ``COCENSOR_DATA`` names, and scikit-survival.

    Returns
    -------
    Dataset

    Notes
    -----
    Sources order the rows differently. Here they come in the order of a hash of their values: the same from
    every source, and as if shuffled.

    The paper's text describes the union with Rotterdam patients that DeepSurv used, its table these 686.

    Examples
    --------
    >>> from cocensor.paper.datasets import load_gbsg
    >>> data = load_gbsg()
    >>> data.summary()
    'gbsg: 686 rows, 8 (8) features, 56.4% censored'
    >>> data.numeric
    ('age', 'meno', 'size', 'grade', 'nodes', 'pgr', 'er', 'hormon')
    """
    return read_rows(GBSG, data_home).in_common_order().dataset()


def _read_gbsg() -> ArrowTable:
    import pandas as pd
    from sksurv.datasets import load_gbsg2

    X, y = load_gbsg2()
    return from_pandas(
        pd.DataFrame(
            {
                "age": X["age"],
                "meno": X["menostat"].astype(str).map({"Pre": 0, "Post": 1}),
                "size": X["tsize"],
                "grade": X["tgrade"].astype(str).map({"I": 1, "II": 2, "III": 3}),
                "nodes": X["pnodes"],
                "pgr": X["progrec"],
                "er": X["estrec"],
                "hormon": X["horTh"].astype(str).map({"no": 0, "yes": 1}),
                "time": y["time"],
                "event": y["cens"],
            }
        )
    )


GBSG = Recipe(
    name="gbsg",
    file="gbsg.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation=(
        "Schumacher, M., et al. (1994). Randomized 2 × 2 trial evaluating hormonal treatment and the duration of "
        "chemotherapy in node-positive breast cancer patients. Journal of Clinical Oncology 12, 2086–2093."
    ),
    features=("age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _read_gbsg),
)


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
    rows = read_rows(FLCHAIN, data_home)
    rows = rows.drop(rows.time == 0, "with time 0")
    if not chapter:
        columns = {name: column for name, column in rows.columns.items() if name != _CHAPTER}
        note = f"column {_CHAPTER}, which reveals who died"
        rows = replace(rows, columns=columns, dropped=(*rows.dropped, note))
    return rows.dataset()


def _read_flchain() -> ArrowTable:
    from sksurv.datasets import load_flchain as load

    X, y = load()
    return from_pandas(X.assign(time=y["futime"], event=y["death"]))


FLCHAIN = Recipe(
    name="flchain",
    file="flchain.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation=(
        "Dispenzieri, A., et al. (2012). Use of nonclonal serum immunoglobulin free light chains to predict overall "
        "survival in the general population. Mayo Clinic Proceedings 87, 517–523."
    ),
    features=("age", _CHAPTER, "creatinine", "flc.grp", "kappa", "lambda", "mgus", "sample.yr", "sex"),
    categorical=(_CHAPTER, "flc.grp", "mgus", "sex"),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _read_flchain),
)


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
    rows = read_rows(SUPPORT, data_home)
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


SUPPORT = Recipe(
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
