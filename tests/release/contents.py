"""What wheel and source distribution must and must not contain."""

import subprocess
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.release.bounds import ROOT

IN_WHEEL = (
    "cocensor/__init__.py",
    "cocensor/py.typed",
    "cocensor/views/html/templates/report.html.jinja",
    "cocensor/views/html/templates/report.js",
    "cocensor/cli/__init__.py",
    ".dist-info/licenses/LICENSE",
    ".dist-info/entry_points.txt",
)
# 0.2.0 has 0.97 and 9.95 MB, the latter with 6.7 MB of results that tests and pages read.
LARGEST = {"wheel": 1_500_000, "sdist": 15_000_000}
# What only a clone needs.
NOT_IN_SDIST = (".ci/", ".github/", ".gitignore")


def tracked_files() -> set[str]:
    """The files under version control, those that are deleted in the tree left out."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


def wheel_names(wheel: Path) -> list[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def sdist_names(sdist: Path) -> list[str]:
    """The files of a source distribution, below its folder."""
    with tarfile.open(sdist) as archive:
        return [member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()]


def wheel_faults(names: Iterable[str], tracked: set[str]) -> Iterator[str]:
    """What is wrong with the files of a wheel, one sentence each."""
    names = list(names)
    for part in IN_WHEEL:
        if not any(part in name for name in names):
            yield f"the wheel has no {part}"
    packaged = {name for name in names if ".dist-info/" not in name}
    expected = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    yield from (f"the wheel has {name}, which is not under src" for name in sorted(packaged - expected))
    yield from (f"the wheel lacks {name}" for name in sorted(expected - packaged))


def sdist_faults(names: Iterable[str], tracked: set[str]) -> Iterator[str]:
    """What is wrong with the files of a source distribution: it has what make needs, and nothing that is ignored."""
    names = set(names) - {"PKG-INFO"}
    expected = {name for name in tracked if not name.startswith(NOT_IN_SDIST)}
    extra = names - expected - {".gitignore"}  # hatchling always packs it
    yield from (
        f"the source distribution has {name}, which is not under version control" for name in sorted(extra)
    )
    yield from (f"the source distribution lacks {name}" for name in sorted(expected - names))


def size_faults(kind: str, archive: Path) -> Iterator[str]:
    """Whether an archive is larger than it should be."""
    size = archive.stat().st_size
    if size > LARGEST[kind]:
        yield f"{archive.name} has {size:,} bytes, more than {LARGEST[kind]:,}"
