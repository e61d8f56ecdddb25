"""Streams that write keep their producers: a small micro-batch costs its messages and no request besides."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.servers.admin import AdminError
from support.spark.errors import get_condition
from support.spark.leaks import no_leaks
from support.spark.waiting import eventually
from support.topics.reading import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.admin import Admin
    from support.topics.writing import Target

_SECONDS = 180
_KEPT_SECONDS = 300  # the producer for a minute, then its client for another


class Feed:
    """A stream into a topic, of which a test decides what is in each micro-batch."""

    def __init__(self, query: StreamingQuery, folder: Path) -> None:
        self.query = query
        self._folder = folder
        self._files = 0

    def write(self, *rows: dict[str, object]) -> None:
        """One micro-batch, done."""
        self._files += 1
        hidden = self._folder / f".{self._files:05}.json"
        hidden.write_text("\n".join(json.dumps(row) for row in rows))
        hidden.rename(self._folder / f"{self._files:05}.json")
        eventually(self._is_done, seconds=_SECONDS)

    def fail(self, *rows: dict[str, object]) -> str:
        """One micro-batch that ends the query; returns the condition."""
        with pytest.raises(AssertionError):
            self.write(*rows)
        failure = self.query.exception()
        assert failure is not None
        return get_condition(failure) or str(failure)

    def _is_done(self) -> bool:
        assert self.query.exception() is None, self.query.exception()
        done = [one for one in self.query.recentProgress if one.numInputRows]
        return len(done) >= self._files


@contextmanager
def feeding(
    spark: SparkSession, service_url: str, topic: str | None, path: Path, schema: str = "value string", **more: str
) -> Iterator[Feed]:
    folder = path / "in"
    folder.mkdir(exist_ok=True)
    rows = spark.readStream.schema(schema).json(str(folder))
    writer = rows.writeStream.format("pulsar").option("checkpointLocation", str(path / "checkpoint"))
    target = {"topic": topic} if topic else {}
    started = writer.options(**{"service.url": service_url, **target, **more}).trigger(processingTime="0 seconds")
    with running(started.start()) as query:
        yield Feed(query, folder)


def _payloads(target: Target, topic: str) -> list[str]:
    return [message.payload.decode() for message in target.messages(topic)]


@pytest.mark.parametrize("partitions", [0, 3])
def test_a_micro_batch_costs_its_messages_alone(target: Target, topic: str, tmp_path: Path, partitions: int) -> None:
    target.admin.create_topic(topic, partitions=partitions)
    with (
        running_broker_proxy(target.service_url) as proxy,
        feeding(target.spark, proxy.service_url, topic, tmp_path) as feed,
    ):
        feed.write({"value": "first"})
        with counted(proxy) as counts:
            for number in range(5):
                feed.write({"value": str(number)})
        # once a minute the client looks for added partitions
        assert counts["SEND"] >= 5, str(counts)
        assert set(counts.requests()) <= {"SEND", "PARTITIONED_METADATA"}, str(counts)
    assert sorted(_payloads(target, topic)) == sorted(["first", *map(str, range(5))])


def test_rows_that_name_their_topics_find_the_producers_too(target: Target, topic: str, tmp_path: Path) -> None:
    names = [f"{topic}-{n}" for n in range(3)]
    with (
        running_broker_proxy(target.service_url) as proxy,
        feeding(target.spark, proxy.service_url, None, tmp_path, "value string, __topic string") as feed,
    ):
        rows: list[dict[str, object]] = [{"value": "x", "__topic": name} for name in names]
        feed.write(*rows)  # which creates the topics, and
        feed.write(*rows)  # they have a schema now
        with counted(proxy) as counts:
            feed.write(*rows)
        assert set(counts.requests()) == {"GET_SCHEMA", "SEND"}, str(counts)
    assert [_payloads(target, name) for name in names] == [["x"] * 3] * 3


def test_a_topic_that_is_created_again_gets_the_rows(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic)
    with feeding(target.spark, target.service_url, topic, tmp_path) as feed:
        feed.write({"value": "before"})
        target.admin.delete_topic(topic)
        _create(target, topic)
        feed.write({"value": "after"})
    assert _payloads(target, topic) == ["after"]


def test_rows_name_a_partition_that_was_added(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic, partitions=1)
    with feeding(target.spark, target.service_url, topic, tmp_path, "value string, __partition int") as feed:
        feed.write({"value": "a", "__partition": 0})
        target.admin.set_partitions(topic, 3)
        feed.write({"value": "b", "__partition": 2})
    assert _payloads(target, f"{topic}-partition-2") == ["b"]


def test_sequence_ids_of_rows_begin_anew_in_each_task(
    target: Target, admin: Admin, namespace: str, topic: str, tmp_path: Path
) -> None:
    """With one producer for all of them, the broker would drop the second micro-batch as a repetition."""
    admin.set_policy(namespace, "deduplication", True)
    try:
        admin.create_topic(topic)
        with feeding(target.spark, target.service_url, topic, tmp_path, "value string, __sequenceId long") as feed:
            feed.write({"value": "a", "__sequenceId": 7})
            feed.write({"value": "b", "__sequenceId": 3})
        assert _payloads(target, topic) == ["a", "b"]
    finally:
        admin.set_policy(namespace, "deduplication", False)


def test_a_topic_with_another_schema_than_the_kept_producers(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic)
    with feeding(target.spark, target.service_url, topic, tmp_path) as feed:
        feed.write({"value": "a"})
        eventually(lambda: _is_recreated(target, topic))
        assert "PULSAR_" in feed.fail({"value": "b"})
    assert _payloads(target, topic) == []


def _is_recreated(target: Target, topic: str) -> bool:
    """With another schema; false if the kept producer connected again before, which brings its own."""
    target.admin.delete_topic(topic)
    if not _create(target, topic):
        return False
    try:
        target.client.create_producer(topic, schema=pulsar_client.schema.AvroSchema(_Record)).close()
    except pulsar_client.IncompatibleSchema:
        return False
    return True


def _create(target: Target, topic: str) -> bool:
    """Create a topic that was deleted; false if the kept producer was first, which creates it to connect again."""
    try:
        target.admin.create_topic(topic)
    except AdminError as error:
        if error.status != HTTPStatus.CONFLICT:
            raise
        return False
    return True


class _Record(pulsar_client.schema.Record):  # type: ignore[misc]
    number = pulsar_client.schema.Integer()


@pytest.mark.exhaustive
def test_producers_end_a_minute_after_their_query(
    spark: SparkSession, admin: Admin, service_url: str, namespace: str, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=3)
    with no_leaks(spark, admin, service_url, namespace, seconds=_KEPT_SECONDS):
        for turn in range(20):
            path = tmp_path / str(turn)
            path.mkdir()
            with feeding(spark, service_url, topic, path) as feed:
                feed.write({"value": "x"})
        most = 3 * spark.sparkContext.defaultParallelism
        eventually(lambda: sum(len(admin.stats(f"{topic}-partition-{n}")["publishers"]) for n in range(3)) <= most)
