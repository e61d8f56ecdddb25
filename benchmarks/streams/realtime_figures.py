"""What the rows of a query in real-time mode say: latencies inside batches, and the pauses between them."""

from __future__ import annotations

import itertools
import math
import statistics
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

MICROS = 1_000_000
# Around the time at which Spark counts a batch as ended: it has stopped its tasks before, and starts the next after.
_BEFORE, _AFTER = 700_000, 1_300_000
_OPENED, _CLOSED = -1, -2
_COLUMNS = 3


class Stamps:
    """When the messages of a query arrived, as `Stamps.java` saves it; all times are microseconds since 1970.

    Attributes:
        rows: Time of arrival, due time (0 if nobody knows) and partition of each, by arrival.
        opened: When tasks began to write.
        closed: When they ended.
    """

    def __init__(self, columns: Iterable[tuple[int, int, int]]) -> None:
        """Sort them.

        Args:
            columns: Due time, or what stands in its place; time of arrival; partition.
        """
        found = sorted((at, due, partition) for due, at, partition in columns)
        self.rows = [one for one in found if one[1] >= 0]
        self.opened = [at for at, due, _ in found if due == _OPENED]
        self.closed = [at for at, due, _ in found if due == _CLOSED]

    @classmethod
    def read(cls, file: Path) -> Stamps:
        """What a file holds."""
        values = array("q")
        values.frombytes(file.read_bytes())
        count = len(values) // _COLUMNS
        return cls(zip(*(values[part * count : (part + 1) * count] for part in range(_COLUMNS)), strict=True))

    @property
    def partitions(self) -> int:
        """Number of partitions of which something arrived."""
        return len({partition for _, _, partition in self.rows})

    def within(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """The rows that arrived between two times, with one row before them and one after."""
        return self.rows[max(0, bisect_left(self.rows, (first,)) - 1) : bisect_right(self.rows, (last, math.inf)) + 1]


@dataclass(frozen=True)
class Pause:
    """The end of a batch, in milliseconds.

    Attributes:
        length: The longest time around it in which no row arrived.
        worst: The longest latency of a row around it.
        parts: What it took from the last row to the end of the tasks, from there to the begin of the next batch's, and
            from there to its first row; none for rows that a consumer of another topic saw.
        millis: What Spark's progress has of the two batches, as far as both ended.
    """

    length: float
    worst: float
    parts: tuple[float, float, float] | None
    millis: dict[str, int]


@dataclass
class Figures:
    """What the turns of one source say.

    Attributes:
        latencies: Of rows inside batches, in milliseconds.
        pauses: Ends of batches.
        cores: Share of a core that Spark used, for each turn.
        server: The same of its server.
        partitions: Of how many something arrived, at least.
        missing: Number of messages that had not become rows when all were sent and some time had passed.
    """

    latencies: list[float] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    cores: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    partitions: int | None = None
    missing: int = 0

    def add(self, stamps: Stamps, progress: Sequence[dict[str, Any]], since: int, until: int) -> None:
        """Add a turn, as far as its rows were due in this time."""
        at_ends = set()
        for end in ends_of(progress):
            around = [one for one in stamps.within(end - _BEFORE, end + _AFTER) if one[1] > 0]
            at_ends.update(around)
            if since + _BEFORE <= end <= until - _AFTER and len(around) > 1:
                self.pauses.append(_pause(around, stamps, _millis(progress, end)))
        self.latencies += (
            (at - due) / 1000
            for at, due, partition in stamps.rows
            if since <= due <= until and (at, due, partition) not in at_ends
        )
        self.partitions = stamps.partitions if self.partitions is None else min(stamps.partitions, self.partitions)

    def latency(self, share: float) -> float:
        """The latency that this share of rows does not exceed."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * share) - 1)] if ordered else math.nan


def ends_of(progress: Iterable[dict[str, Any]]) -> Iterator[int]:
    """When each batch of a query ended."""
    for one in progress:
        began = datetime.fromisoformat(one["began"].replace("Z", "+00:00"))
        yield round(began.timestamp() * MICROS) + 1000 * one["millis"]["triggerExecution"]


def _millis(progress: Sequence[dict[str, Any]], end: int) -> dict[str, int]:
    """Parts of a pause: the end of the batch that ended then and the begin of the next."""
    place = list(ends_of(progress)).index(end)
    if place + 1 == len(progress):
        return {}
    ended, begun = progress[place]["millis"], progress[place + 1]["millis"]
    return {
        "checkpoint": ended.get("walCommit", 0) + ended.get("commitOffsets", 0),
        "latestOffset": begun.get("latestOffset", 0),
        "planning": begun.get("queryPlanning", 0),
    }


def _pause(around: list[tuple[int, int, int]], stamps: Stamps, millis: dict[str, int]) -> Pause:
    length, last, first = max((b[0] - a[0], a[0], b[0]) for a, b in itertools.pairwise(around))
    worst = max(at - due for at, due, _ in around) / 1000
    closed = [at for at in stamps.closed if last <= at <= first]
    opened = [at for at in stamps.opened if last <= at <= first]
    parts = None
    if closed and opened:
        parts = ((closed[-1] - last) / 1000, (opened[0] - closed[-1]) / 1000, (first - opened[0]) / 1000)
    return Pause(length / 1000, worst, parts, millis)


def middle(values: Sequence[float], digits: int = 0) -> str:
    """The median, with the most of several."""
    if not values:
        return ""
    shown = f"{statistics.median(values):.{digits}f}"
    return shown if len(values) == 1 else f"{shown} ({max(values):.{digits}f})"
