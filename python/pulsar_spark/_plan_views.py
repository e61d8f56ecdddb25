"""A plan as text, as one line, and as a table in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pulsar_spark._grid import Grid, in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulsar_spark.plans import PlannedSlice, ReadPlan, Tier, TierTotal

_SHOWN = 60  # slices that a shown plan lists at most
_HEAD = ("task", "topic", "after", "through", "entries", "bytes", "read from", "why")
_RIGHT = frozenset({"task", "entries", "bytes"})
_UNKNOWN = "?"


def text(plan: ReadPlan) -> str:
    """The slices as a table, and the totals."""
    table, more = _table(plan)
    return "\n".join([*table.lines(), *more, _tasks(plan), *(f"  {line}" for line in _totals(plan.totals))])


def summary(plan: ReadPlan) -> str:
    """The totals in one line."""
    return f"ReadPlan({'; '.join([_tasks(plan), *_totals(plan.totals)])})"


def html(plan: ReadPlan) -> str:
    """The table of `text` as HTML, for a notebook."""
    table, more = _table(plan)
    lines = map(escape, (_tasks(plan), *_totals(plan.totals)))
    parts = [f"<div>{'<br>'.join(lines)}</div>", *table.html()]
    return "\n".join([*parts, *(f"<div>{escape(line)}</div>" for line in more)])


def _table(plan: ReadPlan) -> tuple[Grid, list[str]]:
    """The slices to show, and a line that counts the others."""
    rows = [_cells(number, part) for number, task in enumerate(plan.tasks) for part in task.slices]
    hidden = len(rows) - _SHOWN
    more = [f"... and {hidden:,} more slices"] if hidden > 0 else []
    return Grid(_HEAD, rows[:_SHOWN], _RIGHT), more


def _cells(task: int, part: PlannedSlice) -> tuple[str, ...]:
    topic = part.topic.removeprefix("persistent://")
    numbers = _count(part.entries), _size(part.bytes)
    return str(task), topic, part.after, part.through, *numbers, part.tier, part.reason or ""


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
