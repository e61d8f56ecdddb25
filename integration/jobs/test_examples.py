"""Every program in `examples` does what its first lines say."""

from __future__ import annotations

import ast
import json
import re
import runpy
import sys
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from examples import (
    backfill_then_follow,
    debezium_table,
    paid_orders,
    replay_dead_letters,
    scheduled_totals,
    several_sinks,
    unique_orders,
)
from pulsar_spark.testing import Topic, assert_messages, produce, run_to_end
from support.spark.waiting import becomes
from support.topics import messages

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark.testing import PulsarServer

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").iterdir())
PROGRAMS = [path for path in EXAMPLES if path.suffix == ".py" and path.stem != "frames"]  # that one: test_connect.py
NOON = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def step(query: StreamingQuery, topic: Topic, *rows: dict[str, Any]) -> None:
    """Let a query that runs process more messages."""
    produce(topic, rows)
    run_to_end(query)


def test_unique_orders(pulsar_topic: Topic, tmp_path: Path) -> None:
    produce(pulsar_topic, [order("a", 0), order("a", 5), order("b", 5), order(None, 5), order(None, 5)])
    target = pulsar_topic.beside("unique")
    query = unique_orders.start(pulsar_topic.pulsar, pulsar_topic.name, target.name, str(tmp_path))
    try:
        run_to_end(query)
        step(query, pulsar_topic, order("a", 8), order("c", 60))
        step(query, pulsar_topic, order("a", 61))  # the key is forgotten
        step(query, pulsar_topic, {"__key": "d", "amount": 2.5})  # without an event time
    finally:
        query.stop()
    expected = [("a", 0), ("b", 5), (None, 5), (None, 5), ("c", 60), ("a", 61)]
    rows: list[dict[str, Any]] = [{"__key": key, "__eventTime": _naive(at(minute))} for key, minute in expected]
    assert_messages(target, [*rows, {"__key": "d", "__eventTime": None}])


def order(key: str | None, minute: int) -> dict[str, Any]:
    return {"__key": key, "__eventTime": at(minute), "amount": 1.5}


def test_paid_orders(pulsar_topic: Topic, tmp_path: Path) -> None:
    payments, target = pulsar_topic.beside("payments"), pulsar_topic.beside("paid")
    produce(pulsar_topic, [{"__eventTime": at(number), "id": number, "amount": 10.0 * number} for number in (1, 2, 3)])
    produce(payments, [payment(1, 5), payment(2, 30)])
    query = paid_orders.start(pulsar_topic.pulsar, pulsar_topic.name, payments.name, target.name, str(tmp_path))
    try:
        run_to_end(query)
        step(query, payments, payment(3, 18))
    finally:
        query.stop()
    assert_messages(
        target,
        [
            {"__key": "1", "id": 1, "amount": 10.0, "method": "card"},
            {"__key": "3", "id": 3, "amount": 30.0, "method": "card"},
        ],
    )


def payment(number: int, minute: int) -> dict[str, Any]:
    return {"__eventTime": at(minute), "order_id": number, "method": "card"}


CUSTOMERS = "id BIGINT, name STRING"
ANN, BOB, ROB, CID = ({"id": number, "name": name} for number, name in ((1, "Ann"), (2, "Bob"), (2, "Rob"), (3, "Cid")))
CHANGES: list[dict[str, Any]] = [
    {"op": "c", "before": None, "after": ANN},
    {"op": "r", "before": None, "after": BOB},
    {"op": "u", "before": BOB, "after": ROB},
    {"op": "d", "before": ANN, "after": None},
    {"op": "c", "before": None, "after": CID},
]


def customers(topic: Topic) -> list[dict[str, Any]]:
    rows = debezium_table.table(topic.pulsar, topic.name, CUSTOMERS, "id").orderBy("id").collect()
    return [row.asDict() for row in rows]


