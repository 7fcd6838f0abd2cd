"""An interruption of the command line while it is still being imported: one line, as it is later.

Imports next to nothing: until it has run, an interruption shows a traceback.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def end(number: int, frame: FrameType | None) -> None:
    """End at once: nothing is begun or all is done, and an exception amid imports may show a traceback of its own."""
    os.write(2, b"Interrupted.\n")
    os._exit(128 + number)


def _is_command() -> bool:
    """Whether this process was started as ``cocensor`` or ``python -m cocensor``, by what Python itself was given."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":  # as long as the package is being imported
        return "cocensor" in sys.orig_argv
    name, _ = os.path.splitext(os.path.basename(program))
    return name == "cocensor" and program in sys.orig_argv


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, end)
