"""An interruption while the command is being imported is one line, too."""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.program

# What pip makes of the entry point.
SCRIPT = "import sys\nfrom cocensor.cli import app\nsys.exit(app())\n"
# Interrupts when a module is about to be imported.
INTERRUPT = """
import os, signal, sys

class Finder:
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
"""


def started(folder, arguments, at):
    (folder / "cocensor").write_text(SCRIPT)
    (folder / "sitecustomize.py").write_text(INTERRUPT)
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": paths, "INTERRUPT_AT": at}
    # A shell that starts us in the background lets its children ignore interruptions.
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.parametrize("at", ["numpy", "cocensor.data", "cocensor.cli", "cocensor.cli.reproduce"])
@pytest.mark.parametrize("how", ["script", "module"])
def test_the_command_ends_in_a_line(tmp_path, how, at):
    how = [str(tmp_path / "cocensor")] if how == "script" else ["-m", "cocensor"]
    ended = started(tmp_path, [*how, "--version"], at)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


def test_a_command_at_work_is_undone(tmp_path):
    """Interrupted when the report is imported, amid the writing of files."""
    out = tmp_path / "out"
    out.mkdir()
    command = ["-m", "cocensor", "demo", "--n", "200", "--out", str(out / "demo")]
    ended = started(tmp_path, command, "cocensor.views.html")
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (
        130,
        "Interrupted.",
    )  # below scores that were there
    assert not os.listdir(out)


def test_a_program_that_uses_the_library_is_interrupted_as_any_other(tmp_path):
    ended = started(tmp_path, ["-c", "import cocensor", "cocensor"], "cocensor.data")
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr.rstrip().endswith("KeyboardInterrupt")
