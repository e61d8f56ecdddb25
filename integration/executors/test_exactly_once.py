"""Exactly-once writes in executors that are killed, or frozen and taken for dead: every row once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pytest
from executors.hosts import Attempts, finish_without
from reading import dice

if TYPE_CHECKING:
    from executors.hosts import Executors
    from pyspark.sql import DataFrame
    from writing import Target

pytestmark = pytest.mark.exhaustive

_ROWS = 1000
_SECONDS = 120
_TURNS = 5
_EXACTLY_ONCE = {"deliveryGuarantee": "exactly-once"}


def _slow_rows(target: Target, first: int) -> DataFrame:
    """Numbers in two partitions, each of which takes its time."""
    pause = "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', 2000000L)"
    rows = target.spark.range(first, first + _ROWS, 1, 2)
    return rows.selectExpr(f"if({pause} is null, string(id), string(id)) as value")


def _assert_once(target: Target, topic: str, count: int) -> None:
    found = Counter(message.payload for message in target.messages(topic))
    wanted = Counter(b"%d" % number for number in range(count))
    assert found == wanted, f"{(wanted - found).total()} missing, {(found - wanted).total()} too many"


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_an_executor_is_lost_in_the_middle_of_an_exactly_once_write(
    target: Target, executors: Executors, topic: str, fault: str
) -> None:
    victim, attempts = executors.both()[0], Attempts(target.spark)
    target.admin.create_topic(topic)
    with ThreadPoolExecutor(1) as pool:
        write = pool.submit(target.append, _slow_rows(target, 0), topic, _EXACTLY_ONCE)
        finish_without(victim, fault, write, attempts, lambda: target.admin.stats(topic)["msgInCounter"] > 100)
    _assert_once(target, topic, _ROWS)
    # What a late task sent must not take back what is committed, also after the next transaction.
    target.append(_slow_rows(target, _ROWS), topic, _EXACTLY_ONCE)
    _assert_once(target, topic, 2 * _ROWS)


def test_executors_are_killed_at_any_moment_of_an_exactly_once_write(
    target: Target, executors: Executors, topic: str
) -> None:
    random = dice()
    target.admin.create_topic(topic)
    with ThreadPoolExecutor(1) as pool:
        for turn in range(_TURNS):
            executors.both()
            write = pool.submit(target.append, _slow_rows(target, turn * _ROWS), topic, _EXACTLY_ONCE)
            wait([write], timeout=random.random() * 4)
            random.choice(executors.both()).kill()
            write.result(timeout=_SECONDS)
            _assert_once(target, topic, (turn + 1) * _ROWS)
