"""The compacted view of a topic, as the Java client's reader has it."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from support.servers.servers import remove_namespace
from support.spark.errors import refused
from support.spark.waiting import eventually
from support.topics.java_values import java_connection
from support.topics.messages import Message, produce, read_all
from support.topics.reading import Batches, batch, java_client, read_available, seen, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

Pair = tuple[str, bytes]

_numbers = itertools.count(1)


def _updates(count: int, keys: int) -> list[Message]:
    """Values of some keys, the last one of each; every fifth key ends deleted."""
    sent = [Message(b"%d" % number, key=f"key {number % keys}") for number in range(count)]
    return sent + [Message(None, key=f"key {number}") for number in range(0, keys, 5)]


def _compacted(spark: SparkSession, pulsar: Addresses, topic: str, after: Any = None) -> list[Pair]:  # noqa: ANN401
    """What a reader of the Java client gets, from the beginning or after a message id."""
    found = []
    with java_connection(spark, pulsar.service_url) as client:
        start = after or java_client(spark).MessageId.earliest
        reader = client.newReader().topic(topic).startMessageId(start).readCompacted(True).create()
        while reader.hasMessageAvailable():
            message = reader.readNext()
            found.append((str(message.getKey()), bytes(message.getData() or b"")))
        reader.close()
    return found


def _frame(spark: SparkSession, pulsar: Addresses, topic: str, **options: str) -> DataFrame:
    return batch(spark, pulsar.service_url, topic=topic, readCompacted="true", **options)


def _pairs(spark: SparkSession, pulsar: Addresses, topic: str, **options: str) -> list[Pair]:
    rows = _frame(spark, pulsar, topic, **options).select("__key", "value").collect()
    return [(bytes(key).decode(), bytes(value or b"")) for key, value in rows]


def _compact(admin: Admin, topic: str) -> None:
    admin.compact(topic)
    eventually(lambda: admin.is_compacted(topic))


@pytest.mark.parametrize("batch_size", [None, 7, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_the_compacted_view_and_later_messages(
    spark: SparkSession,
    pulsar: Addresses,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    batch_size: int | None,
) -> None:
    produce(client, topic, _updates(200, 20), batch_size=batch_size)
    assert len(_pairs(spark, pulsar, topic)) == 204, "nothing is compacted yet"
    _compact(admin, topic)
    compacted = _pairs(spark, pulsar, topic)
    assert _frame(spark, pulsar, topic).count() == len(compacted), "what compaction removed is not counted"
    assert _pairs(spark, pulsar, topic, startingOffsets="last 5") == compacted[-5:]
    newest = {(f"key {number}", b"%d" % (180 + number)) for number in range(20) if number % 5}
    assert {pair for pair in compacted if pair[1]} == newest
    assert compacted == _compacted(spark, pulsar, topic)
    produce(client, topic, [Message(b"later", key="key 1"), Message(b"new", key="key 99")], batch_size=batch_size)
    assert _pairs(spark, pulsar, topic) == _compacted(spark, pulsar, topic)
    assert _pairs(spark, pulsar, topic, **{"admin.url": pulsar.admin_url}) == _compacted(spark, pulsar, topic)
    assert len(seen(batch(spark, pulsar.service_url, topic=topic))) == 206, "the whole topic is still there"


def test_a_stream_begins_with_the_compacted_view(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _updates(100, 10))
    _compact(admin, topic)
    sink = Batches()
    frame = stream(spark, pulsar.service_url, topic=topic, startingOffsets="earliest", readCompacted="true")
    read_available(frame, tmp_path, sink)
    assert [row.payload or b"" for row in sink.rows] == [payload for _, payload in _compacted(spark, pulsar, topic)]
    produce(client, topic, [Message(b"later", key="key 1")])
    read_available(frame, tmp_path, sink)
    assert sink.rows[-1].payload == b"later"


def test_segments_have_no_compacted_view(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _updates(5, 5))
    with refused("PULSAR_SEGMENT_UNAVAILABLE", topic, "the compacted view is the broker's"):
        _pairs(spark, pulsar, topic, readLevel="segment", **{"admin.url": pulsar.admin_url})


# Ledgers that are gone but for what compaction kept of them.


@pytest.fixture(scope="module")
def short_lived(admin: Admin, namespace: str) -> Iterator[str]:
    """A namespace that keeps no ledger longer than it has to; ledgers go when they are trimmed."""
    name = f"{namespace}-short"
    admin.create_namespace(name)
    admin.set_retention(name, minutes=0, megabytes=0)
    yield name
    remove_namespace(admin, name)


@pytest.fixture
def trimmed(short_lived: str) -> str:
    """A topic in that namespace."""
    return f"persistent://{short_lived}/topic-{next(_numbers)}"


def _ledgers(admin: Admin, topic: str) -> list[int]:
    return [int(one["ledgerId"]) for one in admin.internal_stats(topic)["ledgers"]]


def _fill(
    client: pulsar_client.Client, admin: Admin, topic: str, *, ledgers: int, batch_size: int | None, first: int = 0
) -> None:
    """Ten updates in each ledger: of keys of its own, and of keys that the next one updates again.

    The last ledger stays open.
    """
    for number in range(first, first + ledgers):
        own = [Message(b"%d" % key, key=f"own {number} {key}") for key in range(6)]
        shared = [Message(b"in %d" % number, key=f"shared {key}") for key in range(4)]
        produce(client, topic, [*own, *shared], batch_size=batch_size)
        if number < first + ledgers - 1:
            admin.unload(topic)


def _trim(admin: Admin, topic: str, *, left: int) -> None:
    """Trim until so many ledgers are left, the open one among them."""

    def is_trimmed() -> bool:
        admin.trim(topic)
        return len(_ledgers(admin, topic)) <= left

    eventually(is_trimmed)


@pytest.mark.parametrize(
    ("gone", "batch_size"),
    [
        ("none", None),
        ("part", 4),
        ("all", None),
        pytest.param("none", 4, marks=pytest.mark.exhaustive),
        pytest.param("part", None, marks=pytest.mark.exhaustive),
        pytest.param("all", 4, marks=pytest.mark.exhaustive),
    ],
)
def test_compacted_messages_of_trimmed_ledgers_are_read(
    spark: SparkSession,
    pulsar: Addresses,
    client: pulsar_client.Client,
    admin: Admin,
    trimmed: str,
    gone: str,
    batch_size: int | None,
    tmp_path: Path,
) -> None:
    if gone == "none":
        admin.create_subscription(trimmed, "keeps everything")
    _fill(client, admin, trimmed, ledgers=3, batch_size=batch_size)
    _compact(admin, trimmed)
    if gone == "all":
        admin.unload(trimmed)
    if gone != "none":
        _trim(admin, trimmed, left=1)
    # a broker that was unloaded may show what is not compacted for a moment
    wanted = eventually(lambda: pairs if len(pairs := _compacted(spark, pulsar, trimmed)) == 22 else None)
    assert _pairs(spark, pulsar, trimmed) == wanted
    assert _frame(spark, pulsar, trimmed).count() == 22
    assert len(_frame(spark, pulsar, trimmed).select("__publishTime").collect()) == 22

    sink = Batches()
    frame = stream(spark, pulsar.service_url, topic=trimmed, startingOffsets="earliest", readCompacted="true")
    read_available(frame, tmp_path, sink)
    assert [row.payload for row in sink.rows] == [payload for _, payload in wanted]
    # after a restart the stream goes on behind what it read, whatever has become of the ledger of that position
    _fill(client, admin, trimmed, ledgers=2, batch_size=batch_size, first=3)
    read_available(frame, tmp_path, sink)
    assert len(sink.rows) == 22 + 20
    _compact(admin, trimmed)
    admin.unload(trimmed)
    if gone != "none":
        _trim(admin, trimmed, left=1)
    read_available(frame, tmp_path, sink)
    assert len(sink.rows) == 22 + 20, "compaction brings nothing new"
    # a broker that was unloaded may show what was compacted before for a moment
    eventually(lambda: len(_compacted(spark, pulsar, trimmed)) == 22 + 12)
    assert _pairs(spark, pulsar, trimmed) == _compacted(spark, pulsar, trimmed), "compacted twice"
    produce(client, trimmed, [Message(b"later", key="own 0 0")])
    read_available(frame, tmp_path, sink)
    assert [row.payload for row in sink.rows[22 + 20 :]] == [b"later"]


def test_positions_and_times_within_the_compacted_part(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, trimmed: str
) -> None:
    _fill(client, admin, trimmed, ledgers=3, batch_size=4)
    received = read_all(client, trimmed)
    _compact(admin, trimmed)
    admin.unload(trimmed)
    _trim(admin, trimmed, left=1)
    rows = _frame(spark, pulsar, trimmed).select("__position", "value", "__publishTime").collect()
    assert len(rows) == 22
    for start in (0, 3, 7, 20, 21):
        offsets = json.dumps({"version": 1, "positions": {trimmed: rows[start][0]}})
        found = _frame(spark, pulsar, trimmed, startingOffsets=offsets).select("__position", "value", "__publishTime")
        assert found.collect() == rows[start + 1 :], f"after {rows[start][0]}"
        end = json.dumps({trimmed: rows[start][0]})
        assert _frame(spark, pulsar, trimmed, endingOffsets=end).count() == start + 1
    ledgers = Counter(int(row[0].split(":")[0]) for row in rows)
    assert len(ledgers) == 3
    for ledger, count in ledgers.items():
        filtered = _frame(spark, pulsar, trimmed, **{"admin.url": pulsar.admin_url}).where(f"__ledgerId = {ledger}")
        assert filtered.count() == count, f"ledger {ledger}"
    times = sorted({one.publish_time_ms for one in received})
    for time_ms in (times[0] - 1, times[len(times) // 2], times[-1], times[-1] + 1):
        published = [row for row in rows if row[2].timestamp() * 1000 >= time_ms]
        assert _frame(spark, pulsar, trimmed, startingTime=str(time_ms)).count() == len(published)
        before = [row for row in rows if row[2].timestamp() * 1000 < time_ms]
        assert _frame(spark, pulsar, trimmed, endingTime=str(time_ms)).count() == len(before)


def test_partitions_with_compacted_messages_only(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, trimmed: str
) -> None:
    admin.create_topic(trimmed, partitions=3)
    partitions = [f"{trimmed}-partition-{number}" for number in range(3)]
    for partition in partitions[:2]:
        _fill(client, admin, partition, ledgers=2, batch_size=None)
        _compact(admin, partition)
    admin.unload(partitions[0])
    for partition in partitions[:2]:
        _trim(admin, partition, left=1)
    wanted = [pair for partition in partitions for pair in _compacted(spark, pulsar, partition)]
    assert sorted(_pairs(spark, pulsar, trimmed)) == sorted(wanted)
    assert _frame(spark, pulsar, trimmed).count() == len(wanted) == 32


def test_a_compacted_stream_whose_last_tombstone_goes(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [Message(b"1", key="a"), Message(b"2", key="b"), Message(None, key="b")])
    sink = Batches()
    frame = stream(spark, pulsar.service_url, topic=topic, startingOffsets="earliest", readCompacted="true")
    read_available(frame, tmp_path, sink)
    assert len(sink.rows) == 3
    _compact(admin, topic)
    read_available(frame, tmp_path, sink)
    produce(client, topic, [Message(b"3", key="c")])
    read_available(frame, tmp_path, sink)
    assert [row.payload for row in sink.rows] == [b"1", b"2", None, b"3"]


def test_a_stream_with_a_limit_counts_what_compaction_kept(
    spark: SparkSession, pulsar: Addresses, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _updates(120, 30), batch_size=20)
    _compact(admin, topic)
    produce(client, topic, _updates(25, 30), batch_size=20)
    wanted = _pairs(spark, pulsar, topic)
    options = {"startingOffsets": "earliest", "readCompacted": "true", "maxMessagesPerTrigger": "7"}
    batches = Batches()
    read_available(stream(spark, pulsar.service_url, topic=topic, **options), tmp_path, batches)
    sizes = [len(rows) for _, rows in sorted(batches.by_id.items())]
    assert sizes == [7] * (len(wanted) // 7) + [len(wanted) % 7][: len(wanted) % 7]
    assert [row.payload or b"" for row in batches.rows] == [payload for _, payload in wanted]
