"""Columns that a user or a table calls NOT NULL: a null is a null, and never the value of the row before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.topics.reading import run_available

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.topics.writing import Target

NOT_NULL = (
    "id BIGINT NOT NULL, km DOUBLE NOT NULL, name STRING NOT NULL, "
    "stop STRUCT<at: BIGINT NOT NULL, tags: ARRAY<INT>> NOT NULL"
)
ROWS = [(1, 12.5, "a", (1, [1])), (2, None, None, None), (3, 7.0, "c", (None, [None, 3])), (4, None, None, (4, None))]
TABLE = "table_without_nulls"


@pytest.fixture
def trips(target: Target, topic: str) -> str:
    """Rows with nulls, then a tombstone."""
    columns = "id BIGINT, km DOUBLE, name STRING, stop STRUCT<at: BIGINT, tags: ARRAY<INT>>"
    rows = target.spark.createDataFrame(ROWS, columns).coalesce(1)
    target.append(rows, topic, {"schemaType": "json"})
    target.append(rows.limit(1).selectExpr("cast(null as binary) as value"), topic, {"schemaType": "bytes"})
    return topic


@pytest.fixture
def no_table(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sql(f"drop table if exists {TABLE}")


EXPECTED = [*ROWS, (None, None, None, None)]


def _check(frame: DataFrame) -> None:
    assert '"nullable":false' not in frame.schema.json()
    values = frame.select("id", "km", "name", "stop").collect()
    assert [tuple(tuple(v) if isinstance(v, tuple) else v for v in row) for row in values] == EXPECTED
    assert frame.where("km IS NULL").count() == 3
    assert [row[0] for row in frame.selectExpr("stop.at").collect()] == [1, None, None, 4, None]


def test_a_schema_without_nulls_is_not_believed(target: Target, trips: str) -> None:
    options = target.options(trips)
    _check(target.spark.read.format("pulsar").schema(NOT_NULL).options(**options).load())


@pytest.mark.usefixtures("no_table")
def test_a_table_without_nulls_is_not_believed(target: Target, trips: str) -> None:
    options = ", ".join(f"'{key}' = '{value}'" for key, value in target.options(trips).items())
    target.spark.sql(f"create table {TABLE} ({NOT_NULL}) using pulsar options ({options})")
    _check(target.spark.table(TABLE))


def test_a_stream_without_nulls_is_not_believed(target: Target, trips: str, tmp_path: Path) -> None:
    options = {**target.options(trips), "startingOffsets": "earliest"}
    rows = target.spark.readStream.format("pulsar").schema(NOT_NULL).options(**options).load()
    writer = rows.select("id", "km", "name", "stop").writeStream.format("memory").queryName("without_nulls")
    run_available(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))
    _check(target.spark.table("without_nulls"))


def test_a_field_that_one_of_two_topics_lacks_is_null(target: Target, topic: str) -> None:
    both, one = f"{topic}-both", f"{topic}-one"
    target.append_sql("select 1L as id, 12.5D as km", both, {"schemaType": "json"})
    target.append_sql("select 2L as id", one, {"schemaType": "json"})
    reader = target.spark.read.format("pulsar").schema("id BIGINT NOT NULL, km DOUBLE NOT NULL")
    rows = reader.options(**{"service.url": target.service_url, "topics": f"{both},{one}"}).load()
    assert sorted(tuple(row) for row in rows.collect()) == [(1, 12.5), (2, None)]
    assert rows.where("km is null").count() == 1
