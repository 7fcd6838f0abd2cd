"""What the command line says that it is at."""

import sys
from contextlib import contextmanager

import pytest


@pytest.fixture
def phases(monkeypatch):
    """The names of all phases of ``evaluate``, in their order, each with what was told of it."""
    found = []

    class Recorded:
        def __call__(self, name, done=0, total=None):
            told = [(done, total)]
            found.append((name, told))
            return lambda done, total: told.append((done, total))

    @contextmanager
    def progress_bar():
        yield Recorded()

    monkeypatch.setattr(sys.modules["cocensor.cli.evaluate"], "progress_bar", progress_bar)
    return found


def test_every_phase_of_an_evaluation_has_its_name(study, phases):
    study.numbers("--bootstrap", "2")
    names = [name for name, _ in phases]
    assert names[:6] == [
        "Reading test.csv",
        "Reading train.csv",
        "Reading cox.csv",
        "Reading flat.csv",
        "Checking predictions",
        "Scoring by IPCW",
    ]
    assert [told for name, told in phases if name == "Reading flat.csv"] == [[(1, 2)]]
    [resamples] = [told for name, told in phases if "bootstrap" in name]
    assert resamples[-1] == (2, 2)
    assert names[-2:] == ["Writing out.json", "Summing up"]


def test_no_phase_is_named_that_there_is_not(study, phases):
    assert study.evaluate().exit_code == 0
    names = [name for name, _ in phases]
    assert not [name for name in names if "bootstrap" in name or "Writing" in name]
    [told] = [told for name, told in phases if name == "Scoring under other dependence"]
    assert told[-1][0] == told[-1][1] > 0
