"""One run: a cluster, a writer, a driver with its queries, and faults by chance."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pulsar
from nemesis.arena import Arena
from nemesis.checker import problems
from nemesis.ending import drain, left, stored
from nemesis.history import Guarantee, History
from nemesis.lines import LISTENER, Lines
from nemesis.lives import Lives
from nemesis.notes import Notes
from nemesis.rounds import have_faults, late
from nemesis.writer import numbered, writer

from pulsar_spark import jar_path
from pulsar_spark.local import FileSystemOffload, versions
from pulsar_spark.local import offload as offloading
from support.servers.cluster import running_cluster
from support.servers.shifted_clock import ShiftedClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nemesis.rounds import Event

_NAMESPACE, _SOURCE_NAMESPACE = "public/nemesis", "public/nemesis-source"
_PARTITIONS = 2
_SESSION_SECONDS = 15
# Bookies look every second for ledgers that nobody has any more, by default every some minutes.
_SMALL_LEDGERS = {"managedLedgerMaxEntriesPerLedger": "300", "gcWaitTime": "1000"}
_START_SECONDS = 600.0
_GUARANTEES: tuple[Guarantee, ...] = ("at-least-once", "exactly-once")


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
        lines, offload = Lines(stack), FileSystemOffload(folder / "offloaded")
        job_clock, broker_clock = ShiftedClock(folder / "job-clock"), ShiftedClock(folder / "broker-clock")
        servers = {**_SMALL_LEDGERS, **offloading.settings(offload, folder, versions.DEFAULT)}
        cluster = stack.enter_context(
            running_cluster(
                folder / "cluster",
                transactions=True,
                brokers=2,
                session_seconds=_SESSION_SECONDS,
                external=lines.add,
                settings=servers,
                environment=broker_clock.environment,
            )
        )
        for namespace, kept in ((_NAMESPACE, -1), (_SOURCE_NAMESPACE, 0)):
            cluster.admin.create_namespace(namespace)
            cluster.admin.set_retention(namespace, minutes=kept, megabytes=kept)
        source = f"persistent://{_SOURCE_NAMESPACE}/source"
        copies = {kind: f"persistent://{_NAMESPACE}/{kind}" for kind in _GUARANTEES}
        for topic in (source, *copies.values()):
            cluster.admin.create_topic(topic, partitions=_PARTITIONS)
        logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, str(folder / "client.log"))
        connect = partial(pulsar.Client, cluster.service_url, logger=logger, operation_timeout_seconds=20)
        client = connect()
        stack.callback(client.close)
        topics = tuple(f"{topic}-partition-{n}" for topic in (source, *copies.values()) for n in range(_PARTITIONS))
        notes = Notes(client, topics[:_PARTITIONS])
        sending = writer(connect, source, rate)
        task: dict[str, object] = {"url": lines.service_url, "listener": LISTENER, "jar": str(jar_path())}
        task |= {"folder": str(folder), "source": source, "copies": copies, "sink": "nemesis", "read_every": 10}
        task["direct"] = {"admin.url": cluster.admin_url, "offload.location": offload.folder.as_uri()}
        lives = Lives(task, job_clock.environment, lambda: len(sending.acknowledged), lambda: notes.counts)
        stack.callback(lives.kill)
        lives.start()
        lives.await_session()
        arena = Arena(cluster, lines, lives, job_clock, broker_clock, notes, topics, random.Random(seed))
        notes.begin(arena.admin_of)
        with sending:
            assert lives.await_copies(0, _START_SECONDS) is not None, "the streams do not start"
            events = have_faults(arena, minutes * 60, say)
        say("draining")
        notes.finish()
        slow = drain(client, notes.different, copies.values())
        seconds = lives.seconds
        lives.stop()
        remains = left(cluster.admin, topics)
        history = History(
            [numbered(number) for number in sending.acknowledged],
            notes.rows,
            {kind: stored(client, topic) for kind, topic in copies.items()},
            lives.reads,
            lives.ended,
            remains,
            notes.ledgers,
        )
    wrong = [*problems(history), *late(events), *slow]
    return Result(seed, seconds, events, history, sending.failed, lives.copied, wrong)
