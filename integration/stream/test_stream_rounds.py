"""A stream while a producer writes and topics are unloaded: every message once, at any level, with any batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, running, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

pytestmark = pytest.mark.exhaustive

_ROUNDS = 6
# In a row, so that consumers subscribe while a topic is unloaded.
_UNLOADS = 4
# In each round and partition: some full batches, and a part of one.
_MESSAGES = {1: 40, 7: 150, 1000: 2500}
_LIMITS = {1: "23", 7: "101", 1000: "1777"}


@dataclass(frozen=True)
class Rounds:
    """Some rounds in which each partition is written to, and then one of them is unloaded."""

    spark: SparkSession
    pulsar: Addresses
    admin: Admin
    client: pulsar_client.Client
    topic: str
    folder: Path

    def read(self, options: dict[str, str], *, batch_size: int, limited: bool, unloads: int) -> None:
        """Read them by a stream meanwhile, and check that each message is read once and within the limit."""
        self.admin.create_topic(self.topic, partitions=2)
        partitions = [f"{self.topic}-partition-{number}" for number in (0, 1)]

        def write() -> None:
            for turn in range(_ROUNDS):
                for partition in partitions:
                    payloads = [b"%d %d" % (turn, number) for number in range(_MESSAGES[batch_size])]
                    produce(self.client, partition, payloads, batch_size=batch_size)
                for _ in range(unloads):
                    self.admin.unload(partitions[turn % 2])

        limits = {"maxMessagesPerTrigger": _LIMITS[batch_size]} if limited else {}
        settings = {"admin.url": self.pulsar.admin_url, "startingOffsets": "earliest", **options, **limits}
        batches = Batches()
        frame = stream(self.spark, self.pulsar.service_url, topic=self.topic, **settings)
        with ThreadPoolExecutor(1) as pool, running(start(frame, self.folder, batches)) as query:
            pool.submit(write).result()
            wait_for(_ROUNDS * len(partitions) * _MESSAGES[batch_size], query, batches)
        assert_exactly_once(batches.rows, existing(read_all(self.client, self.topic)))
        if limited:
            assert max(map(len, batches.by_id.values())) <= int(_LIMITS[batch_size])


@pytest.fixture
def rounds(
    spark: SparkSession, pulsar: Addresses, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> Rounds:
    return Rounds(spark, pulsar, admin, client, topic, tmp_path)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("batch_size", _MESSAGES)
@pytest.mark.parametrize("level", ["broker", "segment", "auto"])
def test_a_stream_of_topics_that_are_written_to_and_unloaded(
    rounds: Rounds, level: str, batch_size: int, limited: bool
) -> None:
    rounds.read({"readLevel": level}, batch_size=batch_size, limited=limited, unloads=1)


@pytest.mark.parametrize("limited", [False, True])
def test_a_stream_of_topics_that_are_unloaded_several_times_in_a_row(rounds: Rounds, limited: bool) -> None:
    """A broker forgets consumers that subscribe while it unloads their topic, or answers as if the topic were empty."""
    rounds.read({}, batch_size=7, limited=limited, unloads=_UNLOADS)
