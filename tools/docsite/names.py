"""The places of pages in the site, and the words by which lists name them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docsite.groups import BELOW, DEVELOP, FRONT, GROUPS, USE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
_NAMES = {f"{USE}/README": "pages", f"{DEVELOP}/decisions/README": "decisions/index", "benchmarks/README": "benchmarks"}
_FOLDERS = (f"{USE}/", f"{DEVELOP}/", "benchmarks/")


def below(page: str) -> Sequence[str]:
    """The pages below one, in the order of their names."""
    pattern = BELOW.get(page)
    return [] if pattern is None else sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


def in_groups() -> Mapping[str, Sequence[str]]:
    """All pages of each group, with those below others."""
    return {group: [each for page in pages for each in (page, *below(page))] for group, pages in GROUPS.items()}


def places() -> Mapping[str, str]:
    """The place in the site of each page in the repository, without an ending."""
    found = {FRONT: "index"}
    for group, pages in in_groups().items():
        found.update({page: f"{group.lower()}/{_name(page)}" for page in pages})
    return found


def _name(page: str) -> str:
    path = page.removesuffix(".md")
    for folder in _FOLDERS if path not in _NAMES else ():
        if path.startswith(folder):
            return path.removeprefix(folder)
    return _NAMES.get(path, path.lower())


def titles() -> Mapping[str, str]:
    """Short titles: the words of links on the page that lists all pages for users, else the headings of the pages."""
    listed = (ROOT / USE / "README.md").read_text(encoding="utf-8")
    words = {f"{USE}/{link}": text for text, link in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", listed)}
    words[f"{USE}/README.md"] = "pages by question"
    found = {page: words.get(page) or heading(page) for page in places()}
    return {page: title[0].upper() + title[1:] for page, title in found.items()}


def heading(page: str) -> str:
    """The first heading of a page, without marks."""
    first = (ROOT / page).read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").replace("`", "")
