"""Writes in executors that are killed or frozen, and drivers that are killed: every row at least once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from executors.lost_writers import assert_ordered, slow_rows, write_without

from support.spark.programs import running_program
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Seen, assert_exactly_once, dice, existing, run_available, running, seen, stream

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from executors.hosts import Executors
    from pyspark.sql import DataFrame

    from support.topics.writing import Target

_ROWS = 2000
_SECONDS = 180
_TURNS = int(os.environ.get("PULSAR_SPARK_TEST_TURNS", "100"))
_DRIVER = Path(__file__).with_name("driver.py")


def _assert_at_least_once(found: Counter[bytes], wanted: set[bytes]) -> None:
    assert set(found) == wanted, f"{len(wanted - set(found))} missing, {len(set(found) - wanted)} foreign"
    print(f"{found.total() - len(wanted)} of {len(wanted)} rows came again")


def _numbers(count: int) -> set[bytes]:
    return {b"%d" % number for number in range(count)}


def _payloads(target: Target, topic: str) -> Counter[bytes]:
    return Counter(message.payload for message in target.messages(topic))


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_an_executor_is_lost_in_the_middle_of_a_write_and_each_key_stays_in_order(
    target: Target, executors: Executors, topic: str, fault: str
) -> None:
    written = write_without(fault, target, executors, topic, _ROWS)
    _assert_at_least_once(_payloads(target, written), _numbers(_ROWS))
    assert_ordered(target.messages(written))


def _arrived(target: Target, topic: str) -> int:
    return int(target.admin.stats(topic)["msgInCounter"])


def test_a_stream_is_copied_while_executors_are_killed(
    target: Target, executors: Executors, topic: str, tmp_path: Path
) -> None:
    source, copy = f"{topic}-in", f"{topic}-out"
    target.admin.create_topic(source, partitions=2)
    target.admin.create_topic(copy)
    rows = stream(target.spark, target.service_url, topic=source, startingOffsets="earliest").select("value")
    writer = rows.writeStream.format("pulsar").options(**target.options(copy))
    writer = writer.option("checkpointLocation", str(tmp_path))
    with running(writer.start()):
        for turn in range(2):  # both executors of the start are lost
            produce(target.client, source, [b"%d" % n for n in range(500 * turn, 500 * (turn + 1))], batch_size=7)
            executors.both()[0].kill()
            eventually(lambda turn=turn: _arrived(target, copy) >= 500 * (turn + 1), seconds=_SECONDS)  # type: ignore[misc]
    produce(target.client, source, [b"%d" % n for n in range(1000, 1500)], batch_size=7)
    run_available(writer)
    _assert_at_least_once(_payloads(target, copy), _numbers(1500))


def _driver(target: Target, source: str, copy: str, folder: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    """A program that streams one topic to another, and writes a file for each batch with what it read."""
    task = {
        "jar": target.spark.conf.get("spark.jars"),
        "service.url": target.service_url,
        "source": source,
        "copy": copy,
        "folder": str(folder),
    }
    # Executors end by themselves when their driver is gone, but nobody has to wait for that.
    return running_program(_DRIVER, task, folder)


def _read_by(folder: Path) -> dict[int, list[Seen]]:
    """What each batch brought, by its number."""
    found = {}
    for file in folder.glob("batch-*.json"):
        rows = json.loads(file.read_text())
        found[int(file.stem.partition("-")[2])] = [
            Seen(topic, position, value.encode()) for topic, position, value in rows
        ]
    return found


def _copy_with_killed_driver(target: Target, topic: str, folder: Path, *, turns: int) -> None:
    """Kill the driver soon after one of its batches, several times; then run the stream to its end."""
    random = dice()
    source, copy = f"{topic}-in", f"{topic}-out"
    target.admin.create_topic(source, partitions=2)
    target.admin.create_topic(copy)
    sent = 0
    for _ in range(turns):
        with _driver(target, source, copy, folder) as process:
            assert process.stdout is not None
            jvm = int(process.stdout.readline())
            for _ in range(random.randint(2, 4)):
                produce(target.client, source, [b"%d" % n for n in range(sent, sent + 50)], batch_size=7)
                sent += 50
                assert process.stdout.readline(), (folder / "driver.log").read_text()[-3000:]
            with suppress(subprocess.TimeoutExpired):
                process.wait(random.random() * 0.3)
            os.kill(jvm, signal.SIGKILL)
    batches = _read_by(folder)

    def remaining(frame: DataFrame, batch_id: int) -> None:
        rows = seen(frame)
        assert batches.setdefault(batch_id, rows) == rows, f"batch {batch_id} brought other rows when it was run again"
        target.append(frame.select("value"), copy)

    frame = stream(target.spark, target.service_url, topic=source, startingOffsets="earliest")
    checkpoint = str(folder / "checkpoint")
    run_available(frame.writeStream.foreachBatch(remaining).option("checkpointLocation", checkpoint))
    rows = [row for _, found in sorted(batches.items()) for row in found]
    assert_exactly_once(rows, existing(read_all(target.client, source)))
    _assert_at_least_once(_payloads(target, copy), _numbers(sent))


@pytest.mark.exhaustive  # test_killed_drivers ends drivers at each step
def test_a_driver_is_killed_between_two_batches(target: Target, topic: str, tmp_path: Path) -> None:
    _copy_with_killed_driver(target, topic, tmp_path, turns=1)


@pytest.mark.exhaustive
def test_a_driver_is_killed_again_and_again(target: Target, topic: str, tmp_path: Path) -> None:
    _copy_with_killed_driver(target, topic, tmp_path, turns=_TURNS // 5)


@pytest.mark.exhaustive
def test_executors_are_killed_at_any_moment_of_a_write(target: Target, executors: Executors, topic: str) -> None:
    random = dice()
    with ThreadPoolExecutor(1) as pool:
        for turn in range(_TURNS):
            copy = f"{topic}-{turn}"
            executors.both()
            write = pool.submit(target.append, slow_rows(target, 0, _ROWS, milliseconds=1), copy)
            wait([write], timeout=random.random() * 2)
            random.choice(executors.both()).kill()
            write.result(timeout=_SECONDS)
            _assert_at_least_once(_payloads(target, copy), _numbers(_ROWS))
            target.admin.delete_topic(copy)
