"""Exactly-once streams whose topic moves, grows or gets another schema while they write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from write.epochs import epochs, expected, kinds, once, recorded, values
from write.test_write_streams import arrived, lines

from support.spark.errors import assert_says
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from support.topics.writing import Target

_EPOCHS = 4
_ROWS = 100
_SECONDS = 180
# A batch holds few rows, and a task takes a second: the broker has some of them long before it ends.
_PAUSE = "java_method('java.lang.Thread', 'sleep', 10L)"
_SMALL = {"pulsar.producer.batchingMaxMessages": "5"}


def _feed(folder: Path, epoch: int, rows: list[str]) -> None:
    """A file of one more epoch, which appears as a whole."""
    hidden = folder / f".{epoch}"
    hidden.write_text("\n".join(rows))
    hidden.rename(folder / f"{epoch:05}.json")


class _Stream:
    """A stream that is started again when a transaction was aborted, which local mode does not try again."""

    def __init__(self, start: Callable[[], StreamingQuery]) -> None:
        self._start = start
        self._query = start()

    def until(self, look: Callable[[], bool]) -> None:
        def is_reached() -> bool:
            failure = self._query.exception()
            if failure is not None:
                assert_says(failure, "PULSAR_WRITE_CONNECTION_LOST")
                self._query = self._start()
            return look()

        eventually(is_reached, seconds=_SECONDS)

    def stop(self) -> None:
        self._query.stop()


def _write(
    target: Target,
    folder: Path,
    topic: str,
    rows: DataFrame,
    files: list[list[str]],
    happens: Callable[[int], object],
    first: int = 0,
) -> None:
    """Write epochs, and let something happen as soon as the broker has messages of each."""
    sink = topic.rpartition("/")[2]
    stream = _Stream(once(target, folder, topic, rows, sinkId=sink, **_SMALL).start)
    try:
        for epoch, content in enumerate(files, first):
            before = arrived(target, topic)
            _feed(folder / "in", epoch, content)
            stream.until(lambda before=before: arrived(target, topic) > before)  # type: ignore[misc]
            happens(epoch)
            stream.until(lambda epoch=epoch: recorded(target, topic, sink, "done", epoch))  # type: ignore[misc]
    finally:
        stream.stop()
    done = [epoch for kind, epoch in kinds(target, topic, sink) if kind == "done"]
    assert done == list(range(first + len(files)))


def _slow(target: Target, folder: Path, schema: str = "value string") -> DataFrame:
    """Rows of the files to come, each of which takes its time."""
    column = schema.partition(" ")[0]
    return lines(target, folder / "in", [], schema=schema).selectExpr(
        f"CASE WHEN {_PAUSE} IS NULL THEN {column} ELSE {column} END AS {column}"
    )


def test_a_topic_that_is_unloaded_under_each_epoch(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic)
    rows = _slow(target, tmp_path)
    _write(target, tmp_path, topic, rows, epochs(_EPOCHS, _ROWS), lambda _: target.admin.unload(topic))
    assert values(target, topic) == expected(_EPOCHS, _ROWS)


def test_partitions_that_are_added_under_each_epoch(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic, partitions=1)
    files = epochs(_EPOCHS + 1, _ROWS)
    rows = _slow(target, tmp_path)
    _write(target, tmp_path, topic, rows, files[:-1], lambda epoch: target.admin.set_partitions(topic, epoch + 2))
    assert values(target, topic) == expected(_EPOCHS, _ROWS)
    _write(target, tmp_path, topic, rows, files[-1:], lambda _: None, first=_EPOCHS)
    assert values(target, topic) == expected(_EPOCHS + 1, _ROWS)
    written = [bool(target.messages(f"{topic}-partition-{number}")) for number in range(_EPOCHS + 1)]
    assert all(written), f"partitions with rows: {written}"


def test_a_schema_that_gets_fields_under_each_epoch(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic)

    def register(epoch: int) -> None:
        fields = [{"name": f"more{number}", "type": ["null", "string"], "default": None} for number in range(epoch + 1)]
        known = [{"name": "n", "type": ["null", "long"], "default": None}]
        record = {"type": "record", "name": "Row", "fields": [*known, *fields]}
        assert target.admin.upload_schema(topic, "AVRO", json.dumps(record)) == epoch + 1

    numbers = [[json.dumps({"n": epoch * _ROWS + row}) for row in range(_ROWS)] for epoch in range(_EPOCHS)]
    rows = _slow(target, tmp_path, "n long")
    _write(target, tmp_path, topic, rows, numbers, register)
    found = [row.n for row in target.read(topic).select("n").collect()]
    assert sorted(found) == list(range(_EPOCHS * _ROWS))
