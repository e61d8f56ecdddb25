"""The check for leaks notices each kind of them, and nothing when there is none."""

from __future__ import annotations

import os
import re
import socket
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import pulsar as pulsar_client
import pytest

from support.spark.leaks import connections, jvm_pid, no_leaks
from support.topics.messages import produce
from support.topics.reading import batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

Jvm: TypeAlias = Any  # what py4j gives has no type

_SOON = 0.3
_LEVELS = ("broker", "segment")


def _consumer(stack: ExitStack, client: pulsar_client.Client, topic: str) -> None:
    consumer = client.subscribe(topic, "left", consumer_type=pulsar_client.ConsumerType.Exclusive)
    stack.callback(consumer.unsubscribe)


def _producer(stack: ExitStack, client: pulsar_client.Client, topic: str) -> None:
    stack.callback(client.create_producer(topic).close)


@pytest.mark.parametrize(
    ("leave", "words"),
    [(_consumer, ["1 subscription left of ", "1 consumers of left of "]), (_producer, ["1 producers"])],
)
def test_leaks_on_the_broker_are_detected(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    namespace: str,
    topic: str,
    leave: Callable[[ExitStack, pulsar_client.Client, str], None],
    words: list[str],
) -> None:
    with ExitStack() as stack:
        with (
            pytest.raises(AssertionError, match=r"not given back within 0\.3 s") as failure,
            no_leaks(spark, admin, pulsar.service_url, namespace, seconds=_SOON),
        ):
            leave(stack, client, topic)
        assert [word for word in words if word not in str(failure.value)] == []
        assert topic in str(failure.value) or leave is _producer
    with no_leaks(spark, admin, pulsar.service_url, namespace):
        pass


def _timer(stack: ExitStack, jvm: Jvm, _: str) -> None:
    stack.callback(jvm.java.util.Timer("pulsar-spark-left-7", True).cancel)


def _buffer(stack: ExitStack, jvm: Jvm, _: str) -> None:
    allocator = jvm.io.github.pulsarspark.shaded.io.netty.buffer.PooledByteBufAllocator.DEFAULT
    stack.callback(allocator.directBuffer(50_000_000).release)


def _connection(stack: ExitStack, jvm: Jvm, url: str) -> None:
    address = urlsplit(url)
    for _ in range(25):
        stack.callback(jvm.java.net.Socket(address.hostname, address.port).close)


@pytest.mark.parametrize(
    ("leave", "pattern"),
    [
        (_timer, "  1 threads pulsar-spark-left$"),
        # more than what idle clients of earlier tests may give back meanwhile
        (_buffer, r"  [3-6]\d{7} bytes of direct memory$"),
        (_connection, r"  [12]\d connections to port \d+$"),
    ],
)
def test_leaks_in_the_driver_are_detected(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    namespace: str,
    leave: Callable[[ExitStack, Jvm, str], None],
    pattern: str,
) -> None:
    with ExitStack() as stack:
        with (
            pytest.raises(AssertionError) as failure,
            no_leaks(spark, admin, pulsar.service_url, namespace, seconds=_SOON),
        ):
            leave(stack, spark.sparkContext._jvm, pulsar.service_url)
        assert re.search(pattern, str(failure.value), re.MULTILINE), failure.value


def test_connections_are_counted_by_process_and_remote_port(spark: SparkSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with closing(socket.create_connection(("127.0.0.1", port))):
            assert connections(os.getpid(), {port}) == {f"connections to port {port}": 1}
            assert connections(os.getpid(), {1}) == {}
            assert connections(jvm_pid(spark), {port}) == {}


def test_reads_give_everything_back(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    namespace: str,
    topic: str,
) -> None:
    admin.create_topic(topic, partitions=2)
    produce(client, topic, [b"x" * 1000] * 500, batch_size=10)

    def read() -> None:
        for level in _LEVELS:
            options = {"topic": topic, "readLevel": level, "admin.url": pulsar.admin_url}
            assert batch(spark, pulsar.service_url, **options).count() == 500

    read()
    with no_leaks(spark, admin, pulsar.service_url, namespace):
        read()
