"""The functions for reading and writing: what they hand to Spark, with a session that only takes notes."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from noted import FakeSpark, Noted

from pulsar_spark import (
    PulsarOptionError,
    PulsarReadOptions,
    PulsarTopicNotFoundError,
    PulsarWriteOptions,
    read_pulsar,
    read_pulsar_stream,
    write_pulsar,
    write_pulsar_stream,
)
from pulsar_spark.options.resolve import FORMAT, SERVICE_URL_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "pulsar://localhost:6650"


@pytest.fixture(autouse=True)
def no_url_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SERVICE_URL_VARIABLE, raising=False)


def read(*arguments: Any, spark: FakeSpark | None = None, **named: Any) -> dict[str, str]:  # noqa: ANN401
    spark = spark or FakeSpark()
    read_pulsar(spark.session, *arguments, **{"service_url": URL, **named})
    return spark.read.given


def test_a_batch_read() -> None:
    spark = FakeSpark()
    read_pulsar(
        spark.session,
        "events",
        start="earliest",
        end="1:2:3",
        service_url=URL,
        metadata_columns=["__position"],
        schema="id long",
        options=PulsarReadOptions(topic="others", ending_time="5", fail_on_data_loss=True, operation_timeout_ms=5),
        fail_on_data_loss=False,
        client={"numIoThreads": 2},
    )
    assert spark.read.calls == {"format": FORMAT, "schema": "id long", "load": None}
    assert spark.read.given == {
        "service.url": URL,
        "operationTimeoutMs": "5",
        "topic": "events",
        "startingOffsets": "earliest",
        "endingOffsets": '{"events": "1:2:3"}',
        "failOnDataLoss": "false",
        "metadataColumns": "__position",
        "pulsar.client.numIoThreads": "2",
    }


def test_topics_are_one_several_or_a_pattern() -> None:
    assert read("a")["topic"] == "a"
    assert read(["a", "b"])["topics"] == read("a,b")["topics"] == "a,b"
    with pytest.raises(PulsarOptionError, match=r"`topic` is `a,b`.*`topics`"):
        read(topic="a,b")
    assert read(topic="a", options=PulsarReadOptions(topics=["x"])) == read("a")
    assert read(topic="a", start="1:2:3")["startingOffsets"] == '{"a": "1:2:3"}'
    assert read(topics_pattern="a.*", options=PulsarReadOptions(topic="x")) == {
        "service.url": URL,
        "topicsPattern": "a.*",
    }
    assert read(options=PulsarReadOptions(topics=["x", "y"]))["topics"] == "x,y"


def test_a_stream_read() -> None:
    spark = FakeSpark()
    read_pulsar_stream(spark.session, ["a", "b"], start={"a": "1:2", "b": "latest"}, service_url=URL)
    assert spark.readStream.calls == {"format": FORMAT, "load": None}
    assert json.loads(spark.readStream.given["startingOffsets"]) == {"a": "1:2", "b": "latest"}
    spark = FakeSpark()
    read_pulsar_stream(spark.session, topic="a", service_url=URL)
    assert spark.readStream.given == {"service.url": URL, "topic": "a"}


def test_totals_by_tier() -> None:
    other = PulsarReadOptions(read_level="broker", admin_url="http://localhost:8080")
    assert read("a", level="segment", options=other) == {
        "service.url": URL,
        "admin.url": "http://localhost:8080",
        "topic": "a",
        "readLevel": "segment",
    }
    assert read("a", options=other)["readLevel"] == "broker"
    spark = FakeSpark()
    read_pulsar_stream(spark.session, "a", level="auto", service_url=URL)
    assert spark.readStream.given == {"service.url": URL, "topic": "a", "readLevel": "auto"}


def test_a_batch_write() -> None:
    spark = FakeSpark()
    options = PulsarWriteOptions(topic="others", send_timeout_ms=1000)
    write_pulsar(spark.frame, "results", service_url=URL, options=options, schema_type="json")
    assert spark.write.calls == {"format": FORMAT, "mode": "append", "save": None}
    assert spark.write.given == {"service.url": URL, "topic": "results", "sendTimeoutMs": "1000", "schemaType": "json"}


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ({}, {}),
        ({"available_now": True}, {"trigger": {"availableNow": True}}),
        ({"processing_time": "5 seconds"}, {"trigger": {"processingTime": "5000 milliseconds"}}),
        ({"processing_time": "2min"}, {"trigger": {"processingTime": "120000 milliseconds"}}),
        ({"processing_time": "1 hour 5 minutes"}, {"trigger": {"processingTime": "1 hour 5 minutes"}}),
        ({"processing_time": timedelta(seconds=1.5)}, {"trigger": {"processingTime": "1500 milliseconds"}}),
        ({"query_name": "copy", "output_mode": "update"}, {"queryName": "copy", "outputMode": "update"}),
    ],
)
def test_a_stream_write(arguments: dict[str, Any], calls: dict[str, Any], tmp_path: Path) -> None:
    spark = FakeSpark()
    write_pulsar_stream(spark.frame, "results", checkpoint=tmp_path, service_url=URL, **arguments)
    assert spark.writeStream.calls == {"format": FORMAT, "outputMode": "append", "start": None, **calls}
    assert spark.writeStream.given == {"service.url": URL, "topic": "results", "checkpointLocation": str(tmp_path)}


def test_an_alias_in_a_call_overrides_its_target_in_the_session_and_the_reverse() -> None:
    target = {"spark.datasource.pulsar.operationTimeoutMs": "7"}
    alias = {"spark.datasource.pulsar.pulsar.client.operationTimeoutMs": "7"}
    given = read("a", spark=FakeSpark(**target), client={"operationTimeoutMs": 5})
    assert given["pulsar.client.operationTimeoutMs"] == "5"
    assert read("a", spark=FakeSpark(**alias), operation_timeout_ms=5)["operationTimeoutMs"] == "5"


def test_the_service_url_of_the_call_overrides_the_session_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    in_options = {"options": PulsarReadOptions(service_url="pulsar://options:1")}

    def session() -> FakeSpark:
        return FakeSpark(**{"spark.datasource.pulsar.service.url": "pulsar://session:1"})

    monkeypatch.setenv(SERVICE_URL_VARIABLE, "pulsar://environment:1")
    assert read("a", spark=session(), **in_options)["service.url"] == URL
    assert read("a", service_url=None, spark=session(), **in_options)["service.url"] == "pulsar://options:1"
    # Spark itself adds what the session says.
    assert "service.url" not in read("a", service_url=None, spark=session())
    assert read("a", service_url=None)["service.url"] == "pulsar://environment:1"
    monkeypatch.delenv(SERVICE_URL_VARIABLE)
    with pytest.raises(PulsarOptionError, match="Option `service_url` is missing"):
        read("a", service_url=None)


def test_options_of_the_session_are_checked_too() -> None:
    spark = FakeSpark(**{"spark.datasource.pulsar.topic": "a", "spark.datasource.pulsar.pollTimeoutMs": "never"})
    with pytest.raises(PulsarOptionError, match="Option `pollTimeoutMs` is `never`"):
        read(spark=spark)
    assert read(spark=spark, poll_timeout_ms=5) == {"service.url": URL, "pollTimeoutMs": "5"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"topics": "a", "fail_on_dataloss": True},
            "no option `fail_on_dataloss`; the nearest name is `fail_on_data_loss`",
        ),
        ({"topics": "a", "begin": 1}, "no option `begin`."),
        ({"topics": "a", "topic": "b"}, "CONFLICT.*`topics` and `topic` cannot be combined"),
        ({"topic": "a", "topics_pattern": "b"}, "CONFLICT.*`topic` and `topics_pattern` cannot be combined"),
        ({"topic": "a,b"}, r"Option `topic` is `a,b`.*`topics`"),
        ({"topics": "a", "read_level": "broker"}, "PULSAR_ARGUMENT_REPLACED.* takes `level=`, not `read_level=`"),
        ({"topics": "a", "level": "segments"}, "Option `level` is `segments`"),
        ({"topics": "a", "starting_time": 5}, "takes `start=`, not `starting_time=`"),
        ({"topics": "a", "schema_type": "avro"}, "no option `schema_type`"),
        ({"topics": "a", "topics_pattern": "b"}, "CONFLICT.*`topics` and `topics_pattern` cannot be combined"),
        ({}, "but none is set"),
        ({"topics": "a", "poll_timeout_ms": 0}, "Option `poll_timeout_ms` is `0`"),
        ({"topics": "a", "start": "yesterday"}, "Option `start` is `yesterday`"),
        ({"topics": "a", "start": "2026-01-31T00:00:00"}, "PULSAR_TIME_MALFORMED. Option `start` is"),
        ({"topics": "a", "end": 1_700_000_000}, "PULSAR_TIME_AMBIGUOUS. `end` is `1700000000`"),
        ({"topics": "a", "admin_url": ""}, "Option `admin_url` is ``"),
        ({"topics": "a", "auth_token": "a", "auth_token_file": "b"}, "`auth_token` and `auth_token_file` cannot"),
        ({"topics": "a", "auth_basic_user_id": "a"}, "`auth_basic_user_id` requires `auth_basic_password`"),
    ],
)
def test_wrong_arguments_fail_before_any_call_to_spark(arguments: dict[str, Any], text: str) -> None:
    spark = FakeSpark()
    with pytest.raises(PulsarOptionError, match=text):
        read(spark=spark, **arguments)
    assert spark.read.calls in ({}, {"format": FORMAT})


def test_a_stream_has_no_end() -> None:
    options = PulsarReadOptions(topic="a", service_url=URL, ending_time=5)
    text = "Option `ending_time` does not apply to a streaming read"
    with pytest.raises(PulsarOptionError, match=text):
        read_pulsar_stream(FakeSpark().session, options=options)


def test_triggers_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(PulsarOptionError, match="`available_now` and `processing_time` cannot be combined"):
        write_pulsar_stream(FakeSpark().frame, "t", checkpoint=tmp_path, available_now=True, processing_time="1 second")


@pytest.mark.parametrize("mode", ["complete", "Append"])
def test_a_stream_cannot_replace_messages(mode: Any, tmp_path: Path) -> None:  # noqa: ANN401
    text = f"Option `output_mode` is `{mode}`, but must be one of append, update"
    with pytest.raises(PulsarOptionError, match=text):
        write_pulsar_stream(FakeSpark().frame, "t", checkpoint=tmp_path, output_mode=mode, service_url=URL)


class Failing(Noted):
    """Stands for a reader or writer of Spark whose last call fails in the JVM."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def _fail(self) -> None:
        raise RuntimeError(self.text)

    load = save = start = _fail


