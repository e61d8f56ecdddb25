"""Faults under a query in real-time mode: nothing is lost, and a row is repeated once for each kill at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from realtime.live import accepting, start_live, wait_for_batches
from realtime.sending import PARTITIONS, Copy, assert_copied, partitioned

from support.servers.admin import Admin
from support.servers.freezing import frozen
from support.spark.waiting import eventually
from support.topics.messages import connected, produce
from support.topics.reading import running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from pulsar_spark.local import LocalPulsar
    from support.topics import transactions

_UNLOADS = 8
_KILLS = 4
_FROZEN_SECONDS = 10
_CHUNKED_BYTES = 11_000_000


@pytest.fixture(autouse=True)
def accepted(spark: SparkSession) -> Iterator[None]:
    with accepting(spark):
        yield


def test_partitions_that_are_unloaded_while_messages_flow(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    sender, target, copy = partitioned(admin, client, topic)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest").select("value")
    query = start_live(frame, tmp_path, service_url, target)
    with running(query), sender.sending():
        for number in range(_UNLOADS):
            before = len(copy.rows())
            eventually(lambda before=before: len(copy.rows()) > before)  # type: ignore[misc]
            admin.unload(f"{topic}-partition-{number % PARTITIONS}")
        wait_for_batches(query, 1)
        sender.stop()
        stored = sender.stored()
        eventually(lambda: len(copy.rows()) >= len(stored))
        rows = copy.rows()
    print(f"{len(stored) - len(sender.sent)} of {len(stored)} messages were sent twice")
    assert_copied(rows, stored)


@contextmanager
def _killed(server: LocalPulsar) -> Iterator[None]:
    yield
    server.restart(graceful=False)


@contextmanager
def _frozen(server: LocalPulsar) -> Iterator[None]:
    with frozen(server.pid):
        time.sleep(_FROZEN_SECONDS)  # the fault itself
        yield


@pytest.mark.exhaustive  # unloads are above, TailEntrySourceSuite has feeds that fail and break
@pytest.mark.parametrize("fault", [_killed, _frozen])
def test_a_broker_that_is_gone_for_a_while(
    spark: SparkSession, own_pulsar: LocalPulsar, tmp_path: Path, fault: type
) -> None:
    topic = f"persistent://public/default/{fault.__name__}"
    admin, url = Admin(own_pulsar.admin_url), own_pulsar.service_url
    admin.create_topic(topic, partitions=PARTITIONS)
    names = [f"{topic}-partition-{number}" for number in range(PARTITIONS)]

    with connected(url, tmp_path) as client:

        def send(text: str) -> None:
            for name in names:
                produce(client, name, [f"{text} {name[-1]} {number}".encode() for number in range(50)], batch_size=7)

        copy = Copy(client, f"{topic}-copy")
        send("before")
        frame = stream(spark, url, topic=topic, startingOffsets="earliest", operationTimeoutMs="90000").select("value")
        query = start_live(frame, tmp_path, url, f"{topic}-copy", batch="10 minutes", operationTimeoutMs="90000")
        with running(query):
            eventually(lambda: len(copy.rows()) == 50 * PARTITIONS)
            with fault(own_pulsar):
                pass
            send("after")
            eventually(lambda: len(set(copy.rows())) == 100 * PARTITIONS)
            assert query.isActive


def test_transactions_and_chunks(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    sender: transactions.Sender,
) -> None:
    target = f"{topic}-copy"
    copy = Copy(client, target)
    produce(client, topic, [b"plain"])
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    texts = frame.selectExpr("if(length(value) > 100, string(length(value)), decode(value, 'UTF-8')) as value")
    with running(start_live(texts, tmp_path, service_url, target)) as query:
        eventually(lambda: copy.rows() == ["plain"])
        aborted, committed = sender.begin(), sender.begin()
        sender.send(aborted, topic, b"aborted")
        sender.send(committed, topic, b"committed")
        sender.end(aborted, commit=False)
        wait_for_batches(query, 1)
        assert copy.rows() == ["plain"], "a transaction is open"
        sender.end(committed, commit=True)
        produce(client, topic, [b"x" * _CHUNKED_BYTES], chunking_enabled=True)
        wanted = ["plain", "committed", str(_CHUNKED_BYTES)]
        eventually(lambda: copy.rows() == wanted)
        wait_for_batches(query, 2)
        assert copy.rows() == wanted


@pytest.mark.exhaustive  # a stop in a batch is tested without a kill
def test_a_driver_that_is_killed(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    connector_jar: Path,
) -> None:
    sender, target, copy = partitioned(admin, client, topic)
    program = str(Path(__file__).with_name("killed_driver.py"))
    command = [sys.executable, program, service_url, topic, target, str(tmp_path / "checkpoint"), str(connector_jar)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with sender.sending():
        for number in range(_KILLS):
            with (tmp_path / f"driver-{number}.log").open("w") as log:
                driver = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
                before = len(copy.rows())
                eventually(lambda before=before: len(copy.rows()) > before)  # type: ignore[misc]
                time.sleep(sender.dice.uniform(0, 8))  # somewhere in a batch, or at its end
                os.killpg(driver.pid, signal.SIGKILL)
                driver.wait()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest").select("value")
    with running(start_live(frame, tmp_path / "checkpoint", service_url, target)):
        eventually(lambda: set(sender.sent) <= set(copy.rows()))
    counts = Counter(copy.rows())
    assert set(counts) == set(sender.sent)
    assert max(counts.values()) <= 1 + _KILLS, "a message is repeated once for each kill at most"
