"""Options of streamnative/pulsar-spark: each is accepted, translated or refused by name."""

from __future__ import annotations

import pytest

from pulsar_spark import PulsarOptionError
from pulsar_spark._tables import option_table
from pulsar_spark.options import checks

READ = {"service.url": "pulsar://localhost:6650", "topic": "events"}
TLS = {"service.url": "pulsar+ssl://localhost:6651"}
TABLE = option_table()

ACCEPTED = [
    ("pulsar.client.operationTimeoutMs", "5000", "batchRead", "operationTimeoutMs"),
    ("pulsar.client.lookupTimeoutMs", " 7 ", "streamWrite", "operationTimeoutMs"),
    ("pulsar.client.tlsTrustCertsFilePath", "/ca.pem", "batchRead", "tls.trustCertsFile"),
    ("pulsar.client.tlsAllowInsecureConnection", "true", "batchRead", "tls.insecureTrustAnyCertificate"),
    ("pulsar.client.tlsHostnameVerificationEnable", "TRUE", "batchRead", "tls.insecureSkipHostnameVerification"),
    ("pulsar.client.tlsHostnameVerificationEnable", "false", "batchRead", "tls.insecureSkipHostnameVerification"),
    ("pulsar.client.useTls", "false", "batchRead", None),
    ("pulsar.reader.subscriptionName", "mine", "batchRead", "subscriptionPrefix"),
    ("pulsar.reader.subscriptionRolePrefix", "mine", "batchRead", "subscriptionPrefix"),
    ("pulsar.reader.readCompacted", "true", "batchRead", "readCompacted"),
    ("pulsar.reader.cryptoFailureAction", "FAIL", "batchRead", None),
    ("pulsar.producer.sendTimeoutMs", "9", "batchWrite", "sendTimeoutMs"),
    ("pulsar.producer.blockIfQueueFull", "true", "batchWrite", None),
    ("allowDifferentTopicSchemas", "true", "batchRead", "schemaMode"),
    ("allowDifferentTopicSchemas", "false", "batchRead", None),
    ("waitingForNonExistedTopic", "false", "streamRead", None),
    ("waitingForNonExistedTopic", "true", "streamRead", "allowMissingTopics"),
    ("predefinedSubscription", "mine", "streamRead", "progressSubscription"),
]

REJECTED = [
    ("pulsar.client.operationTimeoutMs", "0", "batchRead", "PULSAR_OPTION_ALIAS", "Set `operationTimeoutMs` instead."),
    ("pulsar.client.lookupTimeoutMs", "-1", "batchRead", "PULSAR_OPTION_ALIAS", "`-1`"),
    ("pulsar.client.tlsTrustCertsFilePath", " ", "batchRead", "PULSAR_OPTION_ALIAS", "`tls.trustCertsFile`"),
    ("pulsar.client.tlsAllowInsecureConnection", "yes", "batchRead", "PULSAR_OPTION_ALIAS", "only as true or false"),
    ("pulsar.client.tlsHostnameVerificationEnable", "yes", "batchRead", "PULSAR_OPTION_ALIAS", "not as `yes`"),
    ("pulsar.client.useTls", "true", "batchRead", "PULSAR_OPTION_ALIAS", "`service.url`"),
    ("pulsar.client.useTls", "no", "batchRead", "PULSAR_OPTION_ALIAS", "true or false, not as `no`"),
    ("pulsar.reader.subscriptionName", "", "batchRead", "PULSAR_OPTION_ALIAS", "`subscriptionPrefix`"),
    ("pulsar.reader.subscriptionRolePrefix", "", "batchRead", "PULSAR_OPTION_ALIAS", "`subscriptionPrefix`"),
    ("pulsar.reader.readCompacted", "1", "batchRead", "PULSAR_OPTION_ALIAS", "`readCompacted`"),
    ("pulsar.reader.cryptoFailureAction", "CONSUME", "batchRead", "PULSAR_OPTION_UNSUPPORTED", "fails the query"),
    ("pulsar.reader.keyHashRanges", "[]", "batchRead", "PULSAR_OPTION_UNSUPPORTED", "all keys"),
    ("pulsar.reader.readerListener", "x", "batchRead", "PULSAR_OPTION_UNSUPPORTED", "returns rows"),
    ("pulsar.producer.sendTimeoutMs", "0", "batchWrite", "PULSAR_OPTION_ALIAS", "`sendTimeoutMs`"),
    ("pulsar.producer.blockIfQueueFull", "false", "batchWrite", "PULSAR_OPTION_ALIAS", "Remove the option"),
    ("allowDifferentTopicSchemas", "maybe", "batchRead", "PULSAR_OPTION_ALIAS", "`schemaMode`"),
    ("predefinedSubscription", "mine", "batchRead", "PULSAR_OPTION_WRONG_MODE", "batch read"),
    ("pulsar.reader.readCompacted", "true", "batchWrite", "PULSAR_OPTION_WRONG_MODE", "batch write"),
    ("pulsar.producer.blockIfQueueFull", "true", "batchRead", "PULSAR_OPTION_WRONG_MODE", "batch read"),
    ("allowDifferentTopicSchemas", "true", "batchWrite", "PULSAR_OPTION_WRONG_MODE", "batch write"),
]


