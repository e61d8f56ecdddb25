"""The page and the plots of `checkpoints.json`."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

from benchmarks.drawing import THEMES, drawn, plain
from benchmarks.report import keep, typical

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TITLES = {"topic": "a topic", "local": "a local path", "plain": "a local path, no processes"}
_KINDS = {"stateless": "no state", "counts-1000": "counts of 1,000 keys"}
_HEAD = """\
# Checkpoints in a topic

Made by `make bench-checkpoints`, not by hand, from [checkpoints.json](checkpoints.json). Queries over numbers
that Spark makes, with RocksDB and its changelog. The server is a standalone Pulsar on the same machine that does not
wait for its disk. Hadoop's native code is not in PySpark: without it, a local path costs processes that Hadoop starts
in each micro-batch. The third place is a local path for which it starts none, and writes no checksums: about what
native code would cost. A load average above the number of cores says that other programs ran meanwhile: compare
places with each other.

{runs}
"""
_TRIGGERS = """
## Micro-batches of 1,000 rows

Median (99th percentile), ms; places take turns in one run. Two log writes are `walCommit` and `commitOffsets`.

| query | checkpoint in | two log writes | whole trigger | beside the local path | without its processes |
|---|---|--:|--:|--:|--:|
"""
_RESTART = """
## Start again with {keys:,} keys of state

From `start()` in another JVM, which has run a query before, until the first micro-batch is committed. A snapshot of the
state with all keys is in the checkpoint, and a few small changes after it.

| checkpoint in | seconds | of it tasks |
|---|--:|--:|
"""
_GROWTH = """
## Size of a checkpoint

Bytes that the server stores for both topics of a store, and those of the files that Spark has in it: about what a
local path would have. Brokers delete whole ledgers, of {entries:,} records here, a hundredth of the default. A snapshot
comes after 5,000 records. Queries run without a pause, and Spark deletes old state once a minute: that of many
micro-batches waits.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="plots/checkpoints-dark.svg">
  <img alt="Size of a checkpoint by micro-batches" src="plots/checkpoints-light.svg">
</picture>

| query | micro-batches | stored in the first third, at most | second third | last third | files, at most |
|---|--:|--:|--:|--:|--:|
"""
_WIDE = """
## {partitions} partitions of state, a trigger each second, two executors

Counts of 1,000,000 keys, 200,000 rows for each trigger. A store that has all contents in its log is what each JVM would
have to follow without the second topic. Bytes are those of one trigger; a JVM's are the average of both executors and
the driver.

| contents in the log | the topics received | each JVM read | of it | a trigger took, s |
|---|--:|--:|--:|--:|
"""
WIDE_PARTITIONS = 200
WIDE = {"1m": "all", "2k": "up to 2 KiB, as by default"}
"""Largest contents in the log."""

GROWTH = {"stateless": 3500, "counts-1000": 3000}
"""Micro-batches of queries whose checkpoints grow."""
LEDGER_ENTRIES = 500
"""Brokers begin another ledger after so many records, and delete whole ones."""


def write(file: Path) -> None:
    """Write the page beside the results, and the plots below it."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    keep(file.with_suffix(".md"), text(found))
    if "growth" in found:
        for theme in THEMES:
            plots = file.parent / "plots"
            plots.mkdir(parents=True, exist_ok=True)
            _draw(found["growth"], theme, file, plots / f"checkpoints-{theme}.svg")


def text(found: dict[str, Any]) -> str:
    """The page of these results."""
    return "".join(_parts(found))


def _parts(found: dict[str, Any]) -> Iterator[str]:
    yield _HEAD.format(runs="\n".join(f"- {part}: {_run(of['run'])}" for part, of in found.items()))
    if "triggers" in found:
        yield _TRIGGERS
        for kind, title in _KINDS.items():
            by_place = found["triggers"][kind]
            middles = {place: statistics.median(one[3] for one in rows) for place, rows in by_place.items()}
            for place, rows in by_place.items():
                logs, whole = typical([one[0] + one[1] for one in rows]), typical([one[3] for one in rows])
                ratios = [f"{middles[place] / middles[other]:.2f}" for other in ("local", "plain")]
                yield _row(title, _TITLES[place], logs, whole, *ratios)
    if "restart" in found:
        restart = found["restart"]
        yield _RESTART.format(keys=restart["keys"])
        for place, title in _TITLES.items():
            yield _row(title, f"{restart[place]['seconds']:.1f}", f"{restart[place]['tasks']:.1f}")
    if "growth" in found:
        yield _GROWTH.format(entries=LEDGER_ENTRIES)
        for kind in GROWTH:
            batches, stored, files = zip(*found["growth"][kind], strict=True)
            third = len(stored) // 3
            thirds = [max(part) for part in (stored[:third], stored[third : 2 * third], stored[2 * third :])]
            yield _row(_KINDS[kind], f"{batches[-1]:,}", *map(_megabytes, [*thirds, max(files)]))
    if "wide" in found:
        yield _WIDE.format(partitions=WIDE_PARTITIONS)
        for inline, title in WIDE.items():
            wide = found["wide"][inline]
            bytes_ = (_megabytes(wide["written"]), _megabytes(wide["read"]))
            yield _row(title, *bytes_, f"{wide['read'] / wide['written']:.2f}", f"{wide['seconds']:.1f}")


def _run(run: dict[str, Any]) -> str:
    return (
        f"Spark {run['spark']}, {run['cores']} cores, load average {run['load']} at the end, "
        f"{run['stolen']} s of CPU time went to other virtual machines"
    )


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.2f} MB"


def _draw(growth: dict[str, Any], theme: str, results: Path, path: Path) -> None:
    with drawn(results, path, theme, "Size of a checkpoint", (8, 3.2)) as figure:
        axes = figure.add_subplot()
        for kind, colour in zip(GROWTH, ("#d55e00", "#1f8fd6"), strict=True):
            batches, *sizes = zip(*growth[kind], strict=True)
            for what, sized, style in zip(("stored", "files"), sizes, ("-", ":"), strict=True):
                label = f"{_KINDS[kind]}: {what}"
                axes.plot(batches, [one / 1e6 for one in sized], style, color=colour, linewidth=1.5, label=label)
        axes.set_xlabel("micro-batches")
        axes.set_ylabel("MB (10^6)")
        axes.set_ylim(bottom=0)
        plain(axes, theme)
        axes.legend(frameon=False)
