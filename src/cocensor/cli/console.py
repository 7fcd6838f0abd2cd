"""What commands share: one-line errors, notes, and a progress bar that comes when it is needed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import NoReturn

import typer

from cocensor._interrupt import end
from cocensor._validation import escaped

# A command that is done before this many seconds needs no bar.
_PATIENCE = 1.0


def say(text: str) -> None:
    """Print ``text`` as it is: brackets are no markup, and broken bytes of a path are escaped.

    That nobody reads on, as after ``| head``, is no error.
    """
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


def in_a_line(error: Exception) -> str:
    """What an error says; the file system's names its file."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).splitlines())


def refuse(error: Exception, code: int = 2) -> NoReturn:
    """End the command with what an error says, one line on stderr."""
    warn(f"Error: {in_a_line(error)}")
    raise typer.Exit(code) from None


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what the library or the file system refuses into one line on stderr and exit code 2."""
    try:
        yield
    except (ImportError, OSError, TypeError, ValueError) as error:
        refuse(error)


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr that comes after a second, where somebody watches; yields what to tell (done, all)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    left = TimeRemainingColumn(elapsed_when_finished=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), left)
    # Not Console.is_terminal, which an environment variable can set.
    watched = sys.stderr.isatty()
    bar = Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched)
    task = bar.add_task(description, total=None)
    late = Timer(_PATIENCE, bar.start)
    late.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        late.cancel()
        late.join()
        bar.stop()
