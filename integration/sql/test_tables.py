"""Topics as tables of Spark's catalog and as temporary views: the options stored with them, and those of a query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from support.spark.errors import failing, no_job, refused
from support.spark.settings import session_settings
from support.topics.messages import Message, produce
from support.topics.reading import run_available

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.topics.writing import Target

# PySpark 4.0 and 4.1 leave the socket of a `collect` for the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

TABLE, VIEW = "pulsar_table", "pulsar_view"
KEY = "spark.datasource.pulsar.service.url"
HIDDEN = "hunter2"


@pytest.fixture
def no_table(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sql(f"drop table if exists {TABLE}")


def quoted(options: Mapping[str, str]) -> str:
    return "(" + ", ".join(f"'{key}' = '{value}'" for key, value in options.items()) + ")"


def create(target: Target, topic: str | None, columns: str = "", more: Mapping[str, str] | None = None) -> None:
    options = quoted(target.options(topic, more))
    target.spark.sql(f"create table {TABLE} {columns} using pulsar options {options}")


def numbers(frame: DataFrame) -> list[int]:
    return sorted(int(row[0]) for row in frame.selectExpr("string(value)").collect())


def received(target: Target, topic: str) -> list[str]:
    return sorted(message.payload.decode() for message in target.messages(topic))


@pytest.mark.usefixtures("no_table")
@pytest.mark.parametrize("columns", ["", "(value binary, __key binary)"], ids=["inferred", "given"])
def test_a_table_reads_with_its_options_and_a_query_overrides_them(target: Target, topic: str, columns: str) -> None:
    ids = produce(target.client, topic, [Message(str(n).encode(), key=f"k{n}") for n in range(5)])
    create(target, topic, columns, {"endingOffsets": f'{{"{topic}": "{ids[3].position}"}}'})
    spark = target.spark
    assert numbers(spark.table(TABLE)) == numbers(spark.sql(f"select * from {TABLE}")) == [0, 1, 2, 3]
    assert [row[0] for row in spark.sql(f"select string(__key) from {TABLE} where value = '2'").collect()] == ["k2"]
    assert spark.table(TABLE).columns[:2] == ["value", "__key"]
    # The name of an option counts in any case.
    earlier = {"EndingOffsets": f'{{"{topic}": "{ids[1].position}"}}'}
    assert numbers(spark.read.options(**earlier).table(TABLE)) == [0, 1]
    assert numbers(spark.sql(f"select * from {TABLE} with {quoted(earlier)}")) == [0, 1]


@pytest.mark.usefixtures("no_table")
def test_a_table_is_streamed_from_and_to(target: Target, topic: str, tmp_path: Path) -> None:
    source, sink = f"{topic}-in", f"{topic}-out"
    produce(target.client, source, [str(n).encode() for n in range(4)])
    create(target, source, more={"startingOffsets": "earliest", "endingOffsets": "latest", "sendTimeoutMs": "50000"})
    rows = target.spark.readStream.table(TABLE).select("value")
    writer = rows.writeStream.option("checkpointLocation", str(tmp_path)).option("topic", sink)
    query = writer.trigger(availableNow=True).toTable(TABLE)
    assert query.awaitTermination(300)
    assert received(target, sink) == ["0", "1", "2", "3"]
    assert received(target, source) == ["0", "1", "2", "3"], "the option of the query goes before the table's"


@pytest.mark.usefixtures("no_table")
def test_rows_are_inserted_by_the_names_of_their_columns(target: Target, topic: str) -> None:
    produce(target.client, topic, [b"0"])
    create(target, topic, more={"startingOffsets": "earliest", "sendTimeoutMs": "50000"})
    spark = target.spark
    spark.sql(f"insert into {TABLE} (value, __key) values (binary('1'), 'k')")
    spark.sql(f"insert into {TABLE} select binary('2') as value")
    spark.sql(f"insert into {TABLE} with {quoted({'topic': f'{topic}-other'})} select binary('3') as value")
    spark.sql("select binary('4') as value, 'k' as __key").writeTo(TABLE).append()
    spark.sql("select binary('5') as value").write.format("pulsar").mode("append").saveAsTable(TABLE)
    assert numbers(spark.table(TABLE)) == [0, 1, 2, 4, 5]
    assert sorted(m.payload.decode() for m in target.messages(topic) if m.key == "k") == ["1", "4"]
    assert received(target, f"{topic}-other") == ["3"]
    with no_job(spark), refused("PULSAR_TABLE_COLUMN_UNKNOWN", "col1, col2", "value", "INSERT INTO"):
        spark.sql(f"insert into {TABLE} values (binary('6'), 'k')")
    for columns in ("(value)", ""):
        with no_job(spark), refused("PULSAR_WRITE_MODE", "append"):
            spark.sql(f"insert overwrite {TABLE} {columns} values (binary('6'))")
    assert numbers(spark.table(TABLE)) == [0, 1, 2, 4, 5]


TRIPS = {
    "type": "record",
    "name": "Trip",
    "fields": [
        {"name": "city", "type": "string"},
        {"name": "km", "type": ["null", "double"], "default": None},
        {"name": "stops", "type": "int", "default": -1},
    ],
}


def trips(target: Target) -> list[tuple[object, ...]]:
    rows = target.spark.sql(f"select city, km, stops, string(__key) from {TABLE} order by city").collect()
    return [tuple(row) for row in rows]


@pytest.mark.usefixtures("no_table")
def test_rows_are_inserted_by_name_or_by_place_with_exact_numbers(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, "AVRO", json.dumps(TRIPS))
    create(target, topic)
    spark = target.spark
    spark.sql(f"insert into {TABLE} values ('a', 3.5, 1), ('b', 4, 2), ('c', null, 3.0)")
    spark.sql(f"insert into {TABLE} (stops, city, __key) values (4L, 'd', 'k')")
    spark.sql(f"insert into {TABLE} (City, KM) values ('e', 0.1)")
    spark.sql(f"insert into {TABLE} select upper(city), km + 1, stops, 'l' as __key from {TABLE} where city = 'a'")
    spark.sql("select 5 as stops, 'f' as city").writeTo(TABLE).append()
    assert trips(target) == [
        ("A", 4.5, 1, "l"), ("a", 3.5, 1, None), ("b", 4.0, 2, None), ("c", None, 3, None), ("d", None, 4, "k"),
        ("e", 0.1, -1, None), ("f", None, 5, None),
    ]  # fmt: skip
    refusals = {
        "values ('x', 1)": ["col1, col2", "city, km, stops", "there are 2"],
        "select 'x' as town, 1 as city, 2 as km": ["`town`", "`city` is at place 2 instead of 1"],
        "select 'x' as city, 'y' as city": ["`city` is there twice"],
    }
    for rows, words in refusals.items():
        with no_job(spark), refused("PULSAR_TABLE_COLUMN_UNKNOWN", *words):
            spark.sql(f"insert into {TABLE} {rows}")
    with no_job(spark), refused("PULSAR_WRITE_NULL_VALUE", "`city`", topic):
        spark.sql(f"insert into {TABLE} values (null, 1, 1)")
    with failing("PULSAR_WRITE_NULL_VALUE", "`city`", topic):
        spark.sql(f"insert into {TABLE} select if(id > 0, 'g', null), 1, 1 from range(0, 2, 1, 1)")
    for value in ("3000000000", "1.5", "1e300"):
        with failing("PULSAR_WRITE_NUMBER_NOT_EXACT", "`stops`", topic):
            spark.sql(f"insert into {TABLE} values ('g', 1, {value})")
    with failing("PULSAR_WRITE_NUMBER_NOT_EXACT", "`km`", topic, "9007199254740993"):
        spark.sql(f"insert into {TABLE} values ('g', 9007199254740993, 1)")
    with no_job(spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "`km`", topic, "STRING"):
        spark.sql(f"insert into {TABLE} values ('g', 'x', 1)")
    assert len(trips(target)) == 7


@pytest.mark.usefixtures("no_table")
def test_a_topic_without_a_schema_gets_the_columns_of_the_table(target: Target, topic: str) -> None:
    create(target, topic, "(city string, km double)")
    spark = target.spark
    spark.sql(f"insert into {TABLE} values ('a', 3.5)")
    spark.sql(f"insert into {TABLE} (city) values ('b')")
    spark.sql(f"insert into {TABLE} values ('c', 1234.25)")
    assert sorted(tuple(row) for row in spark.table(TABLE).collect()) == [("a", 3.5), ("b", None), ("c", 1234.25)]
    assert target.read(topic).select("city", "km").dtypes == [("city", "string"), ("km", "double")]


@pytest.mark.usefixtures("no_table")
def test_a_stream_is_written_into_a_table_by_name(target: Target, topic: str, tmp_path: Path) -> None:
    produce(target.client, f"{topic}-in", [b"a"])
    create(target, topic, "(city string, km double)", {"startingOffsets": "earliest"})
    rows = target.spark.readStream.format("pulsar").options(**target.options(f"{topic}-in")).load()

    def write(select: list[str], checkpoint: str) -> None:
        writer = rows.selectExpr(*select).writeStream.option("checkpointLocation", str(tmp_path / checkpoint))
        query = writer.trigger(availableNow=True).toTable(TABLE)
        assert query.awaitTermination(300)

    with failing("PULSAR_TABLE_COLUMN_UNKNOWN", "`town`", "a stream is written by name"):
        write(["string(value) as town", "1 as km"], "places")
    write(["1 as km", "string(value) as city"], "names")
    assert target.read(topic).count() == 0


@pytest.mark.usefixtures("no_table")
def test_messages_are_never_replaced(target: Target, topic: str) -> None:
    produce(target.client, topic, [b"0"])
    create(target, topic)
    for statement in (f"delete from {TABLE} where value = binary('0')", f"update {TABLE} set value = binary('1')"):
        with pytest.raises(PySparkException, match=r"does not support|is not supported"):
            target.spark.sql(statement)
    for statement in (f"delete from {TABLE}", f"truncate table {TABLE}"):
        with refused("PULSAR_CATALOG_STATEMENT", "Deleting all rows of"):
            target.spark.sql(statement)
    assert numbers(target.spark.table(TABLE)) == [0]


@pytest.mark.usefixtures("no_table")
def test_a_table_is_created_from_rows(target: Target, topic: str) -> None:
    rows = "select id, concat('name ', id) as name from range(3)"
    target.spark.sql(f"create table {TABLE} using pulsar options {quoted(target.options(topic))} as {rows}")
    assert sorted(target.spark.table(TABLE).collect()) == sorted(target.spark.sql(rows).collect())
    target.spark.sql(f"drop table {TABLE}")
    more = target.spark.sql("select 3L as id, 'name 3' as name").write.format("pulsar").mode("append")
    more.options(**target.options(topic)).saveAsTable(TABLE)
    with refused("PULSAR_TABLE_WITHOUT_OPTIONS"):  # Spark takes those of `saveAsTable` for the write alone
        target.spark.table(TABLE).collect()
    read = target.spark.read.options(**target.options(topic)).table(TABLE)
    assert sorted(row[0] for row in read.select("id").collect()) == [0, 1, 2, 3]


@pytest.mark.usefixtures("no_table")
def test_options_of_the_session_complete_those_of_a_table(target: Target, topic: str) -> None:
    produce(target.client, topic, [b"0"])
    spark = target.spark
    with session_settings(spark, {KEY: target.service_url, f"{KEY[:-11]}readLevel": "broker"}):
        spark.sql(f"create table {TABLE} using pulsar options (topic = '{topic}')")
        spark.sql(f"insert into {TABLE} (value) values (binary('1'))")
        assert numbers(spark.table(TABLE)) == [0, 1]
    with session_settings(spark, {KEY: "pulsar://localhost:1"}):
        assert numbers(spark.read.option("service.url", target.service_url).table(TABLE)) == [0, 1]
    with no_job(spark), refused("PULSAR_OPTION_MISSING", "`service.url`"):
        spark.table(TABLE).collect()


@pytest.mark.usefixtures("no_table")
def test_properties_of_a_table_are_no_options(target: Target, topic: str, tmp_path: Path) -> None:
    produce(target.client, topic, [b"0"])
    target.spark.sql(
        f"create table {TABLE} using pulsar options {quoted(target.options(topic))} location '{tmp_path}' "
        "comment 'what there is' tblproperties ('colour' = 'blue', 'topic' = 'no-such-topic')"
    )
    assert numbers(target.spark.table(TABLE)) == [0]
    target.spark.sql(
        f"alter table {TABLE} set tblproperties ('owner of the data' = 'me', 'option.topic' = '{topic}-2')"
    )
    with no_job(target.spark), refused("PULSAR_TOPIC_NOT_FOUND", f"{topic}-2"):
        target.spark.table(TABLE).collect()


@pytest.mark.usefixtures("no_table")
def test_a_table_without_options(target: Target, topic: str) -> None:
    spark = target.spark
    spark.sql(f"create table {TABLE} (value binary) using pulsar")
    said = ("OPTIONS (", "spark.datasource.pulsar.")
    with no_job(spark), refused("PULSAR_TABLE_WITHOUT_OPTIONS", *said):
        spark.table(TABLE).collect()
    with no_job(spark), refused("PULSAR_TABLE_WITHOUT_OPTIONS", *said):
        spark.sql(f"insert into {TABLE} (value) values (binary('1'))")
    with no_job(spark), failing("PULSAR_TABLE_WITHOUT_OPTIONS", *said):
        run_available(spark.readStream.table(TABLE).writeStream.format("noop"))
    produce(target.client, topic, [b"0"])
    assert numbers(spark.read.options(**target.options(topic)).table(TABLE)) == [0]
    spark.sql(f"describe extended {TABLE}")
    spark.sql(f"drop table {TABLE}")
    with no_job(spark), refused("PULSAR_TABLE_WITHOUT_OPTIONS", *said):
        spark.sql(f"create table {TABLE} using pulsar")
    with no_job(spark), refused("PULSAR_OPTION_UNKNOWN", "`topc`", "`topic`"):
        spark.sql(f"create table {TABLE} using pulsar options ('service.url' = '{target.service_url}', topc = 't')")


@pytest.mark.usefixtures("no_table")
def test_spark_hides_the_credentials_of_a_table(target: Target) -> None:
    secrets = {
        "auth.token": HIDDEN,
        "auth.tokn": HIDDEN,
        "auth.oauth2.credentialsUrl": f"data:,{HIDDEN}",
        "pulsar.client.authPluginClassName": "x",
        "pulsar.client.authParams": HIDDEN,
        "pulsar.client.sslTrustStorePath": HIDDEN,
    }
    create(target, "events", "(value binary)", {**secrets, "readLevel": "broker"})
    shown = "\n".join(
        str(row)
        for statement in (f"show create table {TABLE}", f"describe extended {TABLE}", f"show tblproperties {TABLE}")
        for row in target.spark.sql(statement).collect()
    )
    assert HIDDEN not in shown
    for word in ("USING pulsar", "'topic' = 'events'", "readLevel", "'auth.token'"):
        assert word in shown, shown


@pytest.mark.usefixtures("no_table")
def test_metadata_columns_that_a_table_does_not_list_are_hidden(target: Target, topic: str) -> None:
    produce(target.client, topic, [Message(b"0", key="k")])
    create(target, topic, "(value binary)")
    assert target.spark.table(TABLE).columns == ["value"]
    row = target.spark.sql(f"select string(__key), __topic, __partition from {TABLE}").collect()
    assert [tuple(one) for one in row] == [("k", topic, None)]


@pytest.mark.parametrize("schema", ["", "(value binary)"], ids=["inferred", "given"])
def test_a_temporary_view(target: Target, topic: str, schema: str) -> None:
    ids = produce(target.client, topic, [b"0", b"1"])
    spark = target.spark
    create = f"create or replace temporary view {VIEW} {schema} using pulsar options "
    first = target.options(topic, {"endingOffsets": f'{{"{topic}": "{ids[0].position}"}}'})
    spark.sql(create + quoted(first))
    try:
        assert numbers(spark.table(VIEW)) == numbers(spark.sql(f"select * from {VIEW}")) == [0]
        spark.sql(create + quoted(target.options(topic)))
        spark.sql(f"insert into {VIEW} values (binary('2'))")
        target.read(topic).createOrReplaceTempView(VIEW)
        assert numbers(spark.table(VIEW)) == [0, 1, 2]
    finally:
        spark.catalog.dropTempView(VIEW)
