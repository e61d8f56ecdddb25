"""Streams that copy a topic while servers fail, started again whenever they end, as a scheduler does."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from pulsar_spark.errors import condition_of
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.admin import Admin

_GUARANTEES = ("at-least-once", "exactly-once")
_PARTITIONS = 2
_SECONDS = 300
_LATE = {"operationTimeoutMs": "60000", "sendTimeoutMs": "120000"}


class CopyingStream:
    """A stream that copies a topic to another one.

    Attributes:
        copy: The topic that it writes.
        ended: The conditions by which it ended.
    """

    def __init__(self, spark: SparkSession, service_url: str, source: str, guarantee: str, checkpoint: Path) -> None:
        self.copy = f"{source}-{guarantee}"
        self._source = source
        self.ended: list[str] = []
        self._guarantee = guarantee
        self._rows = stream(spark, service_url, topic=source, startingOffsets="earliest").select("value")
        sink = {"service.url": service_url, "topic": self.copy, "deliveryGuarantee": guarantee, **_LATE}
        if guarantee == "exactly-once":
            sink["sinkId"] = self.copy.rpartition("/")[2]
        writer = self._rows.writeStream.format("pulsar").options(**sink)
        self._writer = writer.option("checkpointLocation", str(checkpoint))
        self._query: StreamingQuery | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Runs inside."""
        self._query = self._writer.start()
        try:
            yield
        finally:
            self._query.stop()

    def until_copied(self, client: pulsar.Client) -> None:
        """Wait until all is copied, exactly once where that is promised; whenever it ends it did so by name.

        What is there to copy is what the source holds: its producer sends again what it has no receipt for.
        """
        wanted = self._payloads(client, self._source)
        eventually(lambda: self._goes_on() and self._payloads(client, self.copy) >= wanted, seconds=_SECONDS)
        found = self._payloads(client, self.copy)
        assert set(found) == set(wanted)
        if self._guarantee == "exactly-once":
            assert found == wanted
        print(f"{self.copy}: {found.total() - wanted.total()} of {wanted.total()} rows came again; ended: {self.ended}")

    def _goes_on(self) -> bool:
        assert self._query is not None
        failure = self._query.exception()
        if failure is not None:
            condition = condition_of(failure)
            assert condition is not None, f"{self.copy} ended without a name: {failure}"
            self.ended.append(condition)
            self._query = self._writer.start()
        return True

    @staticmethod
    def _payloads(client: pulsar.Client, topic: str) -> Counter[bytes]:
        return Counter(message.payload for message in read_all(client, topic))


class Copies:
    """A topic of two partitions, and streams that copy it, one for each guarantee."""

    def __init__(
        self, spark: SparkSession, service_url: str, admin: Admin, writer: pulsar.Client, source: str, folder: Path
    ) -> None:
        self._writer, self._source, self._sent = writer, source, 0
        for name in (source, *(f"{source}-{one}" for one in _GUARANTEES)):
            admin.create_topic(name, partitions=_PARTITIONS)
        self._streams = [CopyingStream(spark, service_url, source, one, folder / one) for one in _GUARANTEES]

    def running(self) -> ExitStack:
        """Both streams run inside."""
        stack = ExitStack()
        for one in self._streams:
            stack.enter_context(one.running())
        return stack

    def send(self, count: int = 500) -> None:
        """Send so many further messages."""
        numbers = range(self._sent, self._sent + count)
        produce(self._writer, self._source, [b"%d" % number for number in numbers], batch_size=7)
        self._sent += count

    def check(self) -> None:
        """All that was sent arrives, in the second copy once."""
        sent = {b"%d" % number for number in range(self._sent)}
        assert {message.payload for message in read_all(self._writer, self._source)} == sent
        for one in self._streams:
            one.until_copied(self._writer)
