"""What gaps between entries cost at broker level: ``make bench-gaps BASELINE=other.jar``.

With options:

    .venv-4.1/bin/python -m benchmarks.earlier.gaps --baseline other.jar [--transactions 1000000] [--keys 100000]
        [--rounds 3] [--plain 1.0]

Two topics in which hardly any entry follows the one before it: transactions of one message, each of which a marker
follows, and the compacted view of keys between which compaction removed something. And topics without gaps, to see what
minding gaps costs them. A baseline, such as the jar of an earlier version, and the reader of the Java client read in
turns with the connector. Writes ``gaps.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.arena import CLIENT_HEAP, HERE, jdk_tool, pulsar_config, spark_jars
from benchmarks.processes import Worker
from benchmarks.report import keep
from benchmarks.run import say
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar
from pulsar_spark.local.java import java_command
from support.servers.admin import Admin
from support.spark.waiting import eventually

_WARM_UP = 1
_COMPACTED_SECONDS = 600
_PLAIN = {64: 4_000_000, 512: 1_500_000, 1024: 1_000_000}


@dataclass(frozen=True, eq=False)
class Case:
    """One topic."""

    title: str
    action: str
    count: int
    rows: int
    options: dict[str, str] = field(default_factory=dict)
    size: int = 64

    @property
    def topic(self) -> str:
        """Its full name."""
        return f"persistent://public/default/gaps-{self.action}-{self.size}"


def measure(cases: list[Case], baseline: Path, rounds: int, folder: Path) -> dict[Case, dict[str, list[float]]]:
    """Fill the topics and read them in turns; rows per second by reader."""
    figures: dict[Case, dict[str, list[float]]] = {}
    with ExitStack() as stack:
        server = LocalPulsar(profile="performance", transactions=True, config=pulsar_config("cold"))
        stack.enter_context(server)
        filler = stack.enter_context(_filler(server, folder))
        readers = {
            name: stack.enter_context(_spark(server, jar, folder / f"{name}.log"))
            for name, jar in (("before", baseline), ("after", jar_path()))
        }
        there: set[str] = set()
        for case in cases:
            if case.topic not in there:
                filled = filler.ask(case.action, {"topic": case.topic, "count": case.count, "size": case.size})
                say(f"{case.title}: filled in {filled.seconds:.0f} s")
                there.add(case.topic)
            if "readCompacted" in case.options:
                _compact(Admin(server.admin_url), case.topic)
            found = figures[case] = {name: [] for name in (*readers, "Reader")}
            for number in range(-_WARM_UP, rounds):
                for name, spark in readers.items():
                    options = {"readLevel": "broker", "admin.url": server.admin_url, **case.options}
                    arguments = {f"option.{key}": value for key, value in options.items()}
                    answer = spark.ask("scan", {"topic": case.topic, **arguments})
                    if answer.rows != case.rows:
                        raise ValueError(f"{name} read {answer.rows} rows of {case.rows} in {case.title}")
                    if number >= 0:
                        found[name].append(answer.rows / answer.seconds)
                compacted = str("readCompacted" in case.options).lower()
                answer = filler.ask("read", {"topic": case.topic, "count": case.rows, "compacted": compacted})
                if number >= 0:
                    found["Reader"].append(answer.rows / answer.seconds)
                say(f"{case.title}: " + ", ".join(f"{n} {f[-1]:,.0f} rows/s" for n, f in found.items() if f))
    return figures


def _filler(server: LocalPulsar, folder: Path) -> Worker:
    classes = folder / "classes"
    sources = [str(HERE / "java" / name) for name in ("Commands.java", "GapsJava.java")]
    path = f"{jar_path()}:{spark_jars()}/*"
    subprocess.run([jdk_tool("javac"), "-d", str(classes), "-cp", path, *sources], check=True, timeout=120)
    java = [java_command(), f"-Xmx{CLIENT_HEAP}", "-cp", f"{classes}:{path}", "GapsJava", server.service_url]
    return Worker(java, folder / "java.log")


def _spark(server: LocalPulsar, jar: Path, log: Path) -> Worker:
    return Worker([sys.executable, "-m", "benchmarks.spark_worker", "pulsar", server.service_url, str(jar)], log)


def _compact(admin: Admin, topic: str) -> None:
    admin.compact(topic)
    eventually(lambda: admin.is_compacted(topic), seconds=_COMPACTED_SECONDS)


_HEAD = """# Gaps between entries

Made by `make bench-gaps`, not by hand: reads through the broker in Spark `local[2]`, {rounds} rounds in turns after one
to warm up; {cores} cores, load average {load:.1f} at the end. Rows per second, median (least to most). "Reader" is the
one of the Java client, by itself.

| topic | rows | before | after | Reader | after to before | after to Reader |
|---|--:|--:|--:|--:|--:|--:|
"""


def _line(case: Case, found: dict[str, list[float]]) -> str:
    cells = [f"{statistics.median(f):,.0f} ({min(f):,.0f}-{max(f):,.0f})" for f in found.values()]
    ratios = [
        f"{statistics.median(found['after']) / statistics.median(found[one]):.1f}" for one in ("before", "Reader")
    ]
    return f"| {case.title} | {case.rows:,} | {' | '.join([*cells, *ratios])} |"


def _plain(scale: float) -> list[Case]:
    rows = {size: round(scale * count) for size, count in _PLAIN.items()}
    return [
        Case(f"no gaps, {size:,} B, {level} level", "plain", count, count, {"readLevel": level}, size)
        for size, count in rows.items()
        for level in ("broker", "segment")
        if count
    ]


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure reads of topics in which hardly any entry follows another.")
    parser.add_argument("--baseline", type=Path, required=True, help="the jar to compare with")
    parser.add_argument("--transactions", type=int, default=1_000_000, help="transactions of one message")
    parser.add_argument("--keys", type=int, default=100_000, help="keys that compaction keeps")
    parser.add_argument("--plain", type=float, default=1.0, help="scale of the topics without gaps; 0 leaves them out")
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    cases = [
        Case("the compacted view of unbatched keys", "keys", chosen.keys, chosen.keys + 1, {"readCompacted": "true"}),
        Case("transactions of one message", "transactions", chosen.transactions, chosen.transactions),
        *_plain(chosen.plain),
    ]
    with tempfile.TemporaryDirectory(prefix="pulsar-spark-benchmark-") as work:
        figures = measure(cases, chosen.baseline, chosen.rounds, Path(work))
    head = _HEAD.format(rounds=chosen.rounds, load=os.getloadavg()[0], cores=os.cpu_count())
    keep(chosen.output / "gaps.md", head + "\n".join(_line(case, found) for case, found in figures.items()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
