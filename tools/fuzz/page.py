"""The table of the page about fuzzing."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.runs import Run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "develop" / "fuzzing.md"
_BEGIN, _END = "<!-- runs: begin -->", "<!-- runs: end -->"


def with_table(page: str, runs: Sequence[Run], cores: int) -> str:
    """The page with the runs between its two marks."""
    before, rest = page.split(_BEGIN)
    after = rest.split(_END)[1]
    return f"{before}{_BEGIN}\n{_table(runs, cores)}\n{_END}{after}"


def _table(runs: Sequence[Run], cores: int) -> str:
    inputs, seconds = sum(run.executions for run in runs), sum(run.seconds for run in runs)
    head = (
        f"Made by `make fuzz`, not by hand: {len(runs)} targets, the last on {datetime.now(timezone.utc):%Y-%m-%d}, "
        f"{inputs:,} inputs in {seconds / 60:.0f} minutes of one after the other, "
        f"on {cores} cores that other work shared."
    )
    rows = [
        f"| `{run.name}` | {run.executions:,} | {run.seconds:.0f} | {run.edges:,} | {len(run.findings)} |"
        for run in runs
    ]
    return "\n".join(
        [head, "", "| target | inputs | seconds | edges | open findings |", "|---|--:|--:|--:|--:|", *rows]
    )
