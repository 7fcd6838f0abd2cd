"""SEER: cancer registries of the United States."""

from __future__ import annotations

from typing import Literal

from cocensor._checks import check_choice
from cocensor.paper.datasets._sources import DataHome, Recipe
from cocensor.paper.datasets.dataset import Dataset, read_rows

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
    check_choice(site, "site", tuple(RECIPES))
    rows = read_rows(RECIPES[site], data_home)
    return rows.drop(rows.time <= 0, "with a time of 0 or less").dataset()


def _recipe(site: str, *categorical: str) -> Recipe:
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


RECIPES = {
    "brain": _recipe(
        "brain",
        "Behavior recode for analysis",
        "SEER historic stage A (1973-2015)",
        "RX Summ--Scope Reg LN Sur (2003+)",
    ),
    "liver": _recipe("liver"),
    "stomach": _recipe("stomach"),
}
