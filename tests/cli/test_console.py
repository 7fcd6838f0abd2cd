import io
import sys
import time

import pytest

from cocensor.cli import console


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
    with console.progress_bar("Scoring") as progress:
        progress(1, 4)
        time.sleep(seconds)
    assert ("Scoring" in sys.stderr.getvalue()) == shown
    assert ("1/4" in sys.stderr.getvalue()) == shown
    assert shown or not sys.stderr.getvalue()


def test_what_the_terminal_cannot_spell_becomes_a_question_mark(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    console.say("τ [bold]")
    sys.stdout.flush()
    assert raw.getvalue().split() == [b"?", b"[bold]"]
