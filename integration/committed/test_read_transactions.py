"""Messages of transactions: direct reads, too, return what was committed and nothing else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from support.proxies.admin_proxy import RefusedError, changed_admin_url
from support.servers.servers import Addresses, own_server
from support.spark.errors import failing
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    dice,
    entries_by_level,
    existing,
    read_available,
    seen,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin, Json
    from support.topics.transactions import Sender


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """A server that begins a ledger after a few entries."""
    limits = {"managedLedgerMaxEntriesPerLedger": "10"}
    with own_server(tmp_path_factory.mktemp("txn"), limits) as addresses:
        yield addresses


def _send_at_random(sender: Sender, topic: str, count: int) -> tuple[list[bytes], Any]:
    """Some transactions at a time, plain messages between them; returns what is committed, and one that is open."""
    random = dice()
    # the Java client may put messages in and outside of a transaction into one batch, so there are two producers
    producer, plain = sender.producer(topic, batch_size=random.choice([1, 3])), sender.producer(topic, batch_size=1)
    wanted: list[bytes] = []
    opened: list[tuple[Any, list[bytes]]] = []
    for number in range(count):
        payload = b"%d" % number
        place = random.random()
        if place < 0.2 or not opened:
            opened.append((sender.begin(), []))
        if place < 0.3:
            plain.newMessage().value(payload).send()
            wanted.append(payload)
        else:
            transaction, sent = random.choice(opened)
            producer.newMessage(transaction).value(payload).sendAsync()
            sent.append(payload)
        if place > 0.8:
            transaction, sent = opened.pop(random.randrange(len(opened)))
            commit = random.random() < 0.6
            sender.end(transaction, commit=commit)
            wanted += sent if commit else []
    producer.flush()
    for transaction, sent in opened:
        sender.end(transaction, commit=True)
        wanted += sent
    last = sender.begin()
    producer.newMessage(last).value(b"open").send()
    plain.newMessage().value(b"behind").send()
    producer.close()
    plain.close()
    return wanted, last


@pytest.fixture
def same_at_each_level(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> Callable[[], list[bytes | None]]:
    """Reads the topic at each level and compares with the official client; returns the payloads."""

    def check() -> list[bytes | None]:
        wanted = existing(read_all(client, topic))
        for level in ("broker", "segment", "auto"):
            frame = batch(spark, service_url, topic=topic, readLevel=level, **{"admin.url": admin.url})
            assert_exactly_once(seen(frame), wanted)
        newest = batch(spark, service_url, topic=topic, startingOffsets="last 7", **{"admin.url": admin.url})
        assert_exactly_once(seen(newest), wanted[-7:])
        return [one.payload for one in wanted]

    return check


# The random transactions end both ways, and the open one too in test_a_stream_with_direct_reads.
@pytest.mark.parametrize("commit", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_committed_messages_are_read_at_each_level(
    sender: Sender,
    admin: Admin,
    topic: str,
    same_at_each_level: Callable[[], list[bytes | None]],
    commit: bool,
) -> None:
    wanted, last = _send_at_random(sender, topic, 60)
    found = same_at_each_level()
    assert sorted(found, key=str) == sorted(wanted, key=str), "nothing of the open transaction, nor what is behind it"
    assert len(wanted) < 60, "some are of transactions that were aborted"
    assert len(admin.internal_stats(topic)["ledgers"]) > 3
    sender.end(last, commit=commit)
    expected = [*wanted, b"behind", *([b"open"] if commit else [])]
    assert sorted(same_at_each_level(), key=str) == sorted(expected, key=str)
    admin.unload(topic)  # the broker has to learn anew what was aborted
    assert sorted(same_at_each_level(), key=str) == sorted(expected, key=str)


def test_nothing_but_committed_transactions(
    sender: Sender, topic: str, same_at_each_level: Callable[[], list[bytes | None]]
) -> None:
    producer = sender.producer(topic, batch_size=1)
    for number in range(15):
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"%d" % number).send()
        sender.end(transaction, commit=True)
    producer.close()
    assert same_at_each_level() == [b"%d" % number for number in range(15)]


def test_a_message_that_arrives_after_its_transaction_was_aborted_is_not_read(
    sender: Sender, topic: str, same_at_each_level: Callable[[], list[bytes | None]]
) -> None:
    producer = sender.producer(topic, batch_size=1)
    producer.newMessage().value(b"first").send()
    transaction = sender.begin()
    producer.newMessage(transaction).value(b"in time").send()
    sender.end(transaction, commit=False)
    late = producer.newMessage().value(b"late")
    identity = transaction.getTxnID()
    late.getMetadataBuilder().setTxnidMostBits(identity.getMostSigBits()).setTxnidLeastBits(identity.getLeastSigBits())
    late.send()
    producer.newMessage().value(b"last").send()
    producer.close()
    assert same_at_each_level() == [b"first", b"last"]


def test_a_stream_with_direct_reads(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    sender: Sender,
    topic: str,
    tmp_path: Path,
) -> None:
    produce(client, topic, [b"plain"])
    batches = Batches()
    options = {"startingOffsets": "earliest", "readLevel": "segment", "admin.url": admin.url}
    frame = stream(spark, service_url, topic=topic, **options)
    for commit in (True, False):
        _, last = _send_at_random(sender, topic, 30)
        read_available(frame, tmp_path, batches)
        assert b"behind" not in [row.payload for row in batches.rows][-1:]
        sender.end(last, commit=commit)
        read_available(frame, tmp_path, batches)
        assert_exactly_once(batches.rows, existing(read_all(client, topic)))


_ONE_KIND = [pytest.param(kind, marks=pytest.mark.exhaustive) for kind in ("committed", "aborted")]


@pytest.mark.parametrize("ended", ["both", *_ONE_KIND])  # both have the markers of either
def test_a_stream_that_starts_at_a_time_behind_markers(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    sender: Sender,
    topic: str,
    tmp_path: Path,
    ended: str,
) -> None:
    produce(client, topic, [b"plain"])
    producer = sender.producer(topic, batch_size=1)
    for number in range(12):
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"%d" % number).send()
        sender.end(transaction, commit={"committed": True, "aborted": False}.get(ended, number % 2 == 0))
    before = len(read_all(client, topic))
    tomorrow = str(int((time.time() + 86_400) * 1000))
    frames = {
        "time": stream(spark, service_url, topic=topic, startingTime=str(int(time.time() * 1000))),
        "future": stream(spark, service_url, topic=topic, startingTime=tomorrow),
        "latest": stream(spark, service_url, topic=topic, startingOffsets="latest"),
    }
    sinks = {name: Batches() for name in frames}
    for turn in range(3):
        for name, frame in frames.items():
            read_available(frame, tmp_path / name, sinks[name])
            wanted = [] if name == "future" else existing(read_all(client, topic)[before:])
            assert sinks[name].rows == wanted, f"{name}, turn {turn}"
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"in turn %d" % turn).send()
        sender.end(transaction, commit=True)
    producer.close()


def _forget_transactions(path: str, answer: Json) -> Json:
    if "/transactions/" in path:
        raise RefusedError(500, "transactions are forgotten")
    return answer


def test_the_broker_delivers_what_direct_reads_cannot_decide(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, sender: Sender, topic: str
) -> None:
    produce(client, topic, [b"plain %d" % number for number in range(25)], batch_size=2)
    _, last = _send_at_random(sender, topic, 60)
    sender.end(last, commit=True)
    wanted = existing(read_all(client, topic))
    with changed_admin_url(admin.url, _forget_transactions) as url:
        frame = batch(spark, service_url, topic=topic, readLevel="auto", **{"admin.url": url})
        assert_exactly_once(seen(frame), wanted)
        with failing("PULSAR_SEGMENT_READ_FAILED", topic, "which transactions were aborted"):
            seen(batch(spark, service_url, topic=topic, readLevel="segment", **{"admin.url": url}))


def _noting(asked: list[str]) -> Callable[[str, Json], Json]:
    """What writes down which transactions are asked for."""

    def note(path: str, answer: Json) -> Json:
        if "/transactionInBufferStats/" in path:
            asked.append(path)
        return answer

    return note


def test_all_reads_request_each_transaction_once(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, sender: Sender, topic: str
) -> None:
    _, last = _send_at_random(sender, topic, 80)
    sender.end(last, commit=False)
    produce(client, topic, [b"late"])
    received = read_all(client, topic)
    wanted = existing(received)
    assert len(admin.internal_stats(topic)["ledgers"]) > 3
    asked: list[str] = []
    with changed_admin_url(admin.url, _noting(asked)) as url:
        options = {"topic": topic, "readLevel": "segment", "minPartitions": "1", "admin.url": url}
        for _ in range(2):
            assert_exactly_once(seen(batch(spark, service_url, **options)), wanted)
        frame = batch(spark, service_url, **options)
        assert frame.count() == len(wanted)
        assert asked
        assert len(asked) == len(set(asked))
        asked.clear()
        unshared = batch(spark, service_url, **options, operationTimeoutMs="60001")
        late = unshared.where(f"__publishTime >= timestamp_millis({received[-1].publish_time_ms})")
        assert [bytes(row[0]) for row in late.select("value").collect()] == [b"late"]
        assert not asked, "what filters leave out is asked for"


def test_many_transactions_are_left_to_the_broker(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, sender: Sender, topic: str
) -> None:
    producer = sender.producer(topic, batch_size=1)
    for number in range(130):
        transaction = sender.begin()
        producer.newMessage(transaction).value(b"%d" % number).send()
        sender.end(transaction, commit=number != 1)
    producer.close()
    wanted = existing(read_all(client, topic))
    assert len(wanted) == 129
    asked: list[str] = []
    with changed_admin_url(admin.url, _noting(asked)) as url:
        frame = batch(spark, service_url, topic=topic, minPartitions="1", **{"admin.url": url})
        assert_exactly_once(seen(frame), wanted)
        assert len(asked) == 100
        assert entries_by_level(frame)["broker"] > 0
        assert len(asked) == 100
