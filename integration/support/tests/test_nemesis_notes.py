"""The notes of `make nemesis` have all that was ever stored, and notice what brokers must not delete."""

from __future__ import annotations

from typing import Any, cast

import pytest
from nemesis.history import Row
from nemesis.notes import Notes

from support.topics.messages import Id

_PARTITION = "source-0"
# Three ledgers, of three, two and one message.
STORED = {
    Id(ledger, entry, 0): Row("k", 10 * ledger + entry)
    for ledger, size in ((4, 3), (7, 2), (9, 1))
    for entry in range(size)
}
ROWS = list(STORED.values())


def noted(*parts: slice) -> Notes:
    """Notes of what was stored at some times."""
    notes = Notes(cast("Any", None), [_PARTITION])
    for part in parts:
        notes.take(_PARTITION, dict(list(STORED.items())[part]))
    return notes


def test_what_was_deleted_stays_noted() -> None:
    notes = noted(slice(0, 4), slice(3, 6))
    assert notes.rows == {_PARTITION: ROWS}
    assert notes.counts == {_PARTITION: 6}
    assert notes.ledgers == {_PARTITION: [3, 5]}
    assert notes.different == 6


def test_everything_noted_may_be_gone() -> None:
    assert noted(slice(0, 3), slice(3, 6)).rows == {_PARTITION: ROWS}
    assert noted(slice(0, 5), slice(0, 0)).rows == {_PARTITION: ROWS[:5]}


@pytest.mark.parametrize("rest", [slice(0, 3), slice(0, 6, 2)])
def test_noted_messages_that_are_gone_behind_others_are_a_loss(rest: slice) -> None:
    with pytest.raises(RuntimeError, match="source-0: brokers lost messages"):
        noted(slice(0, 5), rest)
