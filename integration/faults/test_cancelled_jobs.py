"""Queries that are stopped in whatever phase they are in: nothing of them is left, in Spark or on the broker."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from support.spark.leaks import no_leaks
from support.topics.messages import produce
from support.topics.reading import batch, dice, stream
from support.topics.writing import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_SECONDS = float(os.environ.get("PULSAR_SPARK_TEST_CANCEL_SECONDS", "6"))
_LONGEST_SECONDS = 0.5
_LEAST_TURNS = 12  # of fewer all may be done early or late by chance
_ENDED_SECONDS = 180
# What leaked must be found before the shared client is closed because nobody uses it, which would end it.
_CLIENT_IDLE_SECONDS = 60

_groups = itertools.count(1)


def _cancelled(spark: SparkSession, action: Callable[[], object], seconds: float) -> bool:
    """Run a job and cancel it after a time; whether that came before its end."""
    group = f"cancelled {next(_groups)}"
    began, done = threading.Event(), threading.Event()

    def run() -> None:
        spark.sparkContext.setJobGroup(group, "is cancelled", interruptOnCancel=True)
        began.set()
        with contextlib.suppress(PySparkException, Py4JJavaError):
            action()
            done.set()

    thread = threading.Thread(target=run)
    thread.start()
    began.wait()
    done.wait(seconds)
    was_cancelled = not done.is_set()
    deadline = time.monotonic() + _ENDED_SECONDS
    while thread.is_alive():  # a job that has not begun cannot be cancelled
        spark.sparkContext.cancelJobGroup(group)
        thread.join(0.05)
        assert time.monotonic() < deadline, f"a cancelled job goes on after {_ENDED_SECONDS} s"
    return was_cancelled


def _read(frame: DataFrame) -> None:
    frame.write.format("noop").mode("append").save()


def _stopped(frame: DataFrame, checkpoint: Path, seconds: float) -> bool:
    """Run a stream and stop it after a time."""
    query = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        return not query.awaitTermination(seconds)  # type: ignore[arg-type] # parts of seconds are taken
    except PySparkException:
        return False
    finally:
        query.stop()


def _in_turns(stopped: Callable[[float], bool], random: Random, *, least: float) -> None:
    """Stop something after a random time, again and again; at least this share of it must be stopped before its end."""
    early = turns = 0
    deadline = time.monotonic() + _SECONDS
    while turns < _LEAST_TURNS or time.monotonic() < deadline:
        early += stopped(random.uniform(0, _LONGEST_SECONDS))
        turns += 1
    assert early >= turns * least, f"only {early} of {turns} were stopped before their end"


def test_cancelled_and_stopped_queries_leave_nothing_behind(
    spark: SparkSession,
    pulsar: Addresses,
    client: pulsar_client.Client,
    admin: Admin,
    namespace: str,
    topic: str,
    tmp_path: Path,
) -> None:
    admin.create_topic(topic, partitions=4)
    for partition in range(4):
        produce(client, f"{topic}-partition-{partition}", [b"x" * 500] * 3000, batch_size=100)
    options = {"topic": topic, "admin.url": pulsar.admin_url}
    reads = [batch(spark, pulsar.service_url, readLevel=level, **options) for level in ("broker", "segment")]
    streams = stream(spark, pulsar.service_url, startingOffsets="earliest", **options)
    for read in reads:  # the shared clients are there before and after
        assert read.count() == 12_000
    _stopped(streams, tmp_path / "first", 5)
    random = dice()
    checkpoints = map(str, itertools.count())

    def stopped(seconds: float) -> bool:
        way = random.randrange(len(reads) + 1)
        if way < len(reads):
            return _cancelled(spark, partial(_read, reads[way]), seconds)
        return _stopped(streams, tmp_path / next(checkpoints), seconds)

    with no_leaks(spark, admin, pulsar.service_url, namespace, seconds=_CLIENT_IDLE_SECONDS - 10):
        _in_turns(stopped, random, least=1 / 4)
    assert reads[0].count() == 12_000


def test_cancelled_writes_leave_nothing_behind(
    spark: SparkSession,
    pulsar: Addresses,
    client: pulsar_client.Client,
    admin: Admin,
    namespace: str,
    topic: str,
) -> None:
    target = Target(spark, client, admin, pulsar.service_url)
    admin.create_topic(topic, partitions=4)
    rows = spark.range(0, 1_000_000, 1, 2)
    slow = {"pulsar.producer.maxPendingMessages": "20", "pulsar.producer.batchingMaxMessages": "5"}
    to_one = partial(target.append, rows.selectExpr("string(id) as value"), topic, slow)
    to_many = partial(
        target.append, rows.selectExpr(f"concat('{topic}-', id % 20) as __topic", "string(id) as value"), None, slow
    )
    for number in range(20):
        admin.create_topic(f"{topic}-{number}")
    target.append_sql("select 'first' as value", topic)  # the shared client is there before and after
    random = dice()
    with no_leaks(spark, admin, pulsar.service_url, namespace, seconds=_CLIENT_IDLE_SECONDS - 10):
        _in_turns(lambda seconds: _cancelled(spark, random.choice([to_one, to_many]), seconds), random, least=1 / 2)
    target.append_sql("select 'last' as value", topic)
    assert "last" in {message.payload.decode() for message in target.messages(topic)}
