import pytest

from tests.cli.study import Study


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path)
