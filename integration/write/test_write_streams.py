"""Streaming writes: output modes, and nothing lost over stops and restarts."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from support.spark.errors import failing, no_job
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import run_available, running

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from support.topics.writing import Target

STREAM_SECONDS = 180


def lines(target: Target, folder: Path, files: list[list[str]], *, schema: str = "value string") -> DataFrame:
    """A stream of JSON objects, one file each micro-batch, in the order of the files."""
    folder.mkdir()
    for number, content in enumerate(files):
        file = folder / f"{number:05}.json"
        file.write_text("\n".join(content))
        os.utime(file, (number, number))  # Spark takes the oldest first
    return target.spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").json(str(folder))


def into(
    target: Target, rows: DataFrame, topic: str | None, checkpoint: Path, *, mode: str = "append"
) -> DataStreamWriter:
    writer = rows.writeStream.format("pulsar").outputMode(mode).options(**target.options(topic))
    return writer.option("checkpointLocation", str(checkpoint))


def arrived(target: Target, topic: str) -> int:
    return int(target.admin.stats(topic)["msgInCounter"])


def wait_for(target: Target, topic: str, messages: int) -> None:
    eventually(lambda: arrived(target, topic) > messages, seconds=STREAM_SECONDS)


def test_a_stream_appends_every_row_once(target: Target, topic: str, tmp_path: Path) -> None:
    files = [[json.dumps({"value": f"{f} {n}", "__key": f"k{n}"}) for n in range(50)] for f in range(4)]
    rows = lines(target, tmp_path / "in", files, schema="value string, __key string")
    query = run_available(into(target, rows, topic, tmp_path / "checkpoint"))
    assert len([progress for progress in query.recentProgress if progress["numInputRows"]]) == 4
    expected = [(f"{f} {n}", f"k{n}") for f in range(4) for n in range(50)]
    assert [(message.payload.decode(), message.key) for message in target.messages(topic)] == expected


def test_a_topic_is_read_changed_and_written_to_others(target: Target, topic: str, tmp_path: Path) -> None:
    source, even, odd = f"{topic}-in", f"{topic}-even", f"{topic}-odd"
    produce(target.client, source, [str(n).encode() for n in range(100)], batch_size=7)
    stream = target.spark.readStream.format("pulsar").options(**target.options(source, {"startingOffsets": "earliest"}))
    rows = stream.load().selectExpr(
        "string(value) as value",
        f"if(int(string(value)) % 2 = 0, '{even}', '{odd}') as __topic",
        "__key",
        "__eventTime",
    )
    run_available(into(target, rows, None, tmp_path / "checkpoint"))
    assert [int(message.payload) for message in target.messages(even)] == list(range(0, 100, 2))
    assert [int(message.payload) for message in target.messages(odd)] == list(range(1, 100, 2))


def test_update_mode_writes_each_changed_row(target: Target, topic: str, tmp_path: Path) -> None:
    files = [["a", "b"], ["a", "a"], ["c"]]
    rows = lines(target, tmp_path / "in", [[json.dumps({"value": word}) for word in file] for file in files])
    counts = rows.groupBy("value").count().selectExpr("value as __key", "concat(value, ' ', count) as value")
    run_available(into(target, counts, topic, tmp_path / "checkpoint", mode="update"))
    messages = target.messages(topic)
    assert sorted(message.payload for message in messages) == [b"a 1", b"a 3", b"b 1", b"c 1"]
    last = {message.key: message.payload for message in messages}
    assert last == {"a": b"a 3", "b": b"b 1", "c": b"c 1"}


def test_complete_mode_is_rejected(target: Target, topic: str, tmp_path: Path) -> None:
    counts = lines(target, tmp_path / "in", [["{}"]]).groupBy("value").count()
    with no_job(target.spark), failing("PULSAR_WRITE_MODE", "`complete`", "`update`"):
        run_available(into(target, counts, topic, tmp_path / "checkpoint", mode="complete"))


def test_nothing_is_lost_over_stops_and_restarts(target: Target, topic: str, tmp_path: Path) -> None:
    files = [[json.dumps({"value": f"{f} {n}"}) for n in range(200)] for f in range(30)]
    rows = lines(target, tmp_path / "in", files)
    target.admin.create_topic(topic)
    for stop in (1, 2, 3):
        writer = into(target, rows, topic, tmp_path / "checkpoint").trigger(processingTime="0 seconds")
        with running(writer.start()):
            wait_for(target, topic, stop * 700)
    assert arrived(target, topic) < 30 * 200, "the stops came too late to show anything"
    run_available(into(target, rows, topic, tmp_path / "checkpoint"))
    times = Counter(message.payload.decode() for message in target.messages(topic))
    assert set(times) == {f"{f} {n}" for f in range(30) for n in range(200)}
    print(f"{sum(times.values()) - len(times)} of {len(times)} rows came again")


def test_a_batch_that_failed_is_written_whole_after_the_restart(target: Target, topic: str, tmp_path: Path) -> None:
    files = [[json.dumps({"value": f"{f} {n}"}) for n in range(100)] for f in range(3)]
    rows = lines(target, tmp_path / "in", files)
    broken = rows.selectExpr("if(value = '1 60', raise_error('a broken row'), value) as value")
    with pytest.raises(Exception, match="a broken row"):
        run_available(into(target, broken, topic, tmp_path / "checkpoint"))
    run_available(into(target, rows, topic, tmp_path / "checkpoint"))
    times = Counter(message.payload.decode() for message in target.messages(topic))
    assert set(times) == {f"{f} {n}" for f in range(3) for n in range(100)}
    assert {times[f"{f} {n}"] for f in (0, 2) for n in range(100)} == {1}, "only the batch that failed may come again"


def test_an_error_in_a_stream_names_topic_and_cause(target: Target, topic: str, tmp_path: Path) -> None:
    rows = lines(target, tmp_path / "in", [["{}"]]).selectExpr("repeat('x', 6000000) as value")
    with failing("PULSAR_MESSAGE_TOO_LARGE", topic):
        run_available(into(target, rows, topic, tmp_path / "checkpoint"))
