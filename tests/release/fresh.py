"""A user's first minutes: the wheel in an environment of its own, in an empty folder, without the extras."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cocensor

SMOKE = """
import sys
import numpy as np
import cocensor as cc

assert "site-packages" in cc.__file__, cc.__file__
rng = np.random.default_rng(0)
x = rng.normal(size=200)
event, dropout = rng.exponential(np.exp(-x)), rng.exponential(2, size=200)
outcome = np.minimum(event, dropout), event <= dropout
times = np.linspace(0.1, 1.5, 8)
models = {
    "risk": (times, np.exp(-times * np.exp(x)[:, None])),
    "mean": (times, np.exp(-times * np.ones((200, 1)))),
}
result = cc.evaluate(models, outcome, x[:, None], metrics=["ibs"])
assert result.score("risk").value < result.score("mean").value
result.to_html("page.html")
assert "<html" in open("page.html", encoding="utf-8").read(2000)
assert not {"torch", "sksurv", "pandas"} & set(sys.modules)
"""

USER_SCRIPT = """\
import cocensor as cc
score = cc.brier_score((([1.0, 2.0]), [True, False]), ([1.0, 2.0], [True, False]), [0.5, 0.6], 1.5)
wrong: str = cc.Clayton(2.0).tau
"""


class Fresh:
    """An environment with nothing but the wheel and what it needs."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "env" / "bin"
        self._run(sys.executable, "-m", "venv", folder / "env")
        self._run(self.bin / "python", "-m", "pip", "--quiet", "install", wheel.resolve())

    def faults(self) -> Iterator[str]:
        """What does not work there."""
        shown = self._run(self.bin / "cocensor", "--version").strip()
        if shown != f"cocensor {cocensor.__version__}":
            yield f"cocensor --version says {shown!r}"
        self._run(self.bin / "python", "-W", "error", "-c", SMOKE)
        self._run(self.bin / "cocensor", "demo", "--n", "400", "--out", "demo")
        if not (self.folder / "demo" / "report.html").exists():
            yield "cocensor demo writes no report"
        yield from self._type_faults()

    def _type_faults(self) -> Iterator[str]:
        script = self.folder / "user.py"
        script.write_text(USER_SCRIPT)
        mypy = [
            sys.executable,
            "-m",
            "mypy",
            "--python-executable",
            self.bin / "python",
            "--cache-dir",
            "cache",
        ]
        checked = subprocess.run(
            [*mypy, "user.py"], cwd=self.folder, capture_output=True, text=True, check=False
        )
        errors = [line for line in checked.stdout.splitlines() if "error:" in line]
        if len(errors) != 1 or not errors[0].startswith("user.py:3: ") or '"float"' not in errors[0]:
            yield f"mypy says of a user's script {errors or checked.stderr}, not that line 3 has a float"

    def _run(self, *command: str | Path) -> str:
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f"{command[0]} {command[1]} ended with {done.returncode}: {done.stderr[-2000:]}"
            )
        return done.stdout
