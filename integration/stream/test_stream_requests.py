"""What a stream asks the admin service: little in however many micro-batches, and nothing of one that is silent."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.proxies.admin_proxy import changed_admin_url
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, by_level, existing, running, start, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.admin import Admin, Json

# More than the 1,000 entries that are left to the broker before the size of entries is known.
_MANY = 1100
_SECONDS = 180
_SMALL, _LARGE = b"x" * 20, b"x" * 5000


@contextmanager
def _asked(admin: Admin) -> Iterator[tuple[str, list[str]]]:
    """The address of an admin service, and the questions about ledgers that it gets."""
    questions: list[str] = []

    def note(path: str, answer: Json) -> Json:
        if "/internalStats" in path:
            questions.append("metadata" if "metadata=true" in path else "list")
        return answer

    with changed_admin_url(admin.url, note) as url:
        yield url, questions


class OneByOne(Batches):
    """A sink in which each micro-batch stays until the next one may begin, so that a test decides what is in it."""

    def __init__(self) -> None:
        super().__init__()
        self._next = threading.Semaphore(0)

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        super().__call__(frame, batch_id)
        self._next.acquire(timeout=_SECONDS)

    def go_on(self) -> None:
        self._next.release()


class Stream:
    """A running stream."""

    def __init__(self, query: StreamingQuery, sink: OneByOne, client: pulsar_client.Client, topic: str) -> None:
        self._query, self._sink, self._client, self._topic = query, sink, client, topic
        eventually(lambda: len(sink.rows) == 1, seconds=_SECONDS)

    def feed(self, payload: bytes, count: int = _MANY) -> None:
        """Write messages and wait until a micro-batch has brought them."""
        produce(self._client, self._topic, [payload] * count)
        wanted = len(self._sink.rows) + count
        self._sink.go_on()
        eventually(lambda: len(self._sink.rows) >= wanted, seconds=_SECONDS)
        assert len(self._sink.rows) == wanted

    def rows(self) -> dict[str, int]:
        """How many came from where, once the last micro-batch is done."""
        batches = len(self._sink.by_id)
        self._sink.go_on()
        done = eventually(lambda: [one for one in self._query.recentProgress if one.numInputRows][batches - 1 :])
        found = {name.removeprefix("pulsar"): int(value) for name, value in done[-1].sources[0].metrics.items()}
        return by_level(found, "Rows")


@contextmanager
def _running(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, folder: Path, **options: str
) -> Iterator[Stream]:
    """A stream that has read the one message that is there, and waits."""
    produce(client, topic, [b"first"])
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest", **options)
    sink = OneByOne()
    with running(start(frame, folder / "checkpoint", sink), sink.go_on) as query:
        yield Stream(query, sink, client, topic)
    assert_exactly_once(sink.rows, existing(read_all(client, topic)))


@contextmanager
def _running_with_admin(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, folder: Path, admin: Admin
) -> Iterator[tuple[Stream, list[str]]]:
    """The same with an admin service, and the questions about ledgers that it gets."""
    with (
        _asked(admin) as (url, questions),
        _running(spark, service_url, client, topic, folder, **{"admin.url": url}) as running,
    ):
        yield running, questions


def test_a_stream_requests_once_how_large_entries_are(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with _running_with_admin(spark, service_url, client, topic, tmp_path, admin) as (running, questions):
        for _ in range(4):
            running.feed(_SMALL)
        assert questions == ["metadata"]
        assert running.rows() == {"broker": 4 * _MANY + 1, "bookies": 0, "tiered": 0}


def test_a_stream_requests_once_where_a_ledger_is(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with _running_with_admin(spark, service_url, client, topic, tmp_path, admin) as (running, questions):
        for _ in range(3):
            running.feed(_LARGE)
        assert questions == ["metadata"]
        admin.unload(topic)  # the broker begins another ledger
        running.feed(_LARGE, 10)
        assert questions == ["metadata", "metadata"]
        for _ in range(2):
            running.feed(_LARGE)
        assert questions == ["metadata", "metadata"]
        assert running.rows() == {"broker": 11, "bookies": 5 * _MANY, "tiered": 0}


def test_a_stream_that_follows_the_tail_requests_nothing_when_the_broker_begins_another_ledger(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with _running_with_admin(spark, service_url, client, topic, tmp_path, admin) as (running, questions):
        for _ in range(3):
            running.feed(_SMALL, 20)
            admin.unload(topic)
            running.feed(_SMALL, 10)
        assert questions == []
        assert running.rows() == {"broker": 91, "bookies": 0, "tiered": 0}


def test_a_stream_of_segments_sends_one_request_for_each_ledger(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with (
        _asked(admin) as (url, questions),
        _running(spark, service_url, client, topic, tmp_path, readLevel="segment", **{"admin.url": url}) as running,
    ):
        for _ in range(3):
            running.feed(_SMALL, 20)
        assert questions == ["metadata"]
        admin.unload(topic)
        for _ in range(3):
            running.feed(_SMALL, 20)
        assert questions == ["metadata", "metadata"]
        assert running.rows() == {"broker": 0, "bookies": 121, "tiered": 0}


def test_an_admin_service_that_is_silent_is_waited_for_once(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        options = {"admin.url": f"http://127.0.0.1:{silent.getsockname()[1]}", "operationTimeoutMs": "12000"}
        with _running(spark, service_url, client, topic, tmp_path, **options) as running:
            running.feed(_SMALL)
            began = time.monotonic()
            for _ in range(3):
                running.feed(_SMALL)
            assert time.monotonic() - began < 30, "each of three micro-batches waited for the deadline"
