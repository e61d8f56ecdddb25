"""What a run of `__main__.py` has found, and when a server and a query keep up with a rate. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_SHARE = 0.97
"""Of the rate, what the sender has to reach; else the machine is full."""

_MOST_GROWTH = 1.5
_MOST_MORE_SECONDS = 1.0
_LEAST_SAMPLES = 6


@dataclass(frozen=True)
class Sample:
    """A look at the counters of both topics, and at memory.

    Attributes:
        second: Since the measured time began.
        sent: Messages that the first topic has received.
        written: Messages that the second topic has received.
        spark_megabytes: Resident memory of the Spark process, in MB (10^6).
        server_megabytes: The same of the server.
    """

    second: float
    sent: int
    written: int
    spark_megabytes: float
    server_megabytes: float


@dataclass(frozen=True)
class Step:
    """One rate for some time.

    Attributes:
        contender: Who reads and writes.
        rate: Messages a second that were asked for.
        seconds: How long it was measured.
        sent: Messages that the first topic received, from the first to the last.
        written: Messages that the second topic has at the end.
        cores: What each process used in the measured time: `generator`, `server` and `spark`.
        drained: Seconds from the last message until the second topic had all; None if it never had.
        triggers: Milliseconds of each micro-batch in the measured time.
        samples: Looks during the measured time.
    """

    contender: str
    rate: int
    seconds: float
    sent: int
    written: int
    cores: dict[str, float]
    drained: float | None
    triggers: list[int]
    samples: list[Sample]

    @property
    def all_cores(self) -> float:
        """What all of them used."""
        return sum(self.cores.values())

    @property
    def reached(self) -> float:
        """Messages a second that the first topic received in the measured time."""
        first, last = self.samples[0], self.samples[-1]
        return (last.sent - first.sent) / (last.second - first.second)

    @property
    def behind(self) -> list[float]:
        """The backlog of each sample, in seconds of the rate."""
        return [max(0, one.sent - one.written) / self.rate for one in self.samples]

    @property
    def keeps_up(self) -> bool:
        """True if the rate was reached, and the backlog did not grow."""
        return self.reached >= LEAST_SHARE * self.rate and self.drained is not None and is_flat(self.behind)


@dataclass(frozen=True)
class Failure:
    """A query that failed at a rate.

    Attributes:
        contender: Who read and wrote.
        rate: Messages a second that were asked for.
    """

    contender: str
    rate: int


def halves(values: Sequence[float]) -> tuple[float, float]:
    """Medians of the first and of the second half."""
    middle = len(values) // 2
    return statistics.median(values[:middle]), statistics.median(values[middle:])


def is_flat(seconds: Sequence[float]) -> bool:
    """True if a backlog does not grow; too few looks at it show nothing."""
    if len(seconds) < _LEAST_SAMPLES:
        return False
    before, after = halves(seconds)
    return after <= before * _MOST_GROWTH + _MOST_MORE_SECONDS