TIME_MALFORMED = (
    "o7.load: x.PulsarException: [PULSAR_TIME_MALFORMED] Option `startingTime` is `2026-01-31T00:00:00+00:00[Nowhere]`"
    ", which is not a time with a zone. What to do: Use milliseconds since 1970, or ISO 8601 with a zone, such as "
    "2026-01-31T12:00:00Z or 2026-01-31T12:00:00+01:00.\n\tat x.Y.z(Y.scala:1)"
)


def test_errors_of_the_jvm_name_the_argument() -> None:
    spark = FakeSpark()
    spark.read = Failing(TIME_MALFORMED)
    with pytest.raises(PulsarOptionError) as raised:
        read("a", start="2026-01-31T00:00:00+00:00[Nowhere]", spark=spark)
    assert raised.value.parameters == {"option": "start", "value": "2026-01-31T00:00:00+00:00[Nowhere]"}
    assert str(raised.value).startswith("[PULSAR_TIME_MALFORMED] Option `start` is `2026-01-31")
    assert isinstance(raised.value.__cause__, RuntimeError)
    with pytest.raises(PulsarOptionError, match="Option `starting_time` is"):
        read("a", options=PulsarReadOptions(starting_time="2026-01-31T00:00:00+00:00[Nowhere]"), spark=spark)


