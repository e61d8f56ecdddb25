"""What reads ask of brokers, bookies and the admin service: at most so many requests of each kind.

Clients and their connections are there before anything is counted, if not in every executor. Tasks run in executors, so
that connections show who asks. The numbers are those of today: a change that needs fewer requests lowers them, and no
change may need more. The cheapest of some runs counts, for a busy machine makes the connector repeat a lookup
(`CurrentLookup`).
"""

from __future__ import annotations

import queue
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.proxies.admin_proxy import AdminProxy, running_admin_proxy
from support.proxies.bookie_proxy import BookieProxy, running_bookie_proxy
from support.proxies.broker_proxy import BrokerProxy, running_broker_proxy
from support.proxies.counting import Counts, counted
from support.spark.leaks import bookie_ids
from support.topics.messages import Message, produce
from support.topics.reading import batch, description, running, start, stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_PARTITIONS, _ROWS, _BATCH_SIZE = 4, 1000, 10
_SECONDS = 180
_RUNS = 10  # at most

# For each step, who asks what, and how often at most: four partitions, in each 25 entries of ten messages, a schema.
# The plan of a batch asks twice: for the first and last message, and for the last entry, to confirm the last message.
LIMITS = {
    "batch, broker, load": {"driver: GET_SCHEMA": 1, "driver: PARTITIONED_METADATA": 1},
    "batch, broker, plan": {
        "driver: CLOSE_CONSUMER": 8,
        "driver: GET_LAST_MESSAGE_ID": 8,
        "driver: GET_SCHEMA": 1,
        "driver: LOOKUP": 8,
        "driver: PARTITIONED_METADATA": 1,
        "driver: SUBSCRIBE": 8,
    },
    "batch, broker, tasks": {
        "task: CLOSE_CONSUMER": 4,
        "task: CONNECT": 2,
        "task: FLOW": 8,
        "task: GET_LAST_MESSAGE_ID": 4,
        "task: LOOKUP": 4,
        "task: SUBSCRIBE": 4,
    },
    "batch, segment, load": {"driver: GET_SCHEMA": 1, "driver: PARTITIONED_METADATA": 1},
    "batch, segment, plan": {
        "admin service: internalStats?metadata=true": 4,
        "driver: CLOSE_CONSUMER": 8,
        "driver: GET_LAST_MESSAGE_ID": 8,
        "driver: GET_SCHEMA": 1,
        "driver: LOOKUP": 8,
        "driver: PARTITIONED_METADATA": 1,
        "driver: SUBSCRIBE": 8,
    },
    "batch, segment, tasks": {
        "bookies: BATCH_READ_ENTRY": 4,
        "bookies: CONNECTION": 4,
    },
    "micro-batch, broker": {
        "driver: GET_LAST_MESSAGE_ID": 4,
        "driver: PARTITIONED_METADATA": 1,
        "task: CLOSE_CONSUMER": 4,
        "task: CONNECT": 2,
        "task: FLOW": 8,
        "task: GET_LAST_MESSAGE_ID": 4,
        "task: LOOKUP": 4,
        "task: SUBSCRIBE": 4,
    },
    "micro-batch, segment": {
        "admin service: internalStats?metadata=true": 4,
        "bookies: BATCH_READ_ENTRY": 4,
        "bookies: CONNECTION": 4,
        "driver: GET_LAST_MESSAGE_ID": 4,
        "driver: PARTITIONED_METADATA": 1,
    },
}


@dataclass(frozen=True)
class Proxies:
    """What stands between Spark and one Pulsar."""

    broker: BrokerProxy
    admin: AdminProxy
    bookie: BookieProxy

    def options(self, level: str) -> dict[str, str]:
        if level == "broker":
            return {"readLevel": level}
        return {"readLevel": level, "admin.url": self.admin.url, "bookieAddresses": self.bookie.addresses}

    @contextmanager
    def counted(self) -> Iterator[Sequence[Counts]]:
        with counted(self.broker) as broker, counted(self.admin) as admin, counted(self.bookie) as bookie:
            yield broker, admin, bookie


def _requests(counts: Sequence[Counts]) -> Counter[str]:
    """By who asks and what."""
    broker, admin, bookie = counts
    # The driver has subscribed before; an executor that reads from bookies never does.
    found = {"driver": broker.requests("driver"), "task": broker.requests("task", "unknown", "shared")}
    found |= {"admin service": admin.requests(), "bookies": bookie.requests()}
    return Counter({f"{who}: {kind}": number for who, asked in found.items() for kind, number in asked.items()})


