"""Real-time mode by the functions of the package, on every Spark line; Spark 4.0 has none, and the error says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyspark
import pytest
from realtime.live import BATCH, ROCKSDB, wait_for_batches
from realtime.sending import Copy

from pulsar_spark import progress, read_pulsar_stream, real_time_trigger, write_pulsar_stream
from pulsar_spark.triggers import ALLOW_LIST
from support.spark.errors import failing, refused
from support.spark.settings import session_settings
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_LINE = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
_HAS_THE_MODE = _LINE >= (4, 1)
# Longer than any test: a message that arrives did not wait for its end.
_LONG = "10min"


@pytest.fixture
def accepted(spark: SparkSession) -> Iterator[None]:
    """Sets what `write_pulsar_stream` does not set by itself."""
    with session_settings(spark, {ALLOW_LIST: "false"}):
        yield


@pytest.fixture
def rows(spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str) -> DataFrame:
    """A stream of the topic of the test, with one message."""
    produce(client, topic, [b"first"])
    return read_pulsar_stream(spark, topic, start="earliest", service_url=service_url).select("value")


def _with_rows(query: StreamingQuery) -> progress.QueryProgress | None:
    """The first batch with rows; on a busy machine those before it end without."""
    failure = query.exception()
    if failure is not None:
        raise failure
    return next((one for one in progress.history(query) if one.rows), None)


def _refused() -> AbstractContextManager[object]:
    return refused("PULSAR_REAL_TIME_UNSUPPORTED", f"Spark {pyspark.__version__}", "Use Spark 4.1 or later")


@pytest.mark.usefixtures("accepted")
def test_a_message_arrives_long_before_the_end_of_its_batch(
    rows: DataFrame, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    target = f"{topic}-copy"

    def start(**trigger: Any) -> StreamingQuery:  # noqa: ANN401 - any argument for a trigger
        return write_pulsar_stream(rows, target, checkpoint=tmp_path, service_url=service_url, **trigger)

    if not _HAS_THE_MODE:
        with _refused():
            start(real_time=_LONG)
        assert start(available_now=True).awaitTermination(300), "micro-batches run"
        assert Copy(client, target).rows() == ["first"]
        return
    copy = Copy(client, target)
    with running(start(real_time=_LONG)) as query:
        eventually(lambda: copy.rows() == ["first"])
        produce(client, topic, [b"second"])
        eventually(lambda: copy.rows() == ["first", "second"])
        assert not query.recentProgress, "the first batch goes on"


def test_a_sink_of_spark_needs_no_setting(rows: DataFrame, tmp_path: Path) -> None:
    writer = rows.writeStream.format("console").outputMode("update").option("checkpointLocation", str(tmp_path))
    if not _HAS_THE_MODE:
        with _refused():
            real_time_trigger(writer, BATCH)
        return
    with running(real_time_trigger(writer, BATCH).start()) as query:
        batch = eventually(lambda: _with_rows(query))
        assert batch.rows == 1
        assert batch.sources[0].latency is not None, "milliseconds from the message to its row"


@pytest.mark.usefixtures("rows")
def test_the_check_of_operators_accepts_state_from_spark_4_3_on(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    settings = {"spark.sql.streaming.stateStore.providerClass": ROCKSDB, "spark.sql.shuffle.partitions": "1"}
    stream = read_pulsar_stream(spark, topic, start="earliest", service_url=service_url, real_time_tasks=1)
    writer = stream.groupBy("value").count().writeStream.format("console").outputMode("update")
    writer = writer.option("checkpointLocation", str(tmp_path))
    if not _HAS_THE_MODE:
        with _refused():
            real_time_trigger(writer, BATCH)
        return
    with session_settings(spark, settings):
        if _LINE >= (4, 3):
            with running(real_time_trigger(writer, BATCH).start()) as query:
                assert eventually(lambda: _with_rows(query)).rows == 1
        else:
            with (
                pytest.raises(Exception, match="NOT_IN_ALLOWLIST"),
                running(real_time_trigger(writer, BATCH).start()) as query,
            ):
                query.awaitTermination(300)


@pytest.mark.usefixtures("accepted")
def test_an_exactly_once_sink_is_refused_by_the_jar_as_well(
    rows: DataFrame, topic: str, tmp_path: Path, service_url: str
) -> None:
    options = {"service.url": service_url, "topic": f"{topic}-copy", "deliveryGuarantee": "exactly-once"}
    options |= {"checkpointLocation": str(tmp_path), "asyncProgressTrackingEnabled": "false"}
    writer = rows.writeStream.format("pulsar").options(**options).outputMode("update")
    if not _HAS_THE_MODE:
        with _refused():
            real_time_trigger(writer, _LONG)
        return
    expected = failing("PULSAR_EXACTLY_ONCE_OPTION", "real-time mode", "only when the batch ends")
    with running(real_time_trigger(writer, _LONG).start()) as query, expected:
        query.awaitTermination(300)


@pytest.mark.usefixtures("rows")
def test_a_progress_subscription_refuses_progress_that_is_tracked_later(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    stream = read_pulsar_stream(spark, topic, start="earliest", service_url=service_url, progress_subscription="later")
    writer = stream.writeStream.format("console").outputMode("update").option("checkpointLocation", str(tmp_path))
    if not _HAS_THE_MODE:
        with _refused():
            real_time_trigger(writer, BATCH)
        return
    if _LINE >= (4, 3):
        expected = failing("PULSAR_OPTION_CONFLICT", "progressSubscription", "asyncProgressTrackingEnabled")
        with running(real_time_trigger(writer, BATCH).start()) as query, expected:
            query.awaitTermination(300)
        writer = writer.option("asyncProgressTrackingEnabled", "false")
    with running(real_time_trigger(writer, BATCH).start()) as query:
        wait_for_batches(query, 1)


def test_the_setting_that_a_topic_needs_is_named(rows: DataFrame, topic: str, tmp_path: Path, service_url: str) -> None:
    with refused("PULSAR_REAL_TIME_SINK", f'spark.conf.set("{ALLOW_LIST}", "false")') if _HAS_THE_MODE else _refused():
        write_pulsar_stream(rows, f"{topic}-copy", checkpoint=tmp_path, real_time=_LONG, service_url=service_url)
