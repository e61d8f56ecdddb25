"""Streams with limits per trigger, the sizes of their micro-batches, and brokers to read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.topics.reading import stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.topics.reading import Batches

SHORT_LEDGERS = {"managedLedgerMaxEntriesPerLedger": "50", "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
"""Settings of a broker that begins a ledger after a few entries."""


def numbers(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def earliest(spark: SparkSession, service_url: str, topic: str, **limits: str) -> DataFrame:
    return stream(spark, service_url, topic=topic, startingOffsets="earliest", **limits)


def sizes_of(batches: Batches) -> list[int]:
    """How many rows each micro-batch has, in order."""
    return [len(rows) for _, rows in sorted(batches.by_id.items())]


def rows_of(query: StreamingQuery) -> list[int]:
    """How many rows the progress of the query reports for each micro-batch."""
    return [one.numInputRows for one in query.recentProgress if one.numInputRows > 0]
