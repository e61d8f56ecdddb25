"""Faults in the middle of a read cost time, not rows; a server that is gone for good is an error in time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.servers.admin import Admin, AdminError
from support.servers.freezing import frozen
from support.spark.blocking_batch import LARGE, TAKEN_AT_MOST, blocking_batch
from support.spark.errors import failing
from support.spark.waiting import IN_TIME, eventually, within
from support.topics.messages import connected, produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    existing,
    read_available,
    running,
    seen,
    start,
    stream,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from pulsar_spark.local import LocalPulsar
    from support.topics.reading import Seen

_MESSAGES = 2000
_AHEAD = 50

# The broker may be only a little ahead of a slow reader, so that a fault meets both in the middle.
_LITTLE_AHEAD = {"pulsar.reader.receiverQueueSize": str(_AHEAD)}


def _payloads(count: int) -> list[bytes]:
    return [b"%d " % number + b"x" * 100 for number in range(count)]


def _slowly(frame: DataFrame, milliseconds: int) -> DataFrame:
    """The same rows, each of which takes its time inside the task that reads it."""
    pause = f"java_method('java.lang.Thread', 'sleep', {milliseconds}L)"
    return frame.selectExpr("__topic", "__position", f"CASE WHEN {pause} IS NULL THEN value ELSE value END AS value")


@contextmanager
def _reading(frame: DataFrame) -> Iterator[Future[list[Seen]]]:
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(seen, frame)


def _sent(admin: Admin, topic: str) -> int:
    """How many messages the broker has sent of the topic since it loaded it."""
    return int(admin.stats(topic)["msgOutCounter"])


def _until(look: Callable[[], bool], rows: Future[list[Seen]]) -> None:
    """Wait for something to happen while a read goes on; it must not be over by then."""

    def happened() -> bool:
        assert not rows.done(), f"the read was over too early, with {len(rows.result())} rows"
        try:
            return look()
        except AdminError as error:
            if error.status < 500:
                raise
            return False  # a server that was killed a moment ago may not have its bookie yet

    eventually(happened)


@pytest.mark.parametrize("batch_size", [pytest.param(None, marks=pytest.mark.exhaustive), 7])
def test_unloads_in_the_middle_of_a_task(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    batch_size: int | None,
) -> None:
    produce(client, topic, _payloads(_MESSAGES), batch_size=batch_size)
    wanted = existing(read_all(client, topic))
    with _reading(_slowly(batch(spark, service_url, topic=topic, **_LITTLE_AHEAD), 5)) as rows:
        for _ in range(3):
            already = _sent(admin, topic)
            # The counter begins again when a topic is loaded.
            _until(lambda already=already: not already <= _sent(admin, topic) < already + 100, rows)  # type: ignore[misc]
            admin.unload(topic)
        assert_exactly_once(rows.result(timeout=300), wanted)


def test_an_unload_under_a_running_stream(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)) as query:
        for turn in range(1, 4):
            for partition in (0, 1):
                produce(client, f"{topic}-partition-{partition}", _payloads(50), batch_size=7)
            admin.unload(f"{topic}-partition-{turn % 2}")
            wait_for(100 * turn, query, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.exhaustive  # the broker is killed under a stream below; BrokerEntrySourceSuite has lost feeds
@pytest.mark.parametrize("times", [1, 3])
def test_a_broker_that_is_killed_under_one_read(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path, times: int
) -> None:
    topic = f"persistent://public/default/killed-{times}"
    admin = Admin(own_pulsar.admin_url)
    with connected(own_pulsar.service_url, tmp_path) as client:
        produce(client, topic, _payloads(_MESSAGES))
        wanted = existing(read_all(client, topic))
    admin.unload(topic)  # the counter starts again at 0
    with _reading(_slowly(batch(spark, own_pulsar.service_url, topic=topic, **_LITTLE_AHEAD), 5)) as rows:
        for _ in range(times):
            _until(lambda: _sent(admin, topic) > 100, rows)
            own_pulsar.restart(graceful=False)
        assert_exactly_once(rows.result(timeout=300), wanted)


def test_a_broker_that_is_killed_under_a_stream_and_then_for_good(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path
) -> None:
    topic = "persistent://public/default/streamed"
    batches = Batches()
    checkpoint = tmp_path / "checkpoint"
    url = own_pulsar.service_url
    with connected(url, tmp_path) as client:
        produce(client, topic, _payloads(100), batch_size=7)
        # A restart may take longer than the default.
        frame = stream(spark, url, topic=topic, startingOffsets="earliest", operationTimeoutMs="90000")
        with running(start(frame, checkpoint, batches)) as query:
            wait_for(100, query, batches)
            own_pulsar.restart(graceful=False)
            produce(client, topic, _payloads(100), batch_size=7)
            wait_for(200, query, batches)
            assert_exactly_once(batches.rows, existing(read_all(client, topic)))
        own_pulsar.kill()
    with within(IN_TIME), pytest.raises(Exception, match=r"\[PULSAR_UNREACHABLE\] .* within 2000 ms"):
        read_available(stream(spark, url, topic=topic, operationTimeoutMs="2000"), checkpoint, batches)


def _sent_to_task(admin: Admin, topic: str) -> tuple[str, int] | None:
    """The subscription of the one task, and how many messages the broker has sent to it."""
    found = {name: one["msgOutCounter"] for name, one in admin.stats(topic)["subscriptions"].items()}
    tasks = [name for name in found if "-task-" in name]
    return (tasks[0], found[tasks[0]]) if len(tasks) == 1 else None


def _is_marked(admin: Admin, topic: str, subscription: str, entry: int) -> bool:
    mark = str(admin.internal_stats(topic)["cursors"][subscription]["markDeletePosition"])
    return int(mark.split(":")[1]) >= entry


@pytest.mark.parametrize("left", [pytest.param(0, marks=pytest.mark.exhaustive), 30])
def test_messages_that_expire_under_a_reader_are_read_on(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    left: int,
) -> None:
    """Expiry moves the cursor over what was not sent yet, but the messages are still there."""
    count = TAKEN_AT_MOST + _AHEAD + 100
    ids = produce(client, topic, [LARGE] * count)
    wanted = existing(read_all(client, topic))
    with blocking_batch(batch(spark, service_url, topic=topic, **_LITTLE_AHEAD), tmp_path) as read:
        reader, sent = eventually(lambda: _sent_to_task(admin, topic))
        assert sent < count - left, "the reader has to be before what expires"
        last = ids[count - left - 1]
        admin.expire(topic, reader, ledger=last.ledger, entry=last.entry)
        eventually(lambda: _is_marked(admin, topic, reader, last.entry))
        read.release()
        assert_exactly_once(read.rows.result(timeout=300), wanted)


def test_a_server_that_is_frozen_ends_the_read_in_time(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path
) -> None:
    topic = "persistent://public/default/frozen"
    with connected(own_pulsar.service_url, tmp_path) as client:
        produce(client, topic, [LARGE] * (TAKEN_AT_MOST + _AHEAD + 100))
    deadlines = {"pollTimeoutMs": "8000", "operationTimeoutMs": "8000"}
    frame = batch(spark, own_pulsar.service_url, topic=topic, **_LITTLE_AHEAD, **deadlines)
    with blocking_batch(frame, tmp_path) as read, frozen(own_pulsar.pid):
        read.release()
        with within(IN_TIME), failing("PULSAR_READ_TIMEOUT", topic, "within 8000 ms"):
            read.rows.result(timeout=300)


@pytest.mark.parametrize("poll_timeout_ms", [5000, pytest.param(60000, marks=pytest.mark.exhaustive)])
def test_an_outage_at_the_end_of_a_ledger_may_last_as_long_as_one_anywhere(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path, poll_timeout_ms: int
) -> None:
    """Where a ledger ends the broker has to say whether it moved the cursor: it is asked until `pollTimeoutMs`."""
    topic = f"persistent://public/default/boundary-{poll_timeout_ms}"
    count = TAKEN_AT_MOST + 50
    admin = Admin(own_pulsar.admin_url)
    with connected(own_pulsar.service_url, tmp_path) as client:
        produce(client, topic, [LARGE] * count)
        admin.unload(topic)
        produce(client, topic, [b"in the next ledger"] * 10)
        wanted = existing(read_all(client, topic))
    admin.unload(topic)  # the counter starts again at 0
    options = {"pollTimeoutMs": str(poll_timeout_ms), "operationTimeoutMs": "8000", "readAheadBytes": "100m"}
    with blocking_batch(batch(spark, own_pulsar.service_url, topic=topic, **options), tmp_path) as read:
        eventually(lambda: _sent(admin, topic) >= len(wanted))
        with frozen(own_pulsar.pid):
            read.release()
            if poll_timeout_ms == 5000:
                with failing("PULSAR_UNREACHABLE", "Requesting the bounds"):
                    read.rows.result(timeout=300)
                return
            outage_ends = time.monotonic() + 12  # longer than a request may take
            eventually(lambda: time.monotonic() > outage_ends or read.rows.done())
            assert not read.rows.done(), f"the outage ended the read: {read.rows}"
        assert_exactly_once(read.rows.result(timeout=300), wanted)


def test_a_request_is_repeated_when_the_broker_unloads_the_topic(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    """Pulsar 4.0 does that to topics whose transactions it could not recover in time."""
    produce(client, topic, _payloads(20))
    wanted = existing(read_all(client, topic))
    with running_broker_proxy(service_url) as proxy:
        frame = batch(spark, proxy.service_url, topic=topic)
        proxy.lose("GET_LAST_MESSAGE_ID_RESPONSE")
        with _reading(frame) as rows:
            eventually(lambda: proxy.has_lost)
            assert not rows.done()
            admin.unload(topic)
            assert_exactly_once(rows.result(timeout=300), wanted)


def test_a_server_that_is_not_there_is_one_clear_error_in_time(spark: SparkSession) -> None:
    text = r"\[PULSAR_UNREACHABLE\] .* received no response from pulsar://127\.0\.0\.1:9 within 2000 ms"
    with within(IN_TIME), pytest.raises(Exception, match=text):
        batch(spark, "pulsar://127.0.0.1:9", topic="t", operationTimeoutMs="2000")


def test_a_read_fails_in_time_when_the_server_stays_down(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path
) -> None:
    topic = "persistent://public/default/gone"
    with connected(own_pulsar.service_url, tmp_path) as client:
        produce(client, topic, _payloads(_MESSAGES))
    admin = Admin(own_pulsar.admin_url)
    admin.unload(topic)  # the counter starts again at 0
    deadlines = {"pollTimeoutMs": "8000", "operationTimeoutMs": "8000"}
    frame = batch(spark, own_pulsar.service_url, topic=topic, **_LITTLE_AHEAD, **deadlines)
    with _reading(_slowly(frame, 5)) as rows:
        _until(lambda: _sent(admin, topic) > 100, rows)
        own_pulsar.kill()
        with within(IN_TIME), pytest.raises(Exception, match=r"\[PULSAR_(READ_TIMEOUT|UNREACHABLE)\]"):
            rows.result(timeout=300)
