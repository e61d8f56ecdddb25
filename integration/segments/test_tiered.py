"""Ledgers that a real broker has offloaded, in both formats, read directly: the rows are the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from support.servers.offloading import ENTRIES_PER_LEDGER, Offloading
from support.spark.errors import failing
from support.topics.messages import Message, produce, read_all
from support.topics.reading import (
    assert_exactly_once,
    batch,
    by_level,
    description,
    dice,
    entries_by_level,
    existing,
    metrics,
    seen,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from support.topics.reading import Seen

# A name that is another one in the paths of offloaded ledgers.
_TOPIC = "persistent://public/default/an odd%name"
_OPEN_ENTRIES = 30
# Of map files the gate has the rows of all tiers, in test_plan; SplitPointLoaderSuite, LevelParitySuite (the rows),
# OffloadLocationsSuite and OffloadedLedgersSuite have both formats.
_FORMATS = pytest.mark.parametrize(
    "offloading", ["block", pytest.param("mapfile", marks=pytest.mark.exhaustive)], indirect=True
)


@dataclass(frozen=True)
class Written:
    """A topic with two offloaded ledgers, whose copies on the bookie are gone, and the open one."""

    messages: list[Seen]
    offloading: Offloading

    @property
    def first_ledger(self) -> int:
        return int(self.messages[0].position.partition(":")[0])


@pytest.fixture(scope="module")
def written(offloading: Offloading) -> Written:
    """One ledger of single messages, in more than one block, and one of compressed batches."""
    random, client = dice(), offloading.client
    single = [
        Message(random.randbytes(random.randrange(50_000, 70_000)), key=str(n)) for n in range(ENTRIES_PER_LEDGER)
    ]
    small = [
        Message(random.randbytes(random.randrange(300)), properties={"n": str(n)}, event_time_ms=1_700_000_000_000 + n)
        for n in range(5 * (ENTRIES_PER_LEDGER + _OPEN_ENTRIES))
    ]
    produce(client, _TOPIC, single)
    produce(client, _TOPIC, small, batch_size=5, compression="ZSTD")
    messages = existing(read_all(client, _TOPIC))
    offloading.offload(_TOPIC)
    assert len(offloading.ledgers(_TOPIC)) == 2
    return Written(messages, offloading)


def _read(spark: SparkSession, offloading: Offloading, topic: str = _TOPIC, **options: str) -> DataFrame:
    server = offloading.server
    return batch(spark, server.service_url, topic=topic, **{"admin.url": server.admin_url, **options})


def _in_order(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=lambda row: [int(part) for part in row["__position"].split(":")])


@_FORMATS
def test_the_rows_are_those_of_the_broker(spark: SparkSession, written: Written) -> None:
    past = _read(spark, written.offloading, readLevel="segment", metadataColumns="all")
    found = metrics(past)
    assert by_level(found, "Entries") == {"broker": 0, "bookies": _OPEN_ENTRIES, "tiered": 2 * ENTRIES_PER_LEDGER}
    assert by_level(found, "Rows") == {"broker": 0, "bookies": 5 * _OPEN_ENTRIES, "tiered": 6 * ENTRIES_PER_LEDGER}
    sizes = by_level(found, "Bytes")
    assert sizes["tiered"] > 50_000 * ENTRIES_PER_LEDGER > sizes["bookies"] > sizes["broker"] == 0
    assert sum(sizes.values()) == found["Bytes"]
    through = _read(spark, written.offloading, readLevel="broker", metadataColumns="all")
    assert _in_order(past) == _in_order(through)
    assert_exactly_once(seen(past), written.messages)


@_FORMATS
def test_offloaded_ledgers_are_cut_into_tasks(spark: SparkSession, written: Written) -> None:
    # Blocks are read from their beginning: the first ledger has two, the second one.
    for size, fewest in (("100k", 4), ("2m", 2)):
        frame = _read(spark, written.offloading, readLevel="segment", maxBytesPerPartition=size)
        assert frame.rdd.getNumPartitions() >= fewest
        assert_exactly_once(seen(frame), written.messages)


@_FORMATS
def test_a_range_may_begin_and_end_anywhere(spark: SparkSession, written: Written) -> None:
    random = dice()
    for _ in range(4):
        start, end = sorted(random.sample(range(len(written.messages)), 2))
        bounds = {
            "startingOffsets": json.dumps({_TOPIC: written.messages[start].position}),
            "endingOffsets": json.dumps({_TOPIC: written.messages[end].position}),
        }
        frame = _read(spark, written.offloading, readLevel="segment", **bounds)
        assert_exactly_once(seen(frame), written.messages[start : end + 1])


@_FORMATS
def test_the_location_is_an_option(spark: SparkSession, written: Written) -> None:
    given = {"offload.location": written.offloading.location, "offload.format": written.offloading.format}
    assert_exactly_once(seen(_read(spark, written.offloading, readLevel="segment", **given)), written.messages)


@_FORMATS
def test_a_wrong_location_is_an_error_or_the_brokers_affair(spark: SparkSession, written: Written) -> None:
    nowhere = {
        "offload.location": f"{written.offloading.location}/nowhere",
        "offload.format": written.offloading.format,
    }
    auto = _read(spark, written.offloading, **nowhere)
    assert_exactly_once(seen(auto), written.messages)
    assert entries_by_level(auto)["broker"] >= 2 * ENTRIES_PER_LEDGER
    with failing("PULSAR_SEGMENT_READ_FAILED", _TOPIC, "[PULSAR_OFFLOAD_GONE]", str(written.first_ledger), "nowhere"):
        _read(spark, written.offloading, readLevel="segment", **nowhere).collect()


@_FORMATS
def test_ledgers_are_offloaded_between_plan_and_read(spark: SparkSession, offloading: Offloading) -> None:
    topic = "persistent://public/default/moving"
    produce(offloading.client, topic, [b"%d" % number for number in range(2 * ENTRIES_PER_LEDGER + 10)])
    wanted = existing(read_all(offloading.client, topic))
    frame = _read(spark, offloading, topic, readLevel="segment")
    assert "bookies" in description(frame)
    offloading.offload(topic)
    assert_exactly_once(seen(frame), wanted)


@pytest.mark.exhaustive  # test_tiered_errors has damaged copies, DamagedOffloadSuite all kinds of damage
def test_a_copy_that_is_damaged(spark: SparkSession, offloading: Offloading) -> None:
    topic = "persistent://public/default/damaged"
    produce(offloading.client, topic, [b"%d" % number * 100 for number in range(ENTRIES_PER_LEDGER + 10)])
    offloading.offload(topic)
    _destroy(spark, offloading, topic)
    with failing("PULSAR_SEGMENT_READ_FAILED", topic, "[PULSAR_OFFLOAD_"):
        _read(spark, offloading, topic, readLevel="segment").collect()


def _destroy(spark: SparkSession, offloading: Offloading, topic: str) -> None:
    """Put zeros in place of the data of the only offloaded ledger, half as many."""
    (ledger,) = offloading.ledgers(topic)
    number, uuid = ledger["ledgerId"], ledger["offloadedContextUuid"]
    folder = f"public/default/persistent/{topic.rpartition('/')[2]}"
    place = f"{uuid}-ledger-{number}" if offloading.format == "block" else f"{folder}/{number}-{uuid}/data"
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(f"{offloading.location}/{place}")
    storage = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    half = bytearray(storage.getFileStatus(path).getLen() // 2)
    source = storage.open(path)
    source.close()
    target = storage.create(path, True)
    target.write(half)
    target.close()
