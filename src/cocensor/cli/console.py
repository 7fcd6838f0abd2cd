"""The terminal: texts, one-line errors, and a progress bar that comes when it is needed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, NoReturn

import typer

from cocensor._checks import escaped
from cocensor._interrupt import end

# A command that is done before this many seconds needs no bar.
_PATIENCE = 1.0
# From so many seconds on, a command says what it is doing.
_LONG = 4.0


def say(text: str) -> None:
    """Print ``text``, with broken bytes of a path escaped; that nobody reads on, as after ``| head``, is no error."""
    try:
        typer.echo(escaped(text))
    except OSError as error:
        # What is left in the buffer goes nowhere: else it would fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(f"stdout cannot be written: {error.strerror}.") from None


def warn(text: str) -> None:
    """Print ``text`` on stderr."""
    typer.echo(escaped(text), err=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let an interruption be an exception, as it is by default, so that what was begun is undone."""
    before = signal.getsignal(signal.SIGINT)
    if before is not end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def refuse(error: Exception, code: int = 2) -> NoReturn:
    """End the command with what an error says, one line on stderr; one of the file system names its file."""
    if isinstance(error, OSError) and error.filename is not None:
        warn(f"Error: {error.filename}: {error.strerror}.")
    else:
        warn(f"Error: {' '.join(str(error).splitlines())}")
    raise typer.Exit(code) from None


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what the library or the file system refuses into one line on stderr and exit code 2."""
    try:
        yield
    except (ImportError, OSError, TypeError, ValueError) as error:
        refuse(error)


class Phases:
    """The phases of a command on a progress bar; a call begins one, and returns what takes (done, all)."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def __call__(self, name: str, done: int = 0, total: int | None = None) -> Callable[[int, int], None]:
        """Begin a phase, with so many of all parts done; ``total`` is None where they are not counted."""
        self._bar.reset(self._task, description=escaped(name), completed=done)
        self._bar.tasks[0].total = total  # None given to a bar would leave that of the phase before
        return lambda done, total: self._bar.update(self._task, completed=done, total=total)


@contextmanager
def patiently(text: str) -> Iterator[None]:
    """Say on stderr what is there already, and what is being done, where that takes longer than a few seconds."""
    late = Timer(_LONG, warn, [text])
    late.start()
    try:
        yield
    finally:
        late.cancel()
        late.join()


@contextmanager
def progress_bar() -> Iterator[Phases]:
    """A line on stderr that comes after a second, where somebody watches: the phase, how far it is, for how long."""
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    class Counted(progress.ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text("" if task.total is None else f"{task.completed:.0f}/{task.total:.0f}")

    name = progress.TextColumn("{task.description}", markup=False)
    columns = (progress.SpinnerColumn(), name, progress.BarColumn(), Counted(), progress.TimeElapsedColumn())
    # Not Console.is_terminal, which an environment variable can set.
    watched = sys.stderr.isatty()
    bar = progress.Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched)
    late = Timer(_PATIENCE, bar.start)
    late.start()
    try:
        yield Phases(bar)
    finally:
        late.cancel()
        late.join()
        bar.stop()
