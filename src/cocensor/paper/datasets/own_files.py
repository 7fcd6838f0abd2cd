"""Data sets that nobody may pass on: files of the user's own."""

from __future__ import annotations

from typing import Literal

from cocensor._checks import check_choice
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
    return read_rows(MIMIC_IV, data_home).dataset()


MIMIC_IV = Recipe(
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
    rows = read_rows(NACD, data_home)
    return rows.drop(rows.time <= 0, "with a time of 0 or less").dataset()


NACD = Recipe(
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


Site = Literal["brain", "liver", "stomach"]


def load_seer(site: Site, data_home: DataHome = None) -> Dataset:
    r"""Time to death from a cancer, in months, from the user's own file ``seer_brain.csv`` and so on.

    The file has the columns ``Survival months`` and ``event`` and the categorical feature ``Sex``, for the brain also
    ``Behavior recode for analysis``, ``SEER historic stage A (1973-2015)`` and ``RX Summ--Scope Reg LN Sur
    (2003+)``; all others are numeric features. Rows with a time of 0 or less are dropped. The paper has 73,703 rows,
    10 (10) features and 40.1 % censored for the brain, 82,841, 14 (14) and 37.6 % for the liver, and 100,360,
    14 (14) and 43.4 % for the stomach.

    SEER is never downloaded: access is granted at https://seer.cancer.gov/data/access.html only.

    Parameters
    ----------
    site : {"brain", "liver", "stomach"}
    data_home : path, optional
        A folder to look for the file in. Then comes the folder that the environment variable ``COCENSOR_DATA``
        names.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cocensor.paper.datasets import load_seer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "seer_liver.csv").write_text(
    ...         "Survival months,event,Sex,Age\n5,1,0,70\n0,1,1,66\n9,0,1,58\n"
    ...     )
    ...     data = load_seer("liver", folder)
    >>> data.summary(), data.dropped
    ('seer_liver: 2 rows, 2 (2) features, 50.0% censored', ('1 row with a time of 0 or less',))
    """
    check_choice(site, "site", tuple(SEER))
    rows = read_rows(SEER[site], data_home)
    return rows.drop(rows.time <= 0, "with a time of 0 or less").dataset()


def _of_site(site: str, *categorical: str) -> Recipe:
    return Recipe(
        name=f"seer_{site}",
        file=f"seer_{site}.csv",
        licence="SEER Research Data Use Agreement; not to be passed on",
        citation=(
            "Surveillance, Epidemiology, and End Results (SEER) Program, National Cancer Institute, "
            "https://seer.cancer.gov; cite the release that the file was made from."
        ),
        categorical=("Sex", *categorical),
        time="Survival months",
        negative_times=True,
        access="access is granted at https://seer.cancer.gov/data/access.html",
        loader=f'load_seer("{site}")',
    )


SEER = {
    "brain": _of_site(
        "brain",
        "Behavior recode for analysis",
        "SEER historic stage A (1973-2015)",
        "RX Summ--Scope Reg LN Sur (2003+)",
    ),
    "liver": _of_site("liver"),
    "stomach": _of_site("stomach"),
}
