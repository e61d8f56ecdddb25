"""The durable subscription that follows a stream: what brokers keep for it, where it starts, and who may use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.servers.admin import Admin
from support.spark.errors import failing
from support.spark.waiting import becomes, eventually
from support.topics.messages import connected, produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available, running, start, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from pulsar_spark.local import LocalPulsar
    from support.topics.transactions import Sender

from progress.following import NAME, backlog, followed, is_caught_up, numbers, without_retention


@pytest.fixture
def unretained(admin: Admin, topic: str) -> Iterator[str]:
    with without_retention(admin, topic) as name:
        yield name


def _roll_ledger(admin: Admin, topic: str) -> None:
    """The broker begins another ledger, and deletes those that nothing holds back."""
    before = admin.internal_stats(topic)["ledgers"][-1]["ledgerId"]
    admin.unload(topic)
    eventually(lambda: admin.internal_stats(topic)["ledgers"][-1]["ledgerId"] > before)
    admin.trim(topic)


def _is_stored(admin: Admin, topic: str) -> bool:
    """Whether the broker keeps the acknowledgement when the topic is unloaded.

    It confirms one before it has made the ledger of the cursor, and loses it when the topic is unloaded until then. A
    stream that goes on acknowledges again.
    """
    return bool(admin.internal_stats(topic)["cursors"][NAME]["state"] == "Open")


def test_the_backlog_is_empty_whenever_the_stream_has_read_everything(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    produce(client, topic, numbers(0, 70), batch_size=7)
    batches = Batches()
    with running(start(followed(spark, service_url, topic), tmp_path, batches)) as query:
        wait_for(70, query, batches)
        eventually(lambda: is_caught_up(admin, topic))
        admin.set_partitions(topic, 3)
        produce(client, f"{topic}-partition-2", numbers(70, 30), batch_size=7)
        wait_for(100, query, batches)
        eventually(lambda: is_caught_up(admin, f"{topic}-partition-2"))
    produce(client, topic, numbers(100, 60), batch_size=7)
    assert backlog(admin, topic) > 0
    read_available(followed(spark, service_url, topic, maxMessagesPerTrigger="10"), tmp_path, batches)
    eventually(lambda: is_caught_up(admin, topic))
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    produce(client, topic, numbers(160, 5), batch_size=5)

    def fail(frame: DataFrame, _: int) -> None:
        raise RuntimeError(f"{frame.count()} rows fail")

    with pytest.raises(Exception, match="5 rows fail"):
        read_available(followed(spark, service_url, topic), tmp_path, fail)
    assert backlog(admin, topic) > 0, "what Spark has not committed is not acknowledged"


def test_the_backlog_is_empty_behind_a_transaction(
    spark: SparkSession, service_url: str, admin: Admin, sender: Sender, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic)
    producer = sender.producer(topic, batch_size=1)
    batches = Batches()
    with running(start(followed(spark, service_url, topic), tmp_path, batches)) as query:
        for turn in range(1, 4):
            for commit in (False, True):
                transaction = sender.begin()
                for payload in numbers(0, 5):
                    producer.newMessage(transaction).value(payload).send()
                sender.end(transaction, commit=commit)
            wait_for(5 * turn, query, batches)
            eventually(lambda: is_caught_up(admin, topic))
    producer.close()


def test_messages_are_kept_for_a_stopped_stream_and_no_longer_than_for_it(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, unretained: str, tmp_path: Path
) -> None:
    admin.create_topic(unretained)
    batches = Batches()
    frame = followed(spark, service_url, unretained)
    read_available(frame, tmp_path, batches)
    there = []
    for turn in range(3):
        produce(client, unretained, numbers(20 * turn, 20), batch_size=7)
        _roll_ledger(admin, unretained)
        produce(client, unretained, numbers(100 + 20 * turn, 20), batch_size=7)
        there += existing(read_all(client, unretained))
        read_available(frame, tmp_path, batches)
        assert_exactly_once(batches.rows, there)
        eventually(lambda: _is_stored(admin, unretained))
        _roll_ledger(admin, unretained)
        eventually(lambda: len(admin.internal_stats(unretained)["ledgers"]) == 1)
        assert read_all(client, unretained) == [], "the broker keeps nothing that the stream has read"
    with running(start(frame, tmp_path, batches)) as query:
        for turn in range(3):
            produce(client, unretained, numbers(20 * turn, 20), batch_size=7)
            wait_for(120 + 20 * (turn + 1), query, batches)
            _roll_ledger(admin, unretained)
        produce(client, unretained, numbers(60, 20), batch_size=7)
        wait_for(200, query, batches)


@pytest.mark.exhaustive
def test_a_broker_that_is_killed_reports_no_backlog_afterwards(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path
) -> None:
    topic = f"persistent://public/default/followed-{tmp_path.name}"
    batches = Batches()
    with connected(own_pulsar.service_url, tmp_path) as client:
        produce(client, topic, numbers(0, 20), batch_size=7)
        frame = followed(spark, own_pulsar.service_url, topic, operationTimeoutMs="90000")
        with running(start(frame, tmp_path / "checkpoint", batches)) as query:
            wait_for(20, query, batches)
            eventually(lambda: is_caught_up(Admin(own_pulsar.admin_url), topic))
            own_pulsar.restart(graceful=False)
            admin = Admin(own_pulsar.admin_url)
            eventually(lambda: NAME in admin.subscriptions(topic) and is_caught_up(admin, topic))
            produce(client, topic, numbers(20, 20), batch_size=7)
            wait_for(40, query, batches)
            eventually(lambda: is_caught_up(admin, topic))


def test_messages_that_are_deleted_before_they_were_read_are_lost(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 20), batch_size=7)
    frame = followed(spark, service_url, topic, maxMessagesPerTrigger="10")

    class Truncating(Batches):
        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            if batch_id == 1:
                produce(client, topic, numbers(20, 20), batch_size=7)
                _roll_ledger(admin, topic)
                admin.truncate(topic)
                produce(client, topic, numbers(40, 20), batch_size=7)

    batches = Truncating()
    with pytest.raises(Exception, match=r"PULSAR_DATA_LOSS"), running(start(frame, tmp_path, batches)) as query:
        assert query.awaitTermination(300), "the loss was not noticed"
    assert 20 <= len(batches.rows) < 40, "a reader that is kept may have received some of them before"


def test_a_subscription_that_is_ahead_moves_no_start(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, unretained: str, tmp_path: Path
) -> None:
    namespace = unretained.removeprefix("persistent://").rpartition("/")[0]
    admin.set_retention(namespace, minutes=-1, megabytes=-1)
    for turn in range(3):
        if turn > 0:
            _roll_ledger(admin, unretained)
        produce(client, unretained, numbers(20 * turn, 20), batch_size=7)
    consumer = client.subscribe(unretained, NAME, initial_position=pulsar_client.InitialPosition.Earliest)
    for _ in range(60):
        consumer.acknowledge_cumulative(consumer.receive(180_000))
    eventually(lambda: is_caught_up(admin, unretained) and _is_stored(admin, unretained))
    consumer.close()
    _roll_ledger(admin, unretained)
    produce(client, unretained, numbers(60, 20), batch_size=7)

    class FailingOnce(Batches):
        has_failed = False

        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            if batch_id == 1 and not self.has_failed:
                self.has_failed = True
                raise RuntimeError("the second micro-batch fails")
            super().__call__(frame, batch_id)

    batches = FailingOnce()
    frame = followed(spark, service_url, unretained, maxMessagesPerTrigger="25")
    with pytest.raises(Exception, match="the second micro-batch fails"):
        read_available(frame, tmp_path, batches)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, unretained)))
    assert len(batches.rows) == 80
    eventually(lambda: is_caught_up(admin, unretained))
    produce(client, unretained, numbers(80, 20), batch_size=7)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, unretained)))


@pytest.mark.exhaustive
def test_a_subscription_that_was_made_anew_proves_nothing(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, unretained: str, tmp_path: Path
) -> None:
    produce(client, unretained, numbers(0, 20), batch_size=7)
    frame = followed(spark, service_url, unretained)
    batches = Batches()
    read_available(frame, tmp_path, batches)
    admin.delete_subscription(unretained, NAME)
    produce(client, unretained, numbers(20, 20), batch_size=7)
    _roll_ledger(admin, unretained)
    eventually(lambda: len(admin.internal_stats(unretained)["ledgers"]) == 1)
    produce(client, unretained, numbers(40, 20), batch_size=7)
    with pytest.raises(Exception, match="PULSAR_DATA_LOSS"):
        read_available(frame, tmp_path, batches)
    assert len(batches.rows) == 20
    read_available(followed(spark, service_url, unretained, failOnDataLoss="false"), tmp_path, batches)
    assert len(batches.rows) == 40
    eventually(lambda: is_caught_up(admin, unretained))


def test_a_stream_starts_where_its_subscription_is(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 30), batch_size=7)
    frame = followed(spark, service_url, topic, startingOffsets="subscription")
    with failing("PULSAR_SUBSCRIPTION_NOT_FOUND", NAME, topic):
        read_available(frame, tmp_path / "missing", Batches())
    becomes(lambda: admin.subscriptions(topic), [])
    consumer = client.subscribe(topic, NAME, initial_position=pulsar_client.InitialPosition.Earliest)
    for _ in range(14):
        consumer.acknowledge_cumulative(consumer.receive(180_000))
    consumer.close()
    batches = Batches()
    read_available(frame, tmp_path / "there", batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)[14:]))
    eventually(lambda: is_caught_up(admin, topic))


_PROGRAM = """
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.jars", "{jar}").config("spark.ui.enabled", "false")
    spark = session.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m").getOrCreate()
    rows = spark.readStream.format("pulsar").options(**{options}).load()
    query = rows.writeStream.format("noop").option("checkpointLocation", "{checkpoint}").start()
    query.awaitTermination()
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("loss", [signal.SIGKILL, signal.SIGSTOP], ids=["process_killed", "machine_silent"])
def test_a_restart_takes_the_subscription_of_a_process_that_is_lost(
    spark: SparkSession,
    connector_jar: Path,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    loss: signal.Signals,
) -> None:
    produce(client, topic, numbers(0, 20), batch_size=7)
    checkpoint = tmp_path / "checkpoint"
    options = {"service.url": service_url, "topic": topic, "startingOffsets": "earliest", "progressSubscription": NAME}
    program = textwrap.dedent(_PROGRAM).format(jar=connector_jar, options=options, checkpoint=checkpoint)
    with subprocess.Popen([sys.executable, "-c", program], start_new_session=True) as process:
        try:
            eventually(lambda: NAME in admin.subscriptions(topic) and is_caught_up(admin, topic))
            produce(client, topic, numbers(20, 20), batch_size=7)
            os.killpg(process.pid, loss)
            produce(client, topic, numbers(40, 20), batch_size=7)
            batches = Batches()
            read_available(followed(spark, service_url, topic), checkpoint, batches)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    rows = existing(read_all(client, topic))
    assert batches.rows == rows[len(rows) - len(batches.rows) :]
    assert 20 <= len(batches.rows) <= 40
    eventually(lambda: is_caught_up(admin, topic))
