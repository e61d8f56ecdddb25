"""Every metadata column is what the Java client says of each message, in batches and streams, at both levels, and back.

Runs on several Spark lines, as metadata columns are the part of the connector in which the lines differ most.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.topics.java_values import java_connection
from support.topics.reading import batch, java_client, read_available, run_available

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

TOPIC = "persistent://public/default/every-column"
INTERCEPTORS = "org.apache.pulsar.common.intercept"
COLUMNS = (
    "__position",
    "value",
    "__key",
    "__topic",
    "unix_millis(__publishTime)",
    "unix_millis(__eventTime)",
    "__messageProperties",
    "__keyIsText",
    "__partition",
    "__ledgerId",
    "__entryId",
    "__batchIndex",
    "__sequenceId",
    "__producerName",
    "__schemaVersion",
    "__orderingKey",
    "__replicatedFrom",
    "unix_millis(__brokerPublishTime)",
    "__index",
    "unix_millis(__deliverAt)",
    "__messageId",
)
NAMES = [column.removeprefix("unix_millis(").removesuffix(")") for column in COLUMNS]
MESSAGES = 24
_HAS_HIDDEN_ONES = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 2)
HOUR_MS = 3_600_000

# PySpark 4.0 and 4.1 leave the socket of a `collect` for the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPulsar]:
    """A broker that adds its time and an index to entries."""
    config = {
        "brokerEntryMetadataInterceptors": f"{INTERCEPTORS}.AppendBrokerTimestampMetadataInterceptor,"
        f"{INTERCEPTORS}.AppendIndexMetadataInterceptor",
        "exposingBrokerEntryMetadataToClientEnabled": "true",
    }
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("columns") / "pulsar", config=config) as server:
        Admin(server.admin_url).create_topic(TOPIC, partitions=2)
        yield server


@pytest.fixture(scope="module")
def expected(spark: SparkSession, server: LocalPulsar) -> list[tuple[Any, ...]]:
    """Messages that have and have not what a message can have, as the Java client reads them."""
    api = java_client(spark)
    with java_connection(spark, server.service_url) as java:
        producer = java.newProducer(api.Schema.STRING).topic(TOPIC).producerName("its name").create()
        for number in range(MESSAGES):
            message = producer.newMessage().value(f"v{number}").sequenceId(100 + number)
            if number % 2:
                message.keyBytes(f"k{number}".encode()) if number % 4 == 3 else message.key(f"k{number}")
                message.property("n", str(number)).eventTime(1_700_000_000_000 + number)
            if number % 3 == 0:
                message.orderingKey(bytes([number, 255]))
            if number % 5 == 0:
                message.deliverAt(int(time.time() * 1000) + HOUR_MS + number)
            message.sendAsync()
        producer.flush()
        found = [one for partition in range(2) for one in _read(java, api, f"{TOPIC}-partition-{partition}", partition)]
    assert len(found) == MESSAGES
    return sorted(found)


def _read(java: Any, api: Any, topic: str, partition: int) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - py4j
    for one in _messages(java, api, topic):
        place = one.getMessageId()
        ledger, entry, index = place.getLedgerId(), place.getEntryId(), place.getBatchIndex()
        yield (
            f"{ledger}:{entry}" + (f":{index}" if index >= 0 else ""),
            bytes(one.getData()).decode(),
            bytes(one.getKeyBytes()) if one.hasKey() else None,
            topic,
            one.getPublishTime(),
            one.getEventTime() or None,
            dict(one.getProperties()),
            not one.hasBase64EncodedKey() if one.hasKey() else None,
            partition,
            ledger,
            entry,
            index if index >= 0 else None,
            one.getSequenceId(),
            one.getProducerName(),
            bytes(one.getSchemaVersion()),
            bytes(one.getOrderingKey()) if one.hasOrderingKey() else None,
            None,
            one.getBrokerPublishTime().get(),
            one.getIndex().get(),
            one.getDeliverAtTime() or None,
            bytes(place.toByteArray()),
        )


def _messages(java: Any, api: Any, topic: str) -> Iterator[Any]:  # noqa: ANN401 - py4j
    reader = java.newReader().topic(topic).startMessageId(api.MessageId.earliest).create()
    while reader.hasMessageAvailable():
        yield reader.readNext()


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(
        tuple(bytes(value) if isinstance(value, bytearray) else value for value in row)
        for row in frame.selectExpr(*COLUMNS).collect()
    )


@pytest.fixture(params=["broker", "segment"])
def options(request: pytest.FixtureRequest, server: LocalPulsar) -> dict[str, str]:
    return {"topic": TOPIC, "readLevel": request.param, "admin.url": server.admin_url}


def test_a_batch(
    spark: SparkSession, server: LocalPulsar, options: dict[str, str], expected: list[tuple[Any, ...]]
) -> None:
    assert rows(batch(spark, server.service_url, **options)) == expected
    shown = batch(spark, server.service_url, **options, metadataColumns="all")
    assert sorted(shown.columns) == sorted(NAMES)
    assert rows(shown) == expected


@pytest.mark.parametrize("hidden", [True, False] if _HAS_HIDDEN_ONES else [False])
def test_a_stream(
    spark: SparkSession,
    server: LocalPulsar,
    options: dict[str, str],
    expected: list[tuple[Any, ...]],
    tmp_path: Path,
    *,
    hidden: bool,
) -> None:
    """Before Spark 4.2 streams have no hidden columns, so they need the option."""
    reader = spark.readStream.format("pulsar").options(**options, startingOffsets="earliest")
    frame = reader.option("service.url", server.service_url)
    if not hidden:
        frame = frame.option("metadataColumns", "all")
    found: list[tuple[Any, ...]] = []
    read_available(frame.load().select(*NAMES), tmp_path, lambda part, _: found.extend(rows(part)))
    assert sorted(found) == expected


def test_a_batch_writes_every_column_that_writes_take(spark: SparkSession, server: LocalPulsar) -> None:
    topic = f"{TOPIC}-written"
    Admin(server.admin_url).create_topic(topic, partitions=2)
    before = int(time.time() * 1000)
    due = before + 2 * HOUR_MS
    rows = spark.sql(
        f"""select concat('w', id) as value, '{topic}' as __topic, int(id % 2) as __partition, 50 + id as __sequenceId,
        if(id % 3 = 0, concat('k', id), null) as __key, if(id % 3 = 1, unhex('00ff'), null) as __orderingKey,
        if(id % 3 = 0, timestamp_millis(1700000000000 + id), null) as __eventTime,
        map('n', string(id)) as __messageProperties,
        if(id % 4 = 2, timestamp_millis({due} + id), null) as __deliverAt,
        if(id % 4 = 3, interval '1:00:00.0' hour to second, null) as __deliverAfter,
        if(id % 2 = 0, array('standalone'), null) as __replicationClusters from range(0, 12, 1, 1)"""
    )
    rows.write.format("pulsar").mode("append").option("service.url", server.service_url).save()
    after = int(time.time() * 1000)
    api = java_client(spark)
    with java_connection(spark, server.service_url) as java:
        found = [(part, one) for part in range(2) for one in _messages(java, api, f"{topic}-partition-{part}")]
        assert len(found) == 12
        for partition, one in found:
            number = int(one.getProperty("n"))
            assert partition == number % 2
            assert (bytes(one.getData()).decode(), one.getSequenceId()) == (f"w{number}", 50 + number)
            assert (one.getKey() if one.hasKey() else None) == (f"k{number}" if number % 3 == 0 else None)
            assert one.hasOrderingKey() == (number % 3 == 1)
            assert not one.hasOrderingKey() or bytes(one.getOrderingKey()) == b"\x00\xff"
            assert one.getEventTime() == (1_700_000_000_000 + number if number % 3 == 0 else 0)
            earliest, latest = {2: (due + number,) * 2, 3: (before + HOUR_MS, after + HOUR_MS)}.get(number % 4, (0, 0))
            assert earliest <= one.getDeliverAtTime() <= latest
            assert list(one.getReplicateTo()) == (["standalone"] if number % 2 == 0 else [])


def test_a_stream_writes_what_it_read(
    spark: SparkSession, server: LocalPulsar, expected: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    """All columns are in the rows: those that a message cannot be given are left out."""
    copy = f"{TOPIC}-copy"
    Admin(server.admin_url).create_topic(copy, partitions=2)
    options = {"service.url": server.service_url, "topic": TOPIC, "startingOffsets": "earliest"}
    frame = spark.readStream.format("pulsar").options(**options, metadataColumns="all").load()
    writer = frame.writeStream.format("pulsar").options(**{"service.url": server.service_url, "topic": copy})
    run_available(writer.option("checkpointLocation", str(tmp_path)))
    kept = (
        "value",
        "__key",
        "__keyIsText",
        "__partition",
        "__sequenceId",
        "__eventTime",
        "__messageProperties",
        "__orderingKey",
    )
    places = [NAMES.index(name) for name in (*kept, "__deliverAt")]

    def content(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return sorted(tuple(row[place] for place in places) for row in found)

    written = rows(batch(spark, server.service_url, topic=copy))
    assert content(written) == content(expected)
    assert [row for row in written if row in expected] == []
