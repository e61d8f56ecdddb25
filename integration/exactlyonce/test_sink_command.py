"""What ``pulsar-spark sink`` and its functions show and repair of control topics and transactions on a real server."""

from __future__ import annotations

import json
import time
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import PulsarWriteOptions, cli, sinks
from support.spark.errors import refused
from support.spark.waiting import becomes, eventually
from support.topics.messages import produce, read_all
from support.topics.sink_records import control_topic
from support.topics.transactions import named

if TYPE_CHECKING:
    from collections.abc import Callable

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
def run(pulsar: Addresses, namespace: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a verb of the command line."""

    def run(verb: str, *arguments: str) -> dict[str, Any]:
        addresses = ["--service-url", pulsar.service_url, "--admin-url", pulsar.admin_url, "--namespace", namespace]
        capsys.readouterr()
        assert cli.main(["sink", verb, *arguments, *addresses, "--json"]) == 0
        told: dict[str, Any] = json.loads(capsys.readouterr().out)
        return told

    return run


@pytest.fixture
def status(spark: SparkSession, pulsar: Addresses, namespace: str) -> Callable[..., sinks.SinkStatus]:
    """Shows a sink in the session."""

    def shown(sink: str, *, with_admin: bool = True) -> sinks.SinkStatus:
        options = PulsarWriteOptions(admin_url=pulsar.admin_url if with_admin else None)
        return sinks.status(spark, sink, namespace=namespace, service_url=pulsar.service_url, options=options)

    return shown


@pytest.fixture
def repair(spark: SparkSession, pulsar: Addresses, namespace: str) -> Callable[..., sinks.RepairedSink]:
    """Repairs a sink in the session."""
    return partial(_repair, spark, namespace=namespace, service_url=pulsar.service_url)


def _repair(spark: SparkSession, sink: str, **named: Any) -> sinks.RepairedSink:  # noqa: ANN401
    return sinks.repair(spark, sink, **named)


def test_open_transactions_are_shown_and_aborted(
    sink: Sink,
    status: Callable[..., sinks.SinkStatus],
    repair: Callable[..., sinks.RepairedSink],
    client: pulsar_client.Client,
) -> None:
    sink.append("log", "owner")
    _, orphan = sink.task(0, 0, b"orphan")
    produce(client, sink.target, [b"hidden until the orphan ends"])
    shown = status(sink.id)
    assert (shown.owner, shown.done, shown.drivers) == ("a", None, ())
    (opened,) = shown.open
    assert (opened.least, opened.state, opened.epoch) == (orphan["least"], "open", 0)
    assert opened.age is not None
    assert opened.age >= 0
    assert (opened.left or 0) > 0
    unknown = status(sink.id, with_admin=False)
    assert (unknown.drivers, [one.state for one in unknown.open]) == (None, ["unknown"])
    repaired = repair(sink.id)
    assert (repaired.aborted, repaired.epoch, repaired.removed) == (1, None, False)
    (visible,) = eventually(lambda: read_all(client, sink.target))
    assert visible.payload == b"hidden until the orphan ends"
    assert status(sink.id).open == ()


def test_the_command_shows_and_commits_a_decided_epoch(
    spark: SparkSession,
    sink: Sink,
    run: Callable[..., Any],
    status: Callable[..., sinks.SinkStatus],
    sender: Sender,
    client: pulsar_client.Client,
    pulsar: Addresses,
    namespace: str,
) -> None:
    (first, _), _ = sink.decided()
    sender.end(first, commit=True)
    told = run("status", sink.id)
    assert [one["state"] for one in told["prepared"]["transactions"]] == ["committed", "open"]
    found = next(one for one in run("list")["sinks"] if one["sink"] == sink.id)
    assert (found["nonce"], found["target"], found["done"], found["prepared"]) == ("query:1", sink.target, None, 0)
    assert sinks.FoundSink(**found) in sinks.find(spark, namespace=namespace, service_url=pulsar.service_url)
    repaired = run("repair", sink.id)
    assert (repaired["epoch"], repaired["outcome"], repaired["lost"]) == (0, "committed", [])
    shown = status(sink.id)
    assert shown.prepared is None
    assert shown.done is not None
    assert (shown.done.epoch, shown.done.rows) == (0, 2)
    assert (shown.since or 0) > told["owner"]["time"]
    assert sorted(each.payload for each in read_all(client, sink.target)) == [b"a", b"b"]


def test_a_sink_with_a_driver_is_not_repaired(
    sink: Sink,
    status: Callable[..., sinks.SinkStatus],
    repair: Callable[..., sinks.RepairedSink],
    client: pulsar_client.Client,
) -> None:
    sink.append("log", "owner")
    driver = client.create_producer(sink.topic("log"))
    try:
        assert [one.partition(" at ")[0] for one in status(sink.id).drivers or ()] == [driver.producer_name()]
        with refused("PULSAR_SINK_STATE", "is connected"):
            repair(sink.id)
    finally:
        driver.close()


def test_a_torn_epoch_is_accepted_by_its_number(
    sink: Sink,
    status: Callable[..., sinks.SinkStatus],
    repair: Callable[..., sinks.RepairedSink],
    sender: Sender,
    client: pulsar_client.Client,
) -> None:
    (first, _), (second, lost) = sink.decided()
    sender.end(first, commit=True)
    sender.end(second, commit=False)
    for accepted in (None, 1):
        said = ("lost are 1 rows of partition 1", f"sink repair {sink.id} --accept-lost 0")
        with refused("PULSAR_SINK_EPOCH_TORN", *said):
            repair(sink.id, accept_lost=accepted)
    repaired = repair(sink.id, accept_lost=0)
    assert repaired.outcome == "torn"
    assert [(one.partition, one.rows, one.least) for one in repaired.lost] == [(1, 1, lost["least"])]
    shown = status(sink.id)
    assert shown.prepared is None
    assert shown.done is not None
    assert (shown.done.rows, shown.done.lost) == (2, 1)
    assert [each.payload for each in read_all(client, sink.target)] == [b"a"]


def test_a_sink_that_is_finished_is_gone(
    spark: SparkSession, sink: Sink, repair: Callable[..., sinks.RepairedSink], pulsar: Addresses, admin: Admin
) -> None:
    sink.decided()
    repair(sink.id)
    becomes(lambda: admin.subscriptions(sink.topic("log")), ["pulsar-spark-sink"])
    done = sinks.finish(spark, sink.id, topic=sink.target, service_url=pulsar.service_url)
    assert (done.removed, done.epoch) == (True, None)
    for which in ("log", "open", "mark"):
        becomes(lambda: admin.subscriptions(sink.topic(which)), [])  # noqa: B023 - not kept


def test_a_record_of_a_later_version_is_not_passed_over(sink: Sink, status: Callable[..., sinks.SinkStatus]) -> None:
    sink.append("log", "owner", version=2)
    with refused("PULSAR_SINK_STATE", "this version cannot read record", "-log"):
        status(sink.id)


def test_a_sink_that_does_not_exist_is_not_created(
    status: Callable[..., sinks.SinkStatus], repair: Callable[..., sinks.RepairedSink], admin: Admin, namespace: str
) -> None:
    for call in (status, repair):
        with refused("PULSAR_SINK_STATE", "no-such-sink", "does not exist"):
            call("no-such-sink")
    assert not [topic for topic in admin.topics(namespace) if "no-such-sink" in topic]
