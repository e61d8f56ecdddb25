"""Faults by chance around a writer, two streams and batch reads: ``make nemesis NEMESIS_OPTIONS="--seed 7"``.

The results, their page and its pictures go to ``target/nemesis`` unless ``--output`` names a folder. With ``--add`` the
runs that are there stay; ``--pages`` writes the page and pictures of what is there. The exit code is 1 when something
is wrong.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nemesis.page import page
from nemesis.picture import draw
from nemesis.records import load, place, record, save
from nemesis.run import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nemesis.records import Record


def _say(text: str) -> None:
    print(text, flush=True)


def _write(runs: Sequence[Record], file: Path) -> None:
    draw(runs, file, file.parent)
    file.with_suffix(".md").write_text(page(runs), encoding="utf-8")


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Faults by chance around a writer, two streams and batch reads.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long faults happen")
    parser.add_argument("--seed", type=int, help="that of an earlier run, whose faults then have the same order")
    parser.add_argument("--rate", type=int, default=60, help="messages per second")
    parser.add_argument("--output", type=Path, default=Path("target/nemesis"), help="the folder for the page")
    parser.add_argument("--add", action="store_true", help="keep the runs that are there")
    parser.add_argument(
        "--pages", action="store_true", help="write the page and the pictures of the runs that are there"
    )
    chosen = parser.parse_args()
    file = chosen.output / "nemesis-results.json"
    if chosen.pages:
        _write(load(file), file)
        return 0
    seed = random.SystemRandom().randrange(10**6) if chosen.seed is None else chosen.seed
    _say(f"seed {seed}")
    chosen.output.mkdir(parents=True, exist_ok=True)
    work, where = Path(tempfile.mkdtemp(prefix="pulsar-spark-nemesis-")), place()
    result = run(seed, chosen.minutes, chosen.rate, work, _say)
    runs = [*(load(file) if chosen.add else ()), record(result, where)]
    save(file, runs)
    _write(runs, file)
    for one in result.problems:
        _say(one)
    if result.problems:
        _say(f"logs are in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
