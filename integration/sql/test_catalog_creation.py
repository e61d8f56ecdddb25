"""CREATE TABLE, with columns, from rows and by streams, when rows fail, and by two at the same time."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PySparkException

from support.servers.admin import AdminError
from support.spark.catalogs import Catalog
from support.spark.errors import get_condition, refused
from support.spark.logs import warnings
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from support.servers.servers import Addresses
    from support.topics.writing import Target

ROWS = "select * from values ('Rome', 3.5D), ('Oslo', 4.0D) as t (city, km)"
FAILING = "select if(id < 3, 'x', raise_error('broken row')) as city from range(0, 6, 1, 1)"


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses) -> Catalog:
    return Catalog.that_drops(target.spark, pulsar)


def test_a_topic_is_created_with_its_schema_and_partitions(catalog: Catalog, target: Target, topic: str) -> None:
    table = catalog.table(topic)
    columns = "city string comment 'where', km double, at timestamp, tags array<string>"
    catalog.sql(f"create table {table} ({columns}) tblproperties (partitions = 3, schemaType = 'json')")
    assert target.admin.partitions(topic) == 3
    kind, definition = target.schema(topic)
    assert kind == "JSON"
    assert [field["name"] for field in definition["fields"]] == ["city", "km", "at", "tags"]
    catalog.sql(f"insert into {table} (city, km, __key) values ('Bern', 1.0D, 'k')")
    assert catalog.rows(f"select city, km, string(__key) from {table}") == [("Bern", 1.0, "k")]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        catalog.sql(f"create table {table} (city string)")
    catalog.sql(f"create table if not exists {table} (city string)")
    assert catalog.spark.table(table).columns == ["city", "km", "at", "tags"]
    shown = str(catalog.sql(f"show create table {table}").collect()[0][0])
    again = f"{topic}-again"
    catalog.spark.sql(shown.replace(topic.rpartition("/")[2], again.rpartition("/")[2]))
    assert target.schema(again)[0] == "JSON"
    assert target.admin.partitions(again) == 3


def test_a_topic_without_columns_has_no_schema(catalog: Catalog, target: Target, topic: str) -> None:
    catalog.sql(f"create table {catalog.table(topic)} using pulsar")
    assert catalog.spark.table(catalog.table(topic)).columns == ["value"]
    with pytest.raises(AdminError):
        target.admin.schema(topic)


def test_a_table_is_created_from_rows(catalog: Catalog, target: Target, topic: str) -> None:
    table = catalog.table(topic)
    catalog.sql(f"create table {table} tblproperties (partitions = 2) as select *, 'k' as __key from ({ROWS})")
    assert catalog.rows(f"select city, km, string(__key) from {table}") == [("Oslo", 4.0, "k"), ("Rome", 3.5, "k")]
    assert target.admin.partitions(topic) == 2
    writes: tuple[Callable[[DataFrame, str], object], ...] = (
        lambda rows, name: rows.writeTo(name).tableProperty("schemaType", "json").create(),
        lambda rows, name: rows.write.saveAsTable(name),
        lambda rows, name: rows.write.mode("overwrite").saveAsTable(name),
    )
    for number, write in enumerate(writes):
        name = catalog.table(f"{topic}-{number}")
        write(catalog.spark.sql(ROWS), name)
        assert catalog.rows(f"select * from {name}") == [("Oslo", 4.0), ("Rome", 3.5)]
    catalog.spark.sql(ROWS).writeTo(table).append()
    catalog.spark.sql(ROWS).write.mode("append").saveAsTable(table)
    assert catalog.spark.table(table).count() == 6
    assert target.schema(f"{topic}-0")[0] == "JSON"


def test_a_stream_creates_its_table(catalog: Catalog, target: Target, topic: str, tmp_path: Path) -> None:
    source = f"{topic}-in"
    target.append_sql(ROWS, source)
    stream = catalog.spark.readStream.option("startingOffsets", "earliest").table(catalog.table(source))
    query = (
        stream.writeStream.option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .toTable(catalog.table(topic))
    )
    assert query.awaitTermination(300)
    assert catalog.rows(f"select * from {catalog.table(topic)}") == [("Oslo", 4.0), ("Rome", 3.5)]


def test_rows_that_fail_leave_no_topic_behind(catalog: Catalog, target: Target, topic: str) -> None:
    with pytest.raises(PySparkException, match="broken row"):
        catalog.sql(f"create table {catalog.table(topic)} as {FAILING}")
    assert not target.admin.has_topic(topic)
    with refused("PULSAR_WRITE_COLUMN_MISMATCH", "INTERVAL"):
        catalog.sql(f"create table {catalog.table(topic)} (a interval day)")
    with refused("PULSAR_WRITE_COLUMN_MISMATCH", "Avro"):
        catalog.sql(f"create table {catalog.table(topic)} (`a b` int)")
    assert not target.admin.has_topic(topic)


def test_rows_that_fail_keep_what_others_wrote(catalog: Catalog, target: Target, topic: str, tmp_path: Path) -> None:
    def waits_then_fails(port: int) -> str:
        import socket

        with socket.create_connection(("127.0.0.1", port), timeout=300) as test:
            test.recv(1)
        raise ValueError("broken row")

    catalog.spark.udf.register("waits_then_fails", waits_then_fails)
    with (
        warnings(catalog.spark, tmp_path) as logged,
        socket.create_server(("127.0.0.1", 0)) as server,
        ThreadPoolExecutor(1) as other,
    ):
        server.settimeout(300)
        rows = f"select waits_then_fails({server.getsockname()[1]}) as city"
        created = other.submit(catalog.sql, f"create table {catalog.table(topic)} as {rows}")
        task, _ = server.accept()
        produce(target.client, topic, [b"of another"])
        task.close()
        with pytest.raises(PySparkException, match="broken row"):
            created.result()
        assert f"Topic {topic}, which was created in vain, stays: others have written into it" in logged()
    assert [message.payload for message in target.messages(topic)] == [b"of another"]


@pytest.mark.parametrize("rounds", [3, pytest.param(50, marks=pytest.mark.exhaustive)])
def test_one_of_two_that_create_a_table_wins(catalog: Catalog, target: Target, topic: str, rounds: int) -> None:
    def create(name: str) -> str:
        try:
            catalog.sql(f"create table {catalog.table(name)} as select 1 as n")
        except AnalysisException as error:
            return get_condition(error)
        return ""

    with ThreadPoolExecutor(2) as both:
        for name in (f"{topic}-{n}" for n in range(rounds)):
            outcomes = sorted(both.map(create, (name, name)))
            assert outcomes == ["", "TABLE_OR_VIEW_ALREADY_EXISTS"]
            assert len(target.messages(name)) == 1
