"""MIMIC-IV: intensive care."""

from __future__ import annotations

from cocensor.paper.datasets._sources import DataHome, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows


def load_mimic_iv(data_home: DataHome = None) -> Dataset:
    r"""Time to death after admission to intensive care, from the user's own file ``mimic_iv.csv``.

    The file has the columns ``time`` and ``event`` and the categorical features ``is_male``, ``is_white``,
    ``renal``, ``cns``, ``coagulation`` and ``cardiovascular``; all others are numeric features. No row is dropped. The
    paper has 38,520 rows, 91 (103) features and 66.7 % censored.

    MIMIC-IV is never downloaded: access is granted at https://physionet.org/content/mimiciv/ only.

    Parameters
    ----------
    data_home : path, optional
        A folder to look for ``mimic_iv.csv`` in. Then comes the folder that the environment variable
        ``COCENSOR_DATA`` names.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_mimic_iv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "mimic_iv.csv").write_text(
    ...         "time,event,is_male,is_white,renal,cns,coagulation,cardiovascular,age\n"
    ...         "5,1,0,1,3,0,0,1,70\n"
    ...         "9,0,1,1,0,4,0,1,58\n"
    ...     )
    ...     data = load_mimic_iv(folder)
    >>> data.numeric
    ('age',)
    """
    return read_rows(RECIPE, data_home).dataset()


RECIPE = Recipe(
    name="mimic_iv",
    file="mimic_iv.csv",
    licence="PhysioNet Credentialed Health Data License; not to be passed on",
    citation=(
        "Johnson, A. E. W., et al. (2023). MIMIC-IV, a freely accessible electronic health record dataset. "
        "Scientific Data 10, 1."
    ),
    categorical=("is_male", "is_white", "renal", "cns", "coagulation", "cardiovascular"),
    access="access is granted at https://physionet.org/content/mimiciv/",
)
