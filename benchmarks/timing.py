"""Timing and memory, shared by the benchmarks."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable


def best(run: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs in seconds: the machine's noise only ever adds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_memory(setup: str, work: str) -> tuple[int, int]:
    """Peaks of resident memory in MiB of a new process: after ``setup``, and after ``work`` on top of it."""
    # The high-water mark of the process alone; getrusage's is inherited from the parent.
    mark = "int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) // 1024"
    code = f"import re\n{setup}\nbefore = {mark}\n{work}\nprint(before, {mark})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = done.stdout.split()
    return int(before), int(after)
