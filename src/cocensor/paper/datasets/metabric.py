"""METABRIC: breast cancer, gene expression and clinical features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cocensor.paper.datasets._sources import ArrowTable, DataHome, Download, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows


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
    rows = read_rows(RECIPE, data_home)
    rows = rows.drop(np.rint(rows.time) == 0, "with a time that rounds to 0")
    return rows.in_common_order().dataset()


_NAMES = tuple(f"x{i}" for i in range(9))


def _read_hdf5(path: Path) -> ArrowTable:
    import h5py
    import pyarrow as pa

    with h5py.File(path, "r") as file:
        x, time, event = (
            np.concatenate([np.asarray(file[part][key]) for part in ("train", "test")]) for key in "xte"
        )
    return pa.table({**dict(zip(_NAMES, x.T, strict=True)), "time": time, "event": event})


RECIPE = Recipe(
    name="metabric",
    file="metabric.csv",
    licence="MIT, as part of DeepSurv's repository",
    citation=(
        "Curtis, C., et al. (2012). The genomic and transcriptomic architecture of 2,000 breast tumours reveals novel "
        "subgroups. Nature 486, 346–352. Selected by Katzman, J. L., et al. (2018). DeepSurv. BMC Medical Research "
        "Methodology 18, 24."
    ),
    features=_NAMES,
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
