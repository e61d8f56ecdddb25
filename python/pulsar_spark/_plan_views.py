"""A plan as text, as one line, and as a table in notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from pulsar_spark._grid import Grid, in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulsar_spark.plans import FollowedPartition, PlannedSlice, ReadPlan, RealTimePlan, Tier, TierTotal

_SHOWN = 60  # rows that a shown plan lists at most
_RIGHT = frozenset({"task", "entries", "bytes"})
_UNKNOWN = "?"


@dataclass(frozen=True)
class PlanView:
    """A plan as it is shown.

    Attributes:
        name: The class of the plan.
        head: The names of the columns.
        rows: The cells.
        word: What a row is.
        facts: The number of tasks, and the totals.
    """

    name: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    word: str
    facts: list[str]

    def text(self) -> str:
        """The rows as a table, and the totals."""
        first, *others = self.facts
        return "\n".join([*self._table.lines(), *self._more, first, *(f"  {line}" for line in others)])

    def summary(self) -> str:
        """The totals in one line."""
        return f"{self.name}({'; '.join(self.facts)})"

    def html(self) -> str:
        """The table of `text` as HTML, for a notebook."""
        parts = [f"<div>{'<br>'.join(map(escape, self.facts))}</div>", *self._table.html()]
        return "\n".join([*parts, *(f"<div>{escape(line)}</div>" for line in self._more)])

    @property
    def _table(self) -> Grid:
        return Grid(self.head, self.rows[:_SHOWN], _RIGHT)

    @property
    def _more(self) -> list[str]:
        """A line that counts the rows that are not shown."""
        hidden = len(self.rows) - _SHOWN
        return [f"... and {hidden:,} more {self.word}s"] if hidden > 0 else []


def of_read(plan: ReadPlan) -> PlanView:
    """The slices of a batch read, and the totals of each tier."""
    head = ("task", "topic", "after", "through", "entries", "bytes", "read from", "why")
    rows = [_slice(number, part) for number, task in enumerate(plan.tasks) for part in task.slices]
    tasks = _plural(len(plan.tasks), "task") if plan.tasks else "nothing to read"
    return PlanView("ReadPlan", head, rows, "slice", [tasks, *_totals(plan.totals)])


def of_real_time(plan: RealTimePlan) -> PlanView:
    """The partitions that tasks follow, and their backlog."""
    head = ("task", "topic", "after", "last", "entries", "bytes")
    rows = [_followed(number, one) for number, task in enumerate(plan.tasks) for one in task]
    behind = [one for one in plan.partitions if one.is_behind]
    tasks = f"{_plural(len(plan.tasks), 'task')}, {_plural(len(plan.partitions), 'partition')}"
    backlog = ", ".join([_plural(len(behind), "partition"), *_sizes(plan.entries, plan.bytes)])
    return PlanView("RealTimePlan", head, rows, "partition", [tasks, f"backlog: {backlog}" if behind else "no backlog"])


def _slice(task: int, part: PlannedSlice) -> tuple[str, ...]:
    numbers = _count(part.entries), _size(part.bytes)
    return str(task), _short(part.topic), part.after, part.through, *numbers, part.tier, part.reason or ""


def _followed(task: int, one: FollowedPartition) -> tuple[str, ...]:
    return str(task), _short(one.topic), one.after, one.last or "", _count(one.entries), _size(one.bytes)


def _short(topic: str) -> str:
    return topic.removeprefix("persistent://")


def _totals(totals: Mapping[Tier, TierTotal]) -> list[str]:
    """One line for each tier; unknown numbers are omitted."""
    return [
        f"{tier}: {', '.join([_plural(total.slices, 'slice'), *_sizes(total.entries, total.bytes)])}"
        for tier, total in totals.items()
    ]


def _sizes(entries: int | None, size: int | None) -> list[str]:
    """The numbers that are known."""
    known = [] if entries is None else [f"{entries:,} entries"]
    return known if size is None else [*known, _size(size)]


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def _size(number: int | None) -> str:
    return _UNKNOWN if number is None else in_bytes(number)
