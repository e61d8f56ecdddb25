"""Servers, senders and Sparks of `realtime.py`, and what one query does with them."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks import kafka
from benchmarks.arena import SERVER_HEAP, compiled, java_commands, local_pulsar
from benchmarks.processes import Worker, cpu_seconds
from benchmarks.run import say
from benchmarks.streams.queries import Queries, running_queries
from benchmarks.streams.realtime_figures import MICROS, Figures, Stamps
from benchmarks.workloads import Workload, write_content
from support.servers.admin import Admin

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from pulsar_spark.local import LocalPulsar

Slots = Literal[2, 40]
_WAIT_SECONDS = 20.0
_STARVED_SECONDS = 3.0
_POLL_SECONDS = 0.1
_QUIET_RATE = 100
_QUIET_SECONDS = 2.0
_LEAST_BATCH = 5


@dataclass(frozen=True)
class Source:
    """What a query reads, and where it runs.

    Attributes:
        title: As tables show it.
        server: Which server; ``eager`` is a Pulsar that looks for new entries more often.
        slots: Of its Spark.
        is_live: Whether it runs in real-time mode.
        is_starved: Whether it is known not to read everything.
    """

    title: str
    server: Literal["pulsar", "eager", "kafka"]
    slots: Slots = 2
    is_live: bool = True
    is_starved: bool = False

    @property
    def format(self) -> str:
        """Of Spark's reader."""
        return "kafka" if self.server == "kafka" else "pulsar"


@dataclass(frozen=True)
class Load:
    """What is sent while a query runs.

    Attributes:
        rate: Messages a second.
        partitions: Of the topic, which has them in turn.
        linger: Milliseconds for which a producer waits for more messages of a batch; 0 sends each message at once.
        seconds: How long it is measured.
        warm: How long before.
        batch: Seconds of a real-time batch.
        is_copied: Whether the query writes to a topic of one partition, whose consumer reads the clock.
    """

    rate: int
    partitions: int
    linger: int
    seconds: int
    warm: int
    batch: int
    is_copied: bool = False


