import gzip
import os
import signal

import numpy as np
import pandas as pd
import pytest

from benchmarks.studies import study as studies
from benchmarks.studies.__main__ import check, listed, run
from benchmarks.studies.listed import STUDIES
from benchmarks.studies.study import Study
from benchmarks.tables import check_marks


@pytest.fixture
def computed():
    """The units that were computed, in turn."""
    return []


@pytest.fixture
def make(tmp_path, monkeypatch, computed):
    """A study of two settings in ``n`` repeats; ``factor`` is what a change of the library does to its values."""
    monkeypatch.setattr(studies, "RESULTS", tmp_path)

    def study(n, factor=1.0, **more):
        def compute(unit):
            computed.append(tuple(unit.values()))
            draw = np.random.default_rng(unit["repeat"]).random(2)
            return [
                unit | {"judge": j, "value": round(factor * x, 7)} for j, x in zip("ab", draw, strict=True)
            ]

        units = [
            {"setting": s, "tau": t, "repeat": k} for s, t in (("x", None), ("y", 0.3)) for k in range(n)
        ]
        return Study("example", lambda: units, compute, ("setting", "tau", "repeat"), ("judge",), 1.0, **more)

    return study


def test_only_what_is_missing_is_computed(make, computed, capsys):
    assert run([make(2)]) == 0
    assert len(computed) == 4
    computed.clear()
    assert run([make(3)]) == 0
    assert computed == [("x", None, 2), ("y", 0.3, 2)]
    computed.clear()
    before = make(3).path.read_bytes()
    assert run([make(3)]) == 0
    assert not computed
    assert make(3).path.read_bytes() == before
    assert "no units" in capsys.readouterr().out


def test_rows_that_come_later_stand_where_their_units_do(make):
    run([make(1)])
    run([make(2)])
    assert list(make(2).rows()["setting"]) == ["x"] * 4 + ["y"] * 4
    assert make(2).path.read_bytes() == gzip.compress(gzip.decompress(make(2).path.read_bytes()), mtime=0)


@pytest.fixture
def default_interrupt():
    """An interruption raises, which it does not by itself where a shell has started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("number", "stopped"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_run_that_is_stopped_keeps_what_it_has(make, computed, number, stopped, default_interrupt):
    whole = make(2)

    def until_third(unit):
        if len(computed) == 2:
            os.kill(os.getpid(), number)
        return whole.compute(unit)

    cut = Study("example", whole.units, until_third, whole.keys, whole.within, 1.0)
    with pytest.raises(stopped):
        run([cut])
    assert len(cut.done()) == 2
    run([make(2)])
    assert len(computed) == 4


def test_check_finds_what_the_code_gives_again(make):
    run([make(3)])
    text, is_same = check([make(3)], 4, np.inf, seed=1)
    assert is_same
    check_marks(text)
    assert "| example | 6 | 6 | 4 |" in text


def test_check_tells_a_change_from_rounding(make):
    run([make(3)])
    assert check([make(3, factor=1.0 + 1e-8)], 6, np.inf, seed=1)[1]
    text, is_same = check([make(3, factor=1.001)], 6, np.inf, seed=1)
    assert not is_same
    assert "value: " in text


def test_check_tells_of_rows_that_are_gone_and_of_failures(make):
    whole = make(2)
    run([whole])
    fewer = Study("example", whole.units, lambda u: list(whole.compute(u))[:1], whole.keys, whole.within, 1.0)
    text, is_same = check([fewer], 2, np.inf, seed=0)
    assert not is_same
    assert "2 rows" in text
    broken = Study("example", whole.units, lambda u: 1 / 0, whole.keys, whole.within, 1.0)
    text, is_same = check([broken], 1, np.inf, seed=0)
    assert not is_same
    assert "ZeroDivisionError" in text


def test_a_column_of_whole_numbers_has_no_digit_to_spare():
    assert studies._last_digit(pd.Series([1111, 1110])) == 0.0
    assert studies._last_digit(pd.Series([0.25, 0.125, np.nan])) == pytest.approx(1e-3)
    assert studies._last_digit(pd.Series([0.1, 1 / 3])) == 0.0


def test_words_are_compared_and_the_numbers_in_them_to_the_tolerance():
    found = studies.Differences()
    found.add("selected", "Frank(theta=-0.00294778232)", "Frank(theta=-0.00294778231)", 0.0)
    assert found.within(1e-6)
    found.add("selected", "Frank(theta=2.0)", "Clayton(theta=2.0)", 0.0)
    assert not found.within(1e-6)


def test_a_study_without_its_data_is_said_to_need_them(make, monkeypatch):
    monkeypatch.delenv("COCENSOR_NOWHERE", raising=False)
    lacking = make(2, needs="COCENSOR_NOWHERE")
    assert "needs COCENSOR_NOWHERE" in listed([lacking])
    assert run([lacking]) == 1
    assert not lacking.path.exists()
    assert "needs COCENSOR_NOWHERE" in check([lacking], 1, np.inf, seed=0)[0]


def test_studies_have_files_of_their_own_and_all_files_have_a_study():
    names = [study.name for study in STUDIES]
    assert len(set(names)) == len(names)
    assert {path.name.removesuffix(".csv.gz") for path in studies.RESULTS.glob("*.csv.gz")} == set(names)
