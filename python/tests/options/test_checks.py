"""The checks of options: each mistake, its text, and which one comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsar_spark import PulsarOptionError
from pulsar_spark._tables import error_conditions, option_table
from pulsar_spark.options import checks

URL = {"service.url": "pulsar://localhost:6650"}
READ = {**URL, "topic": "events"}
TABLE = option_table()


def error(options: dict[str, str], *scopes: str) -> PulsarOptionError:
    with pytest.raises(PulsarOptionError) as raised:
        checks.check(options, scopes or ("batchRead",))
    return raised.value


@pytest.mark.parametrize(
    ("options", "scope"),
    [
        ({**URL, "topic": "topic://public/default/orders"}, "batchRead"),
        ({**URL, "topic": " segment://public/default/orders/0-7"}, "streamRead"),
        ({**URL, "topics": "events,topic://public/default/orders"}, "batchRead"),
        ({**URL, "topicsPattern": "topic://public/default/orders-.*"}, "streamRead"),
        ({**READ, "dlqTopic": "topic://public/default/orders", "onDecodeError": "dlq"}, "batchRead"),
        ({**URL, "topic": "topic://public/default/orders"}, "batchWrite"),
        ({**URL, "topic": "topic://public/default/orders"}, "streamWrite"),
    ],
)
def test_scalable_topics_are_refused_as_such(options: dict[str, str], scope: str) -> None:
    refused = error(options, scope)
    assert refused.condition == "PULSAR_TOPIC_SCALABLE"
    assert refused.parameters["topic"].startswith(("topic://public", "segment://public"))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {**READ, "startingOffset": "earliest"},
            (
                "[PULSAR_OPTION_UNKNOWN] There is no option `startingOffset`; the nearest name is `startingOffsets`. "
                "What to do: Correct the name; `pulsar-spark options` lists all options."
            ),
        ),
        (
            {**READ, "MaxOffsetsPerTrigger": "1"},
            (
                "[PULSAR_OPTION_UNKNOWN] There is no option `MaxOffsetsPerTrigger`; the nearest name is "
                "`maxMessagesPerTrigger`. What to do: Correct the name; `pulsar-spark options` lists all options."
            ),
        ),
        (
            {**READ, "nothing.like.it": "1"},
            (
                "[PULSAR_OPTION_UNKNOWN] There is no option `nothing.like.it`. "
                "What to do: Correct the name; `pulsar-spark options` lists all options."
            ),
        ),
        (
            {**READ, "readLevel": "segmnt"},
            (
                "[PULSAR_OPTION_INVALID] Option `readLevel` is `segmnt`, but must be one of auto, broker, segment; "
                "the nearest is `segment`. What to do: Set a value of that form."
            ),
        ),
        (
            {**READ, "predefinedSubscripton": "s"},
            (
                "[PULSAR_OPTION_UNKNOWN] There is no option `predefinedSubscripton`; the nearest name is "
                "`predefinedSubscription`. What to do: Correct the name; `pulsar-spark options` lists all options."
            ),
        ),
        (
            {**READ, "failOnDataLoss": "yes"},
            (
                "[PULSAR_OPTION_INVALID] Option `failOnDataLoss` is `yes`, but must be true or false. "
                "What to do: Set a value of that form."
            ),
        ),
        (
            {**READ, "schemaType": "avro"},
            (
                "[PULSAR_OPTION_WRONG_MODE] Option `schemaType` does not apply to a batch read. "
                "What to do: Remove it. It applies to: batch write, streaming write."
            ),
        ),
        (
            {**READ, "startingTime": "0", "startingOffsets": "earliest"},
            (
                "[PULSAR_OPTION_CONFLICT] Options `startingOffsets` and `startingTime` cannot be combined. "
                "What to do: Set only one of them."
            ),
        ),
        (
            {**READ, "auth.basic.password": "hunter2"},
            (
                "[PULSAR_OPTION_INCOMPLETE] Option `auth.basic.password` requires `auth.basic.userId`. "
                "What to do: Set both."
            ),
        ),
        (
            {"topic": "events"},
            (
                "[PULSAR_OPTION_MISSING] Option `service.url` is missing. "
                "What to do: Set it, for example to `pulsar://localhost:6650`."
            ),
        ),
        (
            URL,
            (
                "[PULSAR_TOPIC_OPTION] A read needs exactly one of the options `topic`, `topics` and `topicsPattern`, "
                "but none is set. What to do: Set one of them."
            ),
        ),
        (
            {**READ, "topicsPattern": "e.*"},
            (
                "[PULSAR_TOPIC_OPTION] A read needs exactly one of the options `topic`, `topics` and `topicsPattern`, "
                "but `topic` and `topicsPattern` are set. What to do: Set one of them."
            ),
        ),
        (
            {**READ, "pulsar.client.serviceUrl": "pulsar://elsewhere:6650"},
            (
                "[PULSAR_OPTION_MANAGED] Option `pulsar.client.serviceUrl` cannot be set because the connector sets it "
                "itself. What to do: Use `service.url`."
            ),
        ),
        (
            {**READ, "pulsar.client.ioThreads": "2"},
            (
                "[PULSAR_OPTION_UNKNOWN] There is no option `pulsar.client.ioThreads`; "
                "the nearest name is `pulsar.client.numIoThreads`. "
                "What to do: Correct the name; `pulsar-spark options` lists all options."
            ),
        ),
        (
            {**READ, "pulsar.client.numIOThreads": "1001"},
            (
                "[PULSAR_OPTION_INVALID] Option `pulsar.client.numIoThreads` is `***`, but must be "
                "a whole number from 1 to 1000. What to do: Set a value of that form."
            ),
        ),
        (
            {**READ, "bookkeeper.readEntryTimeoutSec": "0"},
            (
                "[PULSAR_OPTION_INVALID] Option `bookkeeper.readEntryTimeoutSec` is `***`, but must be "
                "a whole number, at least 1. What to do: Set a value of that form."
            ),
        ),
        (
            {**READ, "minPartitions": "100001"},
            (
                "[PULSAR_OPTION_INVALID] Option `minPartitions` is `100001`, but must be "
                "a whole number from 1 to 100000. What to do: Set a value of that form."
            ),
        ),
    ],
)
def test_texts(options: dict[str, str], text: str) -> None:
    raised = error(options)
    assert str(raised) == text
    assert text.startswith(f"[{raised.condition}]")
    assert all(value in text for value in raised.parameters.values())


def test_a_metadata_table_takes_options_of_batch_reads_and_its_own() -> None:
    checks.check({**READ, "metadata": "Partitions", "readLevel": "broker"}, ("metadata",))
    checks.check({}, ("metadata",))
    assert error({**READ, "metadata": "partitions"}).condition == "PULSAR_OPTION_WRONG_MODE"
    assert "to a metadata table" in str(error({**READ, "schemaType": "avro"}, "metadata"))
    assert "the nearest is `partitions`" in str(error({**READ, "metadata": "partition"}, "metadata"))


def test_an_option_of_another_mode_is_reported_with_all_possible_modes() -> None:
    assert "to a batch read or streaming read" in str(error({**READ, "schemaType": "avro"}, "batchRead", "streamRead"))


@pytest.mark.parametrize(
    "options",
    [
        READ,
        {**URL, "TOPIC": " events "},
        {**URL, "topics": "a,b", "path": "x", "checkpointLocation": "y"},
        {**READ, "readAheadBytes": "16 MB", "failOnDataLoss": " TRUE ", "pollTimeoutMs": "+5"},
        {**READ, "Pulsar.Client.NumIoThreads": "2", "pulsar.reader.receiverqueuesize": "10"},
        {**URL, "service.url": "pulsar+ssl://a:1,b:2/", "topicsPattern": r"public/default/\p{L}+"},
    ],
)
def test_good_options_pass(options: dict[str, str]) -> None:
    checks.check(options, ("batchRead",))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pollTimeoutMs", "0"),
        ("pollTimeoutMs", "5x"),
        ("pollTimeoutMs", str(2**63)),
        ("readAheadBytes", "0"),
        ("readAheadBytes", "1t"),
        ("service.url", "localhost:6650"),
        ("service.url", "pulsar://a:1, b:2"),
        ("topicsPattern", ""),
        ("subscriptionPrefix", " "),
    ],
)
def test_values_of_the_wrong_form(key: str, value: str) -> None:
    raised = error({**READ, key: value})
    assert raised.condition == "PULSAR_OPTION_INVALID"
    assert raised.parameters["value"] == value


def test_names_are_checked_in_alphabetical_order_and_forms_before_rules() -> None:
    wrong = {
        "topicc": "x",
        "pollTimeoutMs": "x",
        "pulsar.client.x": "1",
        "startingTime": "0",
        "startingOffsets": "latest",
    }
    assert error(wrong).parameters["option"] == "pollTimeoutMs"
    del wrong["pollTimeoutMs"]
    assert error(wrong).parameters["option"] == "topicc"
    del wrong["topicc"]
    assert error(wrong).parameters["option"] == "pulsar.client.x"
    del wrong["pulsar.client.x"]
    assert error(wrong).condition == "PULSAR_OPTION_CONFLICT"
    del wrong["startingTime"]
    assert error(wrong).condition == "PULSAR_OPTION_MISSING"


def test_errors_do_not_contain_secrets() -> None:
    secrets = [option.key for option in TABLE.options if option.secret]
    assert len(secrets) >= 3
    for key in secrets:
        raised = error({**READ, key: " "})
        assert raised.parameters["value"] == checks.MASK
    assert "hunter2" not in str(error({**READ, "auth.token": "hunter2", "auth.tokenFile": "f"}))
    assert "hunter2" not in str(error({**READ, "pulsar.client.authParam": "hunter2"}))


@pytest.mark.parametrize(
    ("name", "known", "nearest"),
    [
        ("topicss", ["topic", "topics"], "topics"),
        ("TOPICS", ["topic", "topics"], "topics"),
        ("bb", ["ab", "ba", "bc"], None),
        ("bbb", ["bbc", "abb"], "abb"),
        ("x", [], None),
        ("topic" * 100_000, ["topic", "topics"], None),  # at once
    ],
)
def test_nearest_name(name: str, known: list[str], nearest: str | None) -> None:
    assert checks.nearest_name(name, known) == nearest


@given(st.sampled_from([option.key for option in TABLE.options if len(option.key) > 5]), st.data())
def test_a_name_with_one_typo_is_always_recognized(key: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(key) - 1))
    slip = key[:place] + key[place + 1 :]
    hinted = checks.nearest_name(slip, [option.key for option in TABLE.options])
    assert hinted is not None
    assert checks._edit_distance(slip.lower(), hinted.lower()) <= 1


def test_all_conditions_can_be_raised_from_here_by_name() -> None:
    assert len(error_conditions()) > 50
    for name, condition in error_conditions().items():
        assert condition.kind in ("input", "runtime"), name
        assert condition.message.endswith((".", "}.")), name


def test_names_of_the_kafka_source_lead_to_options() -> None:
    table = option_table()
    for name, here in table.names_elsewhere.items():
        assert table.find(name) is None
        assert name not in table.aliases
        assert table.find(here) is not None or table.prefix_of(here) is not None


def test_names_of_python_lead_to_names_of_python() -> None:
    known = [option.argument for option in option_table().options]
    for name, here in (
        ("max_offsets_per_trigger", "max_messages_per_trigger"),
        ("subscription_name", "progress_subscription"),
    ):
        assert f"the nearest name is `{here}`" in str(checks.unknown(name, known))


def test_a_service_url_without_a_scheme_is_understood() -> None:
    with pytest.raises(PulsarOptionError, match="perhaps `pulsar://localhost:6650` is meant"):
        checks.check({"topic": "t", "service.url": "localhost:6650"}, ("batchRead",))


def test_the_nearest_name_of_a_setting_is_also_that_of_an_alias() -> None:
    raised = error({**READ, "pulsar.reader.subscriptonName": "x"})
    assert "the nearest name is `pulsar.reader.subscriptionName`" in str(raised)
