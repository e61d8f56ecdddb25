"""Exactly-once streams of equal epochs, and what their target and the log of their sink say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from write.test_write_streams import into, lines

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from support.topics.writing import Target


ONCE = {"deliveryGuarantee": "exactly-once"}


def epochs(count: int, rows: int = 20) -> list[list[str]]:
    return [[json.dumps({"value": f"{epoch} {row}"}) for row in range(rows)] for epoch in range(count)]


def expected(count: int, rows: int = 20) -> list[str]:
    return sorted(f"{epoch} {row}" for epoch in range(count) for row in range(rows))


def once(target: Target, folder: Path, topic: str, rows: DataFrame, **more: str) -> DataStreamWriter:
    return into(target, rows, topic, folder / "checkpoint").options(**{**ONCE, **more})


def rows_of(target: Target, folder: Path, count: int) -> DataFrame:
    """A stream of so many epochs; a restart finds the same files."""
    return lines(target, folder / "in", epochs(count))


def recorded(target: Target, topic: str, sink: str, kind: str, epoch: int) -> bool:
    return (kind, epoch) in kinds(target, topic, sink)


def values(target: Target, topic: str) -> list[str]:
    return sorted(message.payload.decode() for message in target.messages(topic))


def log(target: Target, topic: str, sink: str) -> list[dict[str, Any]]:
    """The records of a sink's log."""
    namespace = topic.rpartition("/")[0]
    return [json.loads(one.payload) for one in target.messages(f"{namespace}/pulsar-spark-sink-{sink}-log")]


def kinds(target: Target, topic: str, sink: str) -> list[tuple[str, int | None]]:
    return [(one["kind"], one.get("epoch")) for one in log(target, topic, sink)]
