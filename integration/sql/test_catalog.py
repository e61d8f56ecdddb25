"""A catalog of topics: names, reads, tables as they were, and what is absent, refused or out of reach."""

from __future__ import annotations

import json
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import requests_of
from support.spark.catalogs import Catalog
from support.spark.errors import get_condition, no_job, refused
from support.spark.logs import warnings
from support.spark.waiting import becomes, eventually
from support.topics.messages import Message, produce

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.servers.servers import Addresses
    from support.topics.writing import Target

ROWS = "select * from values ('Rome', 3.5D), ('Oslo', 4.0D), ('Rome', 5.0D) as t (city, km)"


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses, namespace: str) -> Catalog:
    options = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url, "namespace": namespace}
    return Catalog(target.spark, options)


@pytest.fixture
def trips(target: Target, topic: str) -> str:
    """A topic with three rows and a schema."""
    target.append_sql(ROWS, topic)
    return topic


def absent(catalog: Catalog, statement: str) -> None:
    with pytest.raises(AnalysisException) as failure:
        catalog.sql(statement)
    assert get_condition(failure.value) == "TABLE_OR_VIEW_NOT_FOUND", failure.value


def test_a_topic_is_a_table_by_each_of_its_names(catalog: Catalog, trips: str) -> None:
    tenant, space, name = trips.removeprefix("persistent://").split("/")
    for form in (
        f"`{tenant}`.`{space}`.`{name}`",
        f"`{space}`.`{name}`",
        f"`{tenant}/{space}`.`{name}`",
        f"`{tenant}.{space}`.`{name}`",
        f"`{name}`",
    ):
        assert catalog.rows(f"select city, km from {{c}}.{form}") == [("Oslo", 4.0), ("Rome", 3.5), ("Rome", 5.0)], form
    read = catalog.spark.table(catalog.table(trips))
    assert read.columns == ["city", "km"]
    assert read.where("city = 'Rome' and __key is null and __publishTime > timestamp '2020-01-01'").count() == 2
    absent(catalog, f"select * from {{c}}.`{space}`.`{name.upper()}`")


def test_rows_are_inserted_and_streamed(catalog: Catalog, target: Target, trips: str, tmp_path: Path) -> None:
    table = catalog.table(trips)
    catalog.sql(f"insert into {table} (__key, __sequenceId, city, km) values ('k', 41, 'Bern', 1)")
    assert "k" in {message.key for message in target.messages(trips)}
    assert catalog.rows(f"select km, __sequenceId from {table} where city = 'Bern'") == [(1.0, 41)]
    copy = f"{trips}-copy"
    target.append_sql(ROWS, copy)
    stream = catalog.spark.readStream.option("startingOffsets", "earliest").table(table).where("city = 'Bern'")
    writer = stream.writeStream.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    query = writer.toTable(catalog.table(copy))
    assert query.awaitTermination(300)
    assert catalog.rows(f"select city from {catalog.table(copy)}") == [("Bern",), ("Oslo",), ("Rome",), ("Rome",)]
    progress = query.lastProgress
    assert progress is not None
    assert copy in progress.sink.description


