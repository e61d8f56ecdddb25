"""Read, stream and write: what must work on every Spark line with the one jar."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyspark
import pytest
from pyspark.errors import PySparkException

from support.spark.catalogs import Catalog
from support.spark.errors import no_job, refused
from support.topics.messages import Message, produce
from support.topics.reading import run_available

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.topics.writing import Target

# PySpark 4.0 and 4.1 leave the socket of a `collect` for the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

_LINE = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
COLUMNS = [
    *("value", "__key", "__topic", "__messageId", "__publishTime", "__eventTime", "__messageProperties"),
    *("__keyIsText", "__orderingKey"),
]


def test_spark_is_the_one_of_pyspark(spark: SparkSession) -> None:
    assert spark.version == pyspark.__version__


def test_values_of_the_official_client_are_read(target: Target, topic: str) -> None:
    target.admin.create_topic(topic, partitions=2)
    sent = [
        Message(f"m{n}".encode(), key=f"k{n % 20}", event_time_ms=1_700_000_000_000 + n, properties={"n": str(n)})
        for n in range(100)
    ]
    produce(target.client, topic, sent, batch_size=7, compression="LZ4")
    rows = target.read(topic)
    assert rows.columns == COLUMNS
    assert rows.count() == 100
    expected = {(m.id.position, m.payload, m.key, m.event_time_ms, m.publish_time_ms) for m in target.messages(topic)}
    times = "unix_millis(__eventTime)", "unix_millis(__publishTime)"
    found = rows.selectExpr("__position", "value", "string(__key)", *times, "__partition", "__messageProperties['n']")
    read = found.collect()
    assert {(row[0], bytes(row[1]), *row[2:5]) for row in read} == expected
    assert {row[5] for row in read} == {0, 1}
    assert sorted(int(row[6]) for row in read) == list(range(100))


def test_a_range_is_read_by_positions(target: Target, topic: str) -> None:
    ids = produce(target.client, topic, [str(n).encode() for n in range(20)], batch_size=5)
    bounds = {
        "startingOffsets": f'{{"{topic}": "{ids[6].position}"}}',
        "endingOffsets": f'{{"{topic}": "{ids[12].position}"}}',
    }
    assert [int(row[0]) for row in target.read(topic, bounds).selectExpr("string(value)").collect()] == list(
        range(6, 13)
    )


def test_written_values_are_read_by_spark_and_the_official_client(target: Target, topic: str) -> None:
    rows = target.spark.range(0, 500, 1, 2).selectExpr(
        "id", "concat('name ', id) as name", "if(id % 2 = 0, id / 2, null) as half", "array(id, id + 1) as pair",
        "string(id % 7) as __key", "timestamp_millis(1700000000000 + id) as __eventTime",
        "map('id', string(id)) as __messageProperties",
    )  # fmt: skip
    target.append(rows, topic)
    assert target.schema(topic)[0] == "AVRO"
    messages = target.messages(topic)
    assert Counter((m.properties["id"], m.key, m.event_time_ms) for m in messages) == Counter(
        (str(n), str(n % 7), 1_700_000_000_000 + n) for n in range(500)
    )
    columns = ["id", "name", "half", "pair", "__messageProperties"]
    assert sorted(target.read(topic).select(*columns).collect()) == sorted(rows.select(*columns).collect())


def test_a_stream_goes_on_where_it_stopped(target: Target, topic: str, tmp_path: Path) -> None:
    """Streams have hidden columns from Spark 4.2 on; before, an option shows them."""
    source, sink = f"{topic}-in", f"{topic}-out"
    shown = {"metadataColumns": "__position"} if _LINE < (4, 2) else {}

    def go() -> None:
        options = target.options(source, {"startingOffsets": "earliest", **shown})
        rows = target.spark.readStream.format("pulsar").options(**options).load()
        changed = rows.selectExpr("concat(string(value), ' ', __position) as value", "string(__key) as __key")
        writer = changed.writeStream.format("pulsar").options(**target.options(sink))
        run_available(writer.option("checkpointLocation", str(tmp_path)))

    sent = []
    for part in (range(10), range(10, 25)):
        sent += produce(target.client, source, [Message(f"m{n}".encode(), key=f"k{n}") for n in part], batch_size=4)
        go()
    written = [(message.payload.decode(), message.key) for message in target.messages(sink)]
    assert written == [(f"m{n} {sent[n].position}", f"k{n}") for n in range(25)]


def test_a_table_of_the_catalog_is_read_written_and_streamed(target: Target, topic: str, tmp_path: Path) -> None:
    stored = f"'service.url' = '{target.service_url}', topic = '{topic}', startingOffsets = 'earliest'"
    produce(target.client, topic, [b"0"])
    spark = target.spark
    spark.sql(f"create table smoke using pulsar options ({stored})")
    try:
        spark.sql("insert into smoke (value) values (binary('1'))")
        spark.sql("insert into smoke values (binary('2'))")
        copied = spark.readStream.table("smoke").select("value").writeStream.option("topic", f"{topic}-copy")
        query = copied.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).toTable("smoke")
        assert query.awaitTermination(300)
        assert sorted(row[0] for row in spark.sql("select string(value) from smoke").collect()) == ["0", "1", "2"]
    finally:
        spark.sql("drop table smoke")
    assert sorted(message.payload for message in target.messages(f"{topic}-copy")) == [b"0", b"1", b"2"]


def test_a_wrong_option_is_rejected(target: Target, topic: str) -> None:
    with no_job(target.spark), refused("PULSAR_OPTION_UNKNOWN", "`startingOffset`", "`startingOffsets`"):
        target.read(topic, {"startingOffset": "earliest"})


def test_topics_are_tables_of_a_catalog(target: Target, topic: str, tmp_path: Path) -> None:
    options = {"service.url": target.service_url, "admin.url": target.admin.url, "allowDrop": "true"}
    catalog, spark = Catalog(target.spark, options), target.spark
    table, copy = catalog.table(topic), catalog.table(f"{topic}-copy")
    rows = "select * from values ('Rome', 3.5D, 'k'), ('Oslo', 4.0D, 'k') as t (city, km, __key)"
    catalog.sql(f"create table {table} tblproperties (partitions = 2) as {rows}")
    catalog.sql(f"insert into {table} (city, km) values ('Bern', 1.0D)")
    assert catalog.rows(f"select * from {table}") == [("Bern", 1.0), ("Oslo", 4.0), ("Rome", 3.5)]
    assert catalog.rows(f"select city, string(__key) from {table} where km > 2") == [("Oslo", "k"), ("Rome", "k")]
    assert spark.table(catalog.table(topic, "messages")).select("__position").distinct().count() == 3
    tenant, space, name = topic.removeprefix("persistent://").split("/")
    assert [row[1] for row in catalog.rows(f"show tables in {{c}}.{tenant}.`{space}` like '{name}'")] == [name]
    assert catalog.rows(f"select * from {table} timestamp as of '2020-01-01'") == []
    stream = spark.readStream.option("startingOffsets", "earliest").table(table).writeStream
    query = stream.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).toTable(copy)
    assert query.awaitTermination(300)
    assert spark.table(copy).count() == 3
    catalog.sql(f"alter table {copy} add column stop timestamp")
    assert spark.table(copy).columns == ["city", "km", "stop"]
    catalog.sql(f"alter table {table} set tblproperties (partitions = 3)")
    for statement in (f"create or replace table {copy} as {rows}", f"replace table {copy} (a int)"):
        with no_job(spark), refused("PULSAR_CATALOG_STATEMENT", "cannot be replaced"):
            spark.sql(statement)
    changing = (
        f"merge into {copy} t using ({rows}) r on t.city = r.city when matched then delete",
        f"merge into {copy} t using ({rows}) r on t.city = r.city when matched then update set *",
        f"insert overwrite {copy} {rows}",
        f"update {copy} set city = 'x'",
        f"delete from {copy} where city = 'x'",
        f"truncate table {copy}",
    )
    for statement in changing:
        with no_job(spark), refused("PULSAR_CATALOG_STATEMENT", "messages can be added to a topic"):
            spark.sql(statement)
    with pytest.raises(PySparkException, match="broken"):
        catalog.sql(f"create table {table}x as select raise_error('broken') as a".replace("`x", "x`"))
    assert not spark.catalog.tableExists(f"{table}x".replace("`x", "x`"))
    assert spark.table(copy).count() == 3
    gone = catalog.table(f"{topic}-gone")
    catalog.sql(f"create table {gone} (a int)")
    catalog.sql(f"drop table {gone}")
    assert not spark.catalog.tableExists(gone)
