"""Metadata tables: what is known of topics as rows, by the option `metadata` and by the jar's main class."""

from __future__ import annotations

import json
import subprocess
import time
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pyspark
import pytest

from support.spark.errors import failing, no_job, refused
from support.spark.inspecting import asked
from support.spark.settings import session_settings
from support.spark.waiting import eventually
from support.topics.messages import Message, produce

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses


MAIN = "io.github.pulsarspark.inspect.Main"


@pytest.fixture(scope="module")
def read(spark: SparkSession, pulsar: Addresses) -> Callable[..., DataFrame]:
    """Reads a metadata table with options of its own, besides the addresses."""

    def load(view: str, *, with_admin: bool = True, **options: str) -> DataFrame:
        urls = {"service.url": pulsar.service_url, **({"admin.url": pulsar.admin_url} if with_admin else {})}
        return spark.read.format("pulsar").options(**urls, **options).option("metadata", view).load()

    return load


@pytest.fixture(scope="module")
def ask(spark: SparkSession, connector_jar: Path, pulsar: Addresses) -> Callable[..., Any]:
    """Asks the jar's main class; in a process of its own, as the command line does, if ``java`` is true."""

    def run(
        view: str, code: int = 0, *, java: bool = False, columns: tuple[str, ...] = (), **options: str
    ) -> dict[str, Any]:
        given = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url, **options}
        if not java:
            return asked(spark, view, given, code, columns=columns)
        question = json.dumps({"view": view, "options": given, "columns": columns})
        command = ["java", "-cp", f"{connector_jar}:{Path(pyspark.__file__).parent / 'jars'}/*", MAIN]
        done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=600, check=False)
        assert (done.returncode, done.stderr) == (code, "")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def values(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


def test_partitions_have_their_ends_and_sizes(
    spark: SparkSession,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    read: Callable[..., DataFrame],
    ask: Callable[..., Any],
) -> None:
    admin.create_topic(topic, partitions=2)
    ids = produce(client, f"{topic}-partition-0", [str(n).encode() for n in range(6)], batch_size=2)
    table = read("partitions", topic=topic)
    with no_job(spark):
        rows = values(table)
    first, last = f"{ids[0].ledger}:{ids[0].entry}", f"{ids[-1].ledger}:{ids[-1].entry}"
    size = rows[0][5]
    assert size > 0
    expected: list[tuple[Any, ...]] = [
        (f"{topic}-partition-0", 0, first, last, 3, size, 1, 0),
        (f"{topic}-partition-1", 1, None, None, 0, 0, 1, 0),
    ]
    assert rows == expected
    assert values(table.where("entries > 0").select("last", "partition")) == [(last, 0)]
    assert table.count() == 2
    without = read("partitions", with_admin=False, topics=topic).where("partition = 0")
    assert values(without) == [(f"{topic}-partition-0", 0, first, last, None, None, None, None)]
    # the main class shows the same rows
    shown = ask("partitions", java=True, topic=topic)
    assert [tuple(row) for row in shown["rows"]] == expected
    assert [one["name"] for one in shown["columns"]] == table.columns
    assert [one["type"] for one in shown["columns"]] == ["STRING", "INT", "STRING", "STRING"] + ["BIGINT"] * 4
    chosen = ask("partitions", columns=("last", "topic"), topic=topic)
    assert chosen["rows"] == [[last, f"{topic}-partition-0"], [None, f"{topic}-partition-1"]]


def test_topics_are_listed_with_their_schemas(
    spark: SparkSession,
    client: pulsar_client.Client,
    admin: Admin,
    namespace: str,
    topic: str,
    read: Callable[..., DataFrame],
    ask: Callable[..., Any],
) -> None:
    plain, divided, with_schema = (f"{topic}-{kind}" for kind in ("plain", "divided", "schema"))
    admin.create_topic(divided, partitions=3)
    produce(client, plain, [b"x"])
    produce(client, with_schema, [Message("x")], schema=pulsar_client.schema.StringSchema())
    pattern = f"{namespace}/{topic.rpartition('/')[2]}-.*"
    expected = [(divided, 3, None, None), (plain, None, None, None), (with_schema, None, "STRING", 0)]
    table = read("topics", with_admin=False, topicsPattern=pattern)
    with no_job(spark):
        assert values(table) == expected
    assert [tuple(row) for row in ask("topics", topicsPattern=pattern)["rows"]] == expected
    assert values(read("topics", topics=f"{plain},{with_schema}").select("schemaType")) == [(None,), ("STRING",)]
    assert values(read("topics", topicsPattern=f"{namespace}/none-.*")) == []
    assert (plain,) in values(read("topics", namespace=namespace).select("topic"))
    with refused("PULSAR_OPTION_CONFLICT", "namespace", "topicsPattern"):
        read("topics", namespace=namespace, topicsPattern=pattern)
    with refused("PULSAR_OPTION_INVALID", "tenant/namespace"):
        read("topics", namespace="default")
    assert "public/default" in (values(read("topics").select("topic")) or [("public/default",)])[0][0]


def test_schemas_have_all_versions(
    client: pulsar_client.Client, admin: Admin, topic: str, read: Callable[..., DataFrame]
) -> None:
    city, amount = {"name": "city", "type": "string"}, {"name": "amount", "type": ["null", "double"], "default": None}
    for fields in ([city], [city, amount]):
        admin.upload_schema(topic, "AVRO", json.dumps({"type": "record", "name": "Ride", "fields": fields}))
    admin.create_topic(topic)
    rows = read("schemas", topic=topic).collect()
    assert [(row.topic, row.version, row.type, row.columns) for row in rows] == [
        (topic, 0, "AVRO", "city STRING"),
        (topic, 1, "AVRO", "city STRING,amount DOUBLE"),
    ]
    assert [len(json.loads(row.definition)["fields"]) for row in rows] == [1, 2]
    assert all(0 <= time.time() - row.registeredAt.replace(tzinfo=timezone.utc).timestamp() < 600 for row in rows)
    newest = values(read("schemas", with_admin=False, topic=topic).select("version", "registeredAt", "columns"))
    assert newest == [(1, None, "city STRING,amount DOUBLE")]
    produce(client, f"{topic}-bytes", [b"x"])
    assert values(read("schemas", topic=f"{topic}-bytes")) == []


def test_ledgers_and_subscriptions_of_a_topic(
    client: pulsar_client.Client, admin: Admin, topic: str, read: Callable[..., DataFrame], ask: Callable[..., Any]
) -> None:
    first = produce(client, topic, [b"0", b"1"])
    admin.unload(topic)  # which closes the ledger
    second = produce(client, topic, [b"2", b"3", b"4"])
    ledgers = read("ledgers", topic=topic)
    rows = ledgers.collect()
    assert [(row.topic, row.partition, row.ledgerId, row.entries, row.state) for row in rows] == [
        (topic, None, first[0].ledger, 2, "closed"),
        (topic, None, second[0].ledger, 3, "open"),
    ]
    assert [row.closedAt is None for row in rows] == [False, True]
    assert [len(row.bookies) for row in rows] == [1, 1]
    assert [row.offloadedTo for row in rows] == [None, None]
    assert sum(row.bytes for row in rows) == read("partitions", topic=topic).collect()[0]["bytes"]
    assert values(ledgers.selectExpr("count(*)", "sum(entries)")) == [(2, 5)]
    shown = ask("ledgers", columns=("ledgerId", "bookies", "closedAt"), topic=topic)
    assert shown["columns"][1] == {"name": "bookies", "type": "ARRAY<STRING>"}
    assert [row[1] for row in shown["rows"]] == [row.bookies for row in rows]
    assert [row[2] is None for row in shown["rows"]] == [False, True]

    consumer = client.subscribe(topic, "name & signs", initial_position=pulsar_client.InitialPosition.Earliest)
    consumer.acknowledge(consumer.receive(timeout_millis=180_000))
    expected = (topic, None, "name & signs", "Exclusive", True, 4, 1, first[0].position)
    eventually(lambda: values(read("subscriptions", topic=topic)) == [expected])
    consumer.close()
    for view in ("ledgers", "subscriptions"):
        with refused("PULSAR_OPTION_INCOMPLETE", f"metadata={view}", "admin.url"):
            read(view, with_admin=False, topic=topic)


def test_positions_and_plan_say_what_a_read_would_do(
    spark: SparkSession,
    client: pulsar_client.Client,
    topic: str,
    pulsar: Addresses,
    read: Callable[..., DataFrame],
    ask: Callable[..., Any],
) -> None:
    ids = produce(client, topic, [b"0", b"1"])
    between = time.time_ns() // 1_000_000 + 1
    eventually(lambda: time.time_ns() // 1_000_000 > between)
    more = produce(client, topic, [b"2", b"3"])
    positions = read("positions", with_admin=False, topic=topic, startingTime=str(between))
    assert values(positions) == [(topic, None, ids[-1].position, f"after {ids[-1].position}")]
    start = positions.selectExpr("to_json(map_from_entries(collect_list(struct(topic, startingOffset))))").collect()[0][
        0
    ]
    options = {"service.url": pulsar.service_url, "topic": topic, "startingOffsets": start}
    rows = spark.read.format("pulsar").options(**options).load()
    assert sorted(bytes(row.value) for row in rows.select("value").collect()) == [b"2", b"3"]
    with refused("PULSAR_OPTION_INCOMPLETE", "metadata=positions", "startingTime"):
        read("positions", topic=topic)

    level = {"topic": topic, "readLevel": "segment"}
    plan = values(read("plan", **level))
    expected = json.loads(_plan(spark, pulsar, level))["tasks"]
    named = ("topic", "after", "through", "tier", "entries", "bytes", "reason")
    assert [(row[0], {name: row[i + 1] for i, name in enumerate(named) if row[i + 1] is not None}) for row in plan] == [
        (number, part) for number, task in enumerate(expected) for part in task["slices"]
    ]
    assert plan[-1][3] == more[-1].position
    shown = ask("plan", **level)["rows"]
    assert [row[1:6] for row in shown] == [list(row[1:6]) for row in plan]


def test_the_lag_of_a_subscription_and_of_positions(
    client: pulsar_client.Client, admin: Admin, topic: str, read: Callable[..., DataFrame], ask: Callable[..., Any]
) -> None:
    client.subscribe(topic, "reader", initial_position=pulsar_client.InitialPosition.Earliest).close()
    first = produce(client, topic, [str(n).encode() for n in range(10)], batch_size=5)
    admin.unload(topic)  # the next messages are in another ledger
    second = produce(client, topic, [str(n).encode() for n in range(15)], batch_size=5)
    (stored,) = read("partitions", topic=topic).collect()
    (row,) = read("lag", topic=topic, progressSubscription="reader").collect()
    assert (row.topic, row.last) == (topic, f"{second[-1].ledger}:{second[-1].entry}")
    assert (row.entries, row.messages) == (5, 25)
    assert 0.9 * stored["bytes"] < row.bytes <= stored["bytes"]
    assert 0 <= row.seconds < 300
    read_to = f"{first[-1].ledger}:{first[-1].entry}"
    progress = json.dumps({"version": 2, "positions": {topic: read_to}})
    shown = ask("lag", topic=topic, startingOffsets=progress)["rows"]
    assert [one[2:6] for one in shown] == [[read_to, row.last, 3, 15]]
    assert values(read("lag", topic=topic, startingOffsets="latest"))[0][4:] == (0, 0, 0, 0)
    # without the admin service the entries of several ledgers are not known
    alone = read("lag", with_admin=False, topic=topic, startingOffsets="earliest").select("entries", "bytes", "seconds")
    assert [one[:2] for one in values(alone)] == [(None, None)]
    with refused("PULSAR_SUBSCRIPTION_NOT_FOUND", "nobody"):
        values(read("lag", topic=topic, progressSubscription="nobody"))
    with refused("PULSAR_OPTION_INCOMPLETE", "metadata=lag", "progressSubscription"):
        read("lag", topic=topic)


def _plan(spark: SparkSession, pulsar: Addresses, options: dict[str, str]) -> str:
    """The plan of a read as the JVM reports it to `pulsar_spark.plan`."""
    urls = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url}
    frame = spark.read.format("pulsar").options(**urls, **options).load()
    jvm: Any = spark._jvm  # py4j has no public API
    return str(jvm.io.github.pulsarspark.inspect.reads.ReadPlans.json(frame._jdf.queryExecution().optimizedPlan()))


def test_a_metadata_table_is_read_in_a_batch_and_nothing_else(
    spark: SparkSession,
    client: pulsar_client.Client,
    topic: str,
    pulsar: Addresses,
    read: Callable[..., DataFrame],
    tmp_path: Path,
) -> None:
    produce(client, topic, [b"x"])
    options = {"service.url": pulsar.service_url, "topic": topic, "metadata": "partitions"}
    with refused("PULSAR_METADATA_READ_ONLY", "partitions", "written"):
        spark.range(1).write.format("pulsar").options(**options).mode("append").save()
    stream = spark.readStream.format("pulsar").options(**options).load()
    with failing("PULSAR_METADATA_READ_ONLY", "partitions", "stream"):
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        query.awaitTermination(300)
    with refused("PULSAR_TOPIC_OPTION", "none is set"):
        read("partitions")
    with refused("PULSAR_OPTION_INVALID", "`partition`", "the nearest is `partitions`"):
        read("partition", topic=topic)
    with refused("PULSAR_TOPIC_NOT_FOUND", f"{topic}-missing"):
        values(read("partitions", topic=f"{topic}-missing"))
    # a session does not turn all its reads into metadata
    with session_settings(spark, {"spark.datasource.pulsar.metadata": "partitions"}):
        plain = {"service.url": pulsar.service_url, "topic": topic}
        assert [bytes(row[0]) for row in spark.read.format("pulsar").options(**plain).load().collect()] == [b"x"]


def test_the_main_class_tells_errors(topic: str, ask: Callable[..., Any]) -> None:
    error = ask("partitions", 1, java=True, topic=f"{topic}-missing")["error"]
    assert error["condition"] == "PULSAR_TOPIC_NOT_FOUND"
    assert error["parameters"]["topic"] == f"{topic}-missing"
    assert error["message"].startswith("[PULSAR_TOPIC_NOT_FOUND] ")
