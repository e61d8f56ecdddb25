"""Wrong options, columns and modes: one clear error each, before any job starts, which says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.spark.actions import read, stream, write
from support.spark.errors import assert_says, failing, get_condition, no_job, refused
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from support.topics.writing import Target

GIVEN_TOPIC = "events"


@pytest.fixture(scope="module")
def events(target: Target, namespace: str) -> str:
    """A topic with two partitions and a few messages."""
    topic = f"persistent://{namespace}/{GIVEN_TOPIC}"
    target.admin.create_topic(topic, partitions=2)
    produce(target.client, topic, [str(n).encode() for n in range(20)])
    return topic


def completed(target: Target, topic: str, options: Mapping[str, str | None]) -> dict[str, str]:
    """The options with those that every query needs; None leaves one out."""
    given = {**target.options(topic), **options}
    namespace = topic.split("/", 2)[2].rsplit("/", 1)[0]
    return {key: value.replace("NAMESPACE", namespace) for key, value in given.items() if value is not None}


def test_the_options_are_right_when_nothing_is_wrong(target: Target, events: str, topic: str) -> None:
    options = completed(target, events, {})
    read(target, options)
    stream(target, options)
    write(target, completed(target, topic, {}))


OFFSETS = "PULSAR_OFFSETS_MALFORMED"
WRONG_FOR_ALL = [
    ({"service.url": None}, "PULSAR_OPTION_MISSING", ["`service.url`", "pulsar://localhost:6650"]),
    ({"service.url": "localhost:6650"}, "PULSAR_OPTION_INVALID", ["`service.url`", "`localhost:6650`", "pulsar://host"]),
    ({"service.url": "kafka://here:9092"}, "PULSAR_OPTION_INVALID", ["`service.url`", "`kafka://here:9092`"]),
    ({"service.url": " "}, "PULSAR_OPTION_INVALID", ["`service.url`"]),
    ({"servce.url": "x"}, "PULSAR_OPTION_UNKNOWN", ["`servce.url`", "nearest name is `service.url`"]),
    ({"colour": "blue"}, "PULSAR_OPTION_UNKNOWN", ["`colour`", "`pulsar-spark options`"]),
    ({"operationTimeoutMs": "soon"}, "PULSAR_OPTION_INVALID", ["`operationTimeoutMs`", "`soon`", "milliseconds"]),
    ({"operationTimeoutMs": "0"}, "PULSAR_OPTION_INVALID", ["`operationTimeoutMs`", "at least 1"]),
    ({"auth.token": "a", "auth.tokenFile": "/b"}, "PULSAR_OPTION_CONFLICT", ["`auth.token`", "`auth.tokenFile`"]),
    ({"auth.basic.userId": "me"}, "PULSAR_OPTION_INCOMPLETE", ["`auth.basic.userId`", "`auth.basic.password`"]),
    (
        {"pulsar.client.conectionTimeoutMs": "1"},
        "PULSAR_OPTION_UNKNOWN",
        ["`pulsar.client.conectionTimeoutMs`", "`pulsar.client.connectionTimeoutMs`"],
    ),
    ({"pulsar.client.connectionTimeoutMs": "x"}, "PULSAR_CLIENT_SETTING", ["connectionTimeoutMs`", "type int"]),
    ({"pulsar.client.numIoThreads": "9999999"}, "PULSAR_OPTION_INVALID", ["numIoThreads`", "from 1 to 1000"]),
    ({"pulsar.client.connectionsPerBroker": "-1"}, "PULSAR_OPTION_INVALID", ["PerBroker`", "from 0 to 1000"]),
    (
        {"pulsar.client.serviceUrl": "pulsar://x"},
        "PULSAR_OPTION_MANAGED",
        ["`pulsar.client.serviceUrl`", "service.url"],
    ),
    ({"pulsar.client.authPluginClassName": "no.such.Plugin"}, "PULSAR_OPTION_INVALID", ["`no.such.Plugin`"]),
    (
        {"pulsar.client.authPluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationSasl"},
        "PULSAR_LOGIN_UNSUPPORTED",
        ["Kerberos", "`pulsar.client.authPluginClassName`", "`auth.tokenFile`"],
    ),
    (
        {"admin.auth.pluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationAthenz"},
        "PULSAR_LOGIN_UNSUPPORTED",
        ["Athenz", "`admin.auth.pluginClassName`"],
    ),
    ({"topic": "non-persistent://public/default/t"}, "PULSAR_TOPIC_NAME", ["non-persistent://public/default/t"]),
    ({"topic": "a,b"}, "PULSAR_OPTION_INVALID", ["`topic`", "`a,b`", "`topics`"]),
    ({"topic": "a/b"}, "PULSAR_TOPIC_NAME", ["`a/b`", "persistent://tenant/namespace/events"]),
    ({"topic": "persistent://public/no-such-namespace/t"}, "PULSAR_TOPIC_NOT_FOUND", ["no-such-namespace"]),
]  # fmt: skip
WRONG_READS = [
    ({"topic": None}, "PULSAR_TOPIC_OPTION", ["none is set", "`topicsPattern`"]),
    ({"topic": None, "topics": " , "}, "PULSAR_OPTION_INVALID", ["`topics`", "` , `", "names of topics"]),
    ({"topics": "a,b"}, "PULSAR_TOPIC_OPTION", ["`topic` and `topics` are set"]),
    ({"topicsPattern": "a"}, "PULSAR_TOPIC_OPTION", ["`topic` and `topicsPattern` are set"]),
    ({"topic": "persistent://NAMESPACE/nothing"}, "PULSAR_TOPIC_NOT_FOUND", ["/nothing does not exist"]),
    ({"topic": None, "topics": "NAMESPACE/events,NAMESPACE/nothing"}, "PULSAR_TOPIC_NOT_FOUND", ["/nothing"]),
    ({"topic": None, "topicsPattern": "NAMESPACE/nothing-.*"}, "PULSAR_NO_TOPIC_MATCHES", ["`nothing-.*`", "/events"]),
    ({"topic": None, "topicsPattern": "("}, "PULSAR_OPTION_INVALID", ["`topicsPattern`", "regular expression"]),
    ({"startingOffset": "earliest"}, "PULSAR_OPTION_UNKNOWN", ["nearest name is `startingOffsets`"]),
    ({"sendTimeoutMs": "1"}, "PULSAR_OPTION_WRONG_MODE", ["`sendTimeoutMs`", "read", "batch write, streaming write"]),
    ({"pulsar.producer.producerName": "x"}, "PULSAR_OPTION_WRONG_MODE", ["`pulsar.producer.producerName`"]),
    ({"startingOffsets": "middle"}, OFFSETS, ["`startingOffsets`", "`middle`"]),
    ({"startingOffsets": "last 0"}, OFFSETS, ["`startingOffsets`", "`last 0`", "`last 10`"]),
    ({"path": "orders"}, "PULSAR_TOPIC_AS_PATH", ["`orders`", "`topicsPattern`"]),
    ({"topic": None, "path": "orders"}, "PULSAR_TOPIC_AS_PATH", ["`orders`", "`topic`"]),
    ({"versionAsOf": "1:2"}, "PULSAR_AS_OF_WITHOUT_CATALOG", ["`versionAsOf`", "`endingOffsets`"]),
    ({"timestampAsOf": "2026-01-01"}, "PULSAR_AS_OF_WITHOUT_CATALOG", ["`timestampAsOf`", "`endingTime`"]),
    ({"startingOffsets": "{"}, OFFSETS, ["`startingOffsets`", "not a JSON object"]),
    ({"startingOffsets": '["1:2"]'}, OFFSETS, ["not a JSON object"]),
    ({"startingOffsets": '{"NAMESPACE/events": "1-2"}'}, OFFSETS, ["`1-2` is not a position", "ledger:entry"]),
    ({"startingOffsets": '{"NAMESPACE/events": "9:9"}'}, OFFSETS, ["`9:9`", "/events has 2"]),
    ({"startingOffsets": '{"NAMESPACE/events": [1, 2]}'}, OFFSETS, ["not a message id"]),
    (
        {"startingOffsets": '{"NAMESPACE/event": "earliest"}'},
        "PULSAR_OFFSETS_UNKNOWN_TOPIC",
        ["/event`", "nearest", "/events"],
    ),
    ({"startingOffsets": '{"NAMESPACE/events-partition-7": "1:2"}'}, "PULSAR_OFFSETS_UNKNOWN_TOPIC", ["partition-7"]),
    ({"startingOffsets": '{"NAMESPACE/events-partition-0": "after 1"}'}, OFFSETS, ["`after 1` is not a position"]),
    ({"startingTime": "yesterday"}, "PULSAR_TIME_MALFORMED", ["`startingTime`", "`yesterday`", "ISO 8601"]),
    ({"startingTime": "2026-01-31T12:00:00"}, "PULSAR_TIME_MALFORMED", ["with a zone"]),
    ({"startingTime": '{"NAMESPACE/events": "noon"}'}, "PULSAR_TIME_MALFORMED", ["`noon`"]),
    ({"startingTime": '{"NAMESPACE/event": "1"}'}, "PULSAR_OFFSETS_UNKNOWN_TOPIC", ["`startingTime`", "/event"]),
    ({"startingTime": "1", "startingOffsets": "earliest"}, "PULSAR_OPTION_CONFLICT", ["`startingTime`"]),
    ({"metadataColumns": "__positon"}, "PULSAR_METADATA_COLUMN_UNKNOWN", ["`__positon`", "`__position`"]),
    ({"readAheadBytes": "much"}, "PULSAR_OPTION_INVALID", ["`readAheadBytes`", "`16m`"]),
    ({"pulsar.reader.receiverQueueSize": "-1"}, "PULSAR_OPTION_INVALID", ["receiverQueueSize", "at least 1"]),
    ({"pulsar.reader.poolMessages": "true"}, "PULSAR_OPTION_WITHOUT_EFFECT", ["`pulsar.reader.poolMessages`"]),
    ({"auth.tokenFile": "/dev/zero"}, "PULSAR_FILE_UNREADABLE", ["`auth.tokenFile`", "is no file"]),
    (
        {
            "pulsar.client.authPluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationToken",
            "pulsar.client.authParams": "file:///dev/zero",
        },
        "PULSAR_FILE_UNREADABLE",
        ["`pulsar.client.authParams`", "is no file"],
    ),
    (
        {"protobuf.descriptorFile": "/dev/zero", "protobuf.message": "x"},
        "PULSAR_FILE_UNREADABLE",
        ["`protobuf.descriptorFile`", "is no file"],
    ),
    ({"pulsar.client.authParams": "token:x"}, "PULSAR_OPTION_INCOMPLETE", ["`pulsar.client.authPluginClassName`"]),
    (
        {"pulsar.client.authPluginClassName": "java.lang.Object"},
        "PULSAR_OPTION_INVALID",
        ["`pulsar.client.authPluginClassName`", "implements", "Authentication"],
    ),
    ({"startingOffsets": "subscription"}, "PULSAR_OPTION_INCOMPLETE", ["=subscription`", "`progressSubscription`"]),
    ({"failOnDataLoss": "maybe"}, "PULSAR_OPTION_INVALID", ["`failOnDataLoss`", "true or false"]),
]  # fmt: skip
WRONG_BATCH_READS = [
    ({"endingOffsets": "last 10"}, OFFSETS, ["`endingOffsets`", "`last 10`"]),
    ({"startingOffsets": "latest"}, "PULSAR_START_LATEST", ["`startingOffsets`", "earliest"]),
    ({"endingOffsets": "earliest"}, "PULSAR_END_EARLIEST", ["`endingOffsets`", "latest"]),
    ({"endingOffsets": '{"NAMESPACE/e": "latest"}'}, "PULSAR_OFFSETS_UNKNOWN_TOPIC", ["`endingOffsets`", "/e`"]),
    ({"endingTime": "tomorrow"}, "PULSAR_TIME_MALFORMED", ["`endingTime`", "`tomorrow`"]),
    ({"startingTime": "2000", "endingTime": "1000"}, "PULSAR_OFFSETS_REVERSED", ["before it starts"]),
    (
        {
            "startingOffsets": '{"NAMESPACE/events-partition-0": "9:9", "NAMESPACE/events-partition-1": "earliest"}',
            "endingOffsets": '{"NAMESPACE/events-partition-0": "9:3", "NAMESPACE/events-partition-1": "latest"}',
        },
        "PULSAR_OFFSETS_REVERSED",
        ["events-partition-0", "9:3", "9:9"],
    ),
]  # fmt: skip
WRONG_STREAM_READS = [
    ({"endingOffsets": "latest"}, "PULSAR_OPTION_WRONG_MODE", ["`endingOffsets`", "streaming read", "batch read"]),
    ({"endingTime": "1"}, "PULSAR_OPTION_WRONG_MODE", ["`endingTime`", "streaming read"]),
]
WRONG_WRITES = [
    ({"topic": None}, "PULSAR_WRITE_NO_TOPIC", ["`topic`", "`__topic`"]),
    ({"topics": "a"}, "PULSAR_OPTION_WRONG_MODE", ["`topics`", "batch write", "batch read, streaming read"]),
    ({"startingOffsets": "earliest"}, "PULSAR_OPTION_WRONG_MODE", ["`startingOffsets`", "batch write"]),
    ({"schemaType": "xml"}, "PULSAR_OPTION_INVALID", ["`schemaType`", "`xml`", "avro, json"]),
    ({"sendTimeoutMs": "-1"}, "PULSAR_OPTION_INVALID", ["`sendTimeoutMs`"]),
    (
        {"pulsar.producer.chunkingEnabled": "true", "pulsar.producer.batchingEnabled": "true"},
        "PULSAR_OPTION_INVALID",
        ["`pulsar.producer.batchingEnabled`", "`pulsar.producer.chunkingEnabled`"],
    ),
    ({"path": "orders"}, "PULSAR_TOPIC_AS_PATH", ["`orders`", "`topic`"]),
    ({"pulsar.producer.maxPendingMesages": "1"}, "PULSAR_OPTION_UNKNOWN", ["`pulsar.producer.maxPendingMessages`"]),
    ({"pulsar.producer.maxPendingMessages": "many"}, "PULSAR_CLIENT_SETTING", ["`pulsar.producer.maxPendingMessages`"]),
    ({"pulsar.producer.topicName": "x"}, "PULSAR_OPTION_MANAGED", ["`pulsar.producer.topicName`", "topic"]),
    ({"pulsar.producer.sendTimeoutMs": "0"}, "PULSAR_OPTION_ALIAS", ["`sendTimeoutMs`", "`0`"]),
]  # fmt: skip


def cases(action: Callable[[Target, dict[str, str]], None], wrong: list[Any], repeated: list[Any]) -> list[Any]:
    """Those of an action. Of the ones that reads have too, the gate has one of each condition, and all about topics."""

    def variations() -> Iterator[bool]:
        seen: set[str] = set()
        for options, condition, _ in repeated:
            yield condition in seen and not any("NAMESPACE" in (value or "") for value in options.values())
            seen.add(condition)

    exhaustive = [*(False for _ in wrong), *variations()]
    return [
        pytest.param(
            action,
            *case,
            id=f"{action.__name__}-{'-'.join(f'{k}={v}' for k, v in case[0].items())}"[:90],
            marks=pytest.mark.exhaustive if rare else (),
        )
        for case, rare in zip([*wrong, *repeated], exhaustive, strict=True)
    ]


@pytest.mark.parametrize(
    ("action", "options", "condition", "words"),
    [
        *cases(read, WRONG_FOR_ALL + WRONG_READS + WRONG_BATCH_READS, []),
        *cases(stream, WRONG_STREAM_READS, WRONG_FOR_ALL + WRONG_READS),
        *cases(write, WRONG_WRITES, WRONG_FOR_ALL),
    ],
)
def test_a_wrong_option(
    target: Target,
    events: str,
    action: Callable[[Target, dict[str, str]], None],
    options: dict[str, str | None],
    condition: str,
    words: list[str],
) -> None:
    with no_job(target.spark), failing(condition, *words):
        action(target, completed(target, events, options))


def test_a_program_can_ask_for_the_condition(target: Target, events: str) -> None:
    with pytest.raises(Exception, match="colour") as failure:
        read(target, completed(target, events, {"colour": "blue"}))
    assert get_condition(failure.value) == "PULSAR_OPTION_UNKNOWN"
    assert isinstance(failure.value, Exception)
    assert failure.value.getMessageParameters()["option"] == "colour"  # type: ignore[attr-defined]


def test_wrong_settings_when_rows_name_their_topics(target: Target) -> None:
    settings = {"pulsar.producer.maxPendingMessages": "many"}
    with no_job(target.spark), refused("PULSAR_CLIENT_SETTING", "`pulsar.producer.maxPendingMessages`"):
        target.append_sql("select 'x' as value, 't' as __topic", None, settings)


@pytest.mark.parametrize(
    ("columns", "condition", "words"),
    [
        ("'k' as __key", "PULSAR_WRITE_NO_VALUE_COLUMN", ["__key", "metadata columns"]),
        ("'v' as value, 1 as __key", "PULSAR_WRITE_COLUMN_TYPE", ["`__key`", "INT", "STRING or BINARY"]),
        ("'v' as value, 'now' as __eventTime", "PULSAR_WRITE_COLUMN_TYPE", ["`__eventTime`", "TIMESTAMP"]),
        ("'v' as value, 1 as __topic", "PULSAR_WRITE_COLUMN_TYPE", ["`__topic`", "STRING"]),
        ("'v' as value, map(1, 2) as __messageProperties", "PULSAR_WRITE_COLUMN_TYPE", ["MAP<STRING, STRING>"]),
        ("'v' as value, 'x' as __sequenceId", "PULSAR_WRITE_COLUMN_TYPE", ["`__sequenceId`", "BIGINT"]),
    ],
)
def test_wrong_columns_of_a_write(target: Target, topic: str, columns: str, condition: str, words: list[str]) -> None:
    with no_job(target.spark), refused(condition, *words):
        target.append_sql(f"select {columns}", topic)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("overwrite", ["[PULSAR_WRITE_MODE]", "`append`"]),
        ("ignore", ["UNSUPPORTED_DATA_SOURCE_SAVE_MODE", '"Ignore"', '"Append"']),
        ("errorifexists", ["UNSUPPORTED_DATA_SOURCE_SAVE_MODE", '"ErrorIfExists"', '"Append"']),
        (None, ["UNSUPPORTED_DATA_SOURCE_SAVE_MODE", '"ErrorIfExists"', '"Append"']),
    ],
)
def test_a_save_mode_other_than_append(target: Target, topic: str, mode: str | None, words: list[str]) -> None:
    """Without a mode it is Spark's default, which Spark itself refuses for every table that is not in a catalog."""
    frame = target.spark.sql("select 'x' as value")
    writer = frame.write.format("pulsar").mode(mode).options(**target.options(topic))
    with no_job(target.spark), pytest.raises(Exception, match=r"cannot be written|not replaced") as failure:
        writer.save()
    assert [word for word in words if word not in str(failure.value)] == []


def test_the_check_that_no_job_starts_can_fail(target: Target) -> None:
    with pytest.raises(AssertionError, match="1 jobs were started"), no_job(target.spark):
        target.spark.range(3).write.format("noop").mode("append").save()


def test_the_check_of_an_error_can_fail(target: Target, events: str) -> None:
    options = completed(target, events, {"colour": "blue"})
    for condition, word in (("PULSAR_OPTION_INVALID", "colour"), ("PULSAR_OPTION_UNKNOWN", "color")):
        with pytest.raises(AssertionError), refused(condition, word):
            read(target, options)
    with pytest.raises(AssertionError):
        assert_says(ValueError("[PULSAR_OPTION_UNKNOWN] no advice"), "PULSAR_OPTION_UNKNOWN")
