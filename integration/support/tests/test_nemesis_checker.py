"""The checker of `make nemesis` finds each way in which a run can be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from nemesis.checker import problems
from nemesis.history import Ended, Guarantee, History, Read, Row
from nemesis.writer import payload, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROWS = [Row(f"k{number % 3}", number) for number in range(12)]
PARTS = {"source-0": [row for row in ROWS if row.key != "k2"], "source-1": [row for row in ROWS if row.key == "k2"]}
GUARANTEES: tuple[Guarantee, ...] = ("at-least-once", "exactly-once")


def copied(change: Callable[[list[Row]], Sequence[Row]]) -> dict[str, list[Row]]:
    """A copy whose partitions are other ones, with a change to the first."""
    return {
        "copy-0": list(change(list(PARTS["source-0"]))),
        "copy-1": list(PARTS["source-1"]),
    }


GOOD = History(
    acknowledged=ROWS[:10],
    source=PARTS,
    copies={kind: copied(lambda rows: rows) for kind in GUARANTEES},
    reads=[Read(3, {"source-0": PARTS["source-0"][:4], "source-1": PARTS["source-1"][:2]})],
    ended=[Ended("exactly-once", "PULSAR_UNREACHABLE", "")],
)


def with_copy(kind: Guarantee, change: Callable[[list[Row]], Sequence[Row]]) -> History:
    return replace(GOOD, copies={**GOOD.copies, kind: copied(change)})


def test_nothing_is_wrong_with_a_good_run() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize("kind", GUARANTEES)
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda rows: rows[:3] + rows[4:], "lost: 1, such as k1/4"),
        (lambda rows: [*rows, Row("k0", 99)], "invented: 1, such as k0/99"),
        (lambda rows: [*rows, row_of(b"bytes")], "invented: 1"),
        (lambda rows: [rows[2], *rows[1:2], rows[0], *rows[3:]], "out of order within a key: 1, such as k0/0"),
    ],
)
def test_a_row_is_lost_invented_or_in_another_place(
    kind: Guarantee, change: Callable[[list[Row]], Sequence[Row]], what: str
) -> None:
    assert [text for text in problems(with_copy(kind, change)) if what in text and text.startswith(kind)]


def test_rows_of_other_keys_may_be_in_any_order() -> None:
    assert problems(with_copy("exactly-once", lambda rows: [rows[1], rows[0], *rows[2:]])) == []


def test_a_repeated_row_is_wrong_where_it_must_not_be() -> None:
    def twice(rows: list[Row]) -> list[Row]:
        return [*rows, rows[0]]

    assert problems(with_copy("exactly-once", twice)) == ["exactly-once: repeated: 1, such as k0/0"]
    assert problems(with_copy("at-least-once", twice)) == []


def test_a_key_in_two_partitions_has_no_order() -> None:
    moved = copied(lambda rows: rows[:-1])
    moved["copy-1"].append(PARTS["source-0"][-1])
    (found,) = problems(replace(GOOD, copies={**GOOD.copies, "exactly-once": moved}))
    assert found.startswith("exactly-once: out of order within a key: 1")


def test_what_brokers_acknowledged_is_in_the_topic_once() -> None:
    lost = replace(GOOD, acknowledged=[*GOOD.acknowledged, Row("k0", 50)])
    assert problems(lost) == ["source: acknowledged and lost: 1, such as k0/50"]


def test_a_message_that_is_stored_twice_is_copied_twice() -> None:
    again = replace(GOOD, source={"source-0": [*PARTS["source-0"], ROWS[0]], "source-1": PARTS["source-1"]})
    assert problems(again) == ["at-least-once: lost: 1, such as k0/0", "exactly-once: lost: 1, such as k0/0"]
    twice = copied(lambda rows: [*rows, ROWS[0]])
    assert problems(replace(again, copies=dict.fromkeys(GUARANTEES, twice))) == []


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (PARTS["source-0"][1:5], "is not the beginning of what is stored, from row 0 on"),
        ([*PARTS["source-0"][:2], PARTS["source-0"][1]], "from row 2 on"),
        ([*PARTS["source-0"][:2], PARTS["source-0"][3]], "from row 2 on"),
        ([*PARTS["source-0"], Row("k0", 99)], f"from row {len(PARTS['source-0'])} on"),
        (PARTS["source-0"][:1], "batch read 1: lost: 1, such as k1/1"),
    ],
)
def test_a_batch_read_is_the_beginning_of_what_is_stored(rows: list[Row], what: str) -> None:
    read = Read(3, {"source-0": rows, "source-1": PARTS["source-1"][:2]})
    assert [text for text in problems(replace(GOOD, reads=[read])) if what in text]


STORED = PARTS["source-0"]
# Its ledgers begin with these messages, and four messages were noted when the read ended.
TRIMMED = replace(GOOD, ledgers={"source-0": [2, 4, 6]}, acknowledged=ROWS)


def read_of(rows: Sequence[Row], noted: int = 4) -> History:
    read = Read(len(ROWS), {"source-0": rows, "source-1": PARTS["source-1"]}, "segment", {"source-0": noted})
    return replace(TRIMMED, reads=[read])


@pytest.mark.parametrize("start", [0, 2, 4])
def test_a_batch_read_begins_with_any_ledger_that_may_be_the_first(start: int) -> None:
    assert problems(read_of(STORED[start:])) == []


@pytest.mark.parametrize(
    ("rows", "noted", "what"),
    [
        (STORED[3:], 4, "is not the beginning of what is stored, from row 0 on"),  # in the middle of a ledger
        (STORED[6:], 4, "is not the beginning of what is stored, from row 0 on"),  # not noted
        ([*STORED[2:3], *STORED[4:]], 4, "is not the beginning of what is stored, from row 1 on"),
        (STORED[4:-1], 4, f"lost: 1, such as {STORED[-1].key}/{STORED[-1].number}"),
        ([], 0, "lost: 8"),
        ([], 8, "lost: 2"),  # the last ledger is not deleted
    ],
)
def test_a_batch_read_lacks_only_what_may_be_gone(rows: list[Row], noted: int, what: str) -> None:
    assert [text for text in problems(read_of(rows, noted)) if what in text]


def test_what_was_trimmed_is_in_the_copies() -> None:
    trimmed = replace(TRIMMED, copies={**GOOD.copies, "exactly-once": copied(lambda rows: rows[2:])})
    assert problems(trimmed) == ["exactly-once: lost: 2, such as k0/0, k1/1"]


def test_a_query_ends_by_a_named_condition_and_leaves_nothing() -> None:
    wrong = replace(GOOD, ended=[Ended("batch read", None, "NullPointerException")], left=["1 of a subscription"])
    assert problems(wrong) == [
        "the query batch read ended without a named condition: NullPointerException",
        "left over: 1 of a subscription",
    ]


def test_a_message_is_known_by_its_bytes() -> None:
    assert row_of(payload(ROWS[7])) == ROWS[7]