def test_a_table_as_it_was(catalog: Catalog, target: Target, topic: str) -> None:
    ids = produce(target.client, topic, [b"0", b"1"])
    middle = target.messages(topic)[-1].publish_time_ms + 1
    eventually(lambda: time.time() * 1000 > middle)
    produce(target.client, topic, [b"2"])
    table = catalog.table(topic)

    def numbers(clause: str) -> list[tuple[object, ...]]:
        return catalog.rows(f"select string(value) from {table} {clause}")

    assert numbers(f"timestamp as of timestamp_micros({middle * 1000})") == [("0",), ("1",)]
    assert numbers("timestamp as of '2000-01-01'") == []
    position = ids[0].position
    *_, name = topic.rpartition("/")
    for version in (
        position,
        json.dumps({topic: position}),
        json.dumps({"version": 1, "positions": {topic: position, f"{topic}-other": position}}),
        json.dumps({"version": 2, "positions": {topic.removesuffix(name): {name: position, "other": position}}}),
    ):
        assert numbers(f"version as of '{version}'") == [("0",)], version
    with no_job(catalog.spark), refused("PULSAR_OFFSETS_MALFORMED", "endingOffsets"):
        numbers("version as of 'yesterday'")
    read = catalog.spark.read.option("timestampAsOf", "2000-01-01").table(table)
    assert read.count() == 0
    with no_job(catalog.spark), refused("PULSAR_TIME_TRAVEL", "in the future"):
        numbers("timestamp as of '2999-01-01'")
    with no_job(catalog.spark), refused("PULSAR_TIME_TRAVEL", "endingOffsets"):
        catalog.spark.read.option("timestampAsOf", "2000-01-01").option("endingOffsets", "latest").table(table).count()


def test_the_messages_of_a_topic(catalog: Catalog, target: Target, topic: str, tmp_path: Path) -> None:
    ids = produce(target.client, topic, [Message(str(n).encode(), key=f"k{n}") for n in range(3)])
    table = catalog.table(topic, "messages")
    assert catalog.rows(f"select string(value), string(__key), __position from {table}") == [
        (str(n), f"k{n}", ids[n].position) for n in range(3)
    ]
    assert {"value", "__index", "__producerName"} < set(catalog.spark.table(table).columns)
    stream = (
        catalog.spark.readStream.option("startingOffsets", "earliest")
        .table(table)
        .select("value", "__key", "__keyIsText")
    )
    copy = f"{topic}-copy"
    target.admin.create_topic(copy)
    writer = stream.writeStream.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    assert writer.toTable(catalog.table(copy)).awaitTermination(300)
    assert sorted(str(m.key) for m in target.messages(copy)) == ["k0", "k1", "k2"]
    # A topic of that name hides nothing, and is not hidden.
    other = f"{topic.rpartition('/')[0]}/messages"
    produce(target.client, other, [b"real"])
    assert catalog.rows(f"select string(value) from {catalog.table(other)}") == [("real",)]
    assert catalog.rows(f"select string(value) from {catalog.table(other, 'messages')}") == [("real",)]


def test_only_what_is_absent_is_not_found(
    catalog: Catalog, target: Target, trips: str, namespace: str, tmp_path: Path
) -> None:
    space, name = trips.split("/")[-2:]
    with warnings(catalog.spark, tmp_path) as logged:
        absent(catalog, f"select * from {{c}}.`{space}`.`{name}s`")
        assert f"nearest name in {namespace} is {name}" in logged()
    for form in ("nowhere.orders", "nobody.nothing.orders", f"public.`{space}`.`{name}`.ledger"):
        absent(catalog, f"select * from {{c}}.{form}")
    assert not catalog.spark.catalog.tableExists(f"{catalog.name}.`{space}`.`{name}s`")
    assert catalog.spark.catalog.tableExists(f"{catalog.name}.`{space}`.`{name}`")
    assert catalog.rows("show tables in {c}.nobody.nothing") == []  # brokers do not say that it is absent
    for form in ("`persistent://public/default/x`", "public.default.`non-persistent://public/default/x`"):
        with refused("PULSAR_TOPIC_NAME", "without `/`"):
            catalog.sql(f"select * from {{c}}.{form}")
    with refused("PULSAR_CATALOG_NAME", "old clusters"):
        catalog.sql("select * from {c}.`public/cluster/default`.x")
    gone = Catalog(target.spark, {"service.url": "pulsar://127.0.0.1:1", "operationTimeoutMs": "300"})
    for statement in ("select * from {c}.public.default.x", "show tables in {c}.public.default"):
        with no_job(target.spark), refused("PULSAR_UNREACHABLE", "127.0.0.1:1"):
            gone.sql(statement)
    assert gone.rows("show namespaces in {c}.public") == [("public.default",)]


