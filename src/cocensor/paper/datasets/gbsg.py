"""GBSG: the German Breast Cancer Study Group."""

from __future__ import annotations

from cocensor.paper.datasets._sources import ArrowTable, DataHome, Package, Recipe, from_pandas
from cocensor.paper.datasets.dataset import Dataset, read_rows


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
    return read_rows(RECIPE, data_home).in_common_order().dataset()


def _from_scikit_survival() -> ArrowTable:
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


RECIPE = Recipe(
    name="gbsg",
    file="gbsg.csv",
    licence="GPL-3.0-or-later, as part of scikit-survival",
    citation=(
        "Schumacher, M., et al. (1994). Randomized 2 × 2 trial evaluating hormonal treatment and the duration of "
        "chemotherapy in node-positive breast cancer patients. Journal of Clinical Oncology 12, 2086–2093."
    ),
    features=("age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"),
    package=Package("scikit-survival", "sksurv", "'cocensor[learners]'", _from_scikit_survival),
)
