"""Reads in executors that are killed, frozen or fail: every row exactly once, and nothing left on the broker."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pytest
from executors.hosts import Attempts
from pyspark.sql.functions import col, udf
from pyspark.sql.types import BinaryType

from support.spark.blocking_batch import blocking_batch, held_tasks, held_until
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
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
    from pathlib import Path

    import pulsar as pulsar_client
    from executors.hosts import Executors
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.topics.reading import Seen

_PARTITIONS = 4
# Spark hands rows to Python in groups of 100: a task that is held has more of this size ahead of it than fits between.
_COUNT, _BYTES = 300, 20_000
_TURNS = int(os.environ.get("PULSAR_SPARK_TEST_TURNS", "100"))


# A task is placed and run again in the same way at both levels, and a stream keeps readers of brokers alone. Reads of
# bookies in executors are in test_round_trips.
@pytest.fixture(params=["broker", pytest.param("segment", marks=pytest.mark.exhaustive)])
def level(request: pytest.FixtureRequest, admin: Admin) -> dict[str, str]:
    """The options of a way to the messages."""
    return {"readLevel": request.param, "admin.url": admin.url}


@pytest.fixture
def wanted(admin: Admin, client: pulsar_client.Client, topic: str) -> list[Seen]:
    """What is in the topic, several entries in each of its partitions."""
    admin.create_topic(topic, partitions=_PARTITIONS)
    for partition in range(_PARTITIONS):
        payloads = [b"%d %d " % (partition, n) + b"x" * _BYTES for n in range(_COUNT)]
        produce(client, f"{topic}-partition-{partition}", payloads, batch_size=7)
    return existing(read_all(client, topic))


@pytest.fixture
def frame(spark: SparkSession, service_url: str, topic: str, wanted: list[Seen], level: dict[str, str]) -> DataFrame:
    """A read of the topic, which must be filled before."""
    assert wanted
    return batch(spark, service_url, topic=topic, **level)


def test_an_executor_is_killed_in_the_middle_of_its_task(
    spark: SparkSession, executors: Executors, frame: DataFrame, wanted: list[Seen], tmp_path: Path
) -> None:
    victim = executors.both()[0]
    attempts = Attempts(spark)
    with blocking_batch(frame, tmp_path, tasks=2) as read:
        victim.kill()
        read.release()
        assert_exactly_once(read.rows.result(timeout=300), wanted)
    eventually(lambda: attempts.failed >= 1)


def test_a_frozen_executor_is_overtaken(
    spark: SparkSession, executors: Executors, frame: DataFrame, wanted: list[Seen], tmp_path: Path
) -> None:
    """The second copy of its task, on the other host, ends the read; the first one is told to end when it is back."""
    victim = executors.both()[0]
    attempts = Attempts(spark)
    with blocking_batch(frame, tmp_path, tasks=2) as read, victim.frozen():
        read.release()
        assert_exactly_once(read.rows.result(timeout=300), wanted)
    eventually(lambda: attempts.speculative >= 1)


def test_a_task_that_fails_is_run_again(
    spark: SparkSession, frame: DataFrame, wanted: list[Seen], tmp_path: Path
) -> None:
    attempts = Attempts(spark)
    assert_exactly_once(seen(frame.withColumn("value", _failing_once(str(tmp_path / "failed")))), wanted)
    eventually(lambda: attempts.failed == 1)


def _failing_once(marker: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a Column, which pyspark types loosely
    # Everything it needs is inside: the worker that runs it knows no module of the tests.
    def failing(value: bytes) -> bytes:
        from pathlib import Path

        if value.startswith(b"2 150 ") and not Path(marker).exists():
            Path(marker).touch()
            raise RuntimeError("this task fails once")
        return value

    return udf(failing, BinaryType(), useArrow=False)(col("value"))


def test_a_stream_whose_executors_are_killed_one_after_the_other(
    spark: SparkSession,
    executors: Executors,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    level: dict[str, str],
    tmp_path: Path,
) -> None:
    admin.create_topic(topic, partitions=_PARTITIONS)
    batches, checkpoint = Batches(), tmp_path / "checkpoint"
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", **level)
    with running(start(frame, checkpoint, batches)) as query:
        for turn in range(1, 3):  # both executors of the start are lost
            produce(client, topic, [b"%d %d" % (turn, n) for n in range(2000)], batch_size=7)
            executors.both()[0].kill()
            wait_for(2000 * turn, query, batches)
    produce(client, topic, [b"%d" % n for n in range(500)], batch_size=7)
    read_available(frame, checkpoint, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


def test_a_frozen_executor_is_overtaken_under_a_stream(
    spark: SparkSession,
    executors: Executors,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    wanted: list[Seen],
    level: dict[str, str],
    tmp_path: Path,
) -> None:
    """The second copy of its task ends the micro-batch; it is back for those that follow."""
    gate, checkpoint, batches = tmp_path / "gate", tmp_path / "checkpoint", Batches()
    victim, attempts = executors.both()[0], Attempts(spark)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", **level)
    held = frame.withColumn("value", held_until(gate, tmp_path))
    with running(start(held, checkpoint, batches), gate.touch) as query:
        eventually(lambda: len(held_tasks(tmp_path)) >= 2)  # one in each executor
        with victim.frozen():
            gate.touch()
            wait_for(len(wanted), query, batches)
        assert victim in executors.running()
        produce(client, topic, [b"%d" % n for n in range(500)], batch_size=7)
        wait_for(len(wanted) + 500, query, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
    eventually(lambda: attempts.speculative >= 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("limits", [{}, {"maxMessagesPerTrigger": "137"}], ids=["all", "limited"])
@pytest.mark.parametrize("name", ["broker", "segment", "auto"])
def test_executors_of_a_stream_are_killed_while_its_topics_grow(
    spark: SparkSession,
    executors: Executors,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    name: str,
    limits: dict[str, str],
    tmp_path: Path,
) -> None:
    grows, other = f"{topic}-grows", f"{topic}-other"
    admin.create_topic(grows, partitions=1)
    admin.create_topic(other)
    options = {"topics": f"{grows},{other}", "readLevel": name, "admin.url": admin.url, **limits}
    batches = Batches()
    frame = stream(spark, service_url, startingOffsets="earliest", **options)
    with running(start(frame, tmp_path, batches)) as query:
        for turn in range(1, 6):
            for target in (grows, other):
                produce(client, target, [b"%d %d" % (turn, n) for n in range(500)], batch_size=7)
            executors.both()[turn % 2].kill()
            admin.set_partitions(grows, turn + 1)
            admin.unload(other)
            wait_for(1000 * turn, query, batches)
    assert_exactly_once(batches.rows, existing([*read_all(client, grows), *read_all(client, other)]))


@pytest.mark.exhaustive
def test_executors_are_killed_at_any_moment(
    spark: SparkSession,
    executors: Executors,
    service_url: str,
    topic: str,
    wanted: list[Seen],
    level: dict[str, str],
) -> None:
    random = dice()
    frame = batch(spark, service_url, topic=topic, **level)
    with ThreadPoolExecutor(1) as pool:
        for turn in range(_TURNS):
            executors.both()
            rows = pool.submit(seen, frame)
            seconds = random.random() * 2
            wait([rows], timeout=seconds)
            random.choice(executors.both()).kill()
            assert_exactly_once(rows.result(timeout=300), wanted)
            print(f"turn {turn}: killed after {seconds:.2f} s")
