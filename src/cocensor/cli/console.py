"""What commands share: one-line errors, notes, and a progress bar that comes when it is needed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

import typer

from cocensor._interrupt import end
from cocensor._validation import collected

# A command that is done before this many seconds needs no bar.
_PATIENCE = 1.0


def say(text: str) -> None:
    """Print ``text`` as it is: brackets are no markup. That nobody reads on, as after ``| head``, is no error."""
    try:
        typer.echo(text)
    except OSError as error:
        # What is left in the buffer goes nowhere: else it would fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise OSError(f"stdout cannot be written: {error.strerror}.") from None


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


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what the library or the file system refuses into one line on stderr and exit code 2."""
    try:
        yield
    except (ImportError, OSError, TypeError, ValueError) as error:
        typer.echo(f"Error: {in_a_line(error)}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def noting(notes: list[str]) -> Iterator[None]:
    """Add what the library warns of to ``notes``, each warning once."""
    with collected(UserWarning) as said:
        yield
    notes += said


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr that comes after a second, where somebody watches; yields what to tell (done, all)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
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
