"""The proxies of tests: they understand what passes, and delay, lose or cut it without changing it."""

from __future__ import annotations

import io
import socket
import threading
import time
import uuid
from typing import TYPE_CHECKING

import pytest

from support.proxies.admin_proxy import kind, running_admin_proxy
from support.proxies.bookie_proxy import running_bookie_proxy
from support.proxies.broker_proxy import BrokerProxy, running_broker_proxy
from support.proxies.commands import Command, fields, read_frame, with_broker_url, with_size
from support.proxies.counting import counted
from support.spark.leaks import bookie_ids
from support.topics.messages import connected, produce, read_all
from support.topics.reading import batch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

# BaseCommand with type GET_LAST_MESSAGE_ID, the field of that type in front of it: consumer 300, request 7.
_ASKED = bytes.fromhex("ea0105 08ac02 1007 081d")
# A LOOKUP_RESPONSE that names the broker `pulsar://b`, request 7, and says that it is authoritative.
_LOOKED_UP = bytes.fromhex("0818 c20110 0a0a70756c7361723a2f2f62 2007 2801")


def _frame(command: bytes, payload: bytes = b"") -> bytes:
    return len(command).to_bytes(4, "big") + command + payload


@pytest.fixture
def proxy(pulsar: Addresses) -> Iterator[BrokerProxy]:
    with running_broker_proxy(pulsar.service_url) as proxy:
        yield proxy


@pytest.fixture
def through(proxy: BrokerProxy, tmp_path: Path) -> Iterator[pulsar_client.Client]:
    """The official client on the far side of the proxy."""
    with connected(proxy.service_url, tmp_path) as client:
        yield client


def test_commands_are_read_whatever_the_order_of_their_fields() -> None:
    command = Command.of(_frame(_ASKED, b"payload"))
    assert (command.kind, command.consumer) == ("GET_LAST_MESSAGE_ID", 300)
    assert Command.of(_frame(b"\x08\x7f")).kind == "TYPE_127"


@pytest.mark.parametrize("broken", [b"\x08", b"\x0a\x05abc", b"\x0b\x00", b"\x12\x00"])
def test_other_frames_are_rejected(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"field|number|type"):
        Command.of(_frame(broken))


def test_another_broker_is_named_and_the_rest_is_kept() -> None:
    url = "pulsar://" + "long" * 50
    changed = with_broker_url(_frame(_LOOKED_UP, b"rest"), url)
    command = Command.of(changed)
    assert command.kind == "LOOKUP_RESPONSE"
    assert [(one.number, one.value) for one in fields(command.body)] == [(1, url.encode()), (4, 7), (5, 1)]
    assert changed.endswith(b"rest")
    assert with_broker_url(changed, "pulsar://b") == _frame(_LOOKED_UP, b"rest")


def test_frames_in_several_packets_are_joined() -> None:
    sent = [_frame(_ASKED), _frame(_LOOKED_UP, b"x" * 10_000), _frame(_ASKED)]
    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs:
            for byte in b"".join(map(with_size, sent)) + b"\x00\x00\x00\x09half":
                theirs.send(bytes((byte,)))

    thread = threading.Thread(target=send)
    thread.start()
    with ours, ours.makefile("rb") as stream:
        assert [read_frame(stream) for _ in range(4)] == [*sent, None]
    thread.join()
    assert read_frame(io.BytesIO()) is None


def test_everything_passes_and_is_counted(
    proxy: BrokerProxy, through: pulsar_client.Client, client: pulsar_client.Client, topic: str
) -> None:
    with counted(proxy) as counts:
        sent = produce(through, topic, [b"x" * 1000] * 20, batch_size=5)
        received = read_all(through, topic)
    assert [message.id for message in received] == sent
    assert received == read_all(client, topic)
    assert (counts["PRODUCER"], counts["SEND"], counts["CLOSE_PRODUCER"]) == (1, 4, 1), counts
    assert counts.answers()["SEND_RECEIPT"] == 4, counts
    # `read_all` reads twice.
    assert (counts["SUBSCRIBE"], counts["MESSAGE"], counts["CLOSE_CONSUMER"]) == (2, 8, 2), counts
    assert counts.bytes_of("MESSAGE") > 40 * 1000
    assert counts.requests("producer") == {"PRODUCER": 1, "SEND": 4, "CLOSE_PRODUCER": 1}
    assert "SEND_RECEIPT" in str(counts)
    before = str(counts)
    read_all(through, topic)
    assert str(counts) == before, "what passes later does not count"


