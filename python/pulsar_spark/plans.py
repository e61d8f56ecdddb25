"""The plan of a read: the ranges that each task of a batch reads, or the partitions that it follows in a stream."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

from pulsar_spark import _plan_views
from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.jvm import DriverJvm
from pulsar_spark.options.received import FRAME, check

if TYPE_CHECKING:
    from collections.abc import Sequence

Tier: TypeAlias = Literal["broker", "bookies", "tiered"]

_STREAM = "the DataFrame is a stream, which decides what to read batch by batch, unless `real_time=True`"
_NO_STREAM = "the DataFrame is no stream, which `real_time=True` is for"
_TIERS: tuple[Tier, ...] = ("bookies", "tiered", "broker")


@dataclass(frozen=True)
class PlannedSlice:
    """A range of messages of one topic partition that is read from one place.

    Attributes:
        topic: Full name of the topic or partition.
        after: The position before the range. `pulsar_spark.after` makes it a ``start`` of `read_pulsar`.
        through: The last position of the range, as ``end`` of `read_pulsar`.
        tier: Where the range is read from: the broker, the bookies, or offloaded storage (``tiered``).
        entries: Number of entries (stored batches); None for a range of several ledgers that the broker delivers.
        bytes: Estimated size in storage, in bytes; None for a range that the broker delivers.
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
        hosts: Hosts that store the first slice; Spark prefers them for the task. Empty if there is no preference.
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


@dataclass(frozen=True, repr=False)
class ReadPlan:
    """The tasks of a batch read; ``print`` and notebooks show a table.

    Attributes:
        tasks: The tasks, in the order of Spark's partitions.
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
        """Tasks and totals as the text of one JSON object, with the names of the attributes."""
        totals = {tier: asdict(total) for tier, total in self.totals.items()}
        return json.dumps({"tasks": [asdict(task) for task in self.tasks], "totals": totals})

    def __str__(self) -> str:
        return _plan_views.of_read(self).text()

    def __repr__(self) -> str:
        return _plan_views.of_read(self).summary()

    def _repr_html_(self) -> str:
        return _plan_views.of_read(self).html()


@dataclass(frozen=True)
class FollowedPartition:
    """A topic partition that a task of a query in real-time mode follows.

    Attributes:
        topic: Full name of the topic or partition.
        after: The position after which the task begins. `pulsar_spark.after` makes it a ``start`` of `read_pulsar`.
        last: The position of the last entry with messages; None without messages.
        entries: Backlog in entries (stored batches); None if it is in several ledgers and there is no admin URL.
        bytes: Estimated size of the backlog in storage, in bytes; None without an admin URL.
    """

    topic: str
    after: str
    last: str | None = None
    entries: int | None = None
    bytes: int | None = None

    @property
    def is_behind(self) -> bool:
        """True if the partition has a backlog, also one of an unknown size."""
        return self.entries != 0


@dataclass(frozen=True, repr=False)
class RealTimePlan:
    """The tasks of a stream in real-time mode; ``print`` and notebooks show a table.

    Attributes:
        tasks: The partitions that each task follows, in the order of Spark's partitions.
    """

    tasks: tuple[tuple[FollowedPartition, ...], ...]

    @property
    def partitions(self) -> tuple[FollowedPartition, ...]:
        """The partitions of all tasks."""
        return tuple(one for task in self.tasks for one in task)

    @property
    def entries(self) -> int | None:
        """The backlog of all partitions in entries; None if it is unknown for one of them."""
        return _sum([one.entries for one in self.partitions])

    @property
    def bytes(self) -> int | None:
        """The estimated size of the backlog of all partitions in storage; None if it is unknown for one of them."""
        return _sum([one.bytes for one in self.partitions])

    def to_json(self) -> str:
        """The tasks and the backlog as the text of one JSON object, with the names of the attributes."""
        tasks = [[asdict(one) for one in task] for task in self.tasks]
        return json.dumps({"tasks": tasks, "entries": self.entries, "bytes": self.bytes})

    def __str__(self) -> str:
        return _plan_views.of_real_time(self).text()

    def __repr__(self) -> str:
        return _plan_views.of_real_time(self).summary()

    def _repr_html_(self) -> str:
        return _plan_views.of_real_time(self).html()


@overload
def plan(df: DataFrame, *, real_time: Literal[False] = False) -> ReadPlan: ...


@overload
def plan(df: DataFrame, *, real_time: Literal[True], checkpoint: str | Path | None = None) -> RealTimePlan: ...


def plan(df: DataFrame, *, real_time: bool = False, checkpoint: str | Path | None = None) -> ReadPlan | RealTimePlan:
    """Show how a read is split into tasks: of a batch, or of a stream in real-time mode.

    For a batch it shows what each task reads, from where, and why the broker delivers a range. An action on ``df``
    itself, such as ``collect`` or ``foreach``, uses this plan. A DataFrame derived from it, also by ``count``, is
    planned when it runs, with the messages published until then.

    For a stream in real-time mode it shows which topic partitions each task follows in the first batch, from which
    position on, and the backlog there. Later batches divide the partitions anew. A DataFrame does not know its trigger,
    so ``real_time`` says it.

    Reads no messages, but requests their location from the cluster. Starts nothing.

    Args:
        df: The result of `read_pulsar`, or a query on it; with ``real_time`` the result of `read_pulsar_stream`, or a
            query on it. Not available on Spark Connect, where Python has no JVM.
        real_time: If True, plan a stream in real-time mode. Default: False, a batch.
        checkpoint: With ``real_time``, the checkpoint of a query that goes on from there. Default: the query starts
            for the first time.

    Returns:
        The plan.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: ``df`` is a stream without ``real_time``, is no stream with it, or does not read Pulsar. An
            option has no meaning in real-time mode.
        PulsarSparkError: The cluster cannot report where the messages are.

    Examples:
        >>> rides = pulsar_spark.read_pulsar(spark, "rides", admin_url="http://localhost:8080")
        >>> plan(rides)
        ReadPlan(1 task; bookies: 1 slice, 2 entries, 334 B)
        >>> stream = pulsar_spark.read_pulsar_stream(spark, "rides", start="earliest", admin_url="http://localhost:8080")
        >>> plan(stream, real_time=True)
        RealTimePlan(1 task, 1 partition; backlog: 1 partition, 2 entries, 334 B)
    """
    check("plan", "df", df, FRAME)
    jvm = DriverJvm.of(df.sparkSession, "plan()")
    if checkpoint is not None and not real_time:
        raise PulsarOptionError("PULSAR_OPTION_INCOMPLETE", present="checkpoint", missing="real_time")
    if df.isStreaming != real_time:
        raise PulsarOptionError("PULSAR_PLAN_NO_READ", why=_NO_STREAM if real_time else _STREAM)
    reported = jvm.followed_partitions(df, str(checkpoint or "")) if real_time else jvm.read_tasks(df)
    if reported["reads"] == 0:
        raise PulsarOptionError("PULSAR_PLAN_NO_READ", why="the DataFrame reads nothing of Pulsar")
    if real_time:
        return RealTimePlan(tuple(tuple(FollowedPartition(**one) for one in task) for task in reported["tasks"]))
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
