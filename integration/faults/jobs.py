"""What runs while a server fails: a batch read and two streams, on topics that one broker serves."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.spark.blocking_batch import LARGE, TAKEN_AT_MOST, BlockedBatch, blocking_batch
from support.topics.copying import Copies
from support.topics.messages import produce, read_all
from support.topics.reading import assert_exactly_once, batch, existing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pulsar
    from pyspark.sql import SparkSession

    from support.servers.cluster import Cluster
    from support.topics.reading import Seen

_SECONDS = 300


@dataclass(frozen=True)
class Jobs:
    """A batch read through brokers that is held in its middle, and streams that copy, one for each guarantee.

    Attributes:
        namespace: Has one bundle, so that one broker serves all topics.
        source: A partition of the topic that is copied.
        read_topic: The topic of the batch read.
        copies: The streams.
        read: The batch read, to be released.
    """

    namespace: str
    source: str
    read_topic: str
    copies: Copies
    read: BlockedBatch
    _wanted: Sequence[Seen]

    def send(self) -> None:
        """Send something to be copied."""
        self.copies.send()

    def read_on(self) -> None:
        """Release the batch read, which has every message once."""
        self.read.release()
        assert_exactly_once(self.read.rows.result(timeout=_SECONDS), self._wanted)

    def check(self) -> None:
        """The batch read and the copies have all, before and after more is sent."""
        self.read_on()
        self.copies.check()
        self.send()
        self.copies.check()


@contextmanager
def running_jobs(
    spark: SparkSession, cluster: Cluster, writer: pulsar.Client, namespace: str, folder: Path
) -> Iterator[Jobs]:
    """Run them; the streams have copied something when it begins."""
    cluster.admin.create_namespace(namespace, policies={"bundles": {"numBundles": 1}})
    source, read_topic = (f"persistent://{namespace}/{name}" for name in ("source", "read"))
    produce(writer, read_topic, [LARGE] * (TAKEN_AT_MOST + 40))
    wanted = existing(read_all(writer, read_topic))
    frame = batch(spark, cluster.service_url, topic=read_topic, **{"pulsar.reader.receiverQueueSize": "20"})
    copies = Copies(spark, cluster.service_url, cluster.admin, writer, source, folder)
    copies.send()
    with copies.running():
        copies.check()
        with blocking_batch(frame, folder) as read:
            yield Jobs(namespace, f"{source}-partition-0", read_topic, copies, read, wanted)