def test_commands_are_counted_by_subscription(proxy: BrokerProxy, tmp_path: Path, topic: str) -> None:
    with counted(proxy) as counts:
        for role in ("driver", "task"):
            with connected(proxy.service_url, tmp_path) as one:
                consumer = one.subscribe(topic, f"any-prefix-{role}-{uuid.uuid4()}")
                consumer.get_last_message_id()
                consumer.close()
    for role in ("driver", "task"):
        found = counts.requests(role)
        assert (found["SUBSCRIBE"], found["GET_LAST_MESSAGE_ID"], found["CLOSE_CONSUMER"]) == (1, 1, 1), counts
        assert found["LOOKUP"] == 1, "a connection that only tasks use is theirs"
    assert counts.requests("shared", "unknown") == {}, counts
    assert counts.requests() == counts.requests("driver") + counts.requests("task")


def test_a_delay_holds_every_answer_up_and_nothing_overtakes(
    proxy: BrokerProxy, through: pulsar_client.Client, topic: str
) -> None:
    produce(through, topic, [b"first"])
    proxy.delay_seconds = 0.2
    began = time.monotonic()
    sent = produce(through, topic, [str(n).encode() for n in range(100)])
    took = time.monotonic() - began
    # A look-up, the producer, and the messages, which do not wait for each other's delay.
    assert 3 * 2 * 0.2 < took < 100 * 0.2, took
    proxy.delay_seconds = 0
    assert [(one.id, one.payload) for one in read_all(through, topic)][1:] == [
        (sent[n], str(n).encode()) for n in range(100)
    ]


def test_connections_are_cut_and_restored(proxy: BrokerProxy, through: pulsar_client.Client, topic: str) -> None:
    produce(through, topic, [b"before"])
    assert proxy.cut() == 1
    with proxy.cutting(0.5) as cuts:
        while len(cuts) < 3:
            produce(through, topic, [b"meanwhile"])
    assert {one.payload for one in read_all(through, topic)} == {b"before", b"meanwhile"}
    assert max(cuts) == 1


def test_connections_are_cut_by_what_came_over_them(
    proxy: BrokerProxy, through: pulsar_client.Client, topic: str
) -> None:
    with proxy.cutting_after(50) as cuts:
        sent = [str(number).encode() for number in range(200)]
        produce(through, topic, sent, batch_size=1)  # each waits for its receipt
    assert sum(cuts) >= 4, "each message is a frame, and so is its receipt"
    produce(through, topic, [b"after"])
    assert {one.payload for one in read_all(through, topic)} == {*sent, b"after"}


def test_requests_of_the_admin_service_are_counted_by_resource(admin: Admin, namespace: str, topic: str) -> None:
    assert (
        kind("/admin/v2/persistent/public/default/t%2Fx/internalStats?metadata=true") == "internalStats?metadata=true"
    )
    assert kind("/admin/v3/transactions/transactionBufferStats/persistent/a/b/c") == (
        "transactions/transactionBufferStats/topic"
    )
    admin.create_topic(topic)
    with running_admin_proxy(admin.url) as proxy, counted(proxy) as counts:
        other = type(admin)(proxy.url)
        proxy.delay_seconds = 0.1
        began = time.monotonic()
        assert other.internal_stats(topic) == admin.internal_stats(topic)
        assert time.monotonic() - began > 0.1
        proxy.delay_seconds = 0
        assert other.topics(namespace) == admin.topics(namespace)
    assert counts.requests() == {"internalStats?metadata=true": 1, f"persistent/{namespace}": 1}
    assert counts.bytes_of("internalStats?metadata=true") > 100


def test_requests_of_a_bookie_are_counted(
    spark: SparkSession, pulsar: Addresses, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [b"x" * 100] * 50)
    (bookie,) = bookie_ids(admin)
    with running_bookie_proxy(bookie) as proxy, counted(proxy) as counts:
        for more in ({}, {"bookkeeper.readEntryTimeoutSec": "10"}):
            options = {"topic": topic, "readLevel": "segment", "admin.url": admin.url, **more}
            assert batch(spark, pulsar.service_url, bookieAddresses=proxy.addresses, **options).count() == 50
    assert counts["CONNECTION"] >= 2, counts
    assert counts.requests("bookie")["BATCH_READ_ENTRY"] >= 2, counts
    assert counts.bytes_of("BATCH_READ_ENTRY") > 2 * 50 * 100
