"""What a run of `__main__.py` has found. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Phase:
    """What a stream did for a while.

    Attributes:
        looks: Milliseconds of `latestOffset`, by trigger.
        triggers: Milliseconds of whole triggers that read messages.
        driver: Cores that the process of Spark used.
        server: Cores that the server used.
    """

    looks: list[int]
    triggers: list[int]
    driver: float
    server: float


@dataclass(frozen=True)
class Cut:
    """What a stream does when all its connections are cut while nothing arrives.

    Attributes:
        requests: What it requests until it is as before, by kind.
        slowest: Milliseconds of the longest `latestOffset` of that time.
    """

    requests: dict[str, int]
    slowest: int


@dataclass(frozen=True)
class Stream:
    """A stream over all topics of a run.

    Attributes:
        name: Who reads.
        planned: Seconds until its first tasks.
        read: Seconds until it has read the first message of each topic.
        offset_bytes: Characters of an offset that has a position for each topic.
        idle: While nothing arrives.
        busy: While so many topics receive a message each second.
        requests: Of a trigger while nothing arrives, by kind; empty if they were not counted.
        cut: None if no connections were cut.
    """

    name: str
    planned: float
    read: float
    offset_bytes: int
    idle: Phase
    busy: dict[int, Phase]
    requests: dict[str, float]
    cut: Cut | None


@dataclass(frozen=True)
class Run:
    """Streams that took turns over as many topics.

    Attributes:
        topics: How many topics, or partitions of Spark-Kafka's topic.
        size: Bytes of a message that a busy topic receives.
        seconds: How long each phase lasted.
        load: The load average at the end.
        stolen: Seconds of CPU time that other virtual machines took.
        alone: Cores of each server without a stream, by its name and by how many topics are busy.
        streams: In the order of their turns.
    """

    topics: int
    size: int
    seconds: float
    load: float
    stolen: float
    alone: dict[str, dict[int, float]]
    streams: list[Stream]

    @property
    def own(self) -> Stream:
        """The stream of this connector."""
        return next(one for one in self.streams if one.name == OWN)


OWN = "pulsar-spark"


def run_of(found: dict[str, Any]) -> Run:
    """A run as JSON has it."""
    streams = [_stream(one) for one in found["streams"]]
    alone = {name: _by_busy(cores) for name, cores in found["alone"].items()}
    return Run(**{**found, "streams": streams, "alone": alone})


def _stream(found: dict[str, Any]) -> Stream:
    busy = {number: Phase(**one) for number, one in _by_busy(found["busy"]).items()}
    cut = found["cut"] and Cut(**found["cut"])
    return Stream(**{**found, "idle": Phase(**found["idle"]), "busy": busy, "cut": cut})


def _by_busy(found: dict[str, Any]) -> dict[int, Any]:
    return {int(number): one for number, one in found.items()}
