"""Rows as a table for people: text with aligned columns, and HTML for notebooks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KIBIBYTE = 1024
_SCHEME = "persistent://"
# Numbers that name a thing are not counts.
_NAMES = re.compile(r"(^|_)(id|partition|version|task|batch)$")
_BYTES = re.compile(r"(^|_)(bytes|size)$")


@dataclass(frozen=True)
class Grid:
    """A table of texts. Columns without any text are omitted.

    Attributes:
        head: The names of the columns.
        rows: The cells.
        right: Columns that are aligned to the right, as numbers are.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[str]

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """The columns that are shown, each below its name."""
        return [column for column in zip(self.head, *self.rows, strict=True) if any(column[1:])]

    def lines(self) -> list[str]:
        """The table as lines of text; none without rows."""
        aligned = []
        for column in self.columns:
            width = max(map(len, column))
            side = ">" if column[0] in self.right else "<"
            aligned.append([f"{cell:{side}{width}}" for cell in (column[0], "-" * width, *column[1:])])
        return ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]

    def html(self) -> list[str]:
        """The table as lines of HTML; none without rows."""
        if not self.columns:
            return []
        head, *body = zip(*self.columns, strict=True)
        right = [name in self.right for name in head]
        lines = ["<table>", f"<thead>{_line('th', head, right)}</thead>", "<tbody>"]
        lines += [_line("td", cells, right) for cells in body]
        return [*lines, "</tbody>", "</table>"]


def grid(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Grid:
    """The table of values, each as people read it.

    Args:
        head: The names of the columns, such as ``backlog_entries``.
        rows: The values.
    """
    right = {name for name, *values in zip(head, *rows, strict=True) if any(map(_is_number, values))} if rows else set()
    shown = [[cell(name, value) for name, value in zip(head, row, strict=True)] for row in rows]
    names = {name: name.replace("_", " ") for name in head}
    return Grid([names[name] for name in head], shown, frozenset(names[name] for name in right))


def cell(name: str, value: object) -> str:
    """A value of the column of this name: sizes with units, times without fractions, topics by their short names."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return in_bytes(value) if _BYTES.search(name) else str(value) if _NAMES.search(name) else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    if isinstance(value, datetime):
        moment = value.astimezone(timezone.utc) if value.tzinfo else value
        return f"{moment:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(name, one) for one in value)
    return printable(str(value).removeprefix(_SCHEME))


def printable(text: str) -> str:
    """The text with escapes for what would move the cursor, hide or reorder something in a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def in_bytes(number: int) -> str:
    """A number of bytes, such as ``5.0 MiB``."""
    size, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= _KIBIBYTE and len(units) > 1:
        size, units = size / _KIBIBYTE, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _line(tag: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    """A row of a table; numbers are aligned to the right."""
    shown = [
        f'<{tag} style="text-align: {"right" if numeric else "left"}">{escape(text)}</{tag}>'
        for text, numeric in zip(cells, right, strict=True)
    ]
    return f"<tr>{''.join(shown)}</tr>"
