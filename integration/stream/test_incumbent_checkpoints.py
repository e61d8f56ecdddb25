"""Checkpoints of streamnative/pulsar-spark: a stream continues from them, and reads every message exactly once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import condition_of
from support.spark.logs import warnings
from support.topics.messages import Received, produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_TAKEN_OVER = "The stream continues from a checkpoint of streamnative/pulsar-spark"
_METADATA = {
    "batchWatermarkMs": 0,
    "batchTimestampMs": 1700000000000,
    "conf": {
        "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
        "HDFSBackedStateStoreProvider",
        "spark.sql.streaming.multipleWatermarkPolicy": "min",
        "spark.sql.shuffle.partitions": "200",
    },
}


class Incumbent:
    """Writes the files of that connector's streams, with the message ids of the Java client, as it does."""

    def __init__(self, spark: SparkSession, checkpoint: Path) -> None:
        jvm: Any = spark.sparkContext._jvm
        client = jvm.io.github.pulsarspark.shaded.org.apache.pulsar.client
        self._checkpoint, self._ids = checkpoint, client.impl
        self.earliest = self._array(client.api.MessageId.earliest)
        _write(checkpoint / "metadata", '{"id":"6f0ff9e0-9b4a-4c2e-8f0e-0d9a3a1d2b4c"}')

    def last(self, one: Received) -> list[int]:
        """The id as the broker reports the last message: without a batch index for the first one of a batch."""
        if one.id.batch <= 0:
            return self.entry(one)
        return self._array(
            self._ids.BatchMessageIdImpl(one.id.ledger, one.id.entry, _partition(one.topic), one.id.batch)
        )

    def entry(self, one: Received) -> list[int]:
        """The id of the entry of a message, as the start of a stream and the end of a limited batch have it."""
        return self._array(self._ids.MessageIdImpl(one.id.ledger, one.id.entry, _partition(one.topic)))

    def initial(self, ids: Mapping[str, list[int]]) -> None:
        _write(self._checkpoint / "sources/0/0", f"v1\n{_json(ids)}")

    def planned(self, batch: int, ids: Mapping[str, list[int]]) -> None:
        _write(self._checkpoint / "offsets" / str(batch), f"v1\n{_json(_METADATA)}\n{_json(ids)}")

    def committed(self, batch: int, ids: Mapping[str, list[int]]) -> None:
        self.planned(batch, ids)
        _write(self._checkpoint / "commits" / str(batch), 'v1\n{"nextBatchWatermarkMs":0}')

    @staticmethod
    def _array(message_id: Any) -> list[int]:  # noqa: ANN401 - py4j objects have no type
        return [byte - 256 if byte > 127 else byte for byte in message_id.toByteArray()]


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _partition(topic: str) -> int:
    return int(topic.rpartition("-partition-")[2]) if "-partition-" in topic else -1


