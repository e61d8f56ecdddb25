"""The page of `make nemesis` has all runs of its file, and what was wrong with each."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from nemesis.history import Ended, History, Read, Row
from nemesis.page import page
from nemesis.picture import draw
from nemesis.records import Record, load, place, record, save
from nemesis.rounds import Event
from nemesis.run import Result

from benchmarks.drawing import THEMES, mark

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "develop" / "nemesis-results.json"
ROWS = [Row("k", number) for number in range(1200)]
RESULT = Result(
    seed=7,
    seconds=600.0,
    events=[Event("broker killed", 10.0, 2.0, True, 4.0), Event("topic unloaded", 20.0, 0.1, False, 1.0)],
    history=History(
        acknowledged=ROWS[:-1],
        source={"s-0": [*ROWS, ROWS[9]]},
        copies={
            "at-least-once": {"c-0": [*ROWS, ROWS[9], ROWS[3]]},
            "exactly-once": {"c-0": [*ROWS[:600], ROWS[9]], "c-1": ROWS[600:]},
        },
        reads=[Read(3, {"s-0": ROWS}, "segment", {}, {"broker": 1, "bookies": 2, "tiered": 3})],
        ended=[Ended("exactly-once", "PULSAR_UNREACHABLE", "text"), Ended("batch read", None, "text")],
    ),
    failed=1,
    copied={"at-least-once": [(1.0, 1201)], "exactly-once": [(1.5, 600), (2.5, 600)]},
    problems=[],
)
WHERE = {
    **place(),
    "date": "2026-01-02",
    "version": "1.2",
    "commit": "abc123",
    "server": "4.0",
    "spark": "4.1",
    "load_before": 3.5,
}


def recorded(**changes: object) -> Record:
    return replace(record(RESULT, WHERE), **changes)  # type: ignore[arg-type]


def rows_of(text: str, first: str) -> list[str]:
    """The cells of the only row that begins so."""
    (row,) = (line for line in text.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_a_run_is_a_row() -> None:
    text = page([recorded()])
    where = "2026-01-02, version 1.2 (abc123)"
    copies = ["1,202 (1 repeated)", "1,201 (0 repeated)"]
    assert rows_of(text, "7") == ["7", where, "3.5", "10", "2", "1", "1,199", "1,201 (1 twice)", *copies, "0"]
    assert rows_of(text, "`readLevel=segment`")[1:] == ["1", "1,200", "1", "2", "3"]
    assert "Spark 4.1 and Pulsar 4.0 shared" in text
    assert "**Nothing is wrong**" in text


def test_faults_and_ends_of_all_runs_are_counted_together() -> None:
    other = recorded(seed=8, events=[Event("broker killed", 5.0, 2.0, True, 8.0)])
    text = page([recorded(), other])
    assert rows_of(text, "8")[4:6] == ["1", "1"]
    assert rows_of(text, "broker killed") == ["broker killed", "2", "2", "6.0", "8.0"]
    assert rows_of(text, "topic unloaded") == ["topic unloaded", "1", "0", "1.0", "1.0"]
    assert rows_of(text, "exactly-once")[1:] == ["`PULSAR_UNREACHABLE`", "2"]
    assert rows_of(text, "batch read")[1:] == ["`without a name`", "2"]


def test_one_run_with_a_problem_is_the_verdict_of_all() -> None:
    text = page([recorded(), recorded(seed=8, problems=["exactly-once: lost: 1, such as k/4"])])
    assert "Nothing is wrong" not in text
    assert "**1 problems with the seed 8**:\n\n- exactly-once: lost: 1, such as k/4" in text
    assert (rows_of(text, "7")[-1], rows_of(text, "8")[-1]) == ("0", "1")


def test_a_fault_that_the_streams_did_not_get_over_has_no_figures() -> None:
    events = [Event("broker killed", 5.0, 2.0, True, 8.0), Event("broker killed", 50.0, 2.0, True, None)]
    assert rows_of(page([recorded(events=events)]), "broker killed")[3:] == ["never", ""]


def test_runs_are_added_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    assert load(file) == []
    runs = [recorded(), recorded(seed=8)]
    save(file, runs[:1])
    save(file, [*load(file), runs[1]])
    assert page(load(file)) == page(runs)
    draw(load(file), file, tmp_path)
    for theme in THEMES:
        picture = (tmp_path / f"results-{theme}.svg").read_text(encoding="utf-8")
        assert re.findall(r"rows, seed (\d)", picture) == ["7", "8"]
        assert "1 broker killed" in picture


def test_the_page_and_its_pictures_are_made_from_the_committed_results() -> None:
    assert COMMITTED.with_suffix(".md").read_text(encoding="utf-8") == page(load(COMMITTED))
    for theme in THEMES:
        picture = COMMITTED.with_name(f"{COMMITTED.stem}-{theme}.svg").read_text(encoding="utf-8")
        assert mark(COMMITTED) in picture, "stale picture. Run: make plot"
