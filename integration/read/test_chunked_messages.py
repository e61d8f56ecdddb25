"""Messages that producers split over several entries: as the official client reads them, from anywhere to anywhere."""

from __future__ import annotations

import itertools
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from read.chunks import (
    LARGEST_ENTRY,
    are_mixed,
    first_chunk,
    in_chunks,
    random_payloads,
    send_chunked,
    send_together,
)

from support.servers.servers import Addresses, own_server, remove_namespace
from support.spark.errors import failing
from support.spark.waiting import eventually
from support.topics.messages import Received, read_all
from support.topics.offsets import positions
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    dice,
    existing,
    read_available,
    running,
    seen,
    start,
    stream,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

MOST_ROUNDS = 20


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """A server that takes small entries only and begins a ledger after a few of them."""
    limits = {"maxMessageSize": str(LARGEST_ENTRY), "managedLedgerMaxEntriesPerLedger": "7"}
    with own_server(tmp_path_factory.mktemp("chunks"), limits) as addresses:
        yield addresses


_MORE_CODECS = [pytest.param(name, marks=pytest.mark.exhaustive) for name in ("LZ4", "ZLib", "SNAPPY")]


@pytest.mark.parametrize("compression", ["NONE", "ZSTD", *_MORE_CODECS])
def test_chunks_with_each_codec(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, compression: str
) -> None:
    random = dice()
    send_chunked(client, topic, random_payloads(random, 12), compression)
    received = read_all(client, topic)
    assert len(received) == 12
    assert len(in_chunks(received)) >= 3
    newest = batch(spark, service_url, topic=topic, startingOffsets="last 5")
    assert_exactly_once(seen(newest), existing(received)[-5:])
    frame = batch(spark, service_url, topic=topic)
    wanted = ("value", "__position", "__key", "__messageProperties", "unix_millis(__publishTime)", "__messageId")
    rows = [tuple(row) for row in frame.selectExpr(*wanted).collect()]
    assert [row[:5] for row in rows] == [
        (one.payload, one.id.position, one.key.encode(), one.properties, one.publish_time_ms) for one in received
    ]
    ids = [pulsar_client.MessageId.deserialize(bytes(row[5])).serialize() for row in rows]
    assert ids == [one.id_bytes for one in received]
    assert frame.count() == 12
    assert [row[0] for row in frame.select("__entryId").collect()] == [one.id.entry for one in received]


