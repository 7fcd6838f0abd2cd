import io
import os
import sys
import time

import pytest
import typer

from cocensor.cli import console
from tests.refusals import refuses


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "shown"), [(Terminal, 0.3, True), (Terminal, 0.0, False), (io.StringIO, 0.3, False)]
)
def test_a_bar_comes_late_and_only_to_terminals(monkeypatch, stream, seconds, shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(console, "_PATIENCE", 0.1)
    monkeypatch.setattr(sys, "stderr", stream())
    with console.progress_bar() as phase:
        phase("Reading [bold].csv")
        time.sleep(seconds)
        phase("Scoring")(1, 4)
        time.sleep(seconds)
    assert ("Reading [bold].csv" in sys.stderr.getvalue()) == shown
    assert ("Scoring" in sys.stderr.getvalue()) == shown
    assert ("1/4" in sys.stderr.getvalue()) == shown
    assert shown or not sys.stderr.getvalue()


def test_that_nobody_reads_on_is_no_error(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert [console.say(text) for text in ("one", "two")] == [None, None]
        assert os.fstat(stdout.fileno()).st_rdev == os.stat(os.devnull).st_rdev


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_stdout_is_said_once(monkeypatch):
    with open("/dev/full", "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        refuses(lambda: console.say("one"), "stdout", "No space left on device", kind=OSError)


def test_broken_bytes_are_escaped_and_brackets_are_no_markup(capsys):
    path = os.fsdecode(b"[red]/\xff.csv")
    console.say(path)
    assert capsys.readouterr().out == "[red]/\\udcff.csv\n"
    with pytest.raises(typer.Exit) as caught:
        console.refuse(FileNotFoundError(2, "No such file or directory", path))
    assert caught.value.exit_code == 2
    said = capsys.readouterr().err
    assert said.startswith("Error: [red]/\\udcff.csv")
    assert said.count("\n") == 1


def test_a_phase_that_is_not_counted_does_not_show_the_count_of_the_one_before():
    from rich.progress import Progress

    bar = Progress(disable=True)
    phase = console.Phases(bar)
    phase("Scoring", 3, 4)(4, 4)
    phase("Fitting")
    assert (bar.tasks[0].completed, bar.tasks[0].total) == (0, None)
