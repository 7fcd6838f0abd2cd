import json

import pytest

from benchmarks.__main__ import JobError, listed, main, printed
from benchmarks.__main__ import run_all as run_with_record
from benchmarks.jobs import JOBS, Job, counts_of_tests
from benchmarks.record import Done, Record, Source
from benchmarks.tables import check_marks, markdown, marked

CLEAN = Source("abc1234", False)


def run_all(jobs, folder, source, resume=False):
    return run_with_record(jobs, Record.read(folder), folder, source, resume)


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that a job can run."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(code)
        return Job(name, name)

    return write


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "kept"


def test_jobs_have_names_of_their_own():
    assert len({job.name for job in JOBS}) == len(JOBS)


def test_the_list_says_what_a_job_took_when_it_was_run_last():
    record = Record({JOBS[0].name: Done(CLEAN, "2026-01-01T00:00:00", 1234, 2345)})
    first, second = listed(JOBS, record).splitlines()[1:3]
    assert "1234" in first
    assert "2345" in first
    assert "?" in second


def test_a_job_that_is_not_known_is_refused_by_name(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "nonsense"])
    assert "nonsense" in capsys.readouterr().err


def test_standard_output_is_kept_and_progress_is_not(module, kept, capfd):
    job = module("talks", "import sys\nprint('a figure: 1')\nprint('half way', file=sys.stderr)")
    assert run_all([job], kept, CLEAN) == 0
    assert (kept / "talks.md").read_text() == "a figure: 1\n"
    assert "half way" in capfd.readouterr().err


def test_a_job_that_fails_keeps_the_old_file_and_the_others_go_on(module, kept, capfd):
    good = module("good", "print('fine')")
    bad = module("bad", "print('old')")
    assert run_all([bad, good], kept, CLEAN) == 0
    bad = module("bad", "print('new')\nraise RuntimeError('a wrong turn')")
    good = module("good", "print('better')")
    assert run_all([bad, good], kept, Source("def5678", False)) == 1
    assert (kept / "bad.md").read_text() == "old\n"
    assert (kept / "good.md").read_text() == "better\n"
    assert "a wrong turn" in capfd.readouterr().err
    record = Record.read(kept)
    assert record.jobs["bad"].error
    assert record.jobs["bad"].source == CLEAN
    assert not list(kept.glob(".*"))


def test_resume_leaves_out_what_is_done_at_this_commit(module, kept, tmp_path):
    count = tmp_path / "runs"
    code = f"with open({str(count)!r}, 'a') as file: file.write('x')"
    job = module("counts", code)
    run_all([job], kept, CLEAN)
    run_all([job], kept, CLEAN, resume=True)
    assert count.read_text() == "x"
    run_all([job], kept, Source("def5678", False), resume=True)
    assert count.read_text() == "xx"
    # Nobody knows whether other changes are the same ones.
    changed = Source("def5678", True)
    run_all([job], kept, changed)
    run_all([job], kept, changed, resume=True)
    assert count.read_text() == "xxxx"


def test_a_failed_job_is_not_resumed_as_done(module, kept):
    run_all([module("late", "raise SystemExit(3)")], kept, CLEAN)
    assert run_all([module("late", "print('now')")], kept, CLEAN, resume=True) == 0
    assert (kept / "late.md").read_text() == "now\n"


def test_the_line_tells_of_changes_other_commits_and_failures(module, kept):
    run_all([module("one", "print(1)"), module("two", "print(2)")], kept, Source("0ld0000", False))
    run_all([module("one", "print(1)")], kept, Source("abc1234", True))
    (kept / "three.md").write_text("3")
    run_all([module("two", "raise SystemExit(1)")], kept, Source("abc1234", True))
    record = Record.read(kept)
    assert set(record.jobs) == {"one", "two"}
    line = (kept / "run.md").read_text()
    assert line.count("\n") == 1
    assert "`abc1234` with changes" in line
    assert "At commit `0ld0000`" in line
    assert "earlier runs: three" in line
    assert "Failed" in line
    assert json.loads((kept / "run.json").read_text())["jobs"]["one"]["source"]["commit"] == "abc1234"


@pytest.mark.parametrize(
    "code", ["import os; print(os.getcwd())", "import os; print('on', os.uname().nodename)"]
)
def test_output_that_tells_of_the_machine_is_not_kept(module, code):
    with pytest.raises(JobError, match="machine"):
        printed(module("tells", code))


def test_a_table_without_marks_is_not_kept(module):
    with pytest.raises(JobError, match="without marks"):
        printed(module("bare", "print('| a | b |')"))


def test_marks_are_unique_and_in_pairs():
    one, two = (marked(slug, markdown(["what", "x"], [["a", "1"]])) for slug in ("one", "two"))
    check_marks(f"{one}\n\n{two}")
    with pytest.raises(ValueError, match="'one'"):
        check_marks(f"{one}\n\n{one}")
    with pytest.raises(ValueError, match="pairs"):
        check_marks(one.replace("<!-- end: one -->", ""))
    with pytest.raises(ValueError, match="pairs"):
        check_marks(one.replace("end: one", "end: two"))


def test_of_tests_their_counts_are_kept():
    assert (
        counts_of_tests("...\n==== 15 passed, 2 skipped in 183.22s (0:03:03) ====\n")
        == "15 passed, 2 skipped.\n"
    )
    with pytest.raises(ValueError, match="counts"):
        counts_of_tests("no tests ran\n")
