"""A driver fails or is killed at each step of a micro-batch; the stream continues, and reads every message once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from restarts.killing import Stream, failing_at, holding, surviving

from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import assert_exactly_once, existing

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession
    from restarts.conftest import Topics
    from restarts.killing import Jars

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_AROUND = ("before", "after")
_LEVELS = ("broker", "segment", "auto")
_FIRST = ("initial-offset.json", "offsets/0", "commits/0")
_LATER = ("offsets/1", "commits/1")
_STEPS = [
    f"{step} {file}"
    for file in (*_FIRST, *_LATER)
    for step in ("before", "copied", "after")
    if not (step == "before" and "offsets/" in file)  # the same as after the file that is written last before it
]
_LIMITS: dict[str, dict[str, str]] = {"all": {}, "limited": {"maxMessagesPerTrigger": "17"}}

# One step of each kind of file, in either batch.
_GATE = ("copied initial-offset.json", "after offsets/0", "before commits/0", "copied offsets/1", "after commits/1")


def _stream(topics: Topics, pulsar: Addresses, folder: Path, level: str, limits: str) -> Stream:
    options = {"readLevel": level, "admin.url": pulsar.admin_url, **topics.options, **_LIMITS[limits]}
    return Stream(pulsar.service_url, folder, options)


def _is_in_gate(fault: str, level: str, limits: str) -> bool:
    return fault in _GATE and level == "auto" and (limits == "limited") == fault.endswith(_LATER)


# Every level and limit at every step.
_CASES = [
    pytest.param(*case, marks=() if _is_in_gate(*case) else pytest.mark.exhaustive)
    for case in product(_STEPS, _LEVELS, _LIMITS)
]


@pytest.mark.usefixtures("halting")
@pytest.mark.parametrize(("fault", "level", "limits"), _CASES)
def test_a_query_fails_at_a_step(
    spark: SparkSession, pulsar: Addresses, topics: Topics, tmp_path: Path, fault: str, level: str, limits: str
) -> None:
    stream = _stream(topics, pulsar, tmp_path, level, limits)
    topics.publish()
    if fault.endswith(_LATER):
        _unlimited(stream).run(spark)
        topics.publish()
    with failing_at(spark, fault):
        stream.run(spark)
    topics.publish()
    assert_exactly_once(stream.run(spark).rows, topics.wanted())


_ROWS = ("row 1", "row 30")


@pytest.mark.parametrize(("level", "limits"), [("broker", "limited"), ("segment", "all"), ("auto", "limited")])
@pytest.mark.parametrize("fault", [*_STEPS, *_ROWS])
@pytest.mark.exhaustive
def test_a_driver_is_killed_at_a_step(
    spark: SparkSession,
    jars: Jars,
    pulsar: Addresses,
    topics: Topics,
    tmp_path: Path,
    level: str,
    limits: str,
    fault: str,
) -> None:
    stream = _stream(topics, pulsar, tmp_path, level, limits)
    _kill_and_continue(spark, jars, topics, stream, fault)


def test_a_driver_is_killed_in_the_middle_of_a_task(
    spark: SparkSession, jars: Jars, pulsar: Addresses, topics: Topics, tmp_path: Path
) -> None:
    stream = _stream(topics, pulsar, tmp_path, "auto", "limited")
    _kill_and_continue(spark, jars, topics, stream, "row 15")


@pytest.mark.parametrize("action", ["fail", pytest.param("halt", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("step", ["copied", *(pytest.param(one, marks=pytest.mark.exhaustive) for one in _AROUND)])
def test_a_loss_is_kept_when_a_driver_ends_or_its_files_fail(
    spark: SparkSession,
    jars: Jars,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    step: str,
    action: str,
) -> None:
    stream = Stream(service_url, tmp_path, {"topic": topic, "failOnDataLoss": "false"})
    produce(client, topic, [b"read"])
    read = stream.run(spark).rows
    admin.delete_topic(topic)
    produce(client, topic, [b"new"])
    if action == "halt":
        stream.run_and_kill(jars, f"{step} losses")
    else:
        with surviving(spark, f"{step} losses"):
            stream.run(spark)
    assert_exactly_once(stream.run(spark).rows, [*read, *existing(read_all(client, topic))])
    kept = [file.read_text() for file in tmp_path.glob("checkpoint/sources/0/losses/[0-9]*.json")]
    assert kept, "the loss is kept, twice when the driver ended just after that"
    assert all(topic in text for text in kept)


@pytest.mark.usefixtures("halting")
def test_a_loss_that_is_written_slowly_does_not_hold_the_micro_batch(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    stream = Stream(service_url, tmp_path, {"topic": topic, "failOnDataLoss": "false"})
    produce(client, topic, [b"read"])
    stream.run(spark)
    admin.delete_topic(topic)
    produce(client, topic, [b"new"])
    with ThreadPoolExecutor(1) as pool:
        with holding(spark, "before losses") as is_held:
            going_on = pool.submit(stream.run, spark)
            eventually(lambda: (tmp_path / "sink" / "batch-1.json").exists() or going_on.done())
            eventually(is_held)
        rows = going_on.result(300).rows
    assert [row.payload for row in rows] == [b"read", b"new"]
    eventually(lambda: list(tmp_path.glob("checkpoint/sources/0/losses/[0-9]*.json")))  # the loss is kept later


def _kill_and_continue(spark: SparkSession, jars: Jars, topics: Topics, stream: Stream, fault: str) -> None:
    """A first micro-batch is read before the driver that is to be killed in a later one starts."""
    topics.publish()
    if not fault.endswith(_FIRST):
        _unlimited(stream).run(spark)
        topics.publish()
    stream.run_and_kill(jars, fault)
    for _ in range(2):
        topics.publish()
        assert_exactly_once(stream.run(spark).rows, topics.wanted())


def _unlimited(stream: Stream) -> Stream:
    """Reads all in one micro-batch."""
    options = {name: value for name, value in stream.options.items() if name != "maxMessagesPerTrigger"}
    return replace(stream, options=options)
