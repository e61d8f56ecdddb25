"""`transformWithState` over a store. It needs pandas in the process of its driver, so `make` names this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checkpoints.stores import APART, KEYS, PARTITIONS, ROCKSDB, publish
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from pulsar_spark.testing import run_to_end
from support.spark.settings import hadoop_settings, session_settings
from support.topics.reading import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues, ValueState

_EACH = 100


def _counting() -> StatefulProcessor:
    """Counts the rows of a key in a state of its own. Its class is here, so that workers get it by value."""

    class Counting(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self._counted: ValueState = handle.getValueState("counted", "number int")

        def handleInputRows(  # noqa: N802 - Spark's name
            self,
            key: Any,  # noqa: ANN401 - as Spark has it
            rows: Iterator[Any],
            timerValues: TimerValues,  # noqa: N803, ARG002
        ) -> Iterator[Row]:
            before = (self._counted.get() or (0,))[0]
            number = before + sum(1 for _ in rows)
            self._counted.update((number,))
            yield Row(key=key[0], number=number)

        def close(self) -> None:
            pass

    return Counting()


def _counted(spark: SparkSession, service_url: str, topic: str) -> DataFrame:
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger="40")
    keys: Any = frame.selectExpr(f"cast(cast(value AS string) AS int) % {KEYS} AS key").groupBy("key")
    counted: DataFrame = keys.transformWithState(_counting(), "key int, number int", "Update", "None")
    return counted


def test_a_processor_goes_on_after_a_stop_and_its_state_is_read(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    with session_settings(spark, {**PARTITIONS, **ROCKSDB}), hadoop_settings(spark, APART):
        for turn in (1, 2):
            publish(client, topic, _EACH, _EACH * (turn - 1))
            writer = _counted(spark, service_url, topic).writeStream.format("noop").outputMode("update")
            run_to_end(writer.option("checkpointLocation", checkpoint).trigger(availableNow=True), seconds=180)
            state = spark.read.format("statestore").option("stateVarName", "counted").load(checkpoint)
            found = {row[0]: row[1] for row in state.selectExpr("key.key", "value.number").collect()}
            assert found == dict.fromkeys(range(KEYS), _EACH * turn // KEYS)
