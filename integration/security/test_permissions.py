"""The table of permissions in docs/use/operators.md: with its rights a role may, and without one of them it may not."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import pulsar as pulsar_client
import pytest

from pulsar_spark.functions import from_pulsar, to_pulsar
from support.servers.admin import Admin, AdminError
from support.spark.errors import assert_says, failing
from support.spark.files import make_folder
from support.spark.settings import STORES, hadoop_settings
from support.topics.messages import produce
from support.topics.reading import read_available

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.auth_server import AuthServer

PAGE = Path(__file__).resolve().parents[2] / "docs/use/operators.md"
NAMESPACE = "public/granted"
EVENTS, FRESH, LETTERS, BROKEN = (
    f"persistent://{NAMESPACE}/{name}" for name in ("events", "fresh", "letters", "broken")
)
WRITTEN = 5
Right: TypeAlias = tuple[str, str]


class FunctionOptions(TypedDict):
    """Arguments of the functions of a topic."""

    topic: str
    service_url: str
    auth_token: str


@dataclass(frozen=True)
class Granted:
    """A server with topics, and roles that have been granted rights on them."""

    auth_server: AuthServer
    admin: Admin

    def options(self, role: str, **more: str) -> dict[str, str]:
        options = {
            "service.url": self.auth_server.server.service_url,
            "auth.token": self.auth_server.token(role),
            "operationTimeoutMs": "60000",
            **more,
        }
        return options if {"topic", "topicsPattern"} & set(more) else {**options, "topic": EVENTS}

    def grant(self, role: str, rights: tuple[Right, ...]) -> None:
        """Grant actions on topics, or on the namespace."""
        for place in {place for place, _ in rights}:
            actions = [action for where, action in rights if where == place]
            path = f"namespaces/{place}" if place == NAMESPACE else place.replace("://", "/")
            self.admin.call("POST", f"{path}/permissions/{role}", actions)


@pytest.fixture(scope="module")
def granted(auth_server: AuthServer) -> Granted:
    admin = auth_server.admin
    admin.create_namespace(NAMESPACE)
    admin.create_topic(EVENTS, partitions=2)
    admin.create_topic(BROKEN)
    admin.create_topic(LETTERS)
    admin.upload_schema(BROKEN, "INT32")
    return Granted(auth_server, admin)


@pytest.fixture(scope="module")
def filled(granted: Granted, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Granted:
    """The same with messages, one of which does not decode."""
    _rows(spark, WRITTEN).write.format("pulsar").mode("append").options(**granted.options("admin")).save()
    url, token = granted.auth_server.server.service_url, granted.auth_server.admin_token
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(tmp_path_factory.mktemp("client") / "log"))
    login = pulsar_client.AuthenticationToken(token)
    with closing(pulsar_client.Client(url, authentication=login, logger=logger)) as client:
        produce(client, BROKEN, [b"not an INT32"])
    return granted


def _rows(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, 1).selectExpr("string(id) as value")


def _load(spark: SparkSession, options: dict[str, str]) -> DataFrame:
    return spark.read.format("pulsar").options(**options).load()


def read(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    assert len(_load(spark, server.options(role)).select("value").collect()) == WRITTEN


def count(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    assert _load(spark, server.options(role)).count() == WRITTEN


def read_pattern(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    assert _load(spark, server.options(role, topicsPattern=f"{NAMESPACE}/eve.*")).count() == WRITTEN


def read_directly(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    direct = {"readLevel": "segment", "admin.url": server.auth_server.server.admin_url}
    assert _load(spark, server.options(role, **direct)).where("__publishTime > '2020-01-01'").count() == WRITTEN


def stream(spark: SparkSession, server: Granted, role: str, folder: Path, **more: str) -> None:
    options = server.options(role, startingOffsets="earliest", **more)
    rows = spark.readStream.format("pulsar").options(**options).load()
    found: list[str] = []
    read_available(rows, folder / role, lambda batch, _: found.extend(row[0] for row in batch.collect()))
    assert len(found) == WRITTEN


def stream_followed(spark: SparkSession, server: Granted, role: str, folder: Path) -> None:
    stream(spark, server, role, folder, progressSubscription=f"{role}-follows")


def decode(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    value = spark.sql("select binary('7') as value, cast(null as binary) as version")
    column = from_pulsar(spark, "value", "version", **_function_options(server, role))
    assert [row[0] for row in value.select(column).collect()] == ["7"]


def encode(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    column = to_pulsar(spark, "value", **_function_options(server, role))
    assert [bytes(row[0]) for row in spark.sql("select '7' as value").select(column).collect()] == [b"7"]


def _function_options(server: Granted, role: str) -> FunctionOptions:
    options = server.options(role)
    return {"topic": EVENTS, "service_url": options["service.url"], "auth_token": options["auth.token"]}


def _write(spark: SparkSession, server: Granted, role: str, topic: str) -> None:
    options = server.options(role, topic=topic)
    _rows(spark, 1).write.format("pulsar").mode("append").options(**options).save()
    server.admin.call("GET", f"{topic.replace('://', '/')}/stats")


def write(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    _write(spark, server, role, LETTERS)


def write_new(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    _write(spark, server, role, FRESH)


def copy_bad_messages(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    dead = {"onDecodeError": "dlq", "dlqTopic": LETTERS}
    assert _load(spark, server.options(role, topic=BROKEN, **dead)).select("value").collect() == []


def keep_checkpoint(spark: SparkSession, server: Granted, role: str, _: Path) -> None:
    names = {**STORES, "pulsar-fs.service.url": server.auth_server.server.service_url}
    names |= {"pulsar-fs.auth.token": server.auth_server.token(role), "fs.pulsar-fs.impl.disable.cache": "true"}
    with hadoop_settings(spark, names):
        make_folder(spark, f"pulsar-fs://{NAMESPACE}/kept/{role}")


Use: TypeAlias = "Callable[[SparkSession, Granted, str, Path], None]"
TABLE: dict[str, tuple[Use, tuple[Right, ...]]] = {
    "read a topic": (read, ((EVENTS, "consume"),)),
    "count a topic": (count, ((EVENTS, "consume"),)),
    "read by `topicsPattern`": (read_pattern, ((NAMESPACE, "consume"),)),
    "direct reads": (read_directly, ((EVENTS, "consume"),)),
    "stream": (stream, ((EVENTS, "consume"),)),
    "stream with `progressSubscription`": (stream_followed, ((EVENTS, "consume"),)),
    "`from_pulsar`": (decode, ((EVENTS, "consume"),)),
    "`to_pulsar`": (encode, ((EVENTS, "consume"),)),
    "write to a topic": (write, ((LETTERS, "produce"),)),
    "write to a new topic": (write_new, ((NAMESPACE, "produce"),)),
    "copy bad messages (`dlqTopic`)": (copy_bad_messages, ((BROKEN, "consume"), (LETTERS, "produce"))),
    "keep a [checkpoint in a topic](checkpoints-on-pulsar.md)": (
        keep_checkpoint,
        ((NAMESPACE, "consume"), (NAMESPACE, "produce")),
    ),
}
# Of transactions in `write/test_exactly_once_refusals.py`, and of a tenant's administrator.
OF_OTHER_SERVERS = {"write with `deliveryGuarantee=exactly-once`", "offloaded ledgers without `offload.location`"}
CASES = [(feature, missing) for feature, (_, rights) in TABLE.items() for missing in rights]


@pytest.mark.parametrize(("feature", "missing"), CASES, ids=[f"{feature}, {right[1]}" for feature, right in CASES])
def test_a_feature_needs_its_rights(
    spark: SparkSession, filled: Granted, tmp_path: Path, feature: str, missing: Right
) -> None:
    use, rights = TABLE[feature]
    number = CASES.index((feature, missing))
    some, every = f"some-{number}", f"every-{number}"
    filled.grant(some, tuple(right for right in rights if right != missing))
    filled.grant(every, rights)
    with pytest.raises(Exception, match="PULSAR_ACCESS_DENIED") as failure:
        use(spark, filled, some, tmp_path)
    assert_says(failure.value, "PULSAR_ACCESS_DENIED", f"`{missing[1]}`")
    use(spark, filled, every, tmp_path)


def test_the_page_has_these_rows() -> None:
    text = (
        PAGE.read_text(encoding="utf-8")
        .partition("## Which rights does a job need?")[2]
        .partition("\nBrokers check")[0]
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    actions = {feature: {action for _, action in rights} for feature, (_, rights) in TABLE.items()}
    shown = {feature: set(re.findall(r"`(consume|produce)`", rights)) for feature, rights, *_ in rows}
    assert {feature: shown.get(feature) for feature in TABLE} == actions
    assert {row[0] for row in rows[1:]} == {*TABLE, *OF_OTHER_SERVERS}


def test_a_pattern_needs_the_right_on_the_namespace(spark: SparkSession, filled: Granted, tmp_path: Path) -> None:
    filled.grant("of-one-topic", ((EVENTS, "consume"),))
    with failing("PULSAR_ACCESS_DENIED", NAMESPACE):
        read_pattern(spark, filled, "of-one-topic", tmp_path)


def test_offload_policies_are_for_administrators_of_the_tenant(filled: Granted) -> None:
    filled.grant("of-data", ((NAMESPACE, "consume"),))
    filled.admin.call("POST", "tenants/public", {"adminRoles": ["of-tenant"], "allowedClusters": ["standalone"]})

    def look(role: str) -> None:
        url, token = filled.auth_server.server.admin_url, filled.auth_server.token(role)
        Admin(url, token=token).call("GET", f"namespaces/{NAMESPACE}/offloadPolicies")

    look("of-tenant")
    with pytest.raises(AdminError) as failure:
        look("of-data")
    assert failure.value.status == 403


def test_a_namespace_may_ask_for_the_role_in_names_of_subscriptions(spark: SparkSession, filled: Granted) -> None:
    filled.grant("named", ((EVENTS, "consume"),))
    filled.admin.set_policy(NAMESPACE, "subscriptionAuthMode", "Prefix")
    try:
        with failing("PULSAR_ACCESS_DENIED", "prefixed by the authentication role"):
            _load(spark, filled.options("named")).count()
        assert _load(spark, filled.options("named", subscriptionPrefix="named-job")).count() == WRITTEN
    finally:
        filled.admin.set_policy(NAMESPACE, "subscriptionAuthMode", "None")


def test_a_namespace_may_create_no_topics(spark: SparkSession, filled: Granted) -> None:
    missing = f"persistent://{NAMESPACE}/missing"
    filled.grant("creator", ((NAMESPACE, "produce"),))
    filled.admin.set_policy(NAMESPACE, "autoTopicCreation", {"allowAutoTopicCreation": False})
    try:
        with failing("PULSAR_TOPIC_NOT_FOUND", missing):
            _write(spark, filled, "creator", missing)
    finally:
        filled.admin.set_policy(NAMESPACE, "autoTopicCreation", None, method="DELETE")
    _write(spark, filled, "creator", missing)


def test_a_namespace_may_register_no_schemas(spark: SparkSession, filled: Granted) -> None:
    topic = f"persistent://{NAMESPACE}/without-schema"
    filled.grant("author", ((NAMESPACE, "produce"),))
    filled.admin.set_policy(NAMESPACE, "isAllowAutoUpdateSchema", False)
    try:
        with failing("PULSAR_WRITE_SCHEMA_REFUSED", topic):
            _write(spark, filled, "author", topic)
    finally:
        filled.admin.set_policy(NAMESPACE, "isAllowAutoUpdateSchema", True)
    _write(spark, filled, "author", topic)
