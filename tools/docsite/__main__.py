"""Builds the site in target/site/html and checks its links. Needs no network.

PYTHONPATH=tools:python python -m docsite
"""

from __future__ import annotations

import subprocess
import sys

from docsite.links import broken
from docsite.llms import llms_full_txt, llms_txt
from docsite.names import ROOT
from docsite.sources import write_sources

TARGET = ROOT / "target" / "site"
SOURCES, HTML = TARGET / "sources", TARGET / "html"
SPHINX = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--fresh-env"]


def main() -> int:
    """Build and check; returns the exit code."""
    write_sources(SOURCES)
    done = subprocess.run([*SPHINX, "-c", ROOT / "tools" / "docsite", SOURCES, HTML], check=False)
    if done.returncode:
        return done.returncode
    (HTML / "llms.txt").write_text(llms_txt(), encoding="utf-8")
    (HTML / "llms-full.txt").write_text(llms_full_txt(), encoding="utf-8")
    lost = list(broken(HTML))
    for link in lost:
        print(f"leads nowhere: {link}", file=sys.stderr)
    print(f"{HTML.relative_to(ROOT)}: {len(list(HTML.rglob('*.html')))} pages, {len(lost)} links that lead nowhere")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
