"""``pulsar-spark sink``: what it shows and repairs of control topics and transactions on a real server."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from messages import produce, read_all
from transactions import named
from waiting import eventually

from pulsar_spark import cli
from pulsar_spark.sinks.topics import topic as control_topic

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from servers import Addresses
    from transactions import Sender


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

    def append(self, which: str, kind: str, **fields: object) -> None:
        produce(self._client, self.topic(which), [self.payload(kind, **fields)])

    def task(self, epoch: int, partition: int, value: bytes) -> tuple[Any, dict[str, int]]:
        """What a task does up to its end: returns its transaction, and how records name it."""
        transaction = self._sender.begin()
        listed = {**named(transaction), "partition": partition, "attempt": partition, "rows": 1, "bytes": len(value)}
        self.append("open", "open", epoch=epoch, timeout=600_000, transactions=[listed])
        marker = self.payload("marker", epoch=epoch, transactions=[listed])
        for name, message in ((self.target, value), (self.topic("mark"), marker)):
            self._sender.send(transaction, name, message)
        return transaction, listed


@pytest.fixture
def sink(client: pulsar_client.Client, sender: Sender, namespace: str, topic: str) -> Sink:
    return Sink(client, sender, namespace, topic)


@pytest.fixture
def run(pulsar: Addresses, namespace: str, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401
    def run(verb: str, sink: str) -> tuple[int, Any]:
        capsys.readouterr()
        addresses = ["--url", pulsar.service_url, "--admin-url", pulsar.admin_url, "--namespace", namespace]
        code = cli.main(["sink", verb, sink, *addresses, "--json"])
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
    assert (code, repaired["remaining"]) == (0, [])
    assert repaired["aborted"] == [[orphan["most"], orphan["least"]]]
    (visible,) = eventually(lambda: read_all(client, sink.target))
    assert visible.payload == b"hidden until the orphan ends"
    assert run("status", sink.id)[1]["open"] == []


def test_a_committed_epoch_is_finished_and_a_decided_one_is_kept(
    sink: Sink,
    run: Any,  # noqa: ANN401
    sender: Sender,
    client: pulsar_client.Client,
) -> None:
    sink.append("log", "owner")
    (first, one), (second, two) = sink.task(0, 0, b"a"), sink.task(0, 1, b"b")
    sink.append("log", "prepared", epoch=0, transactions=[one, two])
    sender.end(first, commit=True)
    states = [each["state"] for each in run("status", sink.id)[1]["prepared"]["transactions"]]
    assert states == ["committed", "open"]
    code, repaired = run("repair", sink.id)
    assert (code, repaired["finished"], repaired["aborted"]) == (1, None, [])
    assert "start the write again with its checkpoint" in repaired["remaining"][0]
    sender.end(second, commit=True)
    code, repaired = run("repair", sink.id)
    assert (code, repaired["finished"], repaired["remaining"]) == (0, 0, [])
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


def test_a_sink_that_does_not_exist_is_not_created(run: Any) -> None:  # noqa: ANN401
    for verb in ("status", "repair"):
        code, failed = run(verb, "no-such-sink")
        assert (code, "does not exist" in failed["error"]["message"]) == (1, True)
