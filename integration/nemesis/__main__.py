"""Faults by chance around a writer, two streams and batch reads: ``make nemesis NEMESIS_MINUTES=10 NEMESIS_SEED=7``.

The page and its picture go to ``target/nemesis`` unless ``--output`` names a folder. The exit code is 1 when something
is wrong.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from nemesis.page import draw, page
from nemesis.run import run


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Faults by chance around a writer, two streams and batch reads.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long faults happen")
    parser.add_argument("--seed", type=int, help="that of an earlier run, whose faults then have the same order")
    parser.add_argument("--rate", type=int, default=60, help="messages per second")
    parser.add_argument("--output", type=Path, default=Path("target/nemesis"), help="the folder for the page")
    chosen = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if chosen.seed is None else chosen.seed
    _say(f"seed {seed}")
    chosen.output.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="pulsar-spark-nemesis-"))
    result = run(seed, chosen.minutes, chosen.rate, work, _say)
    draw(result, chosen.output / "nemesis-results.svg")
    (chosen.output / "nemesis-results.md").write_text(page(result), encoding="utf-8")
    for one in result.problems:
        _say(one)
    if result.problems:
        _say(f"logs are in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
