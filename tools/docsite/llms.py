"""``llms.txt``: the pages in one list, for programs that read; ``llms-full.txt``: all of their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docsite.groups import FRONT, GROUPS
from docsite.names import ROOT, heading, in_groups, places, titles

if TYPE_CHECKING:
    from collections.abc import Iterator


def llms_txt() -> str:
    """The list: the project in its own words, and each page by its source in the site with its heading."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    at, names = places(), titles()
    front = (ROOT / FRONT).read_text(encoding="utf-8")
    words = front.partition("\n\n")[2].partition("\n\n")[0].replace("\n", " ")
    yield f"{front.partition(chr(10))[0]}\n\n> {words}"
    for group in GROUPS:
        yield f"\n## {group}\n"
        for page in in_groups()[group]:
            yield f"- [{names[page]}](_sources/{at[page]}.md): {heading(page)}"


def llms_full_txt() -> str:
    """The text of the front page and of all pages, in the order of the list."""
    pages = [FRONT, *(page for pages in in_groups().values() for page in pages)]
    return "\n".join((ROOT / page).read_text(encoding="utf-8") for page in pages)
