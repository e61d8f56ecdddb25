"""The plan of a batch read: the ranges that each task reads, and the place of each range."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from pulsar_spark import _plan_views
from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.jvm import DriverJvm

if TYPE_CHECKING:
    from collections.abc import Sequence

Tier: TypeAlias = Literal["broker", "bookies", "tiered"]

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
        return _plan_views.text(self)

    def __repr__(self) -> str:
        return _plan_views.summary(self)

    def _repr_html_(self) -> str:
        return _plan_views.html(self)


def plan(df: DataFrame) -> ReadPlan:
    """Show how a batch read is split into tasks: what each reads, from where, and why the broker delivers a range.

    Reads no messages, but requests their location from the cluster. An action on ``df`` itself, such as ``collect`` or
    ``foreach``, uses this plan. A DataFrame derived from it, also by ``count``, is planned when it runs, with the
    messages published until then.

    Args:
        df: The result of `read_pulsar`, or a query on it. Not available on Spark Connect, where Python has no JVM.

    Returns:
        The plan.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: ``df`` is a stream, or does not read Pulsar.
        PulsarSparkError: The cluster cannot report where the messages are.

    Examples:
        >>> rides = pulsar_spark.read_pulsar(spark, "rides", admin_url="http://localhost:8080")
        >>> plan(rides)
        ReadPlan(1 task; bookies: 1 slice, 2 entries, 334 B)
    """
    jvm = DriverJvm.of(df.sparkSession, "plan()")
    if df.isStreaming:
        why = "the DataFrame is a stream, which decides what to read batch by batch"
        raise PulsarOptionError("PULSAR_PLAN_NO_READ", why=why)
    reported = jvm.read_tasks(df)
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
