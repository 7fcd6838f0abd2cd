"""The browser that report and site are tested in; run as a script, it says where that is, or fails."""

from __future__ import annotations

import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def chromium() -> str | None:
    """The path of chromium or Chrome, whatever it is called on this machine; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


if __name__ == "__main__":
    found = chromium()
    sys.exit(print(found) if found else f"There is no browser: install one of {', '.join(NAMES)}.")
