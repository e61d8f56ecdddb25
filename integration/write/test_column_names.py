"""Names of columns: those of metadata in another case or almost right, and two that are one name for Spark."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from support.spark.catalogs import Catalog
from support.spark.errors import failing, no_job, refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.servers.servers import Addresses
    from support.topics.writing import Target


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses) -> Catalog:
    return Catalog.that_drops(target.spark, pulsar)


@contextmanager
def case_counts(target: Target) -> Iterator[None]:
    target.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        yield
    finally:
        target.spark.conf.unset("spark.sql.caseSensitive")


SECONDS = 120
KEYED = "select 'k' as __KEY, timestamp_millis(5) as __eventtime, map('a', 'b') as __MESSAGEPROPERTIES, 7 as n"


def test_a_metadata_column_in_another_case_is_one(target: Target, topic: str, catalog: Catalog, tmp_path: Path) -> None:
    target.append_sql(KEYED, topic)
    [message] = target.messages(topic)
    assert (message.key, message.properties, message.event_time_ms) == ("k", {"a": "b"}, 5)
    assert [field["name"] for field in target.schema(topic)[1]["fields"]] == ["n"]
    source = target.spark.readStream.format("pulsar").options(**target.options(topic, {"startingOffsets": "earliest"}))
    rows = source.load().selectExpr("'l' as __Key", f"'{topic}-s' as __TOPIC", "n").writeStream.format("pulsar")
    options = {"service.url": target.service_url, "checkpointLocation": str(tmp_path)}
    assert rows.options(**options).trigger(availableNow=True).start().awaitTermination(SECONDS)
    assert [one.key for one in target.messages(f"{topic}-s")] == ["l"]
    catalog.sql(f"create table {catalog.table(topic + '-c')} as {KEYED}")
    assert [one.key for one in target.messages(f"{topic}-c")] == ["k"]
    assert [field["name"] for field in target.schema(f"{topic}-c")[1]["fields"]] == ["n"]


def test_a_name_that_is_almost_one_is_refused_unless_the_topic_has_the_field(
    target: Target, topic: str, catalog: Catalog
) -> None:
    near = "select 'k' as __keys, 7 as n"
    with no_job(target.spark), refused("PULSAR_METADATA_COLUMN_NEAR", "`__keys`", "`__key`", topic):
        target.append_sql(near, topic)
    with refused("PULSAR_METADATA_COLUMN_NEAR", "`__keys`"):
        catalog.sql(f"create table {catalog.table(topic + '-rows')} as {near}")
    with failing("PULSAR_METADATA_COLUMN_NEAR", "`__keys`", f"{topic}-routed"):
        target.append_sql(f"{near}, '{topic}-routed' as __topic")
    with case_counts(target), refused("PULSAR_METADATA_COLUMN_NEAR", "`__KEY`"):
        target.append_sql("select 'k' as __KEY, 7 as n", topic)
    catalog.sql(f"create table {catalog.table(topic)} (__keys string, n int)")
    target.append_sql(near, topic)
    with refused("PULSAR_METADATA_COLUMN_NEAR", "`__kye`"):
        catalog.sql(f"insert into {catalog.table(topic)} select 'k' as __kye, 7")
    assert [tuple(row) for row in target.read(topic).select("__keys", "n").collect()] == [("k", 7)]
    with refused("PULSAR_CATALOG_STATEMENT", "`__KEY`", "metadata column"):
        catalog.sql(f"create table {catalog.table(topic + '-declared')} (__KEY string, n int)")
    with refused("PULSAR_CATALOG_STATEMENT", "`__Key`", "metadata column"):
        catalog.sql(f"alter table {catalog.table(topic)} add column (__Key string)")


@pytest.mark.parametrize(
    "rows",
    [
        "select 1 as a, 'x' as a",
        "select 1 as a, 'x' as A",
        "select named_struct('b', 1, 'B', 2) as s, 1 as n",
        "select 'k' as __key, 'l' as __KEY, 1 as n",
    ],
)
def test_two_columns_of_one_name_are_not_written(target: Target, topic: str, rows: str) -> None:
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_TWICE"):
        target.append_sql(rows, topic)


def test_fields_that_differ_in_case_are_read_only_where_case_counts(
    target: Target, topic: str, catalog: Catalog
) -> None:
    one, other = f"{topic}-1", f"{topic}-2"
    target.append_sql("select 1 as id, 'x' as n", one)
    target.append_sql("select 'text' as ID, 'y' as n", other)
    both = {"topics": f"{one},{other}"}
    with no_job(target.spark), refused("PULSAR_READ_COLUMNS_ALIKE", "`id`", "`ID`", one, other):
        target.spark.read.format("pulsar").options(**target.options(None, both)).load()
    chosen = target.spark.read.schema("ID string, n string").format("pulsar").options(**target.options(None, both))
    assert {tuple(row) for row in chosen.load().collect()} == {("text", "y"), (None, "x")}
    with case_counts(target):
        target.append_sql("select 1 as a, 'x' as A", topic)
        read = target.spark.read.format("pulsar").options(**target.options(None, both)).load()
        rows = [tuple(row) for row in read.select("id", "ID", "n").orderBy("n").collect()]
        assert rows == [(1, None, "x"), (None, "text", "y")]
        assert [tuple(row) for row in target.read(topic).select("a", "A").collect()] == [(1, "x")]
    for table in (topic, one):  # a table is looked at and written to, but not read
        assert catalog.spark.table(catalog.table(table)).columns
    with refused("PULSAR_READ_COLUMNS_ALIKE", "`a`", "`A`"):
        catalog.spark.table(catalog.table(topic)).collect()


@pytest.mark.parametrize("text", ["varchar(3)", "char(4)", "string collate UTF8_LCASE", "array<varchar(3)>"])
def test_texts_of_a_table_have_no_length_and_no_collation(
    catalog: Catalog, target: Target, topic: str, text: str
) -> None:
    with no_job(target.spark), refused("PULSAR_CATALOG_STATEMENT", "`c`", text.removeprefix("array<")[:7].upper()):
        catalog.sql(f"create table {catalog.table(topic)} (a int, c {text})")
    catalog.sql(f"create table {catalog.table(topic)} (a int, b string collate UTF8_BINARY)")
    with refused("PULSAR_CATALOG_STATEMENT", "`c`", "Use STRING"):
        catalog.sql(f"alter table {catalog.table(topic)} add column (c {text})")
    catalog.sql(f"create table {catalog.table(topic + '-rows')} as select cast('abc' as varchar(3)) as c, 1 as a")
    assert catalog.rows(f"select c from {catalog.table(topic + '-rows')}") == [("abc",)]
