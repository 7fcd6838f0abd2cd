import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("COCENSOR_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture
def csv_folder():
    """The folder with the CSV files of the seven data sets that can be had."""
    if not (FOLDER / "metabric.csv").is_file():
        pytest.skip(f"there are no CSV files in {FOLDER}; COCENSOR_DATA may name another folder")
    return FOLDER


@pytest.fixture(autouse=True)
def no_folder_in_the_environment(monkeypatch):
    monkeypatch.delenv("COCENSOR_DATA", raising=False)
