"""What is measured: the messages, the jobs on them, and what the connector has to reach."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

Job = Literal["scan", "count", "stream", "write"]
Contender = Literal[
    "segment", "single", "connector", "java", "fresh", "kafka", "bookies", "before-segment", "before-connector"
]
TITLES: dict[Contender, str] = {
    "segment": "pulsar-spark, segments",
    "single": "pulsar-spark, segments, 1 task",
    "connector": "pulsar-spark, brokers",
    "java": "Pulsar Java client",
    "fresh": "Pulsar Java client, an array for each message",
    "kafka": "Spark-Kafka",
    "bookies": "BookKeeper client",
    "before-segment": "an earlier version, segments",
    "before-connector": "an earlier version, brokers",
}
BEFORE: dict[Contender, Contender] = {"segment": "before-segment", "connector": "before-connector"}
"""The same ways of an earlier version's jar."""

SPARK: tuple[Contender, ...] = ("segment", "connector", "kafka")
"""Those with a Spark JVM of their own."""

JOB_TITLES: dict[Job, str] = {
    "scan": "batch read, all columns to noop",
    "count": "`count(*)`",
    "stream": "stream `availableNow`, all columns to noop",
    "write": "batch write",
}

SEED = 20261121
_VALUES, _KEYS, _KEY_SIZE = 4096, 1000, 8
_STEP = 8000  # every count is a multiple of it: whole batches of 1,000 in each of 4 partitions, shared by 2 threads


@dataclass(frozen=True)
class Workload:
    """Messages of one size, all in batches of one size.

    Attributes:
        size: Bytes of a value; keys have 8.
        batch: Messages in a batch.
        partitions: Partitions of the topic; 1 is a topic without partitions in Pulsar.
        compression: ``NONE`` or ``LZ4``.
        count: Messages in all.
    """

    size: int
    batch: int
    partitions: int
    compression: str
    count: int

    @property
    def title(self) -> str:
        """As tables show it."""
        size = "1 KiB" if self.size == 1024 else f"{self.size} B"
        compression = "" if self.compression == "NONE" else f" {self.compression}"
        plural = "s" if self.partitions > 1 else ""
        batches = f"batches of {self.batch:,}" if self.batch > 1 else "no batches"
        return f"{size}{compression}, {self.partitions} partition{plural}, {batches}"

    @property
    def topic(self) -> str:
        """The name of the topic that holds it."""
        return f"read-{self.size}-{self.batch}-{self.partitions}-{self.compression.lower()}"

    def scaled(self, scale: float) -> Workload:
        """The same with ``scale`` times as many messages."""
        count = max(1, round(self.count * scale / _STEP)) * _STEP
        return Workload(self.size, self.batch, self.partitions, self.compression, count)

    def arguments(self, folder: Path) -> dict[str, object]:
        """What clients have to know; ``folder`` is where `write_content` put the content."""
        return {
            "partitions": self.partitions,
            "count": self.count,
            "batch": self.batch,
            "compression": self.compression,
            "size": self.size,
            "keySize": _KEY_SIZE,
            "values": _values_file(folder, self.size),
            "keys": _keys_file(folder),
        }


@dataclass(frozen=True)
class Target:
    """What the connector has to reach in a case.

    Attributes:
        measure: ``rows`` (rows per second) or ``cpu`` (CPU microseconds per row of the process that reads or writes).
        baseline: Whom it is compared with, or None for a fixed bound.
        bound: The least ratio of ``rows``, the greatest of ``cpu``; rows per second or microseconds without a baseline.
        contender: Which way of the connector has to reach it.
    """

    measure: Literal["rows", "cpu"]
    baseline: Contender | None
    bound: float
    contender: Contender = "connector"


@dataclass(frozen=True)
class Case:
    """A job on a workload, done by each contender in turn."""

    job: Job
    workload: Workload
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()

    @property
    def name(self) -> str:
        """Unique among the cases."""
        return f"{self.job}-{self.workload.topic.removeprefix('read-')}"

    def scaled(self, scale: float) -> Case:
        """The same with ``scale`` times as many messages."""
        return Case(self.job, self.workload.scaled(scale), self.contenders, self.targets)


PEAK_MEMORY_MEGABYTES = 1000.0

_SMALL_SCAN = (Target("rows", "kafka", 1.5), Target("cpu", None, 1.0))
_LARGE_SCAN = (Target("rows", "java", 1.1), Target("cpu", "java", 0.5))
_COUNT = (Target("cpu", None, 0.4),)
_WRITE = (Target("rows", "java", 0.9),)

_ENTRY_RATE = 0.7  # of the bare BookKeeper client's, where decoding is not the limit
_SMALL_RATE = 2_500_000.0
_SMALL_SEGMENTS = (Target("rows", "kafka", 4.0, "segment"), Target("cpu", None, 0.5, "segment"))
_SMALL_COUNT = (*_COUNT, Target("rows", None, 2 * _SMALL_RATE, "segment"))

_WRITERS: tuple[Contender, ...] = ("connector", "java", "fresh", "kafka")
_READERS: tuple[Contender, ...] = ("segment", "connector", "java", "kafka", "bookies")
_ONE_BIG_PARTITION: tuple[Contender, ...] = ("segment", "single", "connector", "java", "kafka", "bookies")


