"""The committed page about checkpoints in topics and its plots are made from the committed results."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.checkpoints.page import text
from benchmarks.drawing import THEMES, mark
from benchmarks.plot import RESULTS

SOURCE = RESULTS / "checkpoints.json"


def test_the_page_and_its_plots_are_made_from_the_committed_results() -> None:
    found = json.loads(SOURCE.read_text(encoding="utf-8"))
    assert SOURCE.with_suffix(".md").read_text(encoding="utf-8") == text(found)
    for theme in THEMES if "growth" in found else ():
        plot = Path(RESULTS / "plots" / f"checkpoints-{theme}.svg").read_text(encoding="utf-8")
        assert mark(SOURCE) in plot, "stale plot. Run: make plot"
