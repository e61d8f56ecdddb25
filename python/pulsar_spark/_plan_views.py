"""A plan as text, as one line, and as a table in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pulsar_spark._sizes import in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pulsar_spark.plans import PlannedSlice, ReadPlan, Tier, TierTotal

_SHOWN = 60  # slices that a shown plan lists at most
_HEAD = ("task", "topic", "after", "through", "entries", "bytes", "read from", "why")
_RIGHT = {"task", "entries", "bytes"}
_UNKNOWN = "?"


def text(plan: ReadPlan) -> str:
    """The slices as a table, and the totals."""
    rows, more = _rows(plan)
    lines = _table([_HEAD, *rows]) if rows else []
    return "\n".join([*lines, *more, _tasks(plan), *(f"  {line}" for line in _totals(plan.totals))])


def summary(plan: ReadPlan) -> str:
    """The totals in one line."""
    return f"ReadPlan({'; '.join([_tasks(plan), *_totals(plan.totals)])})"


def html(plan: ReadPlan) -> str:
    """The table of `text` as HTML, for a notebook."""
    rows, more = _rows(plan)
    lines = map(escape, (_tasks(plan), *_totals(plan.totals)))
    parts = [f"<div>{'<br>'.join(lines)}</div>"]
    if rows:
        head, *body = zip(*_columns([_HEAD, *rows]), strict=True)
        right = [name in _RIGHT for name in head]
        parts += ["<table>", f"<thead>{_line('th', head, right)}</thead>", "<tbody>"]
        parts += [_line("td", cells, right) for cells in body]
        parts += ["</tbody>", "</table>"]
    return "\n".join([*parts, *(f"<div>{escape(line)}</div>" for line in more)])


def _line(tag: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    """A row of a table; numbers are aligned to the right."""
    shown = [
        f'<{tag} style="text-align: {"right" if numeric else "left"}">{escape(cell)}</{tag}>'
        for cell, numeric in zip(cells, right, strict=True)
    ]
    return f"<tr>{''.join(shown)}</tr>"


def _rows(plan: ReadPlan) -> tuple[list[tuple[str, ...]], list[str]]:
    """The rows to show, and a line that counts the others."""
    rows = [_cells(number, part) for number, task in enumerate(plan.tasks) for part in task.slices]
    hidden = len(rows) - _SHOWN
    return rows[:_SHOWN], [f"... and {hidden:,} more slices"] if hidden > 0 else []


def _cells(task: int, part: PlannedSlice) -> tuple[str, ...]:
    topic = part.topic.removeprefix("persistent://")
    numbers = _count(part.entries), _size(part.bytes)
    return str(task), topic, part.after, part.through, *numbers, part.tier, part.reason or ""


def _columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The columns of rows below a header; empty ones are omitted."""
    return [column for column in zip(*rows, strict=True) if any(column[1:])]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    aligned = []
    for column in _columns(rows):
        width = max(map(len, column))
        side = ">" if column[0] in _RIGHT else "<"
        aligned.append([f"{cell:{side}{width}}" for cell in (column[0], "-" * width, *column[1:])])
    return ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]


def _tasks(plan: ReadPlan) -> str:
    return _plural(len(plan.tasks), "task") if plan.tasks else "nothing to read"


def _totals(totals: Mapping[Tier, TierTotal]) -> list[str]:
    """One line for each tier; unknown numbers are omitted."""
    lines = []
    for tier, total in totals.items():
        words = [_plural(total.slices, "slice")]
        words += [] if total.entries is None else [f"{total.entries:,} entries"]
        words += [] if total.bytes is None else [_size(total.bytes)]
        lines.append(f"{tier}: {', '.join(words)}")
    return lines


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def _size(number: int | None) -> str:
    return _UNKNOWN if number is None else in_bytes(number)
