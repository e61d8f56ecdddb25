"""One run: a cluster, a writer, a driver with its queries, and faults by chance."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pulsar
from nemesis.checker import problems
from nemesis.faults import FAULTS, Arena, order
from nemesis.history import Guarantee, History, Row
from nemesis.lives import Lives
from nemesis.writer import Writer, row_of

from pulsar_spark import jar_path
from support.proxies.broker_proxy import running_broker_proxy
from support.servers.admin import AdminError
from support.servers.cluster import running_cluster
from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from support.servers.admin import Admin

_NAMESPACE = "public/nemesis"
_PARTITIONS = 2
_START_SECONDS, _RECOVERY_SECONDS, _DRAIN_SECONDS, _LEFT_SECONDS = 180.0, 180.0, 240.0, 90.0
_GUARANTEES: tuple[Guarantee, ...] = ("at-least-once", "exactly-once")


@dataclass(frozen=True)
class Event:
    """One fault.

    Attributes:
        name: What happened.
        second: When it began, since the driver was started first.
        seconds: How long it lasted.
        bit: Whether it had anything to bite.
        recovered: Seconds after its end until each stream had copied a batch; None if that took too long.
    """

    name: str
    second: float
    seconds: float
    bit: bool
    recovered: float | None


@dataclass(frozen=True)
class Result:
    """What a run showed.

    Attributes:
        seed: That of its chance.
        seconds: How long it took from the first batch to the last.
        events: All faults in their order.
        history: What was sent and read.
        failed: Messages that the writer gave up; the brokers may have them.
        copied: When each stream copied how many rows.
        problems: What is wrong; nothing of a good run.
    """

    seed: int
    seconds: float
    events: Sequence[Event]
    history: History
    failed: int
    copied: Mapping[str, Sequence[tuple[float, int]]]
    problems: Sequence[str]


def run(seed: int, minutes: float, rate: int, folder: Path, say: Callable[[str], None]) -> Result:
    """Run it all in a folder."""
    with ExitStack() as stack:
        cluster = stack.enter_context(running_cluster(folder / "cluster", transactions=True))
        cluster.admin.create_namespace(_NAMESPACE)
        cluster.admin.set_retention(_NAMESPACE, minutes=-1, megabytes=-1)
        source = f"persistent://{_NAMESPACE}/source"
        copies = {kind: f"persistent://{_NAMESPACE}/{kind}" for kind in _GUARANTEES}
        for topic in (source, *copies.values()):
            cluster.admin.create_topic(topic, partitions=_PARTITIONS)
        logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, str(folder / "client.log"))
        connect = partial(pulsar.Client, cluster.service_url, logger=logger, operation_timeout_seconds=20)
        proxy = stack.enter_context(running_broker_proxy(cluster.service_url))
        writer = Writer(connect, source, rate)
        task: dict[str, object] = {"url": proxy.service_url, "jar": str(jar_path()), "folder": str(folder)}
        task |= {"source": source, "copies": copies, "sink": "nemesis", "read_every": 10}
        lives = Lives(task, lambda: len(writer.acknowledged))
        stack.callback(lives.kill)
        lives.start()
        lives.await_session()
        topics = tuple(f"{topic}-partition-{n}" for topic in (source, *copies.values()) for n in range(_PARTITIONS))
        arena = Arena(cluster, proxy, cluster.admin, lives, topics, random.Random(seed))
        with writer:
            assert lives.await_copies(0, _START_SECONDS) is not None, "the streams do not start"
            events = _have_faults(arena, minutes * 60, say)
        say("draining")
        client = connect()
        stack.callback(client.close)
        slow = _drain(client, source, copies.values())
        seconds = lives.seconds
        lives.stop()
        left = _left(cluster.admin, topics)
        history = History(
            list(writer.acknowledged),
            _stored(client, source),
            {kind: _stored(client, topic) for kind, topic in copies.items()},
            lives.reads,
            lives.ended,
            left,
        )
    late = [f"after {one.name} at {one.second:.0f} s no batch was copied" for one in events if one.recovered is None]
    return Result(seed, seconds, events, history, writer.failed, lives.copied, [*problems(history), *late, *slow])


def _have_faults(arena: Arena, seconds: float, say: Callable[[str], None]) -> list[Event]:
    """One fault after the other, each after the streams got over the one before; those that bit are counted."""
    events: list[Event] = []
    names: list[str] = []
    end = arena.lives.seconds + seconds
    while arena.lives.seconds < end:
        names = names or order(arena.chance)
        name = names.pop()
        began = arena.lives.seconds
        bit = FAULTS[name](arena)
        ended = arena.lives.seconds
        recovered = arena.lives.await_copies(ended, _RECOVERY_SECONDS)
        events.append(Event(name, began, ended - began, bit, recovered))
        told = "no batch" if recovered is None else f"{recovered:.1f} s"
        say(f"{began:5.0f} s: {name}{'' if bit else ' (had nothing to bite)'}, over after {told}")
    return events


def _drain(client: pulsar.Client, source: str, copies: Iterable[str]) -> list[str]:
    """Wait until the copies have as many different messages as the source."""
    wanted = _different(client, source)
    behind: list[str] = []
    for copy in copies:
        try:
            eventually(partial(_has, client, copy, wanted), seconds=_DRAIN_SECONDS)
        except AssertionError:
            behind.append(f"{copy} has not all messages {_DRAIN_SECONDS:.0f} s after the last fault")
    return behind


def _has(client: pulsar.Client, topic: str, least: int) -> bool:
    return _different(client, topic) >= least


def _different(client: pulsar.Client, topic: str) -> int:
    """How many different messages a topic has now, while a stream may still write it."""
    found: set[bytes] = set()
    for partition in client.get_topic_partitions(topic):
        with closing(client.create_reader(partition, pulsar.MessageId.earliest)) as reader:
            found.update(message.data() for message in remaining(reader))
    return len(found)


def _stored(client: pulsar.Client, topic: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for partition in client.get_topic_partitions(topic):
        found[partition] = [row_of(one.payload) for one in read_all(client, partition)]
    return found


def _left(admin: Admin, topics: Sequence[str]) -> list[str]:
    """Subscriptions that are there some time after the driver has ended."""
    found: Counter[str] = Counter()

    def nothing() -> bool:
        found.clear()
        for topic in topics:
            try:
                found.update({f"a subscription of {topic}": len(admin.stats(topic)["subscriptions"])})
            except (AdminError, OSError, KeyError):
                return False
        return not +found

    try:
        eventually(nothing, seconds=_LEFT_SECONDS)
    except AssertionError:
        return [f"{count} of {name}" for name, count in (+found).items()]
    return []
