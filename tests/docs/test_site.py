"""The site as `make docs` built it: links, the way from the first page, and a reader in a browser.

`make docs` builds it, and then runs these tests.
"""

import re
from collections import deque
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urldefrag

import pytest

from tests.browser import NAMES, chromium
from tests.docs.pages import ROOT

SITE = ROOT / "docs" / "_build" / "html"
pytestmark = pytest.mark.site

# What a reader looks for, and where it is.
WANTED = {
    "a page from own files": "start.html",
    "which number to report": "which-number.html",
    "what τ means": "theory/copulas.html#what-tau-means",
    "how intervals were validated": "validation/coverage.html",
    "how to add a metric": "guide/own-metrics.html",
    "whether dependence can be tested": "testable.html",
    "why the plausible range is what it is": "plausible-range.html",
    "an error message of another package": "searched-for.html",
}


class _Page(HTMLParser):
    """Where its links lead to, and what links may lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("id", "name"):
            if given.get(name):
                self.anchors.add(str(given[name]))
        link = given.get("href") if tag in ("a", "link") else given.get("src")
        if link:
            self.links.append(link)


@pytest.fixture(scope="module")
def pages() -> dict[Path, _Page]:
    assert (SITE / "index.html").exists(), "Build the site first: make docs."
    found = {}
    for path in SITE.rglob("*.html"):
        if "_static" not in path.relative_to(SITE).parts:
            found[path] = _Page()
            found[path].feed(path.read_text(encoding="utf-8"))
    return found


def inside(path: Path, link: str) -> tuple[Path, str] | None:
    """The file and the anchor that a link leads to; None outside the site."""
    if re.match(r"[a-z]+:|//", link):
        return None
    target, anchor = urldefrag(link)
    return (path.parent / unquote(target.split("?")[0])).resolve() if target else path, unquote(anchor)


def test_links_lead_to_files_and_anchors(pages):
    broken = set()
    for path, page in pages.items():
        for link in page.links:
            led = inside(path, link)
            if led is None:
                continue
            target, anchor = led
            there = pages.get(target)
            if not target.exists() or (anchor and there is not None and anchor not in there.anchors):
                broken.add(f"{path.relative_to(SITE)}: {link}")
    assert not broken


def test_nothing_is_fetched_from_elsewhere(pages):
    """Scripts, styles and pictures lie beside the pages."""
    outside = set()
    for path in pages:
        text = path.read_text(encoding="utf-8")
        outside |= set(re.findall(r'<(?:script|img|source|iframe)\b[^>]*\bsrc="((?:https?:)?//[^"]+)', text))
        outside |= set(re.findall(r'<link\b[^>]*rel="stylesheet"[^>]*href="((?:https?:)?//[^"]+)', text))
    assert not outside


def clicks(pages: dict[Path, _Page]) -> dict[Path, int]:
    """From the first page, by links of any kind."""
    distance = {SITE / "index.html": 0}
    queue = deque(distance)
    while queue:
        path = queue.popleft()
        for link in pages[path].links:
            led = inside(path, link)
            if led is not None and led[0] in pages and led[0] not in distance:
                distance[led[0]] = distance[path] + 1
                queue.append(led[0])
    return distance


@pytest.mark.parametrize("wanted", WANTED)
def test_it_is_found_in_three_clicks(wanted, pages):
    target, anchor = urldefrag(WANTED[wanted])
    assert clicks(pages)[SITE / target] <= 3
    assert not anchor or anchor in pages[SITE / target].anchors


def test_every_page_is_reached(pages):
    made_by_the_theme = {"genindex.html", "search.html"}
    lost = {path.relative_to(SITE).as_posix() for path in set(pages) - set(clicks(pages))}
    assert lost <= made_by_the_theme


def test_every_example_has_a_picture_and_the_first_its_report(pages):
    examples = sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))
    without = {
        name
        for name in examples
        if not any(f"sphx_glr_{name}_0" in link for link in pages[SITE / "gallery" / f"{name}.html"].links)
    }
    assert len(examples) >= 10
    assert not without
    [report] = {link for link in pages[SITE / "gallery" / f"{examples[0]}.html"].links if "/reports/" in link}
    assert (SITE / "gallery" / report).resolve().stat().st_size > 100_000


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    if path is None:
        pytest.fail(f"The site is tested in a browser: install one of {NAMES}.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served():
    """The address of the site on a host, as readers have it: search reads the pages that it finds."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def reader(browser, served):
    """A page whose errors and requests beyond the site are defects."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "request", lambda asked: None if asked.url.startswith((served, "data:")) else faults.append(asked.url)
    )
    yield page
    context.close()
    assert not faults


def test_a_reader_searches_and_follows_a_result(reader, served):
    reader.goto(f"{served}/index.html")
    reader.locator("button.search-button__button:visible, button.search-button-field:visible").first.click()
    reader.locator("input[type=search]:visible").fill("tipping point")
    reader.keyboard.press("Enter")
    first = reader.locator("#search-results ul.search li a").first
    first.wait_for(timeout=20_000)
    first.click()
    reader.wait_for_load_state()
    assert "search.html" not in reader.url
    assert "tipping point" in reader.locator("article").inner_text().lower()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_light_and_dark(browser, scheme):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto((SITE / "start.html").as_uri())
    [text, ground] = page.evaluate(
        "[getComputedStyle(document.querySelector('article p')).color, getComputedStyle(document.body).backgroundColor]"
    )
    context.close()
    lightness = [sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765 for colour in (text, ground)]
    assert abs(lightness[0] - lightness[1]) > 0.5
    assert (lightness[1] > 0.5) == (scheme == "light")


def test_no_page_is_wider_than_a_phone(browser, pages):
    context = browser.new_context(viewport={"width": 360, "height": 800})
    page = context.new_page()
    wide = {}
    for path in sorted(pages):
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[path.relative_to(SITE).as_posix()] = width
    context.close()
    assert not wide
