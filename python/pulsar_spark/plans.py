"""The plan of a batch read: which task reads what, and from where."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pulsar_spark.errors import PulsarOptionError, PulsarSetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

Tier: TypeAlias = Literal["broker", "bookies", "tiered"]

_TIERS: tuple[Tier, ...] = ("bookies", "tiered", "broker")
_SHOWN = 60  # a printed plan lists so many slices
_HEAD = ("task", "topic", "after", "through", "entries", "bytes", "read from", "why")
_RIGHT = {"task", "entries", "bytes"}
_UNKNOWN = "?"
_KIBIBYTE = 1024


@dataclass(frozen=True)
class PlannedSlice:
    """A range of messages of one topic partition that is read from one place.

    Attributes:
        topic: Full name of the topic or partition.
        after: The position before the range, as ``start`` of `read_pulsar`.
        through: The last position of the range, as ``end`` of `read_pulsar`.
        tier: Where the range is read from: the broker, the bookies, or offloaded storage (``tiered``).
        entries: Number of entries (stored batches); None for a range of several ledgers that the broker delivers.
        bytes: Estimated size in storage; None for a range that the broker delivers.
        reason: Why the broker delivers the range; None if it does not.
    """

    topic: str
    after: str
    through: str
    tier: Tier
    entries: int | None = None
    bytes: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class PlannedTask:
    """The slices of one Spark task, in reading order.

    Attributes:
        slices: The slices.
        hosts: Hosts that store the first slice; Spark prefers them for the task.
    """

    slices: tuple[PlannedSlice, ...]
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class TierTotal:
    """Totals of one tier.

    Attributes:
        slices: Number of slices.
        entries: Number of entries; None if it is unknown for a slice.
        bytes: Size in bytes; None if it is unknown for a slice.
    """

    slices: int
    entries: int | None
    bytes: int | None


@dataclass(frozen=True)
class ReadPlan:
    """The tasks of a batch read; ``print`` shows a table.

    Attributes:
        tasks: In the order of Spark's partitions.
    """

    tasks: tuple[PlannedTask, ...]

    @property
    def slices(self) -> tuple[PlannedSlice, ...]:
        """The slices of all tasks."""
        return tuple(part for task in self.tasks for part in task.slices)

    @property
    def totals(self) -> dict[Tier, TierTotal]:
        """Totals by tier; tiers without slices are omitted."""
        by_tier = {tier: [part for part in self.slices if part.tier == tier] for tier in _TIERS}
        return {tier: _total(parts) for tier, parts in by_tier.items() if parts}

    def to_json(self) -> str:
        """Tasks and totals as JSON, with the names of the attributes."""
        totals = {tier: asdict(total) for tier, total in self.totals.items()}
        return json.dumps({"tasks": [asdict(task) for task in self.tasks], "totals": totals})

    def __str__(self) -> str:
        rows = [_cells(number, part) for number, task in enumerate(self.tasks) for part in task.slices]
        lines = _table([_HEAD, *rows[:_SHOWN]]) if rows else []
        if len(rows) > _SHOWN:
            lines.append(f"... and {len(rows) - _SHOWN:,} more slices")
        return "\n".join([*lines, *_summary(len(self.tasks), self.totals)])


def plan(df: DataFrame) -> ReadPlan:
    """Show how a batch read is split into tasks: what each reads, from where, and why the broker delivers a range.

    Reads no messages, but requests their location from the cluster. An action on ``df`` itself, such as ``collect`` or
    ``foreach``, uses this plan. A DataFrame derived from it, also by ``count``, is planned when it runs, with the
    messages published until then.

    Args:
        df: The result of `read_pulsar`, or a query on it. Not available on Spark Connect, where Python has no JVM.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: ``df`` is a stream, or does not read Pulsar.
    """
    jdf: Any = getattr(df, "_jdf", None)
    if jdf is None:
        raise PulsarSetupError("PULSAR_NO_JVM", call="plan()")
    if df.isStreaming:
        why = "the DataFrame is a stream, which decides what to read batch by batch"
        raise PulsarOptionError("PULSAR_PLAN_NO_READ", why=why)
    jvm: Any = df.sparkSession._jvm  # noqa: SLF001 - py4j has no public API
    reported = json.loads(jvm.io.github.pulsarspark.plans.ReadPlans.json(jdf.queryExecution().optimizedPlan()))
    if reported["reads"] == 0:
        raise PulsarOptionError("PULSAR_PLAN_NO_READ", why="the DataFrame reads nothing of Pulsar")
    return ReadPlan(
        tuple(
            PlannedTask(tuple(PlannedSlice(**part) for part in task["slices"]), tuple(task["hosts"]))
            for task in reported["tasks"]
        )
    )


def _total(parts: Sequence[PlannedSlice]) -> TierTotal:
    return TierTotal(len(parts), _sum([part.entries for part in parts]), _sum([part.bytes for part in parts]))


def _sum(numbers: Sequence[int | None]) -> int | None:
    return None if None in numbers else sum(cast("Sequence[int]", numbers))


def _cells(task: int, part: PlannedSlice) -> tuple[str, ...]:
    topic = part.topic.removeprefix("persistent://")
    numbers = _count(part.entries), _size(part.bytes)
    return str(task), topic, part.after, part.through, *numbers, part.tier, part.reason or ""


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows below a header; empty columns are omitted."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    aligned = []
    for column in columns:
        width = max(map(len, column))
        side = ">" if column[0] in _RIGHT else "<"
        aligned.append([f"{cell:{side}{width}}" for cell in (column[0], "-" * width, *column[1:])])
    return ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]


def _summary(tasks: int, totals: dict[Tier, TierTotal]) -> list[str]:
    """One line for each tier; unknown numbers are omitted."""
    lines = [_plural(tasks, "task") if tasks else "nothing to read"]
    for tier, total in totals.items():
        words = [_plural(total.slices, "slice")]
        words += [] if total.entries is None else [f"{total.entries:,} entries"]
        words += [] if total.bytes is None else [_size(total.bytes)]
        lines.append(f"  {tier}: {', '.join(words)}")
    return lines


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def _size(number: int | None) -> str:
    if number is None:
        return _UNKNOWN
    size, units = float(number), ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= _KIBIBYTE and len(units) > 1:
        size, units = size / _KIBIBYTE, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "B" else f"{size:,.1f} {units[0]}"
