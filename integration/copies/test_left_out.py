"""A topic whose own policy leaves one of the two clusters out: the brokers there delete it.

A cluster accepts no such policy for itself. It gets it from the other one, as a global policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pulsar_spark.testing.admin import topic_path
from support.servers.admin import AdminError
from support.servers.two_clusters import REPLICATED
from support.spark.errors import failing
from support.spark.waiting import IN_TIME, becomes, eventually, within
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, batch, read_available, stream
from support.topics.writing import Target

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.two_clusters import Side

pytestmark = pytest.mark.exhaustive


class _LeftOut:
    """A topic that the east has no more, and what a stream has read of it before."""

    def __init__(self, spark: SparkSession, sides: tuple[Side, Side], folder: Path, partitions: int) -> None:
        self._spark, self._folder = spark, folder
        self.east, self.west = sides
        self.topic = f"persistent://{REPLICATED}/left-out-{folder.name}"
        self.batches = Batches()
        self.east.admin.create_topic(self.topic, partitions=partitions)
        parts = self.east.client.get_topic_partitions(self.topic)
        produce(self.east.client, self.topic, [b"%d" % number for number in range(10)])
        self.read()
        eventually(lambda: set(parts) <= set(self.west.admin.topics(REPLICATED)))
        becomes(lambda: len(read_all(self.west.client, self.topic)), 10)
        policy = f"{topic_path(self.topic)}/replication"
        with pytest.raises(AdminError, match="Can not remove local cluster"):
            self.east.admin.call("POST", policy, ["west"])
        self.west.admin.call("POST", f"{policy}?isGlobal=true", ["west"])
        eventually(lambda: not set(parts) & set(self.east.admin.topics(REPLICATED)))

    def read(self) -> None:
        frame = stream(self._spark, self.east.service_url, topic=self.topic, startingOffsets="earliest")
        read_available(frame, self._folder, self.batches)

    def count(self, side: Side) -> int:
        return batch(self._spark, side.service_url, topic=self.topic).count()

    def write(self) -> None:
        target = Target(self._spark, self.east.client, self.east.admin, self.east.service_url)
        target.append_sql("select 'x' as value", self.topic, {"operationTimeoutMs": "5000"})


def test_a_topic_is_missing_until_a_write_creates_it_again(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """The policy is deleted with it, so it is replicated as its namespace is."""
    left = _LeftOut(spark, sides, tmp_path, partitions=0)
    with failing("PULSAR_TOPIC_NOT_FOUND", left.topic):
        left.count(left.east)
    with failing("PULSAR_TOPIC_NOT_FOUND", left.topic):
        left.read()
    left.write()
    assert left.count(left.east) == 1
    becomes(lambda: left.count(left.west), 11)
    with failing("PULSAR_DATA_LOSS.TRIMMED", left.topic):
        left.read()
    assert len(left.batches.rows) == 10


def test_a_partitioned_topic_is_empty_and_refuses_writes(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    left = _LeftOut(spark, sides, tmp_path, partitions=2)
    assert left.count(left.east) == 0
    with failing("PULSAR_DATA_LOSS.TOPIC_DELETED", left.topic):
        left.read()
    with within(IN_TIME), failing("PULSAR_UNREACHABLE", left.topic):
        left.write()
    assert len(left.batches.rows) == 10
    assert left.count(left.west) == 10
