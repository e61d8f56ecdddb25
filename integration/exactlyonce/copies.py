"""A topic that a stream copies to another exactly once, and what the official client says of the copy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.recorded import problems

from support.topics.messages import produce, read_all
from support.topics.reading import run_available, stream
from support.topics.sink_records import read_control_topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

TASKS = 2
PER_TRIGGER = 20
STARTS = 6


@dataclass
class Copy:
    """Copies a topic of `TASKS` partitions, which a task each reads.

    Attributes:
        client: The oracle.
        source: The topic to read.
        target: The topic to write.
        sink: The id of the sink, whose topics are in the namespace of the target.
        source_url: Where the source is read.
        folder: Where the checkpoint is.
    """

    client: pulsar_client.Client
    source: str
    target: str
    sink: str
    source_url: str
    folder: Path

    def send(self, values: Iterable[bytes]) -> None:
        """Add messages to the source, some to each partition."""
        chosen = list(values)
        for number in range(TASKS):
            produce(self.client, f"{self.source}-partition-{number}", chosen[number::TASKS], batch_size=1)

    def writer(self, spark: SparkSession, url: str, more: Mapping[str, str] | None = None) -> DataStreamWriter:
        """The stream, which writes to the brokers at the URL."""
        return self.writer_of(self.frame(spark).select("value"), url, more)

    def writer_of(self, frame: DataFrame, url: str, more: Mapping[str, str] | None = None) -> DataStreamWriter:
        """The same with other values."""
        options = {"service.url": url, "topic": self.target, "sinkId": self.sink, **(more or {})}
        return (
            frame.writeStream.format("pulsar")
            .options(**options, deliveryGuarantee="exactly-once")
            .option("checkpointLocation", str(self.folder))
        )

    def frame(self, spark: SparkSession) -> DataFrame:
        """The source as a stream."""
        return stream(
            spark,
            self.source_url,
            topic=self.source,
            startingOffsets="earliest",
            maxMessagesPerTrigger=str(PER_TRIGGER),
        )

    @property
    def namespace(self) -> str:
        """Where the control topics are."""
        return self.target.removeprefix("persistent://").rpartition("/")[0]

    @property
    def visible(self) -> int:
        """How many messages of the copy can be read."""
        return len(read_all(self.client, self.target))

    def run(self, spark: SparkSession, url: str, more: Mapping[str, str] | None = None) -> list[str]:
        """Copy what is there; starts again after an error, whose text is returned, as a user does."""
        failures: list[str] = []
        while len(failures) < STARTS:
            try:
                run_available(self.writer(spark, url, more))
            except Exception as error:
                failures.append(str(error))
            else:
                return failures
        raise AssertionError(f"the stream failed {STARTS} times:\n" + "\n".join(one[:2000] for one in failures))

    def check(self, values: Iterable[bytes]) -> None:
        """Every value is readable once, and the model allows what the control topics say."""
        found = Counter(one.payload for one in read_all(self.client, self.target))
        wanted = Counter(values)
        assert not wanted - found, f"lost: {wanted - found}"
        assert not found - wanted, f"repeated: {found - wanted}"
        wrong = problems(read_control_topics(self.client, self.namespace, self.sink))
        assert not wrong, "\n".join(wrong)
