"""The typed option classes."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, fields
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from pulsar_spark import PulsarOptionError, PulsarReadOptions, PulsarWriteOptions, options
from pulsar_spark._tables import option_table
from pulsar_spark.options.durations import milliseconds

TABLE = option_table()


@pytest.mark.parametrize("kind", [PulsarReadOptions, PulsarWriteOptions])
def test_the_fields_are_those_of_the_table(kind: type[PulsarReadOptions | PulsarWriteOptions]) -> None:
    expected = [option.argument for option in TABLE.options if set(option.scopes) & set(kind.SCOPES)]
    expected += [prefix.argument for prefix in TABLE.prefixes if set(prefix.scopes) & set(kind.SCOPES)]
    arguments = ["start", "end", "level"] if kind is PulsarReadOptions else []
    assert [field.name for field in fields(kind)] == [*arguments, *expected]
    assert len(set(expected)) == len(expected)


def test_without_fields_there_are_no_options() -> None:
    assert PulsarReadOptions().to_options() == {}
    assert repr(PulsarReadOptions()) == "PulsarReadOptions()"


def test_values_are_converted_to_the_text_of_options() -> None:
    given = PulsarReadOptions(
        service_url="pulsar://localhost:6650",
        topics=["a", "b"],
        starting_offsets={"a": "1:2:3", "b": "earliest"},
        ending_time={"a": datetime(2026, 1, 31, 12, tzinfo=timezone.utc), "b": 5},
        fail_on_data_loss=False,
        read_ahead_bytes=1024,
        metadata_columns=["__position", "__index"],
        client={"numIoThreads": 2, "useTcpNoDelay": True, "listenerName": "x"},
        reader={"receiverQueueSize": 10},
    ).to_options()
    assert json.loads(given.pop("startingOffsets")) == {"a": "1:2:3", "b": "earliest"}
    assert json.loads(given.pop("endingTime")) == {"a": "2026-01-31T12:00:00.000Z", "b": "5"}
    assert given == {
        "service.url": "pulsar://localhost:6650",
        "topics": "a,b",
        "failOnDataLoss": "false",
        "readAheadBytes": "1024",
        "metadataColumns": "__position,__index",
        "pulsar.client.numIoThreads": "2",
        "pulsar.client.useTcpNoDelay": "true",
        "pulsar.client.listenerName": "x",
        "pulsar.reader.receiverQueueSize": "10",
    }
    written = PulsarWriteOptions(
        topic="t", schema_type="json", producer={"properties": {"a": "b"}, "producerName": "p"}
    )
    assert written.to_options() == {
        "topic": "t",
        "schemaType": "json",
        "pulsar.producer.properties": '{"a": "b"}',
        "pulsar.producer.producerName": "p",
    }


def test_limits_of_triggers_take_numbers_sizes_and_times() -> None:
    limits = PulsarReadOptions(
        max_messages_per_trigger=1000,
        max_bytes_per_trigger="64m",
        min_messages_per_trigger=10,
        max_trigger_delay=timedelta(minutes=2, milliseconds=5),
    )
    assert limits.to_options() == {
        "maxMessagesPerTrigger": "1000",
        "maxBytesPerTrigger": "64m",
        "minMessagesPerTrigger": "10",
        "maxTriggerDelay": "120005ms",
    }
    for wrong in (0, -1, "all"):
        with pytest.raises(PulsarOptionError, match="`max_messages_per_trigger`"):
            PulsarReadOptions(max_messages_per_trigger=wrong)  # type: ignore[arg-type]
    for delay in ("soon", timedelta(seconds=-1)):
        with pytest.raises(PulsarOptionError, match="such as `500ms`"):
            PulsarReadOptions(min_messages_per_trigger=1, max_trigger_delay=delay)


def test_a_datetime_field_without_a_zone_is_rejected() -> None:
    with pytest.raises(PulsarOptionError, match="`starting_time` has no time zone: `2026-01-31T00:00:00`"):
        PulsarReadOptions(starting_time=datetime(2026, 1, 31))


@pytest.mark.parametrize(
    ("wrong", "condition"),
    [
        ({"fail_on_data_loss": "maybe"}, "PULSAR_OPTION_INVALID"),
        ({"topics": []}, "PULSAR_OPTION_INVALID"),
        ({"auth_token": "a", "auth_token_file": "b"}, "PULSAR_OPTION_CONFLICT"),
        ({"auth_basic_user_id": "a"}, "PULSAR_OPTION_INCOMPLETE"),
        ({"client": {"numIoThread": 1}}, "PULSAR_OPTION_UNKNOWN"),
        ({"client": {"serviceUrl": "x"}}, "PULSAR_OPTION_MANAGED"),
    ],
)
def test_options_are_checked_on_creation(wrong: dict[str, Any], condition: str) -> None:
    with pytest.raises(PulsarOptionError) as raised:
        PulsarReadOptions(**wrong)
    assert raised.value.condition == condition


def test_errors_name_the_fields() -> None:
    with pytest.raises(PulsarOptionError, match="Option `poll_timeout_ms` is `0`"):
        PulsarReadOptions(poll_timeout_ms=0)
    with pytest.raises(PulsarOptionError, match="Option `auth_basic_user_id` requires `auth_basic_password`"):
        PulsarReadOptions(auth_basic_user_id="a")


def test_secrets_are_masked_in_repr_but_not_in_the_options() -> None:
    given = PulsarReadOptions(
        admin_auth_params="secret-password",
        admin_auth_plugin_class_name="plug.In",
        client={"authPluginClassName": "plug.In", "authParams": "secret-parameters"},
        reader={"readerName": "seen"},
    )
    assert repr(given) == (
        "PulsarReadOptions(admin_auth_plugin_class_name='plug.In', admin_auth_params='***', "
        "client={'authPluginClassName': '***', 'authParams': '***'}, reader={'readerName': 'seen'})"
    )
    assert "secret" not in f"{given} {given!r} {[given]}"
    assert given.to_options()["admin.auth.params"] == "secret-password"
    assert "secret" not in repr(PulsarReadOptions(auth_token="secret"))
    credentials = PulsarReadOptions(auth_oauth2_issuer_url="issuer", auth_oauth2_credentials_url="secret")
    assert "secret" not in repr(credentials)


def test_options_are_immutable_values() -> None:
    one, other = PulsarReadOptions(topic="t"), PulsarReadOptions(topic="t")
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        one.topic = "u"  # type: ignore[misc]
    with pytest.raises(TypeError):
        PulsarReadOptions("pulsar://localhost:6650")  # type: ignore[call-arg]


def test_function_arguments_are_fields() -> None:
    for arguments, kind in ((options.ReadArguments, PulsarReadOptions), (options.WriteArguments, PulsarWriteOptions)):
        assert set(arguments.__annotations__) < {field.name for field in fields(kind)}


def test_start_end_and_level_are_fields_with_the_values_of_the_arguments() -> None:
    options = PulsarReadOptions(topic="t", start="earliest", end="2026-01-31T00:00:00Z", level="broker")
    assert options.to_options() == {
        "topic": "t",
        "startingOffsets": "earliest",
        "endingTime": "2026-01-31T00:00:00.000Z",
        "readLevel": "broker",
    }
    assert repr(options).startswith("PulsarReadOptions(start='earliest', end=")
    assert "startingTime" in PulsarReadOptions(start=timedelta(hours=2)).to_options()
    with pytest.raises(PulsarOptionError, match="`start` and `starting_time` cannot be combined"):
        PulsarReadOptions(start="earliest", starting_time="5")
    with pytest.raises(PulsarOptionError, match="`level` and `read_level` cannot be combined"):
        PulsarReadOptions(level="broker", read_level="broker")
    with pytest.raises(PulsarOptionError, match=r"Option `level` is `brokr`.*the nearest is `broker`"):
        PulsarReadOptions(level="brokr")  # type: ignore[arg-type]


def test_a_name_that_is_no_field_is_answered_with_the_nearest() -> None:
    for wrong, nearest in (("star", "start"), ("poll_timeout", "poll_timeout_ms"), ("token", "auth_token_file")):
        with pytest.raises(PulsarOptionError, match=f"the nearest name is `{nearest}`"):
            PulsarReadOptions(**{wrong: "x"})  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(PulsarReadOptions(start="earliest"))) == PulsarReadOptions(start="earliest")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5), ("+5", 5), ("500ms", 500), ("2 s", 2000), ("2 Seconds", 2000), ("15m", 900_000),
        ("15 min", 900_000), ("1h", 3_600_000), ("2 days", 172_800_000), ("1w", 604_800_000),
        ("36500d", 36_500 * 86_400_000), ("3 milliseconds", 3),
        *((wrong, None) for wrong in ("", "m", "15M", "-5", "1.5s", "1h30m", "36501d", "9999999999999")),
        *((wrong, None) for wrong in ("99999999999999999999", "5 months", "٣s")),
    ],
)  # fmt: skip
def test_durations_have_one_grammar(text: str, expected: int | None) -> None:
    assert milliseconds(text) == expected


def test_options_in_milliseconds_take_durations() -> None:
    options = PulsarReadOptions(poll_timeout_ms="2min", operation_timeout_ms=timedelta(seconds=5))
    assert options.to_options() == {"pollTimeoutMs": "2min", "operationTimeoutMs": "5000ms"}
