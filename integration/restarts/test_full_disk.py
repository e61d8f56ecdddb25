"""The disk of a checkpoint is full: the query ends, and once there is room again, it goes on without loss."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available, running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.topics.writing import Target

pytestmark = pytest.mark.exhaustive

_FULL = "No space left on device"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    _as_root("mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "tmpfs", str(folder))
    yield folder
    _as_root("umount", "--lazy", str(folder))


def _as_root(*command: str) -> None:
    prefix = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"This test mounts a small file system, as root or by sudo: {done.stderr.strip()}"


@contextmanager
def _full(disk: Path) -> Iterator[None]:
    """Nothing more can be written inside."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    yield
    ballast.unlink()


def _frame(spark: SparkSession, service_url: str, topic: str) -> DataFrame:
    return stream(spark, service_url, topic=topic, startingOffsets="earliest")


@pytest.mark.parametrize("batches_before", [0, 1])
def test_a_full_disk_stops_a_stream_and_loses_nothing(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, disk: Path, batches_before: int
) -> None:
    produce(client, topic, [b"%d" % number for number in range(100)])
    frame, checkpoint, sink = _frame(spark, service_url, topic), disk / "checkpoint", Batches()
    for _ in range(batches_before):
        read_available(frame, checkpoint, sink)
        produce(client, topic, [b"%d" % number for number in range(100)])
    with _full(disk), pytest.raises(Exception, match=_FULL):
        read_available(frame, checkpoint, sink)
    produce(client, topic, [b"later"])
    read_available(frame, checkpoint, sink)
    assert_exactly_once(sink.rows, existing(read_all(client, topic)))


def test_a_disk_that_fills_up_under_a_running_write_exactly_once(target: Target, topic: str, disk: Path) -> None:
    source, copy = f"{topic}-source", f"{topic}-copy"
    for one in (source, copy):
        target.admin.create_topic(one)
    frame = _frame(target.spark, target.service_url, source).select("value")
    options = {"deliveryGuarantee": "exactly-once", "sinkId": "full"}
    writer = frame.writeStream.format("pulsar").options(**target.options(copy, options))
    writer = writer.option("checkpointLocation", str(disk / "checkpoint"))
    sent = 0

    def send() -> int:
        nonlocal sent
        produce(target.client, source, [b"%d" % number for number in range(sent, sent + 50)])
        sent += 50
        return sent

    def has_all() -> bool:
        return len(target.messages(copy)) >= sent

    send()
    with running(writer.start()) as query:
        eventually(has_all)
        with _full(disk):
            eventually(lambda: send() and not query.isActive)
        assert _FULL in str(query.exception())
    with running(writer.start()):
        send()
        eventually(has_all)
    assert sorted(int(message.payload) for message in target.messages(copy)) == list(range(sent))