class Stage:
    """A Pulsar and a Kafka with a sender each, and two Sparks. One query runs at a time."""

    def __init__(self, work: Path, stack: ExitStack) -> None:
        """Start all.

        Args:
            work: A folder for content, classes, logs and results.
            stack: Stops them.
        """
        self._work = work
        self._stack = stack
        self._numbers = itertools.count()
        self._classes = compiled(work)
        self._java = java_commands(self._classes)
        self._pool = stack.enter_context(ThreadPoolExecutor(2))
        self._pulsars: dict[str, LocalPulsar] = {}
        self._kafka = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        self._senders = {"kafka": self._client("kafka", self._kafka.servers)}
        self._start_pulsar("pulsar", {})
        self._followers = {
            "kafka": self._client("kafka", self._kafka.servers),
            "pulsar": self._client("pulsar", self._pulsars["pulsar"].service_url),
        }
        self._sparks: dict[Slots, Queries] = {slots: self._spark(slots) for slots in (2, 40)}

    def start_eager(self) -> None:
        """Start another Pulsar, which looks for new entries each millisecond."""
        self._start_pulsar("eager", {"managedLedgerNewEntriesCheckDelayInMillis": "1"})
        self._followers["eager"] = self._client("pulsar", self._pulsars["eager"].service_url)

    def _start_pulsar(self, name: str, config: dict[str, str]) -> None:
        self._pulsars[name] = self._stack.enter_context(local_pulsar(config=config))
        self._senders[name] = self._client("pulsar", self._pulsars[name].service_url)

    def _client(self, kind: str, server: str) -> Worker:
        return self._stack.enter_context(Worker([*self._java[kind], server], self._work / f"{kind}.log"))

    def _spark(self, slots: Slots) -> Queries:
        log, master = self._work / f"queries-{slots}.log", f"local[{slots}]"
        return self._stack.enter_context(running_queries("streams.realtime_query", log, master, str(self._classes)))

    def turn(self, source: Source, load: Load, figures: Figures) -> None:
        """Run a query while a client sends, and add what became of it."""
        topic = self._create(source, load.partitions)
        spark, seconds = self._sparks[source.slots], load.warm + load.seconds
        count = load.rate * seconds
        copies, file = [], self._file()
        if load.is_copied:
            target = self._create(source, 1)
            copies.append(f"copy={target}")
            following = {"topic": target, "count": count, "file": file}
            follower = self._pool.submit(self._followers[source.server].ask, "follow", following)
        spark.ask("begin", source.format, self._address(source), topic, self._batch(source, load.batch), *copies)
        sender = self._pool.submit(self._senders[source.server].ask, "pace", _pace(topic, load, seconds))
        time.sleep(load.warm)
        pids = (spark.pid, self._server_pid(source))
        before, began = [cpu_seconds(pid) for pid in pids], time.monotonic()
        time.sleep(load.seconds)
        used = [cpu_seconds(pid) - cpu for pid, cpu in zip(pids, before, strict=True)]
        passed = time.monotonic() - began
        sent = sender.result().rows
        if sent < count:
            say(f"{count - sent} messages were not sent")
        if load.is_copied:
            follower.result()
            progress = spark.ask("end", self._file())
        else:
            read = _wait(spark, sent, _STARVED_SECONDS if source.is_starved else _WAIT_SECONDS)
            figures.missing += sent - read
            progress = spark.ask("end", file)
        stamps = Stamps.read(file)
        first = min((due for _, due, _ in stamps.rows), default=0)
        figures.add(stamps, progress, first + load.warm * MICROS, first + seconds * MICROS)
        figures.cores.append(used[0] / passed)
        figures.server.append(used[1] / passed)

    def idle(self, source: Source | None, partitions: int, seconds: int, warm: int) -> float:
        """The share of a core that a Spark uses while nothing arrives; without a source it has no query."""
        spark = self._sparks[source.slots if source else 2]
        if source:
            topic = self._create(source, partitions)
            spark.ask("begin", source.format, self._address(source), topic, self._batch(source, warm + 2 * seconds))
        time.sleep(warm)
        before, began = cpu_seconds(spark.pid), time.monotonic()
        time.sleep(seconds)
        used = (cpu_seconds(spark.pid) - before) / (time.monotonic() - began)
        if source:
            spark.ask("end", self._file())
        return used

    def backlog(self, count: int) -> Backlog:
        """Read a partition full of messages while another receives few, and the same without real-time mode."""
        source = Source("", "pulsar")
        topic = self._create(source, 2)
        workload = Workload(64, 1000, 1, "NONE", count)
        write_content(self._work, {workload.size})
        sender, spark = self._senders["pulsar"], self._sparks[2]
        sender.ask("fill", {**workload.arguments(self._work), "topic": f"{topic}-partition-0"})
        words = (source.format, self._address(source), topic)
        admin = f"admin.url={self._pulsars['pulsar'].admin_url}"
        drained: dict[str, float] = {}
        live: dict[str, Followed] = {}
        for level in ("broker", "segment"):
            for _ in range(2):  # the first is Java's compilers' time
                drained[level] = spark.ask("drain", *words, self._file(), f"readLevel={level}", admin)
        for level in ("broker", "auto"):
            live[level] = self._followed(source, topic, count, f"readLevel={level}", admin)
        return Backlog(drained, live)

    def _followed(self, source: Source, topic: str, count: int, *options: str) -> Followed:
        """Read the backlog of one partition in real-time mode while the other receives few messages."""
        sender, spark = self._senders["pulsar"], self._sparks[2]
        quiet, file, stop = f"{topic}-partition-1", self._file(), threading.Event()

        def send() -> None:
            while not stop.is_set():
                sender.ask("pace", _pace(quiet, Load(_QUIET_RATE, 1, 0, 0, 0, 0), 1))

        sending = self._pool.submit(send)
        words = (source.format, self._address(source), topic, self._batch(source, 60))
        began = spark.ask("begin", *words, *options)
        _wait(spark, count, 120.0)
        time.sleep(_QUIET_SECONDS)  # what the quiet partition has afterwards
        stop.set()
        sending.result()
        spark.ask("end", file)
        stamps = Stamps.read(file)
        ends = [at for at, _, partition in stamps.rows if partition == 0]
        figures = Figures(missing=count - len(ends))
        sent = began * MICROS
        others = [(due, at, partition) for at, due, partition in stamps.rows if partition == 1 and due > sent]
        figures.add(Stamps(others), [], ends[0], ends[-1])
        return Followed(ends[-1] / MICROS - began, figures)

    def _create(self, source: Source, partitions: int) -> str:
        topic = f"live-{next(self._numbers)}"
        if source.server == "kafka":
            self._senders["kafka"].ask("create", {"topic": topic, "partitions": partitions})
        else:
            admin = Admin(self._pulsars[source.server].admin_url)
            admin.create_topic(f"persistent://public/default/{topic}", partitions=partitions)
        return topic

    def _address(self, source: Source) -> str:
        return self._kafka.servers if source.server == "kafka" else self._pulsars[source.server].service_url

    def _server_pid(self, source: Source) -> int:
        return self._kafka.pid if source.server == "kafka" else self._pulsars[source.server].pid

    def _file(self) -> Path:
        return self._work / f"stamps-{next(self._numbers)}"

    def _batch(self, source: Source, seconds: int) -> int:
        return 1000 * max(_LEAST_BATCH, seconds) if source.is_live else 0


@dataclass(frozen=True)
class Followed:
    """How a backlog was read in real-time mode.

    Attributes:
        seconds: From the start of the query until the last row of the backlog.
        quiet: Rows of the other partition meanwhile.
    """

    seconds: float
    quiet: Figures


@dataclass(frozen=True)
class Backlog:
    """How a backlog was read, by ``readLevel``.

    Attributes:
        drained: Seconds of ``availableNow``.
        live: Real-time mode.
    """

    drained: dict[str, float]
    live: dict[str, Followed]


def _pace(topic: str, load: Load, seconds: int) -> dict[str, object]:
    sent = {"rate": load.rate, "burst": 1, "seconds": seconds, "linger": load.linger}
    return {"topic": topic, "partitions": load.partitions, **sent}


def _wait(spark: Queries, count: int, seconds: float) -> int:
    """Wait until a query has so many rows, but not longer."""
    deadline = time.monotonic() + seconds
    while (read := int(spark.ask("count"))) < count and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return read
