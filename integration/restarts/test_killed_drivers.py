"""A driver fails or is killed at each step of a micro-batch; the stream continues, and reads every message once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from reading import assert_exactly_once
from restarts.killing import Stream, failing_at

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from restarts.conftest import Topics
    from servers import Addresses

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


@pytest.mark.usefixtures("halting")
@pytest.mark.parametrize(
    "fault", [pytest.param(step, marks=() if step in _GATE else pytest.mark.exhaustive) for step in _STEPS]
)
def test_a_query_fails_at_a_step(
    spark: SparkSession, pulsar: Addresses, topics: Topics, tmp_path: Path, fault: str
) -> None:
    limits = "limited" if fault.endswith("1") else "all"
    stream = _stream(topics, pulsar, tmp_path, "auto", limits)
    topics.publish()
    with failing_at(spark, fault):
        stream.run(spark)
    topics.publish()
    assert_exactly_once(stream.run(spark).rows, topics.wanted())


_ROWS = ("row 1", "row 30")


@pytest.mark.parametrize("limits", _LIMITS)
@pytest.mark.parametrize("level", ["broker", "segment", "auto"])
@pytest.mark.parametrize("fault", [*_STEPS, *_ROWS])
@pytest.mark.exhaustive
def test_a_driver_is_killed_at_a_step(  # noqa: PLR0913
    spark: SparkSession,
    connector_jar: Path,
    halting: Path,
    pulsar: Addresses,
    topics: Topics,
    tmp_path: Path,
    level: str,
    limits: str,
    fault: str,
) -> None:
    stream = _stream(topics, pulsar, tmp_path, level, limits)
    _kill_and_continue(spark, (connector_jar, halting), topics, stream, fault)


def test_a_driver_is_killed_in_the_middle_of_a_task(
    spark: SparkSession, connector_jar: Path, halting: Path, pulsar: Addresses, topics: Topics, tmp_path: Path
) -> None:
    stream = _stream(topics, pulsar, tmp_path, "auto", "limited")
    _kill_and_continue(spark, (connector_jar, halting), topics, stream, "row 15")


def _kill_and_continue(
    spark: SparkSession, jars: tuple[Path, Path], topics: Topics, stream: Stream, fault: str
) -> None:
    """A first micro-batch is read before the driver that is to be killed in a later one starts."""
    topics.publish()
    if not fault.endswith(_FIRST):
        _unlimited(stream).run(spark)
        topics.publish()
    stream.run_and_kill(*jars, fault)
    for _ in range(2):
        topics.publish()
        assert_exactly_once(stream.run(spark).rows, topics.wanted())


def _unlimited(stream: Stream) -> Stream:
    """Reads all in one micro-batch."""
    options = {name: value for name, value in stream.options.items() if name != "maxMessagesPerTrigger"}
    return replace(stream, options=options)