def test_errors_of_the_jvm_have_the_class_of_their_family(tmp_path: Path) -> None:
    spark = FakeSpark()
    spark.read = spark.readStream = spark.write = spark.writeStream = Failing(
        "[PULSAR_TOPIC_NOT_FOUND] Topic a does not exist at pulsar://h:1. "
        "What to do: Check its name, tenant and namespace, or create it. With allowMissingTopics=true a read starts "
        "without it; `topicsPattern` takes expressions."
    )
    calls: list[Callable[[], object]] = [
        lambda: read("a", spark=spark),
        lambda: read_pulsar_stream(spark.session, "a", service_url=URL),
        lambda: write_pulsar(spark.frame, "a", service_url=URL),
        lambda: write_pulsar_stream(spark.frame, "a", checkpoint=tmp_path, service_url=URL),
    ]
    for call in calls:
        with pytest.raises(PulsarTopicNotFoundError) as raised:
            call()
        assert raised.value.parameters == {"topic": "a", "url": "pulsar://h:1"}
    spark.read = Failing("nothing of ours")
    with pytest.raises(RuntimeError, match="nothing of ours"):
        read("a", spark=spark)


def test_type_checkers_and_the_functions_agree_on_names() -> None:
    with pytest.raises(PulsarOptionError, match="nearest name is `poll_timeout_ms`"):
        read_pulsar(FakeSpark().session, "a", poll_timeout_s=5)  # type: ignore[call-arg]
    with pytest.raises(PulsarOptionError, match="nearest name is `topic`"):
        write_pulsar(FakeSpark().frame, topics="a")  # type: ignore[call-arg]


@pytest.mark.parametrize("checkpoint", [None, "", 5, False])
def test_a_checkpoint_that_is_no_path_is_refused(checkpoint: Any) -> None:  # noqa: ANN401
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INVALID.*`checkpoint`.*path of a folder"):
        write_pulsar_stream(FakeSpark().frame, "t", checkpoint=checkpoint, service_url=URL)


@pytest.mark.parametrize("topics", [5, b"orders", Path("orders"), ["orders", 5], [["orders"]]])
def test_topics_that_are_no_texts_are_refused(topics: Any) -> None:  # noqa: ANN401
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INVALID.*`topics`.*as texts"):
        read(topics)