@pytest.fixture(scope="module")
def proxies(pulsar: Addresses, admin: Admin) -> Iterator[Proxies]:
    with ExitStack() as stack:
        (bookie,) = bookie_ids(admin)
        yield Proxies(
            stack.enter_context(running_broker_proxy(pulsar.service_url)),
            stack.enter_context(running_admin_proxy(admin.url)),
            stack.enter_context(running_bookie_proxy(bookie)),
        )


@pytest.fixture
def filled(admin: Admin, client: pulsar_client.Client, topic: str) -> str:
    admin.create_topic(topic, partitions=_PARTITIONS)
    _fill(client, topic)
    return topic


def _fill(client: pulsar_client.Client, topic: str) -> None:
    for partition in range(_PARTITIONS):
        messages = [Message(str(n)) for n in range(_ROWS // _PARTITIONS)]
        schema = pulsar_client.schema.StringSchema()
        produce(client, f"{topic}-partition-{partition}", messages, batch_size=_BATCH_SIZE, schema=schema)


def _least(runs: Iterable[dict[str, Counter[str]]]) -> dict[str, Counter[str]]:
    """Each step as the run shows it that needed the fewest requests; runs end when no step needs more than it may."""
    least: dict[str, Counter[str]] = {}
    for run in runs:
        least = {step: min(found, least.get(step, found), key=Counter.total) for step, found in run.items()}
        if not any(found - Counter(LIMITS.get(step, {})) for step, found in least.items()):
            break
    return least


def _check(steps: dict[str, Counter[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """Print what was asked, and fail where it is more than it may be."""
    lines, excess = [], []
    for step, found in steps.items():
        limits = LIMITS.get(step, {})
        lines.append(f"{step}: {found.total()} requests, at most {sum(limits.values())}")
        for what in sorted({*found, *limits}):
            line = f"  {what:55}{found[what]:4} of {limits.get(what, 0):4}"
            lines.append(line)
            if found[what] > limits.get(what, 0):
                excess.append(f"{step}: {line.strip()}")
    with capsys.disabled():
        print("", *lines, sep="\n")
    assert not excess, "\n".join(["more requests than allowed:", *excess, "all of them:", *lines])


@pytest.mark.parametrize("level", ["broker", "segment"])
def test_a_batch_read(
    spark: SparkSession, proxies: Proxies, filled: str, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def load() -> DataFrame:
        return batch(spark, proxies.broker.service_url, topic=filled, **proxies.options(level))

    def run() -> dict[str, Counter[str]]:
        with proxies.counted() as loading:
            frame = load()
        with proxies.counted() as planning:
            description(frame)
        with proxies.counted() as tasks:
            assert len(frame.collect()) == _ROWS
        steps = {"load": loading, "plan": planning, "tasks": tasks}
        return {f"batch, {level}, {name}": _requests(counts) for name, counts in steps.items()}

    assert len(load().collect()) == _ROWS
    _check(_least(run() for _ in range(_RUNS)), capsys)


class _Steps:
    """A sink that stops after it has read a batch."""

    def __init__(self) -> None:
        self._read: queue.Queue[int] = queue.Queue()
        self._next: queue.Queue[None] = queue.Queue()

    def __call__(self, frame: DataFrame, _: int) -> None:
        self._read.put(len(frame.collect()))
        self._next.get(timeout=_SECONDS)

    def read(self) -> int:
        """Wait until a batch is read; the number of its rows."""
        return self._read.get(timeout=_SECONDS)

    def go_on(self) -> None:
        self._next.put(None)


@pytest.mark.parametrize("level", ["broker", "segment"])
def test_a_micro_batch(
    spark: SparkSession,
    proxies: Proxies,
    client: pulsar_client.Client,
    filled: str,
    level: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From the end of a batch to that of the next one, which brings as many rows."""
    options = {"topic": filled, "startingOffsets": "earliest", **proxies.options(level)}
    steps = _Steps()

    def run() -> dict[str, Counter[str]]:
        _fill(client, filled)
        with proxies.counted() as counts:
            steps.go_on()
            assert steps.read() == _ROWS
        return {f"micro-batch, {level}": _requests(counts)}

    with running(start(stream(spark, proxies.broker.service_url, **options), tmp_path, steps), steps.go_on):
        assert steps.read() == _ROWS
        found = _least(run() for _ in range(_RUNS))
    _check(found, capsys)