def test_tables_of_other_sources_are_theirs(catalog: Catalog, tmp_path: Path) -> None:
    spark = catalog.spark
    path = tmp_path / "rows"
    spark.range(2).write.parquet(str(path))
    before = spark.catalog.currentCatalog()
    catalog.sql("use {c}")
    try:
        assert catalog.sql("select current_schema()").first() is not None
        assert spark.sql(f"select * from parquet.`{path}`").count() == 2
        spark.range(3).createOrReplaceTempView("view_beside_topics")
        assert spark.table("view_beside_topics").count() == 3
    finally:
        spark.sql(f"use {before}")
        spark.catalog.dropTempView("view_beside_topics")


@pytest.mark.parametrize(
    ("options", "condition", "word"),
    [
        ({"service.ur": "x"}, "PULSAR_OPTION_UNKNOWN", "`service.url`"),
        ({}, "PULSAR_OPTION_MISSING", "`service.url`"),
        ({"topic": "x"}, "PULSAR_OPTION_WRONG_MODE", "catalog"),
        ({"NameSpace": "default"}, "PULSAR_OPTION_INVALID", "tenant/namespace"),
        ({"allowDrop": "perhaps"}, "PULSAR_OPTION_INVALID", "true or false"),
        (
            {"pulsar.client.authPluginClassName": "x", "pulsar.client.authParams": "hunter2"},
            "PULSAR_SETTING_SECRET",
            "auth.tokenFile",
        ),
    ],
    ids=["misspelt", "missing", "of a query", "namespace", "not a flag", "a secret"],
)
def test_wrong_options_of_a_catalog(target: Target, options: dict[str, str], condition: str, word: str) -> None:
    url = {} if not options else {"service.url": target.service_url}
    catalog = Catalog(target.spark, {**url, **options})
    with refused(condition, word) as _:
        catalog.sql("show tables in {c}.public.default")


def test_a_table_costs_the_requests_of_a_load(pulsar: Addresses, target: Target, trips: str) -> None:
    with running_broker_proxy(pulsar.service_url) as proxy:
        catalog = Catalog(target.spark, {"service.url": proxy.service_url})
        table = catalog.table(trips)
        read = target.spark.read.format("pulsar").option("service.url", proxy.service_url).option("topic", trips)
        read.load().collect()  # the connection, too
        both = {"PARTITIONED_METADATA": 1, "GET_SCHEMA": 1}
        actions: tuple[tuple[Callable[[], object], dict[str, int]], ...] = (
            (lambda: read.load().columns, both),
            (lambda: catalog.spark.table(table).schema, both),
            (lambda: catalog.sql(f"create table if not exists {table} (a int)"), {"PARTITIONED_METADATA": 1}),
        )
        for action, least in actions:
            becomes(partial(requests_of, proxy, action), least)
        becomes(lambda: requests_of(proxy, lambda: catalog.sql(f"describe {table}").collect()).total(), 2)

        def beyond_a_read() -> tuple[Counter[str], Counter[str]]:
            by_options = requests_of(proxy, lambda: read.load().select("city").collect())
            by_name = requests_of(proxy, lambda: catalog.spark.table(table).select("city").collect())
            return by_name - by_options, by_options - by_name

        becomes(beyond_a_read, (Counter(), Counter()))


def test_metadata_tables_of_a_topic(catalog: Catalog, target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=2)
    table = catalog.table(topic, "partitions")
    with no_job(catalog.spark):
        assert catalog.rows(f"select topic, partition from {table}") == [
            (f"{topic}-partition-{n}", n) for n in range(2)
        ]
    with refused("PULSAR_TIME_TRAVEL", "metadata table"):
        catalog.sql(f"select * from {table} timestamp as of '2020-01-01'")
    absent(catalog, f"select * from {catalog.table(topic + 'x', 'partitions')}")
    with refused("PULSAR_METADATA_READ_ONLY", "partitions"):
        catalog.sql(f"insert into {table} select * from {table}")
