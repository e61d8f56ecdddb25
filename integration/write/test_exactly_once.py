"""Exactly-once writes: what read-committed consumers see, over retries, restarts and second runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from errors import failing, refused
from reading import run_available, running
from servers import Addresses
from waiting import eventually
from write.test_write_streams import into, lines
from writing import Target

from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

ONCE = {"deliveryGuarantee": "exactly-once"}


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """A server with transactions."""
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("once"), transactions=True) as server:
        yield Addresses(server.service_url, server.admin_url)


@pytest.fixture(scope="module")
def target(spark: SparkSession, client: pulsar_client.Client, admin: Admin, service_url: str) -> Target:
    return Target(spark, client, admin, service_url)


def epochs(count: int, rows: int = 20) -> list[list[str]]:
    return [[json.dumps({"value": f"{epoch} {row}"}) for row in range(rows)] for epoch in range(count)]


def expected(count: int, rows: int = 20) -> list[str]:
    return sorted(f"{epoch} {row}" for epoch in range(count) for row in range(rows))


def once(target: Target, folder: Path, topic: str, files: list[list[str]], **more: str) -> DataStreamWriter:
    source = folder / f"in-{len(list(folder.glob('in-*')))}"
    return into(target, lines(target, source, files), topic, folder / "checkpoint").options(**ONCE, **more)


def values(target: Target, topic: str) -> list[str]:
    return sorted(message.payload.decode() for message in target.messages(topic))


def log(target: Target, topic: str, sink: str) -> list[dict[str, Any]]:
    """The records of a sink's log."""
    namespace = topic.rpartition("/")[0]
    return [json.loads(one.payload) for one in target.messages(f"{namespace}/pulsar-spark-sink-{sink}-log")]


def kinds(target: Target, topic: str, sink: str) -> list[tuple[str, int | None]]:
    return [(one["kind"], one.get("epoch")) for one in log(target, topic, sink)]


def test_a_stream_writes_each_epoch_once(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic, partitions=3)
    query = run_available(once(target, tmp_path, topic, epochs(3), sinkId="each"))
    assert values(target, topic) == expected(3)
    steps = [step for epoch in range(3) for step in (("prepared", epoch), ("done", epoch))]
    assert kinds(target, topic, "each") == [("owner", None), *steps]
    assert [one["rows"] for one in log(target, topic, "each") if one["kind"] == "done"] == [20, 20, 20]
    found = {name: value for progress in query.recentProgress for name, value in progress["sink"]["metrics"].items()}
    assert found["pulsarSinkRows"] == "60"
    assert found["pulsarSinkOpen"] == "0"


def test_a_batch_with_a_version_is_written_once(target: Target, topic: str) -> None:
    for version, rows in ((1, "first"), (1, "again"), (2, "second"), (1, "late")):
        options = {**ONCE, "sinkId": "batches", "txnVersion": str(version)}
        target.append_sql(f"select '{rows}' as value from range(3)", topic, options)
    assert values(target, topic) == ["first"] * 3 + ["second"] * 3


def test_a_batch_without_a_version_leaves_nothing(target: Target, topic: str, namespace: str) -> None:
    before = set(target.admin.topics(namespace))
    target.append_sql("select string(id) as value from range(10)", topic, ONCE)
    assert values(target, topic) == [str(number) for number in range(10)]
    left = set(target.admin.topics(namespace)) - before - {topic}
    assert len(left) == 3
    eventually(lambda: not any(target.admin.stats(name)["subscriptions"] for name in left))
