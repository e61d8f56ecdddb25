"""Exactly-once writes where something of the user's meets them: a copied checkpoint, two targets, a long job."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from write.epochs import ONCE, epochs, kinds, log, once, rows_of, values

from support.spark.errors import failing
from support.spark.logs import warnings
from support.spark.waiting import eventually
from support.topics.reading import run_available, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from support.topics.writing import Target


def _restored(target: Target, topic: str, folder: Path) -> DataFrame:
    """A stream of four epochs whose checkpoint is that of the second one, and one more row."""
    rows = rows_of(target, folder, 2)
    run_available(once(target, folder, topic, rows, sinkId="copied"))
    shutil.copytree(folder / "checkpoint", folder / "copy")
    for number, content in list(enumerate(epochs(4)))[2:]:
        _add(folder, number, "\n".join(content))
    run_available(once(target, folder, topic, rows, sinkId="copied"))
    shutil.rmtree(folder / "checkpoint")
    (folder / "copy").rename(folder / "checkpoint")
    _add(folder, 4, json.dumps({"value": "new"}))
    return rows


def _add(folder: Path, number: int, content: str) -> None:
    """One more file, after those before it: Spark takes the oldest first."""
    file = folder / "in" / f"{number:05}.json"
    file.write_text(content)
    os.utime(file, (number, number))


def test_a_checkpoint_that_went_back_is_refused_and_taken_on_knowingly(
    target: Target, topic: str, tmp_path: Path
) -> None:
    rows = _restored(target, topic, tmp_path)
    with failing("PULSAR_SINK_STATE", "copied", "the sink has those up to 3", "onSinkMismatch=write"):
        run_available(once(target, tmp_path, topic, rows, sinkId="copied"))
    assert len(values(target, topic)) == 80
    run_available(once(target, tmp_path, topic, rows, sinkId="copied", onSinkMismatch="write"))
    found = values(target, topic)
    assert found.count("new") == 1
    assert len(found) == 121, "the two epochs that the copy lacks are there twice"
    _add(tmp_path, 5, json.dumps({"value": "newer"}))
    run_available(once(target, tmp_path, topic, rows, sinkId="copied"))
    assert values(target, topic).count("newer") == 1


def test_a_checkpoint_behind_by_one_is_noticed_by_its_rows(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 2)
    run_available(once(target, tmp_path, topic, rows, sinkId="one"))
    commits = tmp_path / "checkpoint" / "commits"
    for name in ("1", ".1.crc"):
        (commits / name).unlink()
        (tmp_path / "checkpoint" / "offsets" / name).unlink()
        (tmp_path / "checkpoint" / "sources" / "0" / name).unlink()
    _add(tmp_path, 1, json.dumps({"value": "another"}))
    with failing("PULSAR_SINK_STATE", "epoch 1 was written with 20 rows and has 1 now"):
        run_available(once(target, tmp_path, topic, rows, sinkId="one"))


def _two_targets(target: Target, topic: str, sink: str) -> Callable[[DataFrame, int], None]:
    def write(frame: DataFrame, batch: int) -> None:
        options = {**ONCE, "sinkId": sink, "txnVersion": str(batch), "service.url": target.service_url}
        for name, rows in (("even", "n % 2 = 0"), ("odd", "n % 2 = 1")):
            half = frame.where(rows).selectExpr("string(n) as value")
            half.write.format("pulsar").mode("append").options(**options, topic=f"{topic}-{name}").save()

    return write


def _numbers(target: Target, folder: Path, count: int) -> DataFrame:
    folder.mkdir(exist_ok=True)
    for file in range(count):
        (folder / f"{file:05}.json").write_text("\n".join(json.dumps({"n": file * 4 + n}) for n in range(4)))
    return target.spark.readStream.schema("n long").option("maxFilesPerTrigger", "1").json(str(folder))


def test_one_sink_writes_to_two_topics_in_foreach_batch(target: Target, topic: str, tmp_path: Path) -> None:
    rows = _numbers(target, tmp_path / "in", 3)
    writer = rows.writeStream.foreachBatch(_two_targets(target, topic, "both"))
    run_available(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))
    assert [values(target, f"{topic}-{name}") for name in ("even", "odd")] == [
        sorted(str(n) for n in range(start, 12, 2)) for start in (0, 1)
    ]
    records = log(target, f"{topic}-even", "both")
    assert {one["nonce"].partition(":")[0] for one in records} == {"versions"}
    assert len({one["nonce"] for one in records}) == 1
    assert records[0]["nonce"] != "versions", "the id of the query is part of it"


def test_a_new_checkpoint_of_foreach_batch_is_refused(target: Target, topic: str, tmp_path: Path) -> None:
    rows = _numbers(target, tmp_path / "in", 1)
    for checkpoint in ("first", "second"):
        writer = rows.writeStream.foreachBatch(_two_targets(target, topic, "anew"))
        writer = writer.option("checkpointLocation", str(tmp_path / checkpoint))
        if checkpoint == "first":
            run_available(writer)
        else:
            with pytest.raises(Exception, match="its state belongs to versions:"):
                run_available(writer)


def test_a_batch_without_effect_is_a_warning(target: Target, topic: str, tmp_path: Path) -> None:
    options = {**ONCE, "sinkId": "warned", "txnVersion": "7"}
    target.append_sql("select 'x' as value from range(3)", topic, options)
    with warnings(target.spark, tmp_path) as logged:
        target.append_sql("select 'y' as value from range(5)", topic, options)
        assert "Sink warned: epoch 7 has no effect, and 5 rows are skipped. Epoch 7 is written, with 3 rows" in logged()
    assert values(target, topic) == ["x"] * 3


def test_a_job_that_is_longer_than_its_transactions_is_not_torn(target: Target, topic: str) -> None:
    """The tasks run one after the other; the first ones time out before the last one ends."""
    pause = "java_method('java.lang.Thread', 'sleep', 5000L)"
    slots = target.spark.sparkContext.defaultParallelism
    rows = target.spark.range(0, 3 * slots, 1, 3 * slots)
    slow = rows.selectExpr(f"if({pause} is null, string(id), string(id)) as value")
    with failing("PULSAR_SINK_EPOCH_DROPPED", "nothing of it is visible"):
        target.append(slow, topic, {**ONCE, "txnTimeout": "9s"})
    assert values(target, topic) == []


def test_a_log_is_released_where_each_batch_is_a_life(target: Target, topic: str) -> None:
    for version in range(12):
        target.append_sql("select 'x' as value", topic, {**ONCE, "sinkId": "short", "txnVersion": str(version)})
    log_topic = f"{topic.rpartition('/')[0]}/pulsar-spark-sink-short-log"
    eventually(lambda: target.admin.stats(log_topic)["subscriptions"]["pulsar-spark-sink"]["msgBacklog"] < 8)


def test_a_query_that_is_refused_leaves_the_running_one_alone(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 1)
    with running(once(target, tmp_path, topic, rows, sinkId="mine").start()) as query:
        query.processAllAvailable()
        other = tmp_path / "other"
        other.mkdir()
        with failing("PULSAR_SINK_STATE", "mine"):
            run_available(once(target, other, topic, rows_of(target, other, 1), sinkId="mine"))
        _add(tmp_path, 1, json.dumps({"value": "late"}))
        query.processAllAvailable()
    assert "late" in values(target, topic)
    assert [kind for kind, _ in kinds(target, topic, "mine")].count("owner") == 1
