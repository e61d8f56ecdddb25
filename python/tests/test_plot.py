"""The committed plots show the committed results, every case of them."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.drawing import THEMES, mark
from benchmarks.plot import BASELINE, MARKS, PLOTS, RATES, RESULTS, lines_of, rate
from benchmarks.workloads import TITLES

SOURCE = RESULTS / "results.json"
RESULT: dict[str, Any] = json.loads(SOURCE.read_text(encoding="utf-8"))


def plot(name: str, theme: str) -> str:
    return html.unescape(Path(RESULTS / "plots" / f"{name}-{theme}.svg").read_text(encoding="utf-8"))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_made_from_the_committed_results(name: str, theme: str) -> None:
    assert mark(SOURCE) in plot(name, theme), "stale plot. Run: make plot"


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_shows_every_case_of_its_jobs_and_its_baseline(name: str) -> None:
    text = plot(name, "light")
    assert f"{TITLES[BASELINE]} = 1x" in text
    cases = [(title, figures) for title, figures in lines_of(RESULT, PLOTS[name]) if figures]
    assert len(cases) == sum(case["job"] in PLOTS[name] for case in RESULT["cases"])
    for title, figures in cases:
        assert f">{title}<" in text
        for contender in RATES:
            assert contender not in figures or f">{rate(figures[contender])}<" in text
        assert set(figures) <= {*MARKS, BASELINE}


def test_one_plot_shows_all_jobs() -> None:
    assert {case["job"] for case in RESULT["cases"]} == set(PLOTS["all"])
