"""Where the version stands, and whether all places agree."""

import re
import subprocess
from collections.abc import Iterator

import cocensor
from tests.release.bounds import ROOT


def changelog_versions() -> list[tuple[str, str]]:
    """Version and date of each section of the changelog, the newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## \[(.+?)\](?: - (\S+))?$", text, re.MULTILINE)


def citation() -> dict[str, str]:
    """``version`` and ``date-released`` of CITATION.cff."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return dict(re.findall(r"^(version|date-released): (\S+)$", text, re.MULTILINE))


def version_faults() -> Iterator[str]:
    """Where the version or its date is another one."""
    released = [section for section in changelog_versions() if section[0] != "Unreleased"]
    version, date = released[0]
    if version != cocensor.__version__:
        yield f"the package is {cocensor.__version__}, the changelog's last version is {version}"
    if citation() != {"version": version, "date-released": date}:
        yield f"the changelog has {version} of {date}, CITATION.cff has {citation()}"


def tree_faults() -> Iterator[str]:
    """What hinders a release of this tree: changes that are not committed, a tag of another version."""
    if changes := _git("status", "--porcelain"):
        yield f"{len(changes.splitlines())} files have changes that are not committed, {changes.split()[1]} first"
    tags = _git("tag", "--points-at", "HEAD").split()
    if tags and f"v{cocensor.__version__}" not in tags:
        yield f"the commit has the tag {tags[0]}, the package is {cocensor.__version__}"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
