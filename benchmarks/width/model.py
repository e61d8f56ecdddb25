"""What a stream over more topics costs than were measured: what a run and each topic cost, from the runs. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.width.figures import Run


@dataclass(frozen=True)
class Cost:
    """What is measured of a stream over topics of which none is busy.

    Attributes:
        title: What it is, with its unit.
        digits: Behind the point, on a page.
        limit: What is still good for a stream with a trigger each second, in the unit of the value.
        of: Its value in a run.
    """

    title: str
    digits: int
    limit: float
    of: Callable[[Run], float]


def _cut_requests(run: Run) -> float:
    assert run.own.cut is not None
    return sum(run.own.cut.requests.values())


def _slowest(run: Run) -> float:
    assert run.own.cut is not None
    return run.own.cut.slowest / 1000


COSTS = (
    Cost("`latestOffset` of a trigger, ms", 0, 500, lambda run: statistics.median(run.own.idle.looks)),
    Cost("requests of a trigger", 0, 1000, lambda run: sum(run.own.requests.values())),
    Cost("an offset in the checkpoint, KB", 0, 1000, lambda run: run.own.offset_bytes / 1000),
    Cost("first tasks of a start after, s", 1, 60, lambda run: run.own.planned),
    Cost("first message of every topic read after, s", 1, 300, lambda run: run.own.read),
    Cost("requests after a cut of all connections", 0, 100_000, _cut_requests),
    Cost("longest `latestOffset` after a cut, s", 1, 10, _slowest),
)
"""In the order of the page."""


@dataclass(frozen=True)
class Line:
    """A cost that grows with the number of topics.

    Attributes:
        base: Of a stream.
        each: Of a topic more.
    """

    base: float
    each: float

    def at(self, topics: int) -> float:
        """The cost of so many topics."""
        return self.base + self.each * topics

    def reaches(self, limit: float) -> float:
        """How many topics cost as much; infinite if none do."""
        return (limit - self.base) / self.each if self.each > 0 else float("inf")


def fitted(runs: Sequence[Run], cost: Cost) -> Line:
    """The line through runs over different numbers of topics; no part of it is below 0."""
    topics, values = [run.topics for run in runs], [cost.of(run) for run in runs]
    each, base = statistics.linear_regression(topics, values)
    if each < 0:
        return Line(statistics.fmean(values), 0)
    if base < 0:
        return Line(0, sum(t * v for t, v in zip(topics, values, strict=True)) / sum(t * t for t in topics))
    return Line(base, each)
