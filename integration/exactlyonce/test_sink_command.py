"""``pulsar-spark sink``: what it shows and repairs of control topics and transactions on a real server."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import cli
from pulsar_spark.sinks.topics import topic as control_topic
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.transactions import named

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses
    from support.topics.transactions import Sender


class Sink:
    """The control topics of a sink, written as drivers and tasks write them."""

    def __init__(self, client: pulsar_client.Client, sender: Sender, namespace: str, target: str) -> None:
        self.id = uuid.uuid4().hex
        self.target = target
        self._client, self._sender, self._namespace = client, sender, namespace
        for which in ("log", "open", "mark"):
            client.create_producer(self.topic(which)).close()

    def topic(self, which: str) -> str:
        return control_topic(self._namespace, self.id, which)

    def payload(self, kind: str, **fields: object) -> bytes:
        common = {"version": 1, "kind": kind, "sinkId": self.id, "nonce": "query:1", "owner": "a"}
        return json.dumps({**common, "time": time.time_ns() // 1_000_000, **fields}).encode()

    def append(self, which: str, kind: str, **fields: object) -> str:
        """Returns its id, ``ledger:entry``."""
        (stored,) = produce(self._client, self.topic(which), [self.payload(kind, **fields)])
        return f"{stored.ledger}:{stored.entry}"

    def task(self, epoch: int, partition: int, value: bytes) -> tuple[Any, dict[str, int]]:
        """What a task does up to its end: returns its transaction, and how records name it."""
        transaction = self._sender.begin()
        listed = {**named(transaction), "partition": partition, "attempt": partition, "rows": 1, "bytes": len(value)}
        self.append("open", "open", epoch=epoch, timeout=600_000, transactions=[listed])
        marker = self.payload("marker", epoch=epoch, transactions=[listed])
        for name, message in ((self.target, value), (self.topic("mark"), marker)):
            self._sender.send(transaction, name, message)
        return transaction, listed

    def decided(self) -> tuple[tuple[Any, dict[str, int]], tuple[Any, dict[str, int]]]:
        """An epoch of two tasks with a row each, whose driver died before their commit."""
        self.append("log", "owner")
        start = self.append("mark", "barrier", barrier="x")
        tasks = self.task(0, 0, b"a"), self.task(0, 1, b"b")
        listed = [one for _, one in tasks]
        self.append("log", "prepared", epoch=0, target=self.target, transactions=listed, **{"from": start})
        return tasks


@pytest.fixture
def sink(client: pulsar_client.Client, sender: Sender, namespace: str, topic: str) -> Sink:
    return Sink(client, sender, namespace, topic)


@pytest.fixture
def run(spark: SparkSession, pulsar: Addresses, namespace: str, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401, ARG001 - the command runs in its JVM
    def run(verb: str, *arguments: str) -> tuple[int, Any]:
        capsys.readouterr()
        addresses = ["--url", pulsar.service_url, "--namespace", namespace]
        if verb == "status":
            addresses += ["--admin-url", pulsar.admin_url]
        code = cli.main(["sink", verb, *arguments, *addresses, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_open_transactions_are_shown_and_aborted(
    sink: Sink,
    run: Any,  # noqa: ANN401
    client: pulsar_client.Client,
) -> None:
    sink.append("log", "owner")
    _, orphan = sink.task(0, 0, b"orphan")
    produce(client, sink.target, [b"hidden until the orphan ends"])
    code, shown = run("status", sink.id)
    assert (code, shown["owner"]["owner"], shown["done"], shown["drivers"]) == (0, "a", None, [])
    (opened,) = shown["open"]
    assert (opened["least"], opened["state"], opened["epoch"]) == (orphan["least"], "open", 0)
    assert opened["age"] >= 0
    code, repaired = run("repair", sink.id)
    assert (code, repaired["aborted"], repaired["epoch"], repaired["removed"]) == (0, 1, None, False)
    (visible,) = eventually(lambda: read_all(client, sink.target))
    assert visible.payload == b"hidden until the orphan ends"
    assert run("status", sink.id)[1]["open"] == []


def test_a_decided_epoch_is_committed(
    sink: Sink,
    run: Any,  # noqa: ANN401
    sender: Sender,
    client: pulsar_client.Client,
) -> None:
    (first, _), _ = sink.decided()
    sender.end(first, commit=True)
    states = [each["state"] for each in run("status", sink.id)[1]["prepared"]["transactions"]]
    assert states == ["committed", "open"]
    found = next(one for one in run("list")[1]["sinks"] if one["sink"] == sink.id)
    assert (found["nonce"], found["target"], found["done"], found["prepared"]) == ("query:1", sink.target, None, 0)
    code, repaired = run("repair", sink.id)
    assert (code, repaired["epoch"], repaired["outcome"], repaired["lost"]) == (0, 0, "committed", [])
    shown = run("status", sink.id)[1]
    assert (shown["prepared"], shown["done"]["epoch"], shown["done"]["rows"]) == (None, 0, 2)
    assert sorted(each.payload for each in read_all(client, sink.target)) == [b"a", b"b"]


def test_a_sink_with_a_driver_is_not_repaired(
    sink: Sink,
    run: Any,  # noqa: ANN401
    client: pulsar_client.Client,
) -> None:
    sink.append("log", "owner")
    driver = client.create_producer(sink.topic("log"))
    try:
        code, failed = run("repair", sink.id)
    finally:
        driver.close()
    assert (code, "is connected" in failed["error"]["message"]) == (1, True)


def test_a_torn_epoch_is_accepted_by_its_number(
    sink: Sink,
    run: Any,  # noqa: ANN401
    sender: Sender,
    client: pulsar_client.Client,
) -> None:
    (first, _), (second, lost) = sink.decided()
    sender.end(first, commit=True)
    sender.end(second, commit=False)
    for arguments in ([], ["--accept-lost", "1"]):
        code, failed = run("repair", sink.id, *arguments)
        assert (code, failed["error"]["condition"]) == (1, "PULSAR_SINK_EPOCH_TORN")
        assert "lost are 1 rows of partition 1" in failed["error"]["message"]
        assert f"sink repair {sink.id} --accept-lost 0" in failed["error"]["message"]
    code, repaired = run("repair", sink.id, "--accept-lost", "0")
    assert (code, repaired["outcome"]) == (0, "torn")
    assert [(one["partition"], one["rows"], one["least"]) for one in repaired["lost"]] == [(1, 1, lost["least"])]
    shown = run("status", sink.id)[1]
    assert (shown["prepared"], shown["done"]["rows"], shown["done"]["lost"]) == (None, 2, 1)
    assert [each.payload for each in read_all(client, sink.target)] == [b"a"]


def test_a_sink_that_does_not_exist_is_not_created(run: Any, admin: Admin, namespace: str) -> None:  # noqa: ANN401
    for verb in ("status", "repair"):
        code, failed = run(verb, "no-such-sink")
        assert (code, "does not exist" in failed["error"]["message"]) == (1, True)
    assert not [topic for topic in admin.topics(namespace) if "no-such-sink" in topic]
