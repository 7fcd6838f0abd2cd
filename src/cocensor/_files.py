"""Files that are written whole or not at all, and what a process holds against others until it ends."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
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

_PREFIX = ".cocensor-"
_FRESH = re.compile(re.escape(_PREFIX) + "[a-z0-9_]{8}")
_LOCK, _FILES = "lock", "files"
# In seconds: a process that lives marks its folder at once.
_LONG_AGO = 3600.0
# Written when the lock is held: who can read this and take the lock knows that the writer has died.
_MARK = f"cocensor on {platform.node()!a} writes files here; its next run removes what is left.\n".encode()


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
    for path in paths:
        check_path(path)
    targets = [behind_links(path) for path in paths]
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


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse what no file can be written to."""
    target = behind_links(path)
    if target.is_symlink():
        raise ValueError(f"path must be a file, but {path} is a symbolic link that leads to itself.")
    if target.is_dir():
        raise ValueError(f"path must be a file, but {path} is a folder.")
    if not target.parent.is_dir():
        raise ValueError(f"path must lie in an existing folder, but {target.parent} is not one.")
    if target.exists() and not target.is_file():
        raise ValueError(f"path must be a file, but {path} is a device.")


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
    own = Path(mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with _opened(own / _LOCK) as lock:
            if _locked(lock):
                os.write(lock, _MARK)
            _remove_what_is_left(parent, own)
            files = own / _FILES
            files.mkdir()
            yield files
    finally:
        _remove(own)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` against other runs, where its disk has locks; a run that dies lets go of it."""
    with _opened(folder / f".{_LOCK}") as lock:
        if _locked(lock) is False:
            raise BlockingIOError(
                f"{folder} is in use by another run: wait until it ends, or choose another folder."
            )
        yield


def _remove_what_is_left(parent: Path, own: Path) -> None:
    """Remove the folders like ``own`` whose process has died: ours by owner and mark, and dead by the free lock.

    One that was killed before it left its mark, or when it had removed it, has left nothing but an empty folder.
    """
    for entry in os.scandir(parent):
        if not _FRESH.fullmatch(entry.name) or entry.name == own.name:
            continue
        # What vanishes meanwhile, or cannot be read, is another's.
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False) and Path(entry).stat().st_uid == own.stat().st_uid:
                if _is_empty(Path(entry)):
                    left: bool | None = time.time() - Path(entry).stat().st_mtime > _LONG_AGO
                else:
                    with _opened(Path(entry, _LOCK), os.O_RDWR) as lock:
                        left = os.read(lock, len(_MARK) + 1) == _MARK and _locked(lock)
                if left:
                    _remove(Path(entry))


def _is_empty(folder: Path) -> bool:
    """Whether there is nothing in a folder, or only a lock without a mark."""
    inside = os.listdir(folder)
    return not inside or (inside == [_LOCK] and not (folder / _LOCK).stat().st_size)


def _remove(folder: Path) -> None:
    """Remove a hidden folder, the mark last: what a process that is killed meanwhile leaves can be told by it."""
    rmtree(folder / _FILES, ignore_errors=True)
    rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(path: Path, how: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    handle = os.open(path, how | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


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
