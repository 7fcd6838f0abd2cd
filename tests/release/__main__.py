"""Checks of a release, one line each: ``python -m tests.release dist`` of the archives, ``… all`` of everything."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.release.bounds import ROOT
from tests.release.contents import (
    sdist_faults,
    sdist_names,
    size_faults,
    tracked_files,
    wheel_faults,
    wheel_names,
)
from tests.release.fresh import Fresh
from tests.release.versions import tree_faults, version_faults

Check = Callable[[], Iterable[str]]
TARGETS = ("lint", "test-all", "test-oldest", "test-newest", "docs")


def main(what: str) -> int:
    """Run the checks; the number of those that fail."""
    [wheel] = (ROOT / "dist").glob("*.whl")
    [sdist] = (ROOT / "dist").glob("*.tar.gz")
    archives: dict[str, Check] = {
        f"{wheel.name}: files": lambda: wheel_faults(wheel_names(wheel), tracked_files()),
        f"{wheel.name}: {wheel.stat().st_size:,} bytes": lambda: size_faults("wheel", wheel),
        f"{sdist.name}: files": lambda: sdist_faults(sdist_names(sdist), tracked_files()),
        f"{sdist.name}: {sdist.stat().st_size:,} bytes": lambda: size_faults("sdist", sdist),
        "twine check": lambda: _command(
            "twine", [sys.executable, "-m", "twine", "check", "--strict", wheel, sdist]
        ),
        "wheel in an environment of its own": lambda: _fresh(wheel),
    }
    places: dict[str, Check] = {"version and date": version_faults, "tree and tag": tree_faults}
    targets: dict[str, Check] = {
        f"make {target}": lambda target=target: _command(target, ["make", target]) for target in TARGETS
    }
    checks = archives if what == "dist" else places | archives | targets
    return sum(_failed(name, check) for name, check in checks.items())


def _failed(name: str, check: Check) -> bool:
    start = time.monotonic()
    try:
        faults = list(check())
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        faults = [str(error)]
    print("FAIL" if faults else "ok  ", f"{name} ({time.monotonic() - start:.0f} s)", flush=True)
    for fault in faults:
        print("    ", fault, flush=True)
    return bool(faults)


def _command(name: str, command: list[str | Path]) -> Iterable[str]:
    log = ROOT / "dist" / f"{name}.log"
    with log.open("w", encoding="utf-8") as output:
        code = subprocess.run(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
    return [f"exit code {code}: see dist/{log.name}"] if code else []


def _fresh(wheel: Path) -> Iterable[str]:
    with tempfile.TemporaryDirectory() as folder:
        return list(Fresh(wheel, Path(folder)).faults())


if __name__ == "__main__":
    if sys.argv[1:] not in (["dist"], ["all"]):
        sys.exit("python -m tests.release dist, or all")
    sys.exit(main(sys.argv[1]) > 0)
