"""Golden numbers: written, held, and told where they are not."""

import ast
import gzip
import json
import math
from pathlib import Path

import pytest

from benchmarks.golden import __main__ as golden
from benchmarks.golden.compare import compare, load, load_changes, tolerance, write
from benchmarks.golden.numbers import Numbers
from benchmarks.golden.studies import STUDIES, Study

CHEAP = "estimators"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The numbers of two cheap studies."""
    path = tmp_path_factory.mktemp("golden") / "golden.json.gz"
    assert golden.main(["write", str(path), "--only", CHEAP, "risk_scores"]) == 0
    return path


@pytest.fixture
def check(written, tmp_path, capsys):
    """Today's numbers of a study against the file after a change of it, up to the changes that are meant."""

    def run(change=None, meant="", study=CHEAP):
        numbers = load(written)
        if change is not None:
            change(numbers)
        path, rules = tmp_path / "changed.json.gz", tmp_path / "changes.toml"
        write(path, numbers)
        rules.write_text(meant, encoding="utf-8")
        status = golden.main(["check", str(path), "--only", study, "--changes", str(rules)])
        return status, capsys.readouterr().out

    return run


KEY = "estimators/plain/cox/ties=efron/loglik"


def moved(by):
    def change(numbers):
        numbers[KEY] *= 1 + by

    return change


@pytest.mark.parametrize("study", [CHEAP, "risk_scores"])
def test_what_was_written_holds(check, study):
    assert check(study=study) == (0, f"{study}: as it was\n")


def test_a_change_of_1e_8_is_told_and_one_of_1e_11_is_rounding(check):
    status, out = check(moved(1e-8))
    assert status == 1
    assert f"FAULT {KEY}: " in out
    assert "1 faults" in out
    status, out = check(moved(1e-11))
    assert status == 0
    assert f"{CHEAP}: at worst {KEY}" in out


def test_a_key_that_is_gone_or_new_a_decision_and_a_length_are_told(check):
    def change(numbers):
        del numbers[KEY]
        numbers["estimators/plain/cox/other"] = 1.0
        numbers["estimators/plain/cox/ties=efron/converged"] = False
        numbers["estimators/plain/grid"].pop()
        numbers["estimators/ties/grid"][2] = math.nan

    status, out = check(change)
    assert status == 1
    assert out.count("FAULT") == 5


RULE = '[[change]]\nkeys = "{}"\nreason = "a better fit"\nsize = {}\n'


def test_an_intended_change_is_said_and_held_to_its_size(check):
    status, out = check(moved(1e-4), RULE.format("estimators/*/loglik", 2e-4))
    assert status == 0
    assert "meant: estimators/*/loglik (a better fit): 1 values, by 1.0e-04 at most" in out
    status, out = check(moved(1e-4), RULE.format("estimators/*/loglik", 5e-5))
    assert status == 1
    assert "more than 5e-05" in out


def test_an_intended_change_that_is_not_met_is_told(check):
    status, out = check(None, RULE.format("estimators/*/loglik", 1e-3))
    assert status == 1
    assert "remove it" in out
    assert check(None, RULE.format("ties/*", 1e-3))[0] == 0  # that study did not run


def test_a_decision_may_be_meant_to_change(check):
    def change(numbers):
        numbers["estimators/plain/cox/ties=efron/converged"] = False

    assert check(change, RULE.format("estimators/*/converged", '"any"'))[0] == 0


def test_changes_have_reasons(tmp_path):
    path = tmp_path / "changes.toml"
    path.write_text('[[change]]\nkeys = "a/*"\nsize = 1.0\n', encoding="utf-8")
    with pytest.raises(ValueError, match="change 1 must have keys, reason and size"):
        load_changes(path)


def test_a_difference_near_0_is_held_to_its_error():
    was = {"a/difference": 1e-9, "a/standard_error": 0.01, "a/list": [0.0, 1.0]}
    now = {"a/difference": 1e-9 + 1e-12, "a/standard_error": 0.01, "a/list": [1e-12, 1.0]}
    assert not compare(was, now, []).faults
    now = {"a/difference": 1e-9 + 1e-10, "a/standard_error": 0.01, "a/list": [1e-8, 1.0]}
    assert [each.key for each in compare(was, now, []).violations] == ["a/difference", "a/list/0"]


def test_what_is_not_finite_comes_back(tmp_path):
    numbers = {
        "a/x": math.nan,
        "a/y": [math.inf, -math.inf, 0.1 + 0.2],
        "a/z": "text",
        "a/w": None,
        "a/v": True,
    }
    write(tmp_path / "x.json.gz", numbers)
    assert not compare(numbers, load(tmp_path / "x.json.gz"), []).faults
    assert load(tmp_path / "x.json.gz")["a/y"][2] == 0.1 + 0.2
    assert [*json.loads(gzip.decompress((tmp_path / "x.json.gz").read_bytes()))] == sorted(numbers)


def test_errors_after_a_joint_fit_have_a_tolerance_of_their_own():
    assert tolerance("ties/ibs/full/imputation/value") == 1e-9
    assert tolerance("ties/ibs/full/imputation/standard_error") == 1e-7
    assert tolerance("ties/ibs/full/ipcw/standard_error") == 1e-9
    assert tolerance("selected/hint/candidates/joe/tau") == 1e-6


def test_two_ways_to_one_number_must_agree():
    into = Numbers()
    into.under("a", "b").put("value", 1.0)
    into.put("a/b/value", 1.0 + 1e-15)
    with pytest.raises(ValueError, match="a/b/value must be one value by every way"):
        into.put("a/b/value", 1.1)


def test_without_data_a_study_is_skipped_and_nothing_is_written(monkeypatch, tmp_path, written, capsys):
    monkeypatch.delenv("COCENSOR_DATA", raising=False)
    path = tmp_path / "golden.json.gz"
    assert golden.main(["write", str(path), "--only", "employee", CHEAP]) == 2
    assert not path.exists()
    assert "employee: was skipped, COCENSOR_DATA names no folder" in capsys.readouterr().out
    assert golden.main(["check", str(written), "--only", "employee", CHEAP]) == 0
    assert "employee: skipped, COCENSOR_DATA names no folder" in capsys.readouterr().out


def test_a_study_that_fails_is_told_and_the_others_run(monkeypatch, tmp_path, written, capsys):
    def fails(into, folder):
        raise RuntimeError("no such name")

    cheap = next(study for study in STUDIES if study.name == CHEAP)
    monkeypatch.setattr(golden, "STUDIES", (Study("broken", fails), cheap))
    assert golden.main(["check", str(written), "--only", "broken", CHEAP]) == 1
    out = capsys.readouterr().out
    assert "FAULT broken: failed, RuntimeError: no such name" in out
    assert f"{CHEAP}: as it was" in out


def test_the_file_of_the_project_has_the_keys_that_the_code_gives(written):
    """Its numbers are held by ``python -m benchmarks.golden check``."""
    kept = load(Path(__file__).parents[2] / golden.FILE)
    keys = {key for key in load(written) if key.startswith(f"{CHEAP}/")}
    assert {key for key in kept if key.startswith(f"{CHEAP}/")} == keys


def test_two_modules_alone_know_the_library():
    folder = Path(golden.__file__).parent
    known = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "cocensor" for name in names):
                known.add(path.name)
    assert known <= {"ask.py", "read.py"}
