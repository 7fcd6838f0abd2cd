"""Files that are written whole or not at all, and what a process holds against others until it ends."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from stat import S_IMODE
from tempfile import mkdtemp

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# The machine is part of the name: locks of another may not be seen here.
_PREFIX = f".cocensor-{re.sub(r'[^A-Za-z0-9]', '-', platform.node())}-"
_LOCK, _FILES = "lock", "files"


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, or leave what was there."""
    with written_whole(path) as (place,):
        place.write_text(text, encoding="utf-8")


@contextmanager
def written_whole(*paths: str | os.PathLike[str]) -> Iterator[list[Path]]:
    """Places to write files to; they move to ``paths`` when all are written, and vanish when one is not.

    Each place lies in a hidden folder beside what its path points to, hence on the same disk, and has its name. A
    symbolic link stays, and the file behind it is written; a file that is replaced keeps its permissions.
    """
    targets = [check_path(path) for path in paths]
    try:
        with ExitStack() as stack:
            folders = [stack.enter_context(hidden_folder(target.parent)) for target in targets]
            places = [folder / Path(path).name for folder, path in zip(folders, paths, strict=True)]
            yield places
            move(dict(zip(places, targets, strict=True)))
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, error.strerror, " and ".join(map(str, paths))) from error


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the file behind a path; what no file can be written to is refused."""
    target = behind_links(path)
    if target.is_symlink():
        raise ValueError(f"path must be a file, but {path} is a symbolic link that leads to itself.")
    if target.is_dir():
        raise ValueError(f"path must be a file, but {path} is a folder.")
    if not target.parent.is_dir():
        raise ValueError(f"path must lie in an existing folder, but {target.parent} is not one.")
    if target.exists() and not target.is_file():
        raise ValueError(f"path must be a file, but {path} is a device.")
    return target


def behind_links(path: str | os.PathLike[str]) -> Path:
    """The file behind symbolic links; where they lead in a circle, one of them."""
    return Path(os.path.realpath(path))


def move(targets: Mapping[Path, Path]) -> None:
    """Move files to their ``targets`` on the same disk, when all of them are safe on it."""
    for place in targets:
        with place.open("r+b") as file:
            os.fsync(file.fileno())
    for place, target in targets.items():
        if target.exists():
            place.chmod(S_IMODE(target.stat().st_mode))
        place.replace(target)


@contextmanager
def hidden_folder(parent: Path) -> Iterator[Path]:
    """A fresh folder below ``parent``, which vanishes in the end; one that a killed process left vanishes now."""
    _remove_what_is_left(parent)
    lock = None
    while lock is None:  # anew where another process meanwhile took the folder for one that was left
        own = Path(mkdtemp(prefix=_PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = _open(own / _LOCK)
            if _locked(lock) is False or not own.exists():
                os.close(lock)
                lock = None
    try:
        files = own / _FILES
        files.mkdir()
        yield files
    finally:
        os.close(lock)
        rmtree(own, ignore_errors=True)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` against other runs, where its disk has locks; a run that dies lets go of it."""
    lock = _open(folder / f".{_LOCK}")
    try:
        if _locked(lock) is False:
            instead = "wait until it ends, or choose another folder"
            raise BlockingIOError(f"{folder} is in use by another run: {instead}.")
        yield
    finally:
        os.close(lock)


def _remove_what_is_left(parent: Path) -> None:
    """Remove the hidden folders whose process has died, as their locks are free."""
    for entry in os.scandir(parent):
        # What vanishes meanwhile, or cannot be read, is another's.
        with suppress(OSError):
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                lock = _open(Path(entry, _LOCK))
                is_left = _locked(lock)
                if is_left:
                    rmtree(entry, ignore_errors=True)
                os.close(lock)
                if is_left:
                    rmtree(entry, ignore_errors=True)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _locked(handle: int) -> bool | None:
    """Whether an open file is locked for us now, until it is closed or we die; None where files have no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True
