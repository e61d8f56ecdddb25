"""Values of the Java client's own schema classes are read, and what is written is what its readers get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.topics.java_values import received, send
from support.topics.reading import batch, java_client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from support.topics.writing import Target

_DAY_NS = 86_400 * 10**9
_LAST_MS = 253_402_300_799_999  # the last of the year 9999


@pytest.fixture(params=["UTC", "America/St_Johns"])
def _time_zone(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield
    spark.conf.set("spark.sql.session.timeZone", str(before))


_MOMENTS_MS = [0, -1, 1_700_000_000_123, _LAST_MS, -62_135_596_800_000]
_MOMENTS_US = [0, -1, 1_700_000_000_123_456, _LAST_MS * 1000 + 999]

# For each schema of times: the type in Spark, how a number is one in Java, how it is read back as a number in Spark
# (and made of one), and numbers.
_TIMES: dict[str, tuple[str, Callable[[Any, int], Any], str, str, list[int]]] = {
    "DATE": (
        "timestamp",
        lambda java, n: java.util.Date(n),
        "unix_millis(value)",
        "timestamp_millis(n)",
        _MOMENTS_MS,
    ),
    "TIMESTAMP": (
        "timestamp",
        lambda java, n: java.sql.Timestamp(n),
        "unix_millis(value)",
        "timestamp_millis(n)",
        _MOMENTS_MS,
    ),
    "TIME": ("bigint", lambda java, n: java.sql.Time(n), "value", "n", [0, -1, 86_399_999]),
    "INSTANT": (
        "timestamp",
        lambda java, n: java.time.Instant.ofEpochSecond(n // 10**6, n % 10**6 * 1000),
        "unix_micros(value)",
        "timestamp_micros(n)",
        [*_MOMENTS_US, -62_135_596_800_000_000],
    ),
    "LOCAL_DATE": (
        "date",
        lambda java, n: java.time.LocalDate.ofEpochDay(n),
        "unix_date(value)",
        "date_from_unix_date(int(n))",
        [0, -1, 20_000, 2_932_896, -719_162],
    ),
    "LOCAL_TIME": (
        "bigint",
        lambda java, n: java.time.LocalTime.ofNanoOfDay(n),
        "value",
        "n",
        [0, 1, 43_200_123_456_789, _DAY_NS - 1],
    ),
    "LOCAL_DATE_TIME": (
        "timestamp_ntz",
        lambda java, n: java.time.LocalDateTime.ofEpochSecond(n // 10**6, n % 10**6 * 1000, java.time.ZoneOffset.UTC),
        "timestampdiff(microsecond, timestamp_ntz'1970-01-01', value)",
        "timestampadd(microsecond, n, timestamp_ntz'1970-01-01')",
        _MOMENTS_US,
    ),
}


def _java(spark: SparkSession) -> Any:  # noqa: ANN401
    jvm: Any = spark.sparkContext._jvm
    return jvm.java


@pytest.mark.usefixtures("read_level", "_time_zone")
@pytest.mark.parametrize("kind", _TIMES)
def test_times_of_the_java_client_are_read(spark: SparkSession, service_url: str, topic: str, kind: str) -> None:
    spark_type, make, number, _, numbers = _TIMES[kind]
    values = [make(_java(spark), n) for n in numbers]
    send(spark, service_url, topic, getattr(java_client(spark).Schema, kind), [*values, None])
    frame = batch(spark, service_url, topic=topic)
    assert dict(frame.dtypes)["value"] == spark_type
    assert [row[0] for row in frame.selectExpr(number).collect()] == [*numbers, None]


@pytest.mark.usefixtures("_time_zone")
@pytest.mark.parametrize("kind", _TIMES)
def test_times_are_written_as_the_java_client_has_them(target: Target, topic: str, kind: str) -> None:
    _, make, _, column, numbers = _TIMES[kind]
    listed = ", ".join(f"({index}, {n}L)" for index, n in enumerate(numbers))
    rows = target.spark.sql(f"select i, {column} as value from values {listed}, (99, null) as t(i, n)")
    target.append(rows.coalesce(1).sort("i").drop("i"), topic, {"schemaType": kind.lower()})
    assert target.schema(topic) == (kind, None)
    found = received(target.spark, target.service_url, topic, getattr(java_client(target.spark).Schema, kind))
    assert [str(value) for value in found] == [*(str(make(_java(target.spark), n)) for n in numbers), "None"]
