"""The README's picture, the first screen of the demo's report.

``make demo``, then ``python -m benchmarks.report_picture``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import chromium

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
LARGEST = 400_000


def main(report: Path) -> None:
    """Take the head and the first section, uncut, at a width of 1280 pixels, with the system's chromium."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        box = page.locator("#result").bounding_box()
        assert box is not None
        height = box["y"] + box["height"] + 16.0
        page.screenshot(path=PICTURE, clip={"x": 0, "y": 0, "width": 1280, "height": height}, full_page=True)
        browser.close()
    size = PICTURE.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{PICTURE} must have at most {LARGEST:,} bytes, but has {size:,}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cocensor-demo/report.html"))
