"""Negative controls: the check that every other test of reading relies on does fail."""

from __future__ import annotations

import pytest

from support.topics.reading import Seen, assert_exactly_once

_WANTED = [
    Seen(f"t-partition-{partition}", f"1:{entry}:0", b"x%d" % entry) for partition in (0, 1) for entry in range(10)
]


def test_the_same_rows_pass_in_any_order_of_partitions() -> None:
    assert_exactly_once(_WANTED, _WANTED)
    assert_exactly_once(_WANTED[10:] + _WANTED[:10], _WANTED)


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        pytest.param(_WANTED[:4] + _WANTED[5:], "19 rows for 20 messages; 1 missing", id="dropped"),
        pytest.param(_WANTED[:1] + _WANTED, "21 rows for 20 messages; 1 too many", id="doubled"),
        pytest.param([_WANTED[1], _WANTED[0], *_WANTED[2:]], "out of order: t-partition-0", id="swapped"),
        pytest.param([*_WANTED[1:], Seen("t-partition-0", "1:0:0", b"other")], "1 missing.*1 too many", id="altered"),
        pytest.param([*_WANTED[1:], Seen("t-partition-0", "1:0:0", None)], "1 missing.*1 too many", id="made null"),
        pytest.param([], "0 rows for 20 messages", id="nothing"),
    ],
)
def test_other_rows_fail(found: list[Seen], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        assert_exactly_once(found, _WANTED)


def test_a_check_against_nothing_fails() -> None:
    with pytest.raises(AssertionError, match="proves nothing"):
        assert_exactly_once([], [])
