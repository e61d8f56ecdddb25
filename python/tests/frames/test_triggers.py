"""The trigger of real-time mode on each kind of session, and what a stream into topics needs for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from noted import FakeSpark, Noted

from pulsar_spark import PulsarOptionError, PulsarWriteOptions, real_time_trigger, write_pulsar_stream
from pulsar_spark.options.resolve import FORMAT
from pulsar_spark.triggers import ALLOW_LIST

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql.streaming.readwriter import DataStreamWriter

URL = "pulsar://localhost:6650"


class NewerWriter(Noted):
    """Stands for a writer of PySpark 4.2 or later, which has an argument for the trigger."""

    def trigger(self, *, realTime: str | None = None) -> NewerWriter:  # noqa: N803
        self.calls["trigger"] = realTime
        return self


class Connected(FakeSpark):
    """Stands for a session of Spark Connect."""

    def __init__(self, server: str, writer: type[Noted], **settings: str) -> None:
        super().__init__(**{ALLOW_LIST: "false", **settings})
        self.version = server
        self.writeStream = writer()
        self.writeStream.__dict__.update(_session=self, _spark=self)


class Classic(Connected):
    """Stands for a session with a JVM, and for that JVM."""

    def __init__(self, version: str, writer: type[Noted] = Noted) -> None:
        super().__init__(version, writer)
        self._jsparkSession = self._jvm = self
        self.org = self.apache = self.spark = self.sql = self.streaming = self.Trigger = self
        self.writeStream.__dict__["_jwrite"] = self

    def RealTime(self, batch: str) -> str:  # noqa: N802
        return f"real time, {batch}"

    def trigger(self, trigger: str) -> str:
        return f"a writer: {trigger}"


def write(spark: FakeSpark, checkpoint: Path, **arguments: Any) -> Noted:  # noqa: ANN401
    arguments = {"real_time": "30s", "service_url": URL, **arguments}
    write_pulsar_stream(spark.frame, "results", checkpoint=checkpoint, **arguments)
    return spark.writeStream


@pytest.mark.parametrize("batch", ["30s", " 30 seconds ", timedelta(seconds=30), "30000", 30_000], ids=str)
def test_a_stream_in_real_time_mode(batch: Any, tmp_path: Path) -> None:  # noqa: ANN401
    writer = write(Connected("4.2.1", NewerWriter), tmp_path, real_time=batch)
    assert writer.calls == {"format": FORMAT, "outputMode": "update", "trigger": "30000 milliseconds", "start": None}
    assert writer.given == {
        "service.url": URL,
        "topic": "results",
        "checkpointLocation": str(tmp_path),
        "asyncProgressTrackingEnabled": "false",
    }


def test_micro_batches_may_track_progress_asynchronously(tmp_path: Path) -> None:
    writer = write(Connected("4.3.0", NewerWriter), tmp_path, real_time=None)
    assert "asyncProgressTrackingEnabled" not in writer.given
    assert "trigger" not in writer.calls
    assert writer.calls["outputMode"] == "append"


def test_the_output_mode_may_be_named(tmp_path: Path) -> None:
    assert write(Classic("4.3.0", NewerWriter), tmp_path, output_mode="update").calls["outputMode"] == "update"
    with pytest.raises(PulsarOptionError, match="Option `output_mode` is `append`, but must be update"):
        write(Classic("4.3.0", NewerWriter), tmp_path, output_mode="append")


@pytest.mark.parametrize("batch", ["4s", "0", "", "1 month", "1M", "soon", timedelta(0), timedelta(seconds=-30), 30])
def test_a_batch_lasts_five_seconds_or_more(batch: Any, tmp_path: Path) -> None:  # noqa: ANN401
    spark = Connected("4.2.1", NewerWriter)
    with pytest.raises(PulsarOptionError, match=rf"Option `real_time` is `{batch}`.*at least 5 seconds"):
        write(spark, tmp_path, real_time=batch)
    assert spark.writeStream.calls == {}, "before Spark"
    with pytest.raises(PulsarOptionError, match="Option `batch` is"):
        real_time_trigger(cast("DataStreamWriter", spark.writeStream), batch)


@pytest.mark.parametrize("other", [{"available_now": True}, {"processing_time": "1 second"}], ids=str)
def test_a_query_has_one_trigger(other: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=f"`{next(iter(other))}` and `real_time` cannot be combined"):
        write(Connected("4.2.1", NewerWriter), tmp_path, **other)


def test_before_spark_4_2_the_trigger_is_that_of_the_jvm(tmp_path: Path) -> None:
    writer = write(Classic("4.1.4"), tmp_path)
    assert writer.__dict__["_jwrite"] == "a writer: real time, 30000 milliseconds"
    assert "trigger" not in writer.calls


@pytest.mark.parametrize(
    ("spark", "found"),
    [
        (Classic("4.0.5"), "the session is Spark 4.0.5"),
        (Connected("4.0.5", Noted), "the server of Spark Connect is Spark 4.0.5"),
        (Connected("4.1.4", NewerWriter), "the server of Spark Connect is Spark 4.1.4"),
        (Connected("4.2.1", Noted), "this PySpark is older than 4.2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_without_the_mode_is_named(spark: Connected, found: str, tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=rf"PULSAR_REAL_TIME_UNSUPPORTED.*{found}.*Use Spark 4\.1 or later"):
        write(spark, tmp_path)
    assert "start" not in spark.writeStream.calls


@pytest.mark.parametrize("value", [{}, {ALLOW_LIST: "TRUE"}], ids=str)
def test_spark_must_accept_the_sink(value: dict[str, str], tmp_path: Path) -> None:
    spark = Connected("4.2.1", NewerWriter)
    spark.conf = type(spark.conf)(value)
    with pytest.raises(PulsarOptionError, match="PULSAR_REAL_TIME_SINK") as raised:
        write(spark, tmp_path)
    assert f'spark.conf.set("{ALLOW_LIST}", "false")' in str(raised.value)
    assert "start" not in spark.writeStream.calls
    writer = cast("DataStreamWriter", spark.writeStream)
    assert real_time_trigger(writer, "30s") is writer, "a sink of Spark's own needs no setting"


@pytest.mark.parametrize(
    "given",
    [
        {"delivery_guarantee": "Exactly-Once"},
        {"options": PulsarWriteOptions(delivery_guarantee="exactly-once", sink_id="copy")},
    ],
    ids=["argument", "options"],
)
def test_exactly_once_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_EXACTLY_ONCE_OPTION.*only when the batch ends"):
        write(Connected("4.2.1", NewerWriter), tmp_path, **given)
