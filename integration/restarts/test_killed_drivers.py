"""A driver fails or is killed at each step of a micro-batch; the stream continues, and reads every message once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from reading import assert_exactly_once
from restarts.killing import Stream, failing_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from pyspark.sql import SparkSession
    from restarts.conftest import Topics
    from restarts.killing import Jars
    from servers import Addresses

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


def _cases() -> Iterator[ParameterSet]:
    """Every level and limit at every step, a few of them in the gate."""
    for fault, level, limits in product(_STEPS, _LEVELS, _LIMITS):
        is_gate = fault in _GATE and level == "auto" and (limits == "limited") == fault.endswith(_LATER)
        yield pytest.param(fault, level, limits, marks=() if is_gate else pytest.mark.exhaustive)


@pytest.mark.usefixtures("halting")
@pytest.mark.parametrize(("fault", "level", "limits"), _cases())
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
def test_a_driver_is_killed_at_a_step(  # noqa: PLR0913
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


def _kill_and_continue(
    spark: SparkSession, jars: Jars, topics: Topics, stream: Stream, fault: str
) -> None:
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