def test_debezium_table(pulsar_topic: Topic) -> None:
    texts = [json.dumps({**change, "source": {"table": "customers"}}) for change in CHANGES]
    produce(pulsar_topic, [*texts[:4], None, texts[4]], "value STRING")
    assert customers(pulsar_topic) == [ROB, CID]
    avro = pulsar_topic.beside("avro")
    produce(avro, CHANGES, f"op STRING, before STRUCT<{CUSTOMERS}>, after STRUCT<{CUSTOMERS}>")
    assert customers(avro) == [ROB, CID]


def test_replay_dead_letters(pulsar_topic: Topic, client: pulsar_client.Client, tmp_path: Path) -> None:
    letters = pulsar_topic.beside("dead-letters")
    produce(pulsar_topic, [{"__key": "taxi-1", "city": "Berlin", "km": 12.5}], schema_type="json")
    broken = [b'{"city": "Rome", "km": "3,5"}', b'{"city": "Oslo"', b'{"city": "Bonn", "km": "7,25"}']
    messages.produce(client, pulsar_topic.name, [messages.Message(one, key="taxi-2") for one in broken])
    other = pulsar_topic.beside(f"{pulsar_topic.name.rpartition('/')[2]}-long")
    produce(other, [{"__key": "taxi-3", "city": "Paris", "km": 100.5}], schema_type="json")
    messages.produce(client, other.name, [messages.Message(b'{"city": "Nice", "km": "200,5"}', key="taxi-3")])
    for topic in (pulsar_topic, other):
        rides = topic.pulsar.read(topic.name, on_decode_error="dlq", dlq_topic=letters.name)
        assert rides.count() == 1
    for _ in range(2):  # the second run finds nothing to do
        replay = replay_dead_letters.replay(pulsar_topic.pulsar, letters.name, pulsar_topic.name, str(tmp_path))
        run_to_end(replay)
    repaired = pulsar_topic.pulsar.read(pulsar_topic.name, on_decode_error="drop").selectExpr(
        "CAST(__key AS STRING) AS key", "city", "km"
    )
    assert sorted(map(tuple, repaired.collect())) == [
        ("taxi-1", "Berlin", 12.5),
        ("taxi-2", "Bonn", 7.25),
        ("taxi-2", "Rome", 3.5),
    ]


def test_backfill_then_follow(pulsar_topic: Topic, spark: SparkSession, tmp_path: Path) -> None:
    pulsar_topic.create(partitions=2)
    folder = f"{tmp_path}/rides"
    produce(pulsar_topic, [{"__key": str(number), "n": number} for number in range(100)])
    start = backfill_then_follow.kept_start(pulsar_topic.pulsar, pulsar_topic.name, folder)
    produce(pulsar_topic, [{"__key": str(number), "n": number} for number in range(100, 120)])
    # The job ended before its stream had a first micro-batch.
    assert backfill_then_follow.kept_start(pulsar_topic.pulsar, pulsar_topic.name, folder) == start
    query = backfill_then_follow.follow(
        pulsar_topic.pulsar, pulsar_topic.name, start, folder, str(tmp_path / "checkpoint")
    )
    try:
        run_to_end(query)
    finally:
        query.stop()
    exported = spark.read.parquet(folder)
    assert sorted(row.n for row in exported.select("n").collect()) == list(range(120))
    assert exported.where("batch = -1").count() == 100


def test_several_sinks(pulsar_topic: Topic, spark: SparkSession, tmp_path: Path) -> None:
    long_rides, cities, folder = pulsar_topic.beside("long-rides"), pulsar_topic.beside("cities"), f"{tmp_path}/rides"
    sinks = several_sinks.Sinks(pulsar_topic.pulsar, long_rides.name, cities.name, folder)
    produce(pulsar_topic, [{"city": "Berlin", "km": 12.5}, {"city": "Berlin", "km": 3.5}, {"city": "Rome", "km": 30.0}])
    query = several_sinks.start(pulsar_topic.pulsar, pulsar_topic.name, sinks, f"{tmp_path}/checkpoint")
    try:
        run_to_end(query)
    finally:
        query.stop()
    # The driver ended before it noted that the batch is done.
    (tmp_path / "checkpoint/commits/0").unlink()
    (tmp_path / "checkpoint/commits/.0.crc").unlink(missing_ok=True)
    query = several_sinks.start(pulsar_topic.pulsar, pulsar_topic.name, sinks, f"{tmp_path}/checkpoint")
    try:
        step(query, pulsar_topic, {"city": "Oslo", "km": 1.0})
    finally:
        query.stop()
    assert_messages(long_rides, [{"city": "Berlin", "km": 12.5}, {"city": "Rome", "km": 30.0}])
    counts = [("Berlin", 2), ("Rome", 1), ("Oslo", 1)]
    assert_messages(cities, [{"city": city, "count": count} for city, count in counts])
    assert sorted(row.km for row in spark.read.parquet(folder).select("km").collect()) == [1.0, 3.5, 12.5, 30.0]


