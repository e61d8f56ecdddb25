"""What a checkpoint in a topic costs beside one in a local path: ``make bench-checkpoints``.

With options:

    .venv-4.1/bin/python -m benchmarks.checkpoints [--scale 0.1] [--only triggers,restart,growth,wide] [--pages]

Queries over numbers that Spark makes, with their checkpoint in a topic, in a local path as Spark writes it by default,
and in one for which Hadoop starts no processes. Writes ``results/checkpoints.json``, and from it ``checkpoints.md`` and
plots; parts that are not measured stay as they are there. ``--pages`` writes the last two alone. A smaller ``--scale``
writes to ``target/benchmark``. Takes 25 minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from os import cpu_count, getloadavg
from pathlib import Path
from typing import Any

import pyspark

from benchmarks.arena import HERE
from benchmarks.checkpoints.page import GROWTH, WIDE, WIDE_PARTITIONS, write
from benchmarks.checkpoints.stage import PLACES, Stage
from benchmarks.processes import stolen_seconds
from benchmarks.run import say

PARTS = ("triggers", "restart", "growth", "wide")
_KINDS = ("stateless", "counts-1000")
_ROUNDS, _WARM, _COUNTED = 2, 100, 200
_KEYS, _FILLS = 1_000_000, 20
_SAMPLES = 75
_WIDE_BATCHES = 2


def _triggers(stage: Stage, scale: float) -> Any:  # noqa: ANN401 - what JSON has
    """Milliseconds of the parts of each micro-batch by kind and place, each round at the end of a query of its own."""
    warm, counted = round(_WARM * scale), round(_COUNTED * scale)
    found: dict[str, dict[str, list[list[int]]]] = {kind: {place: [] for place in PLACES} for kind in _KINDS}
    with ExitStack() as stack:
        sparks = {place: stack.enter_context(stage.spark(place)) for place in PLACES}
        for number in range(_ROUNDS):
            for kind in _KINDS:
                for place, spark in sparks.items():
                    spark.ask("begin", kind, stage.checkpoint(place), 1000, 0)
                    spark.ask("reach", warm + counted)
                    counts = [one[1:] for one in spark.ask("end") if warm <= one[0] < warm + counted]
                    found[kind][place] += counts
                    say(f"round {number + 1}, {kind}, {place}: {sum(one[-1] for one in counts) / len(counts):.0f} ms")
    return found


def _measure(stage: Stage, part: str, scale: float) -> Any:  # noqa: ANN401 - what JSON has
    if part == "triggers":
        return _triggers(stage, scale)
    if part == "restart":
        keys = round(_KEYS * scale)
        return {"keys": keys, **{place: asdict(stage.restart(place, keys, _FILLS)) for place in PLACES}}
    if part == "growth":
        return {kind: stage.growth(kind, round(batches * scale), _SAMPLES) for kind, batches in GROWTH.items()}
    batches = max(2, round(_WIDE_BATCHES * scale))
    return {inline: asdict(stage.wide(WIDE_PARTITIONS, batches, inline)) for inline in WIDE}


def main() -> int:
    """Measure what the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--pages", action="store_true")
    given = parser.parse_args()
    folder = HERE / "results" if given.scale == 1 else HERE.parent / "target/benchmark"
    file = folder / "checkpoints.json"
    if not given.pages:
        found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        with tempfile.TemporaryDirectory(prefix="pulsar-spark-checkpoints-") as work, ExitStack() as stack:
            stage = Stage(Path(work), stack)
            for part in given.only.split(","):
                stolen = stolen_seconds()
                found[part] = _measure(stage, part, given.scale)
                found[part]["run"] = {
                    "spark": pyspark.__version__,
                    "cores": cpu_count(),
                    "load": round(getloadavg()[1], 1),
                    "stolen": round(stolen_seconds() - stolen, 1),
                }
                folder.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(found) + "\n", encoding="utf-8")
    write(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
