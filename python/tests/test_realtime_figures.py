"""The figures of `make bench-realtime`: which latencies are inside batches, and what a pause between two is."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.streams.realtime_figures import Figures, Stamps

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000
BEGAN = "2026-01-01T00:00:00.000Z"
START = 1_767_225_600 * SECOND
END = START + 5 * SECOND
OPENED, CLOSED = -1, -2


def progress(*begun: int) -> list[dict[str, Any]]:
    """Batches of five seconds that begin at these seconds, each with other parts."""
    return [
        {
            "began": BEGAN.replace("00.000Z", f"{second:02d}.000Z"),
            "millis": {"triggerExecution": 5000, "walCommit": second, "latestOffset": second + 1},
        }
        for second in begun
    ]


def rows() -> list[tuple[int, int, int]]:
    """A row each 10 ms after 2 ms, but for a pause of 100 ms, in which the end of the batch is."""
    found = []
    for number in range(1, 1000):
        due = START + number * 10_000
        at = due + 2_000
        found.append((due, END + 50_000 if END - 50_000 < at < END + 50_000 else at, number % 4))
    return found


def figures(*others: tuple[int, int, int], ends: tuple[int, ...] = (0,)) -> Figures:
    result = Figures()
    result.add(Stamps([*rows(), *others]), progress(*ends), START, START + 10 * SECOND)
    return result


def test_rows_at_the_end_of_a_batch_do_not_count_as_inside() -> None:
    found = figures()
    assert found.latency(1) == 2.0
    assert len(found.latencies) == pytest.approx(800, abs=3)
    assert found.pauses[0].worst == pytest.approx(100, abs=12)


def test_without_an_end_all_rows_are_inside() -> None:
    assert figures(ends=()).latency(1) == pytest.approx(100, abs=12)


def test_a_pause_has_its_parts() -> None:
    (pause,) = figures((CLOSED, END - 30_000, 0), (OPENED, END + 20_000, 0), ends=(0, 5)).pauses
    assert pause.length == pytest.approx(100, abs=12)
    assert pause.parts is not None
    assert sum(pause.parts) == pytest.approx(pause.length)
    assert pause.parts[1:] == (50.0, 30.0)
    assert pause.millis == {"checkpoint": 0, "latestOffset": 6, "planning": 0}


def test_a_pause_that_began_long_before_the_end_is_seen_whole() -> None:
    found = Figures()
    late = [(due, max(at, END + 100_000) if due > END - SECOND else at, partition) for due, at, partition in rows()]
    found.add(Stamps(late), progress(0), START, START + 10 * SECOND)
    assert found.pauses[0].length == pytest.approx(1100, abs=12)


def test_an_end_that_the_time_has_in_part_is_no_pause_and_not_inside() -> None:
    found = Figures()
    found.add(Stamps(rows()), progress(0), END - SECOND // 10, START + 10 * SECOND)
    assert (found.latency(1), found.pauses) == (2.0, [])


def test_rows_that_were_due_before_are_left_out() -> None:
    found = Figures()
    found.add(Stamps(rows()), [], START + 9 * SECOND, START + 10 * SECOND)
    assert len(found.latencies) == 100


def test_partitions_are_those_with_rows() -> None:
    assert figures().partitions == 4


def test_stamps_are_read_as_they_are_saved(tmp_path: Path) -> None:
    file = tmp_path / "stamps"
    file.write_bytes(array("q", [7, OPENED, 9, 8, 0, 1]).tobytes())
    stamps = Stamps.read(file)
    assert (stamps.rows, stamps.opened) == ([(9, 7, 0)], [8])
