"""Ends of real-time batches, many of them: each is between two rows, also inside the batch of a producer."""

from __future__ import annotations

import multiprocessing
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from realtime.live import accepting, start_live, wait_for_batches
from realtime.sending import assert_copied, partitioned

from support.spark.settings import session_settings
from support.spark.waiting import eventually
from support.topics.reading import running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_SHORTEST = "spark.sql.streaming.realTimeMode.minBatchDuration"
_GATE, _MANY = 60, 2000
# True, and takes so long for some rows that batches end within an entry.
_WORK = "if({some}, length(sha2(repeat(value, 1000), 512)), 128) = 128"
_WITHIN_AN_ENTRY = re.compile(r'"\d+:\d+:\d+"')


@pytest.fixture(autouse=True)
def short(spark: SparkSession) -> Iterator[None]:
    with accepting(spark), session_settings(spark, {_SHORTEST: "100"}):
        yield


def _burn() -> None:
    while True:
        pass


@contextmanager
def _busy() -> Iterator[None]:
    """Processors have something else to do."""
    others = [multiprocessing.get_context("spawn").Process(target=_burn, daemon=True) for _ in range(2)]
    for one in others:
        one.start()
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.join()


def _assert_no_row_is_lost(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    folder: Path,
    batches: int,
    batch: str,
    some: str,
) -> None:
    sender, target, copy = partitioned(admin, client, topic)
    frame = (
        stream(spark, service_url, topic=topic, startingOffsets="earliest")
        .select("value")
        .where(_WORK.format(some=some))
    )
    with running(start_live(frame, folder, service_url, target)) as query:  # a cold JVM takes longer than a short batch
        wait_for_batches(query, 1)
    query = start_live(frame, folder, service_url, target, batch=batch)
    with running(query), sender.sending():
        wait_for_batches(query, batches)
        sender.stop()
        stored = sender.stored()
        eventually(lambda: len(copy.rows()) >= len(stored))
        rows = copy.rows()
        ends = [one["sources"][0]["endOffset"] for one in query.recentProgress]
    within = sum(bool(_WITHIN_AN_ENTRY.search(end)) for end in ends)
    print(f"{len(rows)} rows; of the last {len(ends)} ends {within} were within an entry")
    assert_copied(rows, stored)
    assert within


def test_no_row_is_lost_at_many_ends(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    _assert_no_row_is_lost(spark, service_url, admin, client, topic, tmp_path, _GATE, "300 milliseconds", "true")


@pytest.mark.exhaustive
def test_no_row_is_lost_at_thousands_of_ends_on_busy_processors(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    with _busy():
        _assert_no_row_is_lost(
            spark, service_url, admin, client, topic, tmp_path, _MANY, "100 milliseconds", "string(value) like '%7'"
        )
