"""Whether reads and writes have become slower: ``make bench-before BASELINE=other.jar``.

With options:

    .venv-4.1/bin/python -m benchmarks.earlier.before --baseline other.jar [--scale 0.25] [--rounds 5] [--only scan-64]

The cases of ``make bench`` with this jar and an earlier one in turns, at both read levels. CPU time is what to compare,
also on a machine that does other work. Writes ``before.md``. A case takes about two minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.arena import HERE, Arena
from benchmarks.report import Figures, figures_of, keep
from benchmarks.run import measure
from benchmarks.workloads import BEFORE, CASES, TITLES, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEAD = """# Beside an earlier version

Made by `make bench-before`, not by hand: {rounds} rounds in turns, both warmed up, {scale} of the messages of
`make bench`, in Spark `local[2]`; {cores} cores, load average {load:.1f} at the end. The earlier version is {before}.
CPU time is that of the process of Spark for each row, the ratio that of medians.

| case | read by | rows/s before | after | ratio | us/row before, least to most | after | ratio |
|---|---|--:|--:|--:|--:|--:|--:|
"""


def with_before(case: Case) -> Case:
    """Return the case with the two versions alone, each way of one beside the same way of the other."""
    own = [one for one in case.contenders if one in BEFORE]
    return replace(case, contenders=tuple(one for way in own for one in (BEFORE[way], way)))


def rows(measured: Sequence[dict[str, Any]], cases: Sequence[Case]) -> Iterator[str]:
    """Yield the rows of the table, one for each way of each case."""
    for case in cases:
        figures = figures_of({"measured": measured}, case.name)
        for way in (one for one in case.contenders if one in BEFORE):
            before, after = figures[BEFORE[way]], figures[way]
            title = "" if case.job == "write" else TITLES[way].rsplit(", ", 1)[1]
            yield (
                f"| {case.job}, {case.workload.title} | {title} | {before.median('rows'):,.0f} "
                f"| {after.median('rows'):,.0f} | {after.median('rows') / before.median('rows'):.2f} "
                f"| {_range(before)} | {_range(after)} | {after.median('cpu') / before.median('cpu'):.2f} |\n"
            )


def _range(figures: Figures) -> str:
    return f"{figures.median('cpu'):.2f} ({min(figures.cpu):.2f}-{max(figures.cpu):.2f})"


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure against the jar of an earlier version.")
    parser.add_argument("--baseline", type=Path, required=True, help="the jar to compare with")
    parser.add_argument("--name", help="what to call its version, by default the name of its file")
    parser.add_argument("--scale", type=float, default=0.25, help="so many times the messages")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds of each case")
    parser.add_argument("--only", default="", help="a regular expression for the names of cases")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    cases = [with_before(case.scaled(chosen.scale)) for case in CASES if re.search(chosen.only, case.name)]
    with (
        tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-") as work,
        Arena(Path(work), {case.workload.size for case in cases}, "1g", before=chosen.baseline.resolve()) as arena,
    ):
        measured = list(measure(arena, cases, chosen.rounds))
        head = _HEAD.format(
            rounds=chosen.rounds,
            scale=f"{chosen.scale:.0%}",
            cores=os.cpu_count(),
            load=os.getloadavg()[0],
            before=chosen.name or f"`{chosen.baseline.name}`",
        )
        keep(chosen.output / "before.md", head + "".join(rows(measured, cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