@pytest.fixture
def rounds(admin: Admin, client: pulsar_client.Client, topic: str) -> Callable[[int], dict[str, list[Received]]]:
    """Publishes a round to both partitions; returns what each partition has now."""
    admin.create_topic(topic, partitions=2)

    def publish(batch_size: int) -> dict[str, list[Received]]:
        for partition in (0, 1):
            payloads = [f"{partition} {number}".encode() for number in range(batch_size * 3 // 2 + 3)]
            produce(client, f"{topic}-partition-{partition}", payloads, batch_size=batch_size)
        received = read_all(client, topic)
        return {name: [one for one in received if one.topic == name] for name in {one.topic for one in received}}

    return publish


def _through_entry(there: list[Received], last: Received) -> int:
    """The number of messages up to the end of an entry."""
    return sum((one.id.ledger, one.id.entry) <= (last.id.ledger, last.id.entry) for one in there)


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
def test_a_stream_continues_after_the_last_batch_and_repeats_a_planned_one(
    spark: SparkSession,
    service_url: str,
    topic: str,
    tmp_path: Path,
    rounds: Callable[[int], dict[str, list[Received]]],
    batch_size: int,
) -> None:
    first, second = f"{topic}-partition-0", f"{topic}-partition-1"
    incumbent = Incumbent(spark, tmp_path / "checkpoint")
    incumbent.initial({first: incumbent.earliest, second: incumbent.earliest})
    there = rounds(batch_size)
    read = {name: len(there[name]) for name in (first, second)}
    incumbent.committed(0, {name: incumbent.last(there[name][-1]) for name in read})
    there = rounds(batch_size)
    middle = there[first][read[first] + 1]
    ends = {first: _through_entry(there[first], middle), second: len(there[second])}
    incumbent.planned(1, {first: incumbent.entry(middle), second: incumbent.last(there[second][-1])})
    there = rounds(batch_size)

    batches = Batches()
    frame = stream(spark, service_url, topic=topic)
    with warnings(spark, tmp_path) as logged:
        read_available(frame, tmp_path / "checkpoint", batches)
        there = rounds(batch_size)
        read_available(frame, tmp_path / "checkpoint", batches)
        assert logged().count(_TAKEN_OVER) == 1
    planned = [one for name, rows in there.items() for one in rows[read[name] : ends[name]]]
    assert_exactly_once(batches.by_id[1], existing(planned))
    assert_exactly_once(batches.rows, existing([one for name, rows in there.items() for one in rows[read[name] :]]))


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
@pytest.mark.parametrize("planned", [False, True])
def test_a_stream_without_a_committed_batch_starts_at_its_first_message(
    spark: SparkSession,
    service_url: str,
    topic: str,
    tmp_path: Path,
    rounds: Callable[[int], dict[str, list[Received]]],
    batch_size: int,
    planned: bool,
) -> None:
    first, second = f"{topic}-partition-0", f"{topic}-partition-1"
    there = rounds(batch_size)
    start = there[first][batch_size]
    incumbent = Incumbent(spark, tmp_path)
    incumbent.initial({first: incumbent.entry(start), second: incumbent.earliest})
    if planned:
        incumbent.planned(0, {name: incumbent.last(there[name][-1]) for name in (first, second)})
    wanted = {first: there[first][batch_size:], second: there[second]}
    batches = Batches()
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)
    assert_exactly_once(batches.by_id[0], existing([one for rows in wanted.values() for one in rows]))
    there = rounds(batch_size)
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)
    wanted[first], wanted[second] = there[first][batch_size:], there[second]
    assert_exactly_once(batches.rows, existing([one for rows in wanted.values() for one in rows]))


def test_partitions_that_joined_since_or_in_a_planned_batch_are_read_from_their_first_message(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    """The topics of a pattern: one was read, one joins in the planned batch, one joins later."""
    names = [f"{topic}-{number}" for number in range(3)]
    for name in names:
        produce(client, name, [b"%d" % number for number in range(20)], batch_size=7)
    there = {name: read_all(client, name) for name in names}
    incumbent = Incumbent(spark, tmp_path)
    incumbent.initial({names[0]: incumbent.earliest})
    incumbent.committed(0, {names[0]: incumbent.last(there[names[0]][-1])})
    incumbent.planned(1, {name: incumbent.last(there[name][-1]) for name in names[:2]})
    batches = Batches()
    pattern = topic.removeprefix("persistent://") + "-.*"
    read_available(stream(spark, service_url, topicsPattern=pattern), tmp_path, batches)
    assert_exactly_once(batches.by_id[1], existing(there[names[1]]))
    assert_exactly_once(batches.rows, existing([*there[names[1]], *there[names[2]]]))


@pytest.mark.parametrize(
    ("initial", "offset", "source"),
    [
        ('\0v1\n{"t":{"0":5}}', '{"t":{"0":9}}', "a source such as kafka"),
        ("v1\n0", "41", "a source that counts, such as rate"),
    ],
)
def test_a_checkpoint_of_another_source_is_an_error(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    initial: str,
    offset: str,
    source: str,
) -> None:
    produce(client, topic, [b"1"])
    for name in ("initial", "offsets"):
        checkpoint = tmp_path / name
        _write(checkpoint / "metadata", '{"id":"6f0ff9e0-9b4a-4c2e-8f0e-0d9a3a1d2b4c"}')
        if name == "initial":
            _write(checkpoint / "sources/0/0", initial)
        else:
            _write(checkpoint / "offsets/0", f"v1\n{_json(_METADATA)}\n{offset}")
            _write(checkpoint / "commits/0", 'v1\n{"nextBatchWatermarkMs":0}')
        with pytest.raises(Exception, match=f"belongs to {source}, not to Pulsar") as failure:
            read_available(stream(spark, service_url, topic=topic), checkpoint, Batches())
        assert condition_of(failure.value) == "PULSAR_CHECKPOINT_FOREIGN"
