"""The servers of `__main__.py`, with a client of each that sends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import kafka
from benchmarks.arena import SERVER_HEAP, java_commands, local_pulsar
from benchmarks.processes import Worker
from support.servers.admin import Admin

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from pulsar_spark.local import LocalPulsar

PARTITIONS, SIZE = 4, 500
# Kafka's default. Pulsar's is 1, so its server would get five times the batches.
LINGER_MILLIS = 5

_BURST = 50
_REPLY_SECONDS = 180.0


@dataclass(frozen=True)
class Contender:
    """Who reads a topic and writes another.

    Attributes:
        name: As the page has it.
        source: The format of Spark's reader and writer.
        writes: Options of its writer, as `name=value`.
        jar: Of another connector for Pulsar.
    """

    name: str
    source: str
    writes: tuple[str, ...] = ()
    jar: Path | None = None


CONTENDERS = (
    Contender("pulsar-spark, at least once", "pulsar", ("deliveryGuarantee=at-least-once",)),
    Contender("pulsar-spark, exactly once", "pulsar", ("deliveryGuarantee=exactly-once",)),
    Contender("Spark-Kafka, at least once", "kafka"),
)


def incumbent(jar: Path) -> Contender:
    """streamnative/pulsar-spark, by its shaded jar; it fails where its client's queue is full, unless it may wait."""
    waits = "write.pulsar.producer.blockIfQueueFull=true"
    return Contender("streamnative/pulsar-spark, at least once", "pulsar", (waits,), jar.resolve())


class Place:
    """A server whose topics can be made, filled and counted.

    Attributes:
        address: For Spark.
        server_pid: The process id of the server.
    """

    def __init__(self, address: str, server_pid: int, sender: Worker) -> None:
        self.address, self.server_pid = address, server_pid
        self._sender = sender
        self._numbers = itertools.count()

    @property
    def sender_pid(self) -> int:
        """The process id of the client that sends."""
        return self._sender.pid

    def create(self) -> str:
        """Make a topic; returns its name."""
        raise NotImplementedError

    def count(self, topic: str) -> int:
        """Messages that a topic has received since it was made."""
        raise NotImplementedError

    def send(self, topic: str, rate: int, seconds: int) -> None:
        """Send at a steady rate, and wait until the server has all."""
        paced = {"topic": topic, "partitions": PARTITIONS, "rate": rate, "burst": _BURST, "seconds": seconds}
        paced |= {"linger": LINGER_MILLIS, "size": SIZE}
        self._sender.ask("pace", paced, seconds=seconds + _REPLY_SECONDS)


class _Pulsar(Place):
    def __init__(self, server: LocalPulsar, sender: Worker) -> None:
        super().__init__(server.service_url, server.pid, sender)
        self._admin = Admin(server.admin_url)

    def create(self) -> str:
        topic = f"persistent://public/default/load-{next(self._numbers)}"
        self._admin.create_topic(topic, partitions=PARTITIONS)
        return topic

    def count(self, topic: str) -> int:
        return int(self._admin.stats(topic)["msgInCounter"])


class _Kafka(Place):
    def __init__(self, server: kafka.LocalKafka, sender: Worker, other: Worker) -> None:
        super().__init__(server.servers, server.pid, sender)
        self._other = other  # the sender is busy

    def create(self) -> str:
        topic = f"load-{next(self._numbers)}"
        self._other.ask("create", {"topic": topic, "partitions": PARTITIONS})
        return topic

    def count(self, topic: str) -> int:
        return self._other.ask("count", {"topic": topic, "partitions": PARTITIONS}).rows


def running(source: str, classes: Path, logs: Path, stack: ExitStack) -> Place:
    """Start a server with its clients.

    Args:
        source: The format of Spark's reader and writer.
        classes: The folder of the clients' programs.
        logs: A folder.
        stack: Stops all of them, and deletes what the server has.
    """
    java = java_commands(classes)
    if source == "pulsar":
        pulsar = stack.enter_context(local_pulsar(transactions=True))
        return _Pulsar(pulsar, stack.enter_context(Worker([*java[source], pulsar.service_url], logs / "sender.log")))
    server = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
    workers = [
        stack.enter_context(Worker([*java[source], server.servers], logs / f"{log}.log"))
        for log in ("sender", "counter")
    ]
    return _Kafka(server, *workers)
