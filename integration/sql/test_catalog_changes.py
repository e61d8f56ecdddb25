"""Statements that change and delete topics: ALTER, DROP, and those that are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from support.spark.catalogs import Catalog
from support.spark.errors import failing, no_job, refused
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.servers.servers import Addresses
    from support.topics.writing import Target

ROWS = "select * from values ('Rome', 3.5D), ('Oslo', 4.0D) as t (city, km)"


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses) -> Catalog:
    return Catalog.that_drops(target.spark, pulsar)


@pytest.fixture(scope="module")
def careful(target: Target, pulsar: Addresses) -> Catalog:
    """A catalog that may not."""
    return Catalog(target.spark, {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url})


@pytest.fixture
def kept(catalog: Catalog, target: Target, topic: str) -> Iterator[str]:
    """The table of a topic with two rows, which are still there after the test."""
    target.append_sql(ROWS, topic)
    yield catalog.table(topic)
    assert len(target.messages(topic)) == 2


def test_no_statement_replaces_messages(catalog: Catalog, kept: str) -> None:
    spark = catalog.spark
    for statement in (
        f"create or replace table {kept} as {ROWS}",
        f"replace table {kept} as {ROWS}",
        f"create or replace table {kept} (city string)",
        f"replace table {kept} (city string)",
    ):
        with no_job(spark), refused("PULSAR_CATALOG_STATEMENT", "cannot be replaced"):
            spark.sql(statement)
    with no_job(spark), refused("PULSAR_CATALOG_STATEMENT", "replaced"):
        spark.sql(ROWS).write.mode("overwrite").saveAsTable(kept)
    replacing: tuple[Callable[[], object], ...] = (
        lambda: spark.sql(ROWS).writeTo(kept).createOrReplace(),
        lambda: spark.sql(ROWS).writeTo(kept).replace(),
    )
    for act in replacing:
        with no_job(spark), refused("PULSAR_CATALOG_STATEMENT", "cannot be replaced"):
            act()
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        spark.sql(f"create table {kept} as {ROWS}")
    with refused("PULSAR_CATALOG_STATEMENT", "keeps its name"):
        spark.sql(f"alter table {kept} rename to public.default.other")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("update {table} set city = 'x'", "UPDATE or MERGE of table "),
        ("delete from {table}", "DELETE or MERGE of table "),
        ("delete from {table} where km > 1", "DELETE or MERGE of table "),
        ("insert overwrite {table} {rows}", "An overwrite or MERGE of table "),
        ("{merge} when matched then delete", "DELETE or MERGE of table "),
        ("{merge} when matched then update set *", "UPDATE or MERGE of table "),
        ("{merge} when matched then update set * when not matched then insert *", "MERGE of table "),
        ("{merge} when matched then delete when not matched then insert *", "An overwrite or MERGE of table "),
        ("{merge} when not matched by source then delete", "DELETE or MERGE of table "),
    ],
)
def test_no_statement_changes_messages(catalog: Catalog, kept: str, statement: str, named: str) -> None:
    merge = f"merge into {kept} t using ({ROWS}) r on t.city = r.city"
    with no_job(catalog.spark), refused("PULSAR_CATALOG_STATEMENT", f"{named}public.`", "neither changed"):
        catalog.spark.sql(statement.format(table=kept, rows=ROWS, merge=merge))


def test_no_statement_deletes_all_messages(catalog: Catalog, kept: str) -> None:
    with no_job(catalog.spark), refused("PULSAR_CATALOG_STATEMENT", "Deleting all rows of persistent://"):
        catalog.spark.sql(f"truncate table {kept}")
    with refused("PULSAR_CATALOG_STATEMENT", "An overwrite or MERGE"):
        catalog.spark.sql(ROWS).write.insertInto(kept, overwrite=True)
    with refused("PULSAR_CATALOG_STATEMENT", "An overwrite or MERGE"):
        catalog.spark.sql(ROWS).writeTo(kept).overwritePartitions()
    for statement in (f"truncate table {kept}.partitions", f"delete from {kept}.partitions where entries = 0"):
        with refused("PULSAR_METADATA_READ_ONLY", ".partitions cannot be written to"):
            catalog.spark.sql(statement)
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        catalog.spark.sql(f"delete from {catalog.table('no-such-topic')}")


def test_a_stream_of_this_session_keeps_no_topic(catalog: Catalog, target: Target, topic: str, tmp_path: Path) -> None:
    source = f"{topic}-in"
    target.append_sql(ROWS, source)
    stream = catalog.spark.readStream.option("startingOffsets", "earliest").table(catalog.table(source))
    query = stream.writeStream.option("checkpointLocation", str(tmp_path)).toTable(catalog.table(topic))
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    for name in (topic, source):
        catalog.drop(name)
        assert not target.admin.has_topic(name)


def test_columns_and_partitions_are_added(catalog: Catalog, target: Target, topic: str) -> None:
    table = catalog.table(topic)
    definition = {
        "type": "record",
        "name": "Trip",
        "namespace": "org.example",
        "doc": "kept",
        "fields": [{"name": "day", "type": {"type": "int", "logicalType": "date"}, "doc": "kept, too"}],
    }
    target.admin.create_topic(topic, partitions=1)
    target.admin.upload_schema(topic, "AVRO", json.dumps(definition))
    catalog.sql(f"insert into {table} (day) values (date '2026-01-01')")
    catalog.sql(f"alter table {table} add columns (km double comment 'how far', at struct<x: int>)")
    catalog.sql(f"insert into {table} (day, km, at) values (date '2026-01-02', 1.0D, named_struct('x', 1))")
    assert [(row[1], row[2]) for row in catalog.spark.table(table).orderBy("day").collect()] == [
        (None, None),
        (1.0, (1,)),
    ]
    _, after = target.schema(topic)
    assert {**after, "fields": after["fields"][:1]} == definition
    assert after["fields"][1]["default"] is None
    catalog.sql(f"alter table {table} set tblproperties (partitions = 4)")
    assert target.admin.partitions(topic) == 4
    with refused("PULSAR_REQUEST_FAILED", "partitions"):
        catalog.sql(f"alter table {table} set tblproperties (partitions = 2)")
    for change, words in (
        ("drop column km", "delete column"),
        ("rename column km to miles", "rename column"),
        ("alter column km type string", "update column type"),
        ("add column a int not null", "NOT NULL"),
        ("add column a int first", "FIRST"),
        ("add column __key binary", "metadata column"),
    ):
        with no_job(catalog.spark), refused("PULSAR_CATALOG_STATEMENT", words):
            catalog.sql(f"alter table {table} {change}")
    assert target.admin.partitions(topic) == 4


def test_columns_that_a_topic_cannot_take(catalog: Catalog, target: Target, topic: str, namespace: str) -> None:
    produce(target.client, topic, [b"0"])
    with refused("PULSAR_CATALOG_STATEMENT", "AVRO or JSON"):
        catalog.sql(f"alter table {catalog.table(topic)} add column a int")
    other = f"{topic}-fixed"
    target.append_sql(ROWS, other)
    target.admin.set_policy(namespace, "schemaCompatibilityStrategy", "ALWAYS_INCOMPATIBLE", method="PUT")
    try:
        with refused("PULSAR_WRITE_SCHEMA_REFUSED", other):
            catalog.sql(f"alter table {catalog.table(other)} add column a int")
    finally:
        target.admin.set_policy(namespace, "schemaCompatibilityStrategy", "FULL", method="PUT")
    assert catalog.spark.table(catalog.table(other)).columns == ["city", "km"]


def test_a_topic_is_dropped_where_that_is_allowed(
    catalog: Catalog, careful: Catalog, target: Target, topic: str
) -> None:
    wide = f"{topic}-wide"
    for name, partitions in ((topic, 0), (wide, 2)):
        target.admin.create_topic(name, partitions=partitions)
        target.append_sql(ROWS, name)
        with refused("PULSAR_CATALOG_STATEMENT", "allowDrop"):
            careful.sql(f"drop table {careful.table(name)}")
        assert len(target.messages(name)) == 2
    consumer = target.client.subscribe(topic, "mine")
    with refused("PULSAR_TOPIC_IN_USE", topic, "subscriptions"):
        catalog.sql(f"drop table {catalog.table(topic)}")
    consumer.unsubscribe()
    consumer.close()
    for name in (topic, wide):
        catalog.drop(name)
        assert not target.admin.has_topic(name)
    catalog.sql(f"drop table if exists {catalog.table(topic)}")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        catalog.sql(f"drop table {catalog.table(topic)}")


def test_statements_that_are_not_for_topics(catalog: Catalog, target: Target, topic: str) -> None:
    spark, table = catalog.spark, catalog.table(topic)
    for more, condition, words in (
        ("(a int) partitioned by (a)", "PULSAR_CATALOG_STATEMENT", "partitions = n"),
        ("(a int) clustered by (a) into 2 buckets", "PULSAR_CATALOG_STATEMENT", "partitions = n"),
        ("(a int) using csv", "PULSAR_TABLE_PROPERTY", "USING csv"),
        ("(a int) using pulsar location '/tmp/x'", "PULSAR_TABLE_PROPERTY", "LOCATION"),
        ("(a int) using pulsar options ('auth.token' = 'hunter2')", "PULSAR_TABLE_PROPERTY", "option of queries"),
        ("(a int) tblproperties (partition = 2)", "PULSAR_TABLE_PROPERTY", "`partitions`"),
        ("(a int) tblproperties (schemaType = 'xml')", "PULSAR_OPTION_INVALID", "xml"),
        ("(a int, __key binary)", "PULSAR_CATALOG_STATEMENT", "hidden"),
    ):
        with no_job(spark), refused(condition, words):
            spark.sql(f"create table {table} {more}")
    with refused("PULSAR_CATALOG_NAME", "metadata table"):
        spark.sql(f"create table {catalog.table(topic, 'messages')} (a int)")
    with refused("PULSAR_TOPIC_NAME", "partition"):
        spark.sql(f"create table {catalog.table(topic + '-partition-3')} (a int)")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_FOUND"):
        catalog.sql("create table {c}.nobody.nothing.t (a int)")
    assert not target.admin.has_topic(topic)
    without_admin = Catalog(target.spark, {"service.url": target.service_url, "allowDrop": "true"})
    target.append_sql(ROWS, topic)
    for statement in (
        f"create table {without_admin.table(topic + '-2')} (a int)",
        f"drop table {without_admin.table(topic)}",
        f"alter table {without_admin.table(topic)} set tblproperties (partitions = 2)",
    ):
        with no_job(spark), refused("PULSAR_CATALOG_ADMIN", "admin.url"):
            spark.sql(statement)
    with failing("PULSAR_CATALOG_STATEMENT", "pulsar-admin"):
        catalog.sql("drop namespace {c}.public.default")
