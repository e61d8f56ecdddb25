"""Values as bytes and back by SQL functions, which have to do what reads and writes of the topic do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pulsar.schema import AvroSchema, Schema, StringSchema
from pyspark.sql import functions as f
from schemas.test_schema_evolution import ROWS, VERSIONS, Json, values

from pulsar_spark import functions
from support.spark.errors import failing, refused
from support.spark.settings import session_settings
from support.topics.java_values import received, send
from support.topics.messages import Message, produce
from support.topics.reading import batch, java_client

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.topics.writing import Target

SECRET = "never-to-be-seen"


@pytest.fixture(scope="module", autouse=True)
def anything_goes(namespace: str, admin: Admin) -> None:
    """Without it the broker would take few of the versions."""
    admin.set_policy(namespace, "schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE", method="PUT")


def schema_of(kind: str, version: int) -> Schema:
    return AvroSchema(None, VERSIONS[version]) if kind == "AVRO" else Json(VERSIONS[version])


@pytest.fixture(params=["AVRO", "JSON"])
def evolved(request: pytest.FixtureRequest, client: pulsar_client.Client, topic: str) -> str:
    """A topic with messages of five versions; the type of its schema."""
    for version in range(len(VERSIONS)):
        schema = schema_of(request.param, version)
        produce(client, topic, map(Message, values(version)), schema=schema, batch_size=4)
    return str(request.param)


def raw(spark: SparkSession, service_url: str, topic: str) -> DataFrame:
    columns = ("__position", "value", "__schemaVersion")
    return batch(spark, service_url, topic=topic, schemaMode="raw").select(*columns)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=str)


@pytest.mark.usefixtures("evolved")
def test_every_version_is_decoded_as_reads_do(spark: SparkSession, service_url: str, topic: str) -> None:
    frame = batch(spark, service_url, topic=topic).select("__position", "id", "title", "price", "flag")
    wanted = rows(frame)
    assert len(wanted) == 5 * ROWS
    value = functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url)
    decoded = raw(spark, service_url, topic).select("__position", value.alias("v"))
    assert decoded.schema["v"].dataType.fieldNames() == ["id", "title", "price", "flag"]  # type: ignore[attr-defined]
    assert rows(decoded.select("__position", "v.*")) == wanted
    # Spark may decode in one stage and look at the result in another.
    assert rows(decoded.repartition(3).select("__position", "v.*")) == wanted


@pytest.mark.usefixtures("evolved")
def test_the_version_decides(spark: SparkSession, service_url: str, topic: str) -> None:
    newest = functions.from_pulsar(
        spark, f.col("value"), f.lit(None), topic=topic, service_url=service_url, on_decode_error="null"
    )
    version = f.conv(f.hex("__schemaVersion"), 16, 10).alias("version")
    found = raw(spark, service_url, topic).select(newest.alias("v"), version).select("version", "v.*")
    wanted = batch(spark, service_url, topic=topic).select(version, "id", "title", "price", "flag")
    last = len(VERSIONS) - 1
    assert rows(found.where(f"version = {last}")) == rows(wanted.where(f"version = {last}"))
    assert rows(found.where("version = 0")) != rows(wanted.where("version = 0"))


@pytest.mark.usefixtures("evolved")
def test_the_schema_can_be_the_users(spark: SparkSession, service_url: str, topic: str) -> None:
    name = {"name": "label", "type": "string", "aliases": ["name", "title"]}
    mine = json.dumps({"type": "record", "name": "R", "fields": [name]})
    pinned: dict[str, Any] = {"schema_mode": "pinned", "reader_schema": mine}
    value = functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url, **pinned)
    frame = raw(spark, service_url, topic).select(value.alias("v")).select("v.label")
    assert rows(frame) == sorted((f"n{n}",) for n in range(5 * ROWS))


@pytest.mark.usefixtures("evolved")
def test_names_in_sql(spark: SparkSession, service_url: str, topic: str) -> None:
    functions.register(spark, topic=topic, service_url=service_url, auth_token=SECRET, on_decode_error="null")
    raw(spark, service_url, topic).createOrReplaceTempView("raw_values")
    found = spark.sql("SELECT v.id, v.title FROM (SELECT from_pulsar(value, __schemaVersion) AS v FROM raw_values)")
    assert rows(found) == rows(batch(spark, service_url, topic=topic).select("id", "title"))
    again = spark.sql("SELECT from_pulsar(to_pulsar(from_pulsar(value, __schemaVersion)), null) AS v FROM raw_values")
    assert rows(again.select("v.*")) == rows(
        batch(spark, service_url, topic=topic).select("id", "title", "price", "flag")
    )
    bad = spark.sql("SELECT from_pulsar(X'', __schemaVersion) AS v, from_pulsar(null, null) AS n FROM raw_values")
    assert {tuple(row) for row in bad.collect()} == {(None, None)}
    for frame in (found, again, bad):
        jframe: Any = frame._jdf
        shown = str(jframe.queryExecution().toString()) + str(jframe.queryExecution().optimizedPlan().toJSON())
        assert "from_pulsar" in shown
        assert SECRET not in shown


def test_encoded_values_are_read_by_the_clients(
    spark: SparkSession, service_url: str, topic: str, evolved: str, target: Target
) -> None:
    query = "named_struct('flag', id = 1, 'price', id, 'title', concat('t', id), 'id', int(id))"
    value = functions.to_pulsar(spark, f.expr(query), topic=topic, service_url=service_url)
    encoded = spark.range(3).select(value.alias("value"))
    assert dict(encoded.dtypes) == {"value": "binary"}
    target.append(encoded, topic, {"schemaType": "bytes"})
    newest = schema_of(evolved, len(VERSIONS) - 1)
    payloads = [message.payload for message in target.messages(topic)][-3:]
    wanted = [{"id": n, "title": f"t{n}", "price": n, "flag": n == 1} for n in range(3)]
    assert sorted((newest.decode(payload) for payload in payloads), key=lambda one: one["id"]) == wanted


def test_values_without_fields(spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str) -> None:
    produce(client, topic, [Message("ä"), Message("")], schema=StringSchema())
    decode = functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url)
    frame = raw(spark, service_url, topic).select(decode.alias("v"), "value")
    assert rows(frame.select("v")) == [("",), ("ä",)]
    encode = functions.to_pulsar(spark, "v", topic=topic, service_url=service_url)
    assert frame.where(encode != f.col("value")).count() == 0
    assert frame.where(encode == f.col("value")).count() == 2


@pytest.mark.parametrize("encoding", ["INLINE", "SEPARATED"])
def test_keys_and_values(spark: SparkSession, service_url: str, topic: str, encoding: str) -> None:
    java = java_client(spark)
    jvm: Any = spark.sparkContext._jvm
    common = jvm.io.github.pulsarspark.shaded.org.apache.pulsar.common.schema
    schema = java.Schema.KeyValue(java.Schema.STRING, java.Schema.INT32, getattr(common.KeyValueEncodingType, encoding))
    send(spark, service_url, topic, schema, [common.KeyValue("k", 1), common.KeyValue(None, 2)])
    if encoding == "SEPARATED":
        with refused("PULSAR_FUNCTION_TOPIC", topic, "SEPARATED"):
            functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url)
        with refused("PULSAR_FUNCTION_TOPIC", topic, "SEPARATED"):
            functions.to_pulsar(spark, "value", topic=topic, service_url=service_url)
        return
    decode = functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url)
    frame = raw(spark, service_url, topic).select(decode.alias("v"))
    assert rows(frame.select("v.*")) == [("k", 1), (None, 2)]
    pair = functions.to_pulsar(
        spark, f.expr("named_struct('key', 'x', 'value', 7)"), topic=topic, service_url=service_url
    )
    written = spark.range(1).select(pair.alias("value"))
    written.write.format("pulsar").mode("append").options(
        **{"service.url": service_url, "topic": topic, "schemaType": "bytes"}
    ).save()
    last = received(spark, service_url, topic, schema)[-1]
    assert (last.getKey(), last.getValue()) == ("x", 7)


def test_times_of_every_calendar(spark: SparkSession, service_url: str, topic: str, target: Target) -> None:
    texts = ["0001-01-01 00:00:00", "1582-10-10 01:02:03.000004", "1883-11-18 12:00:00", "9999-12-31 23:59:59.999999"]
    moments = spark.createDataFrame([(text,) for text in texts], "t string").selectExpr(
        "timestamp(t) as at", "date(t) as day", "cast(t as timestamp_ntz) as local", "decimal(1.5) as number"
    )
    target.append(moments, topic)
    decode = functions.from_pulsar(spark, "value", "__schemaVersion", topic=topic, service_url=service_url)
    text = "string(at)", "string(day)", "string(local)", "number"
    frame = raw(spark, service_url, topic).select(decode.alias("v"))
    wanted = rows(moments.selectExpr(*text))
    assert len(wanted) == len(texts)
    assert rows(frame.select("v.*").selectExpr(*text)) == wanted
    encode = functions.to_pulsar(spark, "v", topic=topic, service_url=service_url)
    again = functions.from_pulsar(spark, encode, f.lit(None), topic=topic, service_url=service_url)
    both_ways = frame.select(again.alias("v")).select("v.*").selectExpr(*text)
    with session_settings(spark, {"spark.sql.datetime.java8API.enabled": "true"}):
        assert rows(both_ways) == wanted
    # Without it Spark hands over dates of a calendar that lacks ten days of October 1582.
    lost = [row for row in wanted if row not in rows(frame.select(again.alias("v")).select("v.*").selectExpr(*text))]
    assert [row[0][:7] for row in lost] == ["1582-10"]


def test_versions_that_are_not_there(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [Message(values(0)[0])], schema=schema_of("AVRO", 0))
    given: dict[str, Any] = {"topic": topic, "service_url": service_url}
    one = raw(spark, service_url, topic)
    for policy in ("fail", "null"):
        unknown = functions.from_pulsar(spark, "value", f.expr("X'0000000000000063'"), **given, on_decode_error=policy)
        with failing("PULSAR_SCHEMA_VERSION_MISSING", "version 99", topic):
            one.select(unknown).collect()
    wrong = functions.from_pulsar(spark, "value", f.lit(3), **given)
    with failing("PULSAR_FUNCTION_ARGUMENT", "from_pulsar", "schema version", "BINARY"):
        one.select(wrong).collect()
    misfit = functions.to_pulsar(spark, f.expr("named_struct('nobody', 1)"), **given)
    with failing("PULSAR_WRITE_COLUMN_MISMATCH", topic):
        one.select(misfit).collect()


def test_invalid_calls_of_functions_are_rejected(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [Message("text")], schema=StringSchema())

    def made(**more: Any) -> None:  # noqa: ANN401
        functions.from_pulsar(spark, "value", "__schemaVersion", service_url=service_url, **more)

    with refused("PULSAR_OPTION_INVALID", "`schema_mode`", "auto or pinned"):
        made(topic=topic, schema_mode="raw")
    with refused("PULSAR_OPTION_INVALID", "`on_decode_error`", "fail or null"):
        made(topic=topic, on_decode_error="drop")
    with refused("PULSAR_TOPIC_NOT_FOUND", f"{topic}-2"):
        made(topic=f"{topic}-2")
    with refused("PULSAR_TOPIC_NOT_FOUND", f"{topic}-2"):
        functions.to_pulsar(spark, "value", topic=f"{topic}-2", service_url=service_url)
    with refused("PULSAR_OPTION_INVALID", "`schema_type`", "auto"):
        functions.to_pulsar(spark, "value", topic=topic, service_url=service_url, schema_type="string")