def test_ids_lead_the_official_client_to_the_next_message(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    send_chunked(client, topic, [b"%d" % number + bytes(3 * LARGEST_ENTRY) for number in range(4)])
    rows = batch(spark, service_url, topic=topic).select("__messageId").collect()
    reader = client.create_reader(topic, pulsar_client.MessageId.deserialize(bytes(rows[1][0])))
    assert reader.read_next(timeout_millis=180_000).data()[:1] == b"2"
    reader.close()


@pytest.fixture(scope="module")
def mixed(client: pulsar_client.Client, service_url: str, namespace: str) -> tuple[str, list[Received]]:
    """A topic in which the chunks of three producers are mixed, over many ledgers."""
    topic = f"persistent://{namespace}/mixed"
    random = dice()
    sent: set[bytes] = set()
    for _ in range(MOST_ROUNDS):
        payloads = [random_payloads(random, 9) for _ in range(3)]
        sent.update(payload for one in payloads for payload in one)
        send_together(service_url, topic, payloads)
        received = read_all(client, topic)
        # A producer that connects again sends again what was not confirmed, so that some messages are there twice.
        assert sent == {one.payload for one in received}
        if are_mixed(received):
            break
    else:
        pytest.fail(f"the chunks of no two messages are mixed after {MOST_ROUNDS} rounds")
    assert len({one.id.ledger for one in received}) > 5
    return topic, received


@pytest.mark.parametrize("limit", [{"maxMessagesPerTrigger": "4"}, {"maxBytesPerTrigger": "50k"}], ids=str)
def test_a_stream_with_a_limit_counts_whole_messages(
    spark: SparkSession, service_url: str, mixed: tuple[str, list[Received]], tmp_path: Path, limit: dict[str, str]
) -> None:
    topic, received = mixed
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", **limit)
    read_available(frame, tmp_path, batches)
    sizes = [len(rows) for _, rows in sorted(batches.by_id.items())]
    assert len(sizes) > 5
    assert all(size == 4 for size in sizes[:-1]) or "maxBytesPerTrigger" in limit
    assert_exactly_once(batches.rows, existing(received))


@pytest.fixture(params=["broker", "segment"])
def level(request: pytest.FixtureRequest, admin: Admin) -> dict[str, str]:
    """Options of a read at broker level, and of a direct one in many tasks."""
    return {"readLevel": request.param, "admin.url": admin.url, "minPartitions": "7"}


def _between(
    spark: SparkSession, service_url: str, topic: str, after: str | None, last: str | None, level: dict[str, str]
) -> DataFrame:
    bounds = {"startingOffsets": after and f"after {after}", "endingOffsets": last}
    given = {key: json.dumps({topic: place}) for key, place in bounds.items() if place is not None}
    return batch(spark, service_url, topic=topic, **given, **level)


def test_mixed_messages(
    spark: SparkSession, service_url: str, mixed: tuple[str, list[Received]], level: dict[str, str]
) -> None:
    topic, received = mixed
    frame = batch(spark, service_url, topic=topic, metadataColumns="__messageId,__position", **level)
    assert_exactly_once(seen(frame), existing(received))
    first = [first_chunk(bytes(row[0])) for row in frame.select("__messageId").collect()]
    assert first == [first_chunk(one.id_bytes) for one in received]


def test_little_memory_costs_only_time(
    spark: SparkSession, service_url: str, mixed: tuple[str, list[Received]]
) -> None:
    topic, received = mixed
    largest = max(len(one.payload) for one in received)
    assert_exactly_once(seen(batch(spark, service_url, topic=topic, maxMessageBytes=str(largest))), existing(received))
    with failing("PULSAR_ENTRY_TOO_LARGE", topic, "maxMessageBytes"):
        seen(batch(spark, service_url, topic=topic, maxMessageBytes=str(largest - 1)))


# ChunkedMessagesSuite cuts random topics anywhere.
_MORE_HALVES = [
    pytest.param(*case, marks=pytest.mark.exhaustive) for case in (("segment", 1), ("broker", 8), ("segment", 8))
]


@pytest.mark.parametrize(("level", "count"), [("broker", 1), *_MORE_HALVES], indirect=["level"])
def test_two_halves_have_every_message_once(
    spark: SparkSession, service_url: str, mixed: tuple[str, list[Received]], level: dict[str, str], count: int
) -> None:
    """Also when the cut is inside of several messages, or at the border of two ledgers."""
    random = dice()
    topic, received = mixed
    ends = sorted({(one.id.ledger, one.id.entry) for one in received})
    cuts = {(ledger, random.randint(-1, entry)) for ledger, entry in random.sample(ends[:-1], count)}
    for ledger, entry in sorted({*cuts, (ends[3][0], -1)}):
        cut = f"{ledger}:{entry}"
        wanted = [
            [one for one in received if ((one.id.ledger, one.id.entry) > (ledger, entry)) is late]
            for late in (False, True)
        ]
        for (after, last), messages in zip(((None, cut), (cut, None)), wanted, strict=True):
            half = _between(spark, service_url, topic, after, last, level)
            print(f"cut {cut}: {len(messages)} messages")
            assert [row.position for row in seen(half)] == [one.id.position for one in messages]
            assert half.count() == len(messages)
        assert_exactly_once(seen(_between(spark, service_url, topic, cut, None, level)), existing(wanted[1]))


@pytest.fixture
def slow_topic(admin: Admin) -> Iterator[str]:
    """A topic that takes 50 of the largest entries a second; so most of the time it has a part of some message."""
    namespace = "public/slow"
    admin.create_namespace(namespace)
    admin.set_retention(namespace, minutes=-1, megabytes=-1)
    rate = {"publishThrottlingRateInMsg": 0, "publishThrottlingRateInByte": 50 * LARGEST_ENTRY}
    admin.set_policy(namespace, "publishRate", rate)
    yield f"persistent://{namespace}/topic"
    remove_namespace(admin, namespace)


@contextmanager
def _sending(client: pulsar_client.Client, topic: str, payloads: list[bytes]) -> Iterator[None]:
    """Two producers send all payloads over and over, one by one."""
    enough = threading.Event()

    def send_on() -> None:
        for payload in itertools.takewhile(lambda _: not enough.is_set(), itertools.cycle(payloads)):
            send_chunked(client, topic, [payload])

    threads = [threading.Thread(target=send_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join(300)


def test_a_stream_whose_batches_end_inside_of_messages(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, slow_topic: str, tmp_path: Path
) -> None:
    """It is stopped and started again while others send, twice at least and until a batch ended inside of a message."""
    payloads = random_payloads(dice(), 20)
    send_chunked(client, slow_topic, payloads[:2])
    batches = Batches()
    frame = stream(spark, service_url, topic=slow_topic, startingOffsets="earliest")

    def inside_after_a_run() -> set[str]:
        wanted = len(batches.by_id) + 2
        with _sending(client, slow_topic, payloads), running(start(frame, tmp_path, batches)) as query:
            eventually(lambda: query.exception() or len(batches.by_id) >= wanted)
        assert query.exception() is None
        return set(_ends(tmp_path, slow_topic)) - {one.id.position for one in read_all(client, slow_topic)}

    inside_after_a_run()
    inside = eventually(inside_after_a_run, seconds=600)
    read_available(frame, tmp_path, batches)
    received = read_all(client, slow_topic)
    assert_exactly_once(batches.rows, existing(received))
    print(f"{len(received)} messages, {len(batches.by_id)} batches, {len(inside)} of them ended inside of a message")


def _ends(checkpoint: Path, topic: str) -> list[str]:
    files = [file for file in (checkpoint / "offsets").iterdir() if file.name.isdigit()]
    return [positions(file.read_text().splitlines()[-1])[topic] for file in files]


def test_a_stream_started_inside_of_a_message(
    spark: SparkSession, service_url: str, mixed: tuple[str, list[Received]], tmp_path: Path
) -> None:
    topic, received = mixed
    inside = next(one for one in in_chunks(received) if one.id.entry > 0).id
    offsets = json.dumps({topic: inside.position})
    batches = Batches()
    query = start(stream(spark, service_url, topic=topic, startingOffsets=offsets), tmp_path, batches)
    wanted = [one for one in received if one.id >= inside]
    with running(query):
        wait_for(len(wanted), query, batches)
    assert_exactly_once(batches.rows, existing(wanted))


def test_partly_trimmed_messages_are_skipped_and_counted(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    """Nobody can read a message whose first chunks are gone."""
    send_chunked(client, topic, [b"0" + bytes(11 * LARGEST_ENTRY), b"1" + bytes(3 * LARGEST_ENTRY), b"2"])
    assert len(read_all(client, topic)) == 3
    admin.truncate(topic)
    received = eventually(lambda: left if 0 < len(left := read_all(client, topic)) < 3 else None)
    frame = batch(spark, service_url, topic=topic)
    assert seen(frame) == existing(received)
    frame = batch(spark, service_url, topic=topic).select("value")
    frame.collect()
    assert _metric(frame, "pulsarIncompleteChunks") == 1
    assert _metric(frame, "pulsarDataLoss") == 0


def _metric(frame: DataFrame, name: str) -> int:
    """The value of a metric of the read after its query ran, of which the frame is nothing but a selection."""
    plan = frame._jdf.queryExecution().executedPlan().collectLeaves().head()
    return int(plan.metrics().apply(name).value())
