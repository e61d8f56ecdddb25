"""Looks at the built site in a browser, at the width of a phone and of a desktop.

PYTHONPATH=tools:python python -m docsite.looks

Every page must fit its screen, show its pictures and run its scripts without an error. A specimen with one of each
element must look as in the pictures beside this module; ``UPDATE=1`` takes them anew. Needs Chromium and no network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from playwright.sync_api import Page, sync_playwright

from docsite.__main__ import HTML, SPHINX, TARGET
from docsite.markdown import Translation
from docsite.names import ROOT
from docsite.pictures import difference
from docsite.sources import forge
from docsite.versions import add

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

SCREENS = {"phone": (390, 844), "desktop": (1440, 900)}
# Widths where the theme has just room for one side more.
ALL_SCREENS = {**SCREENS, "tablet": (1080, 810), "laptop": (1320, 800)}
SCHEMES = ("light", "dark")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SPECIMEN = "tools/docsite/specimen.md"
TAKEN = TARGET / "pictures"
OFFLINE = "ERR_INTERNET_DISCONNECTED"
# All that a page may ask for outside of the site: it draws diagrams, and pages show their text without it.
DIAGRAMS = "/mermaid@"

_PROBLEMS = """() => {
  const width = document.documentElement.clientWidth
  const tooWide = document.documentElement.scrollWidth - width
  const wide = [...document.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > width + 1)
  const lost = [...document.images].filter(i => i.complete && !i.naturalWidth && getComputedStyle(i).display != "none")
  return [
    ...(tooWide > 0 ? [`${tooWide} px wider than the screen: ${wide[0]?.outerHTML.slice(0, 80)}`] : []),
    ...lost.map(i => `no picture at ${i.getAttribute("src")}`),
  ]
}"""


def browser_path() -> str:
    """The browser of this machine."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit("The site is looked at with Chromium, which is missing. Debian and Ubuntu: apt-get install chromium")
    return found


def problems(browser: Browser, pages: list[Path]) -> Iterator[str]:
    """What a reader would see go wrong, as ``screen page: problem``."""
    for screen, (width, height) in ALL_SCREENS.items():
        page = browser.new_page(viewport={"width": width, "height": height}, offline=True)
        errors: list[str] = []
        page.on("console", lambda said, errors=errors: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        page.on("requestfailed", lambda asked, errors=errors: errors.append(f"asks for {asked.url}"))
        for file in pages:
            page.goto(file.as_uri())
            found = [
                *page.evaluate(_PROBLEMS),
                *(error for error in errors if OFFLINE not in error and DIAGRAMS not in error),
            ]
            yield from (f"{screen} {file.relative_to(TARGET)}: {problem}" for problem in found)
            errors.clear()
        page.close()


def specimen() -> Path:
    """Build the page that pictures are taken of."""
    sources, html = TARGET / "specimen-sources", TARGET / "specimen"
    sources.mkdir(parents=True, exist_ok=True)
    text = Translation(SPECIMEN, {SPECIMEN: "index"}, forge()).text()
    (sources / "index.md").write_text(text, encoding="utf-8")
    settings = ["-c", str(ROOT / "tools" / "docsite"), "-D", "html_title=specimen", "-D", "release=", "-D", "version="]
    subprocess.run([*SPHINX, *settings, str(sources), str(html)], check=True)
    return html / "index.html"


def taken(browser: Browser, file: Path) -> Iterator[tuple[str, Page]]:
    """The specimen in each scheme on each screen, with its name."""
    for screen, (width, height) in SCREENS.items():
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": width, "height": height}, offline=True, color_scheme=scheme)
            page.goto(file.as_uri())
            yield f"{screen}-{scheme}.png", page
            page.close()


def unlike(browser: Browser, file: Path) -> Iterator[str]:
    """Pictures of the specimen that do not look as expected, and controls that do although a style is broken."""
    expected = ROOT / "tools" / "docsite" / "pictures"
    TAKEN.mkdir(parents=True, exist_ok=True)
    for name, page in taken(browser, file):
        page.screenshot(path=TAKEN / name, full_page=True)
        if os.environ.get("UPDATE"):
            shutil.copyfile(TAKEN / name, expected / name)
        share = difference(expected / name, TAKEN / name)
        if share > 0:
            yield f"{name}: {share:.1%} differs; compare {(TAKEN / name).relative_to(ROOT)}, UPDATE=1 takes it anew"
        page.add_style_tag(content="table.docutils { margin-left: 60px } h2 { font-size: 120% }")
        page.screenshot(path=TAKEN / f"broken-{name}", full_page=True)
        if difference(expected / name, TAKEN / f"broken-{name}") == 0:
            yield f"{name}: a broken style is not noticed"


def unreachable(browser: Browser, file: Path) -> Iterator[str]:
    """What is wrong with the way from one version of a site to another, which the side of each page has."""
    folder = TAKEN.parent / "versions"
    shutil.rmtree(folder, ignore_errors=True)
    listed = [version for version in ("1.0.0", "0.9.0") if add(file.parent, version, folder)]
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.route("**/favicon.ico", lambda asked: asked.abort())
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_url("**/1.0.0/")
        choice = page.locator("#versions select")
        choice.wait_for()
        if choice.locator("option").all_text_contents() != listed:
            yield f"versions: {choice.inner_html()} in place of {listed}"
        choice.select_option("0.9.0")
        page.wait_for_url("**/0.9.0/")
        page.close()
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> int:
    """Look at everything; returns the exit code."""
    pages = sorted(HTML.rglob("*.html"))
    file = specimen()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        found = [*problems(browser, [*pages, file]), *unlike(browser, file), *unreachable(browser, file)]
        browser.close()
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages on {len(ALL_SCREENS)} screens, {len(found)} problems")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
