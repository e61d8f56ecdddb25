"""Columns and metrics by their names, from the tables of the pages that describe them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGES = ("columns.md", "progress.md", "operators.md")
_KINDS = ("column", "metric")
_NAME = re.compile(r"`(__\w+|pulsar[A-Z]\w+)`")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def names_table(pages: Iterable[str]) -> str:
    """The JSON of ``names.json``: for each name the heading of its table's first column, and the cells of its row."""
    found = {name: facts for page in pages for name, facts in _described(page)}
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _described(page: str) -> Iterator[tuple[str, dict[str, str]]]:
    heads: list[str] = []
    for line in page.splitlines():
        cells = [_LINK.sub(r"\1", cell.strip()) for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if not cells:
            heads = []
        elif not heads:
            heads = cells
        elif heads[0] in _KINDS:
            facts = {head: cell for head, cell in zip(heads[1:], cells[1:], strict=True) if cell}
            for name in _NAME.findall(cells[0]):
                yield name, {"kind": heads[0], **facts}