def error(options: dict[str, str], scope: str = "batchRead") -> PulsarOptionError:
    with pytest.raises(PulsarOptionError) as raised:
        checks.check({**READ, **options}, (scope,))
    return raised.value


@pytest.mark.parametrize(("alias", "value", "scope", "target"), ACCEPTED)
def test_an_alias_is_accepted_in_any_case_as_its_target(alias: str, value: str, scope: str, target: str | None) -> None:
    for name in (alias, alias.lower(), alias.upper()):
        present = checks.check_partial({**READ, name: value}, (scope,))
        assert present == READ.keys() | ({target} if target else set())


@pytest.mark.parametrize(("alias", "value", "scope", "condition", "words"), REJECTED)
def test_a_value_without_a_translation_is_an_error(
    alias: str, value: str, scope: str, condition: str, words: str
) -> None:
    raised = error({alias: value}, scope)
    assert raised.condition == condition
    assert f"`{alias}`" in str(raised)
    assert words in str(raised)
    assert "nearest name" not in str(raised)


def test_every_alias_of_the_table_is_proved_here() -> None:
    proved = {case[0] for case in (*ACCEPTED, *REJECTED)}
    assert {alias.name for alias in TABLE.aliases.values()} == proved
    assert all(TABLE.find(alias.target) for alias in TABLE.aliases.values() if alias.target)


def test_tls_belongs_to_an_address_with_tls() -> None:
    checks.check({**READ, **TLS, "pulsar.client.useTls": "true"}, ("batchRead",))
    assert checks.check_partial({"pulsar.client.useTls": "true"}, ("batchRead",)) == set()


@pytest.mark.parametrize("other", ["operationTimeoutMs", "pulsar.client.lookupTimeoutMs"])
def test_names_of_one_option_have_one_value(other: str) -> None:
    alias = {"pulsar.client.operationTimeoutMs": "5"}
    checks.check({**READ, **alias, other: " +5"}, ("batchRead",))
    raised = error({**alias, other: "6"})
    assert raised.condition == "PULSAR_OPTION_ALIAS_CONFLICT"
    assert f"`{other}`" in str(raised)
    assert "`pulsar.client.operationTimeoutMs`" in str(raised)


@pytest.mark.parametrize(
    "options",
    [
        {
            "pulsar.client.authPluginClassName": "x.Plugin",
            "pulsar.client.authParams": "hunter2",
            "pulsar.admin.AUTHPARAMS": "hunter2",
        },
        {"tls.trustCertsFile": "/ca", "pulsar.admin.tlsTrustCertsFilePath": "/ca"},
        {"pulsar.client.tlsTrustCertsFilePath": "/ca", "pulsar.admin.tlsTrustCertsFilePath": "/ca"},
        {"pulsar.admin.tlsAllowInsecureConnection": "false"},
        {"pulsar.admin.tlsHostnameVerificationEnable": "true"},
        {"pulsar.admin.useTls": "false"},
    ],
)
def test_a_setting_of_the_admin_service_may_repeat_that_of_the_client(options: dict[str, str]) -> None:
    checks.check({**READ, **options}, ("batchRead",))


@pytest.mark.parametrize(
    "options",
    [
        {"pulsar.admin.tlsTrustCertsFilePath": "/ca"},
        {"pulsar.admin.tlsHostnameVerificationEnable": "false"},
        {"pulsar.admin.useTls": "true"},
        {"pulsar.admin.operationTimeoutMs": "0"},
    ],
)
def test_a_setting_of_the_admin_service_alone_is_an_error(options: dict[str, str]) -> None:
    raised = error(options)
    assert raised.condition == "PULSAR_OPTION_ADMIN"
    assert "hunter2" not in str(raised)


def test_the_admin_service_may_have_credentials_of_its_own() -> None:
    client = {"pulsar.client.authPluginClassName": "x.Plugin", "pulsar.client.authParams": "token:b"}
    present = checks.check_partial(
        {**READ, **client, "admin.url": "http://h:1", "pulsar.admin.authParams": "hunter2"}, ("batchRead",)
    )
    assert {"admin.auth.pluginClassName", "admin.auth.params"} <= present
    alone = error({"pulsar.admin.authParams": "hunter2"})
    assert alone.condition == "PULSAR_OPTION_INCOMPLETE"
    twice = error({"pulsar.admin.authParams": "hunter2", "admin.auth.params": "other"})
    assert twice.condition == "PULSAR_OPTION_ALIAS_CONFLICT"
    assert "hunter2" not in f"{alone} {twice}"


def test_an_unknown_setting_of_the_admin_service_is_reported_with_the_nearest() -> None:
    assert "the nearest name is `pulsar.admin.authParams`" in str(error({"pulsar.admin.authParam": "hunter2"}))
