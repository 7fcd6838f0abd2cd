"""The README's picture, the first screen of the demo's report.

``make demo``, then ``python -m benchmarks.report_picture``.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import chromium

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
LARGEST = 200_000


def main(report: Path) -> None:
    """Take it at a width of 1280 pixels, with the system's chromium; 128 colours keep it small."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_selector(".plot svg")
        taken = page.screenshot()
        browser.close()
    Image.open(BytesIO(taken)).convert("RGB").quantize(128).save(PICTURE, optimize=True)
    size = PICTURE.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{PICTURE} must have at most {LARGEST:,} bytes, but has {size:,}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cocensor-demo/report.html"))
