"""What more topics cost than were measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.drawing import THEMES, mark
from benchmarks.plot import RESULTS
from benchmarks.width.figures import OWN, Cut, Phase, Run, Stream
from benchmarks.width.model import COSTS, Cost, fitted
from benchmarks.width.page import read, text

SOURCE = RESULTS / "width.json"
MOST_ERROR = 0.25
"""Of what a line through smaller runs predicts for the largest one."""

MISSED = {COSTS[0].title: 0.4, COSTS[3].title: 0.3, COSTS[4].title: 0.3}
"""What the committed runs predict worse, and how much: their times are of a machine that other programs shared."""

LOOK = COSTS[0]


def run(topics: int, look: int) -> Run:
    """A run whose `latestOffset` takes so long."""
    phase = Phase([look], [], 0.1, 0.1)
    stream = Stream(OWN, 1.0, 2.0, 100, phase, {}, {"PING": 1}, Cut({"LOOKUP": topics}, 5))
    return Run(topics, 4, 60, 1.0, 0.0, {"Pulsar": {0: 0.1}}, [stream])


def test_a_line_goes_through_what_grows_evenly() -> None:
    line = fitted([run(1000, 15), run(2000, 25), run(5000, 55)], LOOK)
    assert line.base == pytest.approx(5)
    assert line.each == pytest.approx(0.01)
    assert line.at(100_000) == pytest.approx(1005)
    assert line.reaches(505) == pytest.approx(50_000)


def test_no_part_of_a_line_is_below_zero() -> None:
    shrinking = fitted([run(1000, 20), run(3000, 10)], LOOK)
    assert (shrinking.base, shrinking.each) == (15, 0)
    assert shrinking.reaches(500) == float("inf")
    steep = fitted([run(1000, 10), run(3000, 90)], LOOK)
    assert steep.base == 0
    assert steep.each == pytest.approx(0.028)


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.title)
def test_the_smaller_runs_predict_the_largest(cost: Cost) -> None:
    *fewer, most = read(SOURCE)
    assert fitted(fewer, cost).at(most.topics) == pytest.approx(cost.of(most), rel=MISSED.get(cost.title, MOST_ERROR))


def test_the_page_and_its_plots_are_made_from_the_committed_results() -> None:
    assert SOURCE.with_suffix(".md").read_text(encoding="utf-8") == text(read(SOURCE))
    for theme in THEMES:
        plot = Path(RESULTS / "plots" / f"width-{theme}.svg").read_text(encoding="utf-8")
        assert mark(SOURCE) in plot, "run: .venv-4.1/bin/python -m benchmarks.width --pages"
