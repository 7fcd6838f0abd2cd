"""Files that commands write: refused early, and all of them or none."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cocensor._files import behind_links, written_whole
from cocensor.cli.console import Phases
from cocensor.cli.options import called


def check_outputs(inputs: Sequence[Path], **outputs: tuple[Path | None, tuple[str, ...]]) -> None:
    """Refuse, before anything is computed, what cannot or must not be written; ``outputs`` by option, with suffixes."""
    seen: dict[str, Path] = {}
    for name, (path, suffixes) in outputs.items():
        if path is None:
            continue
        option, target = called(name), behind_links(path)
        if path.suffix.lower() not in suffixes:
            raise ValueError(f"{option} must end in {' or '.join(suffixes)}, but is {path}.")
        if not path.parent.is_dir():
            raise ValueError(f"{option} must lie in an existing folder, but {path.parent} is not one.")
        if target.is_symlink():
            raise ValueError(f"{option} must be a file, but {path} is a symbolic link that leads to itself.")
        writable = os.access(target.parent, os.W_OK) and (not target.exists() or os.access(target, os.W_OK))
        if (target.exists() and not target.is_file()) or not writable:
            raise ValueError(f"{option} must be a file that can be written, but is {path}.")
        if any(_same_file(path, source) for source in inputs):
            raise ValueError(f"{option} must not overwrite an input, but is {path}.")
        for other, written in seen.items():
            if _same_file(path, written):
                raise ValueError(f"{option} must be another file than {other}, but {path} is {written}.")
        seen[option] = path


def _same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by whatever links; it need not be there."""
    same = behind_links(one) == behind_links(other)
    return same or (one.exists() and other.exists() and one.samefile(other))


def write_all(phase: Phases, *outputs: tuple[Path | None, str, Callable[[Path], object]]) -> list[str]:
    """Write all files that are asked for, or none; return sentences that say where their contents are."""
    wanted = [(path, content, write) for path, content, write in outputs if path is not None]
    with written_together(*(path for path, _, _ in wanted)) as places:
        for place, (path, _, write) in zip(places, wanted, strict=True):
            phase(f"Writing {path.name}")
            write(place)
    return [f"{content} in {path}." for path, content, _ in wanted]


@contextmanager
def written_together(*paths: Path) -> Iterator[list[Path]]:
    """:func:`written_whole`, in a sentence where it fails."""
    try:
        with terminating_in_order(), written_whole(*paths) as places:
            yield places
    except OSError as error:
        listed = " and ".join(map(str, paths))
        raise ValueError(f"{listed} cannot be written: {error.strerror or error}.") from None


@contextmanager
def terminating_in_order() -> Iterator[None]:
    """Let SIGTERM end the command as an exception does, so that what is temporary vanishes."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
