"""What else is in a checkpoint: joins, duplicates, progress that is written later, and copies by Hadoop's own tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from checkpoints.stores import APART, KEYS, PARTITIONS, ROCKSDB, counted, counts, last_commit, publish, start_counting

from pulsar_spark.testing import run_to_end
from support.spark.files import names
from support.spark.settings import hadoop_settings, session_settings
from support.spark.waiting import eventually
from support.topics.reading import Batches, read_available, running, stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_EACH = 60
_LATER = {"asyncProgressTrackingEnabled": "true", "asyncProgressTrackingCheckpointIntervalMs": "100"}
# Spark trusts some sinks alone with it, Kafka's and its own.
_OF_ANY_SINK = {"_asyncProgressTrackingOverrideSinkSupportCheck": "true"}


def _numbers(spark: SparkSession, service_url: str, topic: str) -> DataFrame:
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger="20")
    return frame.selectExpr("cast(cast(value AS string) AS int) AS number")


def _joined(numbers: DataFrame) -> DataFrame:
    others = numbers.selectExpr(f"number + {_EACH} AS later", "number AS earlier")
    return numbers.join(others, numbers["number"] == others["later"]).select("number", "earlier")


def _without_duplicates(numbers: DataFrame) -> DataFrame:
    return numbers.selectExpr("number % 50 AS key").dropDuplicates(["key"])


def _run(frame: DataFrame, checkpoint: str, found: list[tuple[Any, ...]]) -> None:
    def keep(rows: DataFrame, _: int) -> None:
        found.extend(tuple(row) for row in rows.collect())

    writer = frame.writeStream.foreachBatch(keep).option("checkpointLocation", checkpoint)
    run_to_end(writer.trigger(availableNow=True), seconds=180)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        (_joined, [(number, number - _EACH) for number in range(_EACH, 3 * _EACH)]),
        (_without_duplicates, [(key,) for key in range(50)]),
    ],
)
def test_an_operator_with_state_goes_on_after_stops(
    spark: SparkSession,
    client: pulsar_client.Client,
    service_url: str,
    topic: str,
    checkpoint: str,
    operator: Callable[[DataFrame], DataFrame],
    wanted: list[tuple[int, ...]],
) -> None:
    found: list[tuple[Any, ...]] = []
    with session_settings(spark, {**PARTITIONS, **ROCKSDB}), hadoop_settings(spark, APART):
        for start in range(0, 3 * _EACH, _EACH):
            publish(client, topic, _EACH, start)
            _run(operator(_numbers(spark, service_url, topic)), checkpoint, found)
        operators = spark.read.format("state-metadata").load(checkpoint).select("operatorName").collect()
    assert sorted(found) == wanted
    assert operators


@pytest.mark.exhaustive
def test_progress_that_is_written_later_goes_on_after_stops(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    seen: set[int] = set()

    def keep(rows: DataFrame, _: int) -> None:
        seen.update(row[0] for row in rows.collect())

    for start in range(0, 3 * _EACH, _EACH):
        publish(client, topic, _EACH, start)
        before = last_commit(spark, checkpoint)
        writer = _numbers(spark, service_url, topic).writeStream.foreachBatch(keep).options(**_LATER, **_OF_ANY_SINK)
        query: StreamingQuery = writer.option("checkpointLocation", checkpoint).start()
        with running(query):
            eventually(lambda start=start: len(seen) == start + _EACH)  # type: ignore[misc]
            eventually(lambda before=before: last_commit(spark, checkpoint) > before)  # type: ignore[misc]
        assert query.exception() is None
    assert seen == set(range(3 * _EACH))


def _copied(spark: SparkSession, source: str, target: str) -> None:
    """What `hadoop fs -cp` does."""
    jvm: Any = spark._jvm
    shell = jvm.org.apache.hadoop.fs.FsShell(spark._jsparkSession.sessionState().newHadoopConf())
    arguments = spark.sparkContext._gateway.new_array(jvm.String, 3)  # type: ignore[union-attr]
    arguments[0], arguments[1], arguments[2] = "-cp", source, target
    assert shell.run(arguments) == 0


def test_a_checkpoint_that_hadoop_copies_out_and_in_goes_on(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str, tmp_path: Path
) -> None:
    outside, again = f"file://{tmp_path}/copy", f"{checkpoint}-again"
    with session_settings(spark, {**PARTITIONS, **ROCKSDB}), hadoop_settings(spark, APART):
        for turn, place in enumerate((checkpoint, outside, again), start=1):
            publish(client, topic, 100, 100 * (turn - 1))
            run_to_end(start_counting(counted(spark, service_url, topic, 40), place, to_end=True))
            assert counts(spark, place) == dict.fromkeys(range(KEYS), 100 * turn // KEYS)
            if place != again:
                _copied(spark, place, outside if place == checkpoint else again)
        assert names(spark, f"{again}/commits")


def test_a_query_that_goes_on_from_a_copy_reads_what_the_first_one_did_not(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    first, second = Batches(), Batches()

    def frame() -> DataFrame:
        read = stream(spark, service_url, topic=topic, startingOffsets="earliest")
        return read.select("__topic", "__position", "value")

    publish(client, topic, 30)
    read_available(frame(), checkpoint, first)
    _copied(spark, checkpoint, f"{checkpoint}-copy")
    publish(client, topic, 30, 30)
    read_available(frame(), f"{checkpoint}-copy", second)
    assert [row.payload for row in second.rows] == [b"%d" % number for number in range(30, 60)]
