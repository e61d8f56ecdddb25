"""Policies of topics as properties of their tables: CREATE, ALTER, and statements that show them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import LocalPulsar
from support.proxies.admin_proxy import RefusedError, running_admin_proxy
from support.proxies.counting import counted
from support.servers.admin import AdminError
from support.spark.catalogs import Catalog
from support.spark.errors import no_job, refused
from support.spark.logs import warnings
from support.spark.waiting import becomes, eventually

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers.admin import Json
    from support.servers.servers import Addresses
    from support.topics.writing import Target

POLICIES = {
    "retention.time": "7d",
    "retention.size": "10g",
    "messageTTL": "2h",
    "compactionThreshold": "100m",
    "deduplicationEnabled": "true",
}

# Retention is one policy with two properties.
_REQUESTS = len(POLICIES) - 1


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses) -> Catalog:
    return Catalog(target.spark, {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url})


def properties(catalog: Catalog, table: str) -> dict[str, str]:
    shown = {str(key): str(value) for key, value in catalog.rows(f"show tblproperties {table}")}
    return {key: value for key, value in shown.items() if key in POLICIES}


def policy(target: Target, topic: str, name: str) -> Json:
    return target.admin.call("GET", f"persistent/{topic.removeprefix('persistent://')}/{name}")


def test_policies_are_created_changed_and_shown(catalog: Catalog, target: Target, topic: str) -> None:
    table = catalog.table(topic)
    clause = ", ".join(f"'{name}' = '{value}'" for name, value in POLICIES.items())
    catalog.sql(f"create table {table} (city string) tblproperties (partitions = 2, {clause})")
    becomes(partial(policy, target, topic, "retention"), {"retentionTimeInMinutes": 10080, "retentionSizeInMB": 10240})
    becomes(partial(policy, target, topic, "messageTTL"), 7200)
    becomes(partial(policy, target, topic, "compactionThreshold"), 100 * 1024 * 1024)
    becomes(partial(policy, target, topic, "deduplicationEnabled"), True)
    becomes(partial(properties, catalog, table), POLICIES)
    described = str(catalog.sql(f"describe extended {table}").collect())
    assert all(f"{name}={value}" in described for name, value in POLICIES.items()), described
    (created,) = catalog.rows(f"show create table {table}")
    again = f"{topic}-again"
    catalog.spark.sql(str(created[0]).replace(topic.rpartition("/")[2], again.rpartition("/")[2]))
    becomes(partial(properties, catalog, catalog.table(again)), POLICIES)
    catalog.sql(f"alter table {table} set tblproperties (MessageTTL = '30s', retention.time = '1h', partitions = 3)")
    becomes(partial(properties, catalog, table), {**POLICIES, "messageTTL": "30s", "retention.time": "1h"})
    catalog.sql(f"alter table {table} unset tblproperties (messageTTL, deduplicationEnabled, retention.size)")
    left = {"retention.time": "1h", "retention.size": "infinite", "compactionThreshold": "100m"}
    becomes(partial(properties, catalog, table), left)
    catalog.sql(f"alter table {table} unset tblproperties (retention.time)")
    becomes(partial(properties, catalog, table), {"compactionThreshold": "100m"})
    assert target.admin.partitions(topic) == 3


def test_policies_that_are_refused(catalog: Catalog, target: Target, topic: str, pulsar: Addresses) -> None:
    table = catalog.table(topic)
    for clause, words in (
        ("messageTTL = '3600'", "with a unit"),
        ("retention.time = '30s'", "whole minutes"),
        ("compactionThreshhold = '1g'", "nearest name is `compactionThreshold`"),
        ("backlogQuota = '1g'", "no such property"),
    ):
        with no_job(target.spark), refused("PULSAR_TABLE_PROPERTY", words):
            catalog.sql(f"create table {table} (a int) tblproperties ({clause})")
    with pytest.raises(AdminError):
        target.admin.stats(topic)
    # What brokers refuse, CREATE undoes.
    with refused("PULSAR_TABLE_PROPERTY", "retention.time, retention.size", topic):
        catalog.sql(f"create table {table} (a int) tblproperties (retention.time = '0', retention.size = '1g')")
    assert topic not in target.admin.topics("/".join(topic.split("/")[2:4]))
    target.admin.create_topic(topic)
    with refused("PULSAR_CATALOG_STATEMENT", "keeps its partitions"):
        catalog.sql(f"alter table {table} unset tblproperties (partitions)")
    without = Catalog(target.spark, {"service.url": pulsar.service_url})
    with refused("PULSAR_CATALOG_ADMIN", "messageTTL"):
        catalog.sql(f"alter table {without.table(topic)} set tblproperties (messageTTL = '1h')")


def test_brokers_without_policies_of_topics(target: Target, topic: str, pulsar: Addresses, tmp_path: Path) -> None:
    def switched_off(path: str, answer: Json) -> Json:
        if path.endswith("/messageTTL"):
            raise RefusedError(405, "Topic level policies is disabled")
        if path.endswith("/retention"):
            raise RefusedError(403, "no rights")
        return answer

    target.admin.create_topic(topic)
    with running_admin_proxy(pulsar.admin_url, switched_off) as proxy:
        catalog = Catalog(target.spark, {"service.url": pulsar.service_url, "admin.url": proxy.url})
        table = catalog.table(topic)
        with refused("PULSAR_TOPIC_POLICIES_DISABLED", "messageTTL", "topicLevelPoliciesEnabled=true"):
            catalog.sql(f"alter table {table} set tblproperties (messageTTL = '1h')")
        with refused("PULSAR_ACCESS_DENIED", "administrate the tenant"):
            catalog.sql(f"alter table {table} set tblproperties (retention.time = '1h')")
        with warnings(target.spark, tmp_path) as logged, counted(proxy) as shown:
            assert properties(catalog, table) == {}
            assert f"policies of topic {topic} are not shown" in logged()
            eventually(lambda: shown.requests().total() == _REQUESTS)  # the first refusal ends the statement before
        with counted(proxy) as counts:
            assert target.spark.table(table).count() == 0
            target.spark.table(table).explain()
            catalog.sql(f"describe {table}").collect()
            catalog.sql(f"insert into {table} select binary('x') as value")
            catalog.sql(f"create table if not exists {table} (a int)")
        assert counts.requests().total() == 0, counts


@pytest.mark.exhaustive
def test_a_server_without_policies_of_topics(target: Target, tmp_path: Path) -> None:
    config = {"topicLevelPoliciesEnabled": "false"}
    with LocalPulsar(data_dir=tmp_path / "pulsar", config=config) as server:
        catalog = Catalog(target.spark, {"service.url": server.service_url, "admin.url": server.admin_url})
        catalog.sql("create table {c}.plain (a int)")
        with refused("PULSAR_TOPIC_POLICIES_DISABLED", "messageTTL"):
            catalog.sql("alter table {c}.plain set tblproperties (messageTTL = '1h')")
        with refused("PULSAR_TOPIC_POLICIES_DISABLED", "retention.time"):
            catalog.sql("create table {c}.other (a int) tblproperties (retention.time = '1h')")
        assert [row[1] for row in catalog.rows("show tables in {c}")] == ["plain"]
        assert ("schemaType", "avro") in catalog.rows("show tblproperties {c}.plain")
