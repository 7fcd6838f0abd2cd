import os
from pathlib import Path

import pytest

FOLDER = os.environ.get("COCENSOR_DATA")


@pytest.fixture
def csv_folder():
    """The folder with the CSV files of the seven data sets that can be had."""
    if FOLDER is None:
        pytest.skip("COCENSOR_DATA names no folder with the CSV files")
    return Path(FOLDER)


@pytest.fixture(autouse=True)
def no_folder_in_the_environment(monkeypatch):
    monkeypatch.delenv("COCENSOR_DATA", raising=False)
