"""Exactly-once writes in executors that are killed, or frozen and taken for dead: every row once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

import pytest
from executors.lost_writers import assert_ordered, slow_rows, write_without

from support.topics.reading import dice

if TYPE_CHECKING:
    from executors.hosts import Executors

    from support.topics.writing import Target

pytestmark = pytest.mark.exhaustive

_ROWS = 2000
_SECONDS = 180
_TURNS = 5
_EXACTLY_ONCE = {"deliveryGuarantee": "exactly-once"}


def _assert_once(target: Target, topic: str, count: int) -> None:
    found = Counter(message.payload for message in target.messages(topic))
    wanted = Counter(b"%d" % number for number in range(count))
    assert found == wanted, f"{(wanted - found).total()} missing, {(found - wanted).total()} too many"


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_an_executor_is_lost_in_the_middle_of_an_exactly_once_write(
    target: Target, executors: Executors, topic: str, fault: str
) -> None:
    written = write_without(fault, target, executors, topic, _ROWS, _EXACTLY_ONCE)
    _assert_once(target, written, _ROWS)
    assert_ordered(target.messages(written))
    # What a late task sent must not take back what is committed, also after the next transaction.
    target.append(slow_rows(target, _ROWS, _ROWS), written, _EXACTLY_ONCE)
    _assert_once(target, written, 2 * _ROWS)


def test_executors_are_killed_at_any_moment_of_an_exactly_once_write(
    target: Target, executors: Executors, topic: str
) -> None:
    random = dice()
    target.admin.create_topic(topic)
    with ThreadPoolExecutor(1) as pool:
        for turn in range(_TURNS):
            executors.both()
            write = pool.submit(
                target.append, slow_rows(target, turn * _ROWS, _ROWS, milliseconds=1), topic, _EXACTLY_ONCE
            )
            wait([write], timeout=random.random() * 4)
            random.choice(executors.both()).kill()
            write.result(timeout=_SECONDS)
            _assert_once(target, topic, (turn + 1) * _ROWS)
