"""When a load is full."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.drawing import THEMES, mark
from benchmarks.load.figures import Sample, Step, is_flat
from benchmarks.load.page import text
from benchmarks.plot import RESULTS

SOURCE = RESULTS / "load.json"
LONG = RESULTS / "load-10-minutes" / "load.json"
RATE = 1000
CORES = {"generator": 0.1, "server": 0.2, "spark": 0.3}


def step(behind: list[float], *, drained: float | None = 1.0) -> Step:
    """A step that reaches its rate, with these seconds of backlog."""
    samples = [
        Sample(5.0 * n, 5 * n * RATE + RATE, round(5 * n * RATE + RATE * (1 - b)), 1, 1) for n, b in enumerate(behind)
    ]
    return Step("one", RATE, 5.0 * len(behind), 100, 100, CORES, drained, [1], samples)


@pytest.mark.parametrize(
    ("behind", "flat"),
    [
        ([0.5] * 6, True),
        ([0.5, 0.6, 0.5, 0.9, 0.8, 0.7], True),
        ([0.5, 0.6, 0.7, 2.8, 2.9, 3.0], False),
        ([8.0, 8.0, 8.0, 12.9, 12.9, 12.9], True),
        ([8.0, 8.0, 8.0, 13.1, 13.1, 13.1], False),
        ([0.5] * 5, False),
    ],
)
def test_a_backlog_is_flat_if_its_second_half_is_like_its_first(behind: list[float], flat: bool) -> None:
    assert is_flat(behind) is flat


def test_a_rate_is_kept_up_with_if_it_is_reached_and_nothing_is_left() -> None:
    good = step([0.5] * 6)
    assert good.behind == pytest.approx([0.5] * 6)
    assert good.reached == RATE
    assert good.all_cores == pytest.approx(0.6)
    assert good.keeps_up
    assert not step([0.5] * 6, drained=None).keeps_up
    assert not step([0.5, 1, 2, 3, 4, 5]).keeps_up
    assert replace(good, rate=RATE * 100 // 98).keeps_up
    assert not replace(good, rate=RATE * 100 // 96).keeps_up


@pytest.mark.parametrize("source", [SOURCE, LONG], ids=["rates", "10 minutes"])
def test_the_page_and_its_plots_are_made_from_the_committed_results(source: Path) -> None:
    assert source.with_suffix(".md").read_text(encoding="utf-8") == text(json.loads(source.read_text(encoding="utf-8")))
    for theme in THEMES:
        plot = Path(source.parent / "plots" / f"load-{theme}.svg").read_text(encoding="utf-8")
        assert mark(source) in plot, "run: .venv-4.1/bin/python -m benchmarks.load --pages"