def _scan(workload: Workload, *targets: Target) -> Case:
    is_big = workload.partitions == 1 and workload.batch * workload.size >= 64_000
    by_broker = _SMALL_SCAN if workload.size == 64 else _LARGE_SCAN if workload.batch > 1 else ()
    parallel = (Target("rows", "single", 1.0, "segment"),) if is_big else ()
    return Case("scan", workload, _ONE_BIG_PARTITION if is_big else _READERS, (*by_broker, *targets, *parallel))


def _segments(baseline: Contender, ratio: float) -> Target:
    return Target("rows", baseline, ratio, "segment")


_SMALL_1 = Workload(64, 1000, 1, "NONE", 8_000_000)
_SMALL_4 = Workload(64, 1000, 4, "NONE", 8_000_000)
_MEDIUM_4 = Workload(512, 1000, 4, "LZ4", 800_000)
_LARGE_4 = Workload(1024, 1000, 4, "NONE", 800_000)

CASES: tuple[Case, ...] = (
    _scan(_SMALL_1, Target("rows", None, _SMALL_RATE, "segment"), *_SMALL_SEGMENTS),
    _scan(_SMALL_4, *_SMALL_SEGMENTS),
    _scan(Workload(64, 10, 1, "NONE", 1_600_000)),
    _scan(Workload(64, 10, 4, "NONE", 1_600_000)),
    _scan(Workload(512, 250, 1, "LZ4", 2_400_000)),
    _scan(Workload(512, 250, 4, "LZ4", 2_400_000)),
    _scan(Workload(512, 10, 1, "LZ4", 2_400_000), _segments("java", 6.0)),
    _scan(Workload(512, 10, 4, "LZ4", 2_400_000), _segments("java", 6.0)),
    _scan(_LARGE_4),
    _scan(Workload(1024, 125, 1, "NONE", 800_000), _segments("java", 1.6), _segments("bookies", _ENTRY_RATE)),
    _scan(Workload(1024, 125, 4, "NONE", 800_000), _segments("java", 1.6), _segments("bookies", _ENTRY_RATE)),
    _scan(Workload(1024, 1, 1, "NONE", 240_000), _segments("java", 5.0), _segments("bookies", _ENTRY_RATE)),
    _scan(Workload(1024, 1, 4, "NONE", 240_000), _segments("java", 5.0), _segments("bookies", _ENTRY_RATE)),
    Case("count", _SMALL_1, SPARK, _SMALL_COUNT),
    Case("count", _SMALL_4, SPARK, _SMALL_COUNT),
    Case("count", _LARGE_4, SPARK, _COUNT),
    Case("stream", _SMALL_1, SPARK, _SMALL_SCAN),
    Case("stream", _SMALL_4, SPARK, _SMALL_SCAN),
    Case("stream", _MEDIUM_4, SPARK),
    Case("stream", _LARGE_4, SPARK),
    Case("write", Workload(64, 1000, 1, "NONE", 3_200_000), _WRITERS, _WRITE),
    Case("write", Workload(64, 1000, 4, "NONE", 3_200_000), _WRITERS, _WRITE),
    Case("write", Workload(64, 10, 4, "NONE", 1_600_000), _WRITERS, _WRITE),
    Case("write", Workload(512, 1000, 4, "LZ4", 1_600_000), _WRITERS, _WRITE),
    Case("write", Workload(1024, 1000, 1, "NONE", 1_200_000), _WRITERS, _WRITE),
    Case("write", Workload(1024, 1000, 4, "NONE", 1_200_000), _WRITERS, _WRITE),
)


def write_content(folder: Path, sizes: set[int]) -> None:
    """Write the values of each size, and the keys, that all clients use in turn."""
    source = random.Random(SEED)
    for size in sorted(sizes):
        make = _text if size == 512 else _noise
        _values_file(folder, size).write_bytes(b"".join(make(source, i, size) for i in range(_VALUES)))
    _keys_file(folder).write_bytes(b"".join(b"key-%04d" % i for i in range(_KEYS)))


def _noise(source: random.Random, _: int, size: int) -> bytes:
    return source.randbytes(size)


def _text(source: random.Random, number: int, size: int) -> bytes:
    """An event as JSON: what compression is used for."""
    event = {
        "id": number,
        "city": source.choice(["Amsterdam", "Berlin", "Chennai", "Dakar", "Essen", "Fukuoka", "Geneva"]),
        "vehicle": f"{source.getrandbits(48):012x}",
        "longitude": round(source.uniform(-180, 180), 6),
        "latitude": round(source.uniform(-90, 90), 6),
        "speed": source.randint(0, 130),
        "state": source.choice(["driving", "waiting", "charging", "parked"]),
        "readings": [],
    }
    readings = event["readings"]
    assert isinstance(readings, list)
    while len(json.dumps(event)) < size - 8:
        readings.append(round(source.gauss(20, 5), 2))
    return json.dumps(event).encode("ascii")[:size].ljust(size)


def _values_file(folder: Path, size: int) -> Path:
    return folder / f"values-{size}.bin"


def _keys_file(folder: Path) -> Path:
    return folder / "keys.bin"
