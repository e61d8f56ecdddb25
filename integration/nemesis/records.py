"""What is kept of runs, in a file of results."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any

from nemesis.rounds import Event

from benchmarks.place import commit, machine
from pulsar_spark import __version__
from pulsar_spark.local import versions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from nemesis.history import Read, Row
    from nemesis.run import Result


@dataclass(frozen=True)
class Record:
    """One run.

    Attributes:
        place: When, where and of what it is, in words and numbers.
        seed: That of its chance.
        seconds: How long it took from the first batch to the last.
        events: All faults in their order.
        messages: How many were acknowledged, given up, and stored, and stored again by the writer's client.
        copies: The rows of each copy, and how many of them are more than the source has.
        reads: Batch reads, their rows and the entries of each tier, by read level.
        ended: How often a query ended by itself: its name, its condition, the number.
        copied: When each stream copied how many rows.
        problems: What is wrong; nothing of a good run.
    """

    place: Mapping[str, Any]
    seed: int
    seconds: float
    events: Sequence[Event]
    messages: Mapping[str, int]
    copies: Mapping[str, Mapping[str, int]]
    reads: Mapping[str, Mapping[str, int]]
    ended: Sequence[tuple[str, str, int]]
    copied: Mapping[str, Sequence[tuple[float, int]]]
    problems: Sequence[str]


def place() -> dict[str, Any]:
    """That of a run which begins now."""
    return {
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
        "version": __version__,
        "commit": commit(),
        "server": versions.DEFAULT,
        "spark": version("pyspark"),
        **machine(),
        "load_before": round(os.getloadavg()[0], 1),
    }


def record(result: Result, where: Mapping[str, Any]) -> Record:
    """What is kept of a run."""
    history = result.history
    stored = Counter(chain.from_iterable(history.source.values()))
    ended = Counter((one.query, one.condition or "without a name") for one in history.ended)
    return Record(
        place=where,
        seed=result.seed,
        seconds=round(result.seconds, 1),
        events=result.events,
        messages={
            "acknowledged": len(history.acknowledged),
            "given up": result.failed,
            "stored": stored.total(),
            "stored again": stored.total() - len(stored),
        },
        copies={
            kind: _counted(Counter(chain.from_iterable(copy.values())), stored) for kind, copy in history.copies.items()
        },
        reads={
            level: _read([one for one in history.reads if one.level == level])
            for level in sorted({one.level for one in history.reads})
        },
        ended=[(query, condition, count) for (query, condition), count in sorted(ended.items())],
        copied={kind: [(round(second, 1), rows) for second, rows in found] for kind, found in result.copied.items()},
        problems=result.problems,
    )


def _counted(rows: Counter[Row], stored: Counter[Row]) -> dict[str, int]:
    return {"rows": rows.total(), "repeated": (rows - stored).total()}


def _read(reads: Collection[Read]) -> dict[str, int]:
    entries = sum((Counter(one.entries) for one in reads), Counter[str]())
    return {"reads": len(reads), "rows": sum(_size(one.rows.values()) for one in reads), **entries}


def _size(parts: Iterable[Collection[object]]) -> int:
    return sum(len(one) for one in parts)


def load(file: Path) -> list[Record]:
    """All runs of a file; none if there is no file."""
    if not file.exists():
        return []
    found = json.loads(file.read_text(encoding="utf-8"))["runs"]
    return [Record(**{**one, "events": [Event(**event) for event in one["events"]]}) for one in found]


def save(file: Path, runs: Iterable[Record]) -> None:
    """Write runs, each in a line, so that two versions of the file can be compared."""
    lines = ",\n".join(json.dumps(asdict(one)) for one in runs)
    file.write_text(f'{{"runs": [\n{lines}\n]}}\n', encoding="utf-8")
