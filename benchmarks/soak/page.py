"""The page of a soak run."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from benchmarks.soak.verdicts import MEMORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.soak.verdicts import Sample, Verdict

_SHOWN = 16
_HEAD = """# Soak

Made by `make soak`, not by hand: {minutes:g} minutes at {rate} messages per second on {date}, read level `{level}`, one
local server and two executors, {cores} cores that all of them share, load average {load:.1f} at the end. Meanwhile:
{events}. Heaps are those after a collection. "Flat" compares the medians of the second and the last third of the run.

| promise | figure | met |
|---|---|---|
"""


def page(
    minutes: float,
    rate: int,
    level: str,
    events: Mapping[str, int],
    samples: Sequence[Sample],
    verdicts: Sequence[Verdict],
) -> str:
    """Verdicts, and samples at equal distances."""
    head = _HEAD.format(
        minutes=minutes,
        rate=rate,
        level=level,
        date=f"{datetime.now(timezone.utc):%Y-%m-%d}",
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        events=", ".join(f"{number} of {name}" for name, number in sorted(events.items())) or "nothing",
    )
    lines = [f"| {one.title} | {one.figure} | {'yes' if one.passed else '**no**'} |" for one in verdicts]
    step = max(1, -(-len(samples) // _SHOWN))
    titles = ["second", "partitions", "sent", "read", "subscriptions", *(f"{name} (MB)" for name in MEMORY)]
    table = [f"| {' | '.join(titles)} |", f"|{'--:|' * len(titles)}", *map(_row, samples[::step])]
    return head + "\n".join([*lines, "", *table]) + "\n"


def _row(sample: Sample) -> str:
    subscriptions = "" if sample.subscriptions is None else str(sample.subscriptions)
    sizes = [f"{sample.sizes[name]:.1f}" if name in sample.sizes else "" for name in MEMORY]
    cells = [f"{sample.second:.0f}", str(sample.partitions), f"{sample.acknowledged:,}", f"{sample.rows:,}"]
    return f"| {' | '.join([*cells, subscriptions, *sizes])} |"