def test_scheduled_totals(pulsar_topic: Topic, spark: SparkSession, tmp_path: Path) -> None:
    def run() -> int:
        return scheduled_totals.run(pulsar_topic.pulsar, pulsar_topic.name, f"{tmp_path}/totals", f"{tmp_path}/state")

    def ride(city: str, minute: int, km: float) -> dict[str, Any]:
        return {"__eventTime": at(minute), "city": city, "km": km}

    produce(pulsar_topic, [ride("Berlin", 0, 12.5), ride("Berlin", 59, 3.5), ride("Rome", 20, 8.0)])
    assert run() == 3
    produce(pulsar_topic, [ride("Rome", 61, 1.0), ride("Rome", 75, 2.0)])
    assert run() == 2
    assert run() == 0
    totals = spark.read.parquet(f"{tmp_path}/totals").orderBy("city").collect()
    assert [(row.city, row.rides, row.km) for row in totals] == [("Berlin", 2, 16.0), ("Rome", 1, 8.0)]
    durable = [scheduled_totals.SUBSCRIPTION]
    subscriptions = partial(pulsar_topic.pulsar.subscriptions, pulsar_topic.name)
    becomes(lambda: [one.subscription for one in subscriptions() if one.durable], durable)


def test_sql_only(pulsar_namespace: str, spark: SparkSession, pulsar_server: PulsarServer) -> None:
    pulsar_server.cluster.on(spark).register_catalog("pulsar_of_example")
    script = (ROOT / "examples/sql_only.sql").read_text(encoding="utf-8")
    script = re.sub(r"^--.*\n", "", script, flags=re.MULTILINE)
    script = script.replace("pulsar.`public/default`", f"pulsar_of_example.`{pulsar_namespace}`")
    statements = [statement for statement in script.split(";") if statement.strip()]
    results = [[tuple(row) for row in spark.sql(statement).collect()] for statement in statements]
    assert results[-2] == [("Berlin", 2, 16.0), ("Paris", 1, 8.0)]
    assert [partition for partition, _, _ in results[-1]] == [0, 1]


@pytest.mark.parametrize("example", PROGRAMS, ids=lambda path: path.name)
def test_a_program_without_its_arguments_says_which_it_takes(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ([], ["x"] * 9):
        monkeypatch.setattr(sys, "argv", [str(example), *arguments])
        with pytest.raises(SystemExit, match=rf"\n    python {example.name} \w+") as ended:
            runpy.run_path(str(example), run_name="__main__")
        assert isinstance(ended.value.code, str)  # which Python prints on stderr, and ends with 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_small_and_has_a_test_and_a_place_in_the_page(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert text.count("\n") < 80
    tests = ["jobs/test_examples.py", "connect/test_connect.py", "lakes/test_lakes.py"]
    texts = [(ROOT / "integration" / test).read_text(encoding="utf-8") for test in tests]
    assert any(f"\ndef test_{example.stem}(" in text for text in texts)
    assert f"(../../examples/{example.name})" in (ROOT / "docs/use/recipes.md").read_text(encoding="utf-8")
    if example.suffix == ".py":
        assert ast.get_docstring(ast.parse(text))
        assert "sys.exit(__doc__)" in text


def _naive(time: datetime) -> datetime:
    """As Spark returns times: in the zone of this machine, without naming it."""
    return time.astimezone().replace(tzinfo=None)
