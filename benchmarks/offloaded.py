"""How fast offloaded ledgers are read, against the same content on a bookie: ``make bench-offloaded``.

With options:

    .venv-4.1/bin/python -m benchmarks.offloaded [--scale 0.1] [--rounds 5]

A real broker offloads one of two topics with the same rows. Objects of the block format are then copied from the S3
server into a folder, so that reading them measures the connector and not a simulated object store. Writes
``offloaded.md``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import boto3  # type: ignore[import-untyped]

from benchmarks.arena import HERE, pulsar_config
from benchmarks.processes import Worker
from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.workloads import Workload, write_content
from pulsar_spark import jar_path
from support.servers.offloading import FORMATS, Offloading, running_offload

_WORKLOADS = (
    Workload(64, 1000, 1, "NONE", 4_000_000),
    Workload(512, 10, 1, "LZ4", 800_000),
    Workload(1024, 125, 1, "NONE", 400_000),
)
_ENTRIES_PER_LEDGER = 20_000
_WARM_UP = 4
_PLACES = ("bookie", "offloaded")
_TITLES = {"block": "blocks of the cloud offloaders", "mapfile": "MapFile of the offloader `filesystem` (zlib)"}


@dataclass
class Figures:
    """The rounds of one place."""

    rows: list[float] = field(default_factory=list)
    """Rows per second."""
    cpu: list[float] = field(default_factory=list)
    """CPU microseconds per row."""


def measure(kind: str, workload: Workload, rounds: int, folder: Path) -> dict[str, Figures]:
    """Fill, offload and read in turns."""
    figures = {place: Figures() for place in _PLACES}
    with ExitStack() as stack:
        # A warm cache would not fit into the direct memory of the profile.
        running = running_offload(
            kind, folder, entries_per_ledger=_ENTRIES_PER_LEDGER, settings=pulsar_config("cold"), profile="performance"
        )
        offloading = stack.enter_context(running)
        module = ["-m", "benchmarks.spark_worker", "pulsar"]
        command = [sys.executable, *module, offloading.server.service_url, str(jar_path())]
        spark = stack.enter_context(Worker(command, folder / "spark.log"))
        arguments = {place: _prepare(offloading, spark, workload, place, folder) for place in _PLACES}
        for number in range(-_WARM_UP, rounds):
            for place, found in figures.items():
                answer = spark.ask("scan", arguments[place])
                if answer.rows != workload.count:
                    raise ValueError(f"{answer.rows} rows of {workload.count} from {place}")
                if number >= 0:
                    found.rows.append(answer.rows / answer.seconds)
                    found.cpu.append(answer.cpu / answer.rows * 1e6)
    say(f"{kind} {workload.title}: " + ", ".join(f"{p} {f.rows[-1] / 1e3:.0f} k/s" for p, f in figures.items()))
    return figures


def _prepare(offloading: Offloading, spark: Worker, workload: Workload, place: str, folder: Path) -> dict[str, object]:
    """Fill a topic and have it where it is wanted; what its reader has to know."""
    topic = f"persistent://public/default/{place}-{workload.topic}"
    arguments = workload.arguments(folder) | {"topic": topic}
    offloading.admin.create_topic(topic)
    spark.ask("write", arguments)
    offloading.admin.unload(topic)  # closes the last ledger
    options = {"readLevel": "segment", "admin.url": offloading.server.admin_url}
    if place == "offloaded":
        offloading.offload(topic)
        options |= {"offload.format": offloading.format, "offload.location": _local_copy(offloading, folder)}
    return arguments | {f"option.{name}": value for name, value in options.items()}


def _local_copy(offloading: Offloading, folder: Path) -> str:
    """Where the offloaded ledgers are as files."""
    if offloading.format == "mapfile":
        return offloading.location
    settings = offloading.hadoop
    keys = {"aws_access_key_id": settings["fs.s3a.access.key"], "aws_secret_access_key": settings["fs.s3a.secret.key"]}
    region = settings["fs.s3a.endpoint.region"]
    storage = boto3.client("s3", endpoint_url=settings["fs.s3a.endpoint"], region_name=region, **keys)
    bucket = offloading.location.removeprefix("s3a://")
    target = folder / "objects"
    target.mkdir(exist_ok=True)
    for one in storage.list_objects_v2(Bucket=bucket)["Contents"]:
        storage.download_file(bucket, one["Key"], str(target / one["Key"]))
    return target.as_uri()


def _line(kind: str, workload: Workload, figures: dict[str, Figures]) -> str:
    rows = {
        place: f"{_middle(f.rows, 1e3):,.0f} ({min(f.rows) / 1e3:,.0f}-{max(f.rows) / 1e3:,.0f})"
        for place, f in figures.items()
    }
    cpu = {place: f"{_middle(f.cpu, 1):.2f}" for place, f in figures.items()}
    ratio = _middle(figures["offloaded"].rows, 1) / _middle(figures["bookie"].rows, 1)
    cells = [_TITLES[kind], workload.title, *(rows[p] for p in _PLACES), f"{ratio:.2f}", *(cpu[p] for p in _PLACES)]
    return f"| {' | '.join(cells)} |"


def _middle(values: list[float], unit: float) -> float:
    return statistics.median(values) / unit


_HEAD = """# Offloaded ledgers

Made by `make bench-offloaded`, not by hand: {rounds} rounds in turns after warming up; Spark `local[2]`, all columns to
noop; {cores} cores, load average {load:.1f} at the end. Both topics hold the same rows; files of the block format were
copied from the S3 server into a folder. Median (least to most) in k rows/s, CPU in us per row.

| format | messages | bookie | offloaded | offloaded to bookie | bookie, CPU | offloaded, CPU |
|---|---|--:|--:|--:|--:|--:|
"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(
        description="Measure reads of offloaded ledgers against reads of the same from a bookie."
    )
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the messages")
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    workloads = [one.scaled(chosen.scale) for one in _WORKLOADS]
    lines = []
    with tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-") as work:
        for kind, workload in itertools.product(FORMATS, workloads):
            folder = Path(work) / f"{kind}-{workload.size}"
            folder.mkdir()
            write_content(folder, {workload.size})
            lines.append(_line(kind, workload, measure(kind, workload, chosen.rounds, folder)))
    head = _HEAD.format(rounds=chosen.rounds, load=os.getloadavg()[0], cores=os.cpu_count())
    keep(chosen.output / "offloaded.md", head + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
