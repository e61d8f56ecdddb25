"""Where the connector's CPU time goes: ``make bench-profile``.

Of other cases:

    .venv-4.1/bin/python -m benchmarks.profile connector:scan-64-1000-4-none segment:scan-64-1000-4-none

Threads are told apart by their names and counted by the kernel, so that compiling, collecting garbage and system calls
are seen, too; methods are sampled by Java Flight Recorder. Writes ``results/profile.md``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.arena import HERE, THREADS, Arena, jdk_tool
from benchmarks.processes import COMPILERS, thread_cpu_seconds
from benchmarks.run import MOST_COMPILING, say
from benchmarks.workloads import CASES, JOB_TITLES, SPARK, TITLES, Case

if TYPE_CHECKING:
    from benchmarks.processes import Worker
    from benchmarks.workloads import Contender

_CASES = (
    "segment:scan-64-1000-1-none",
    "segment:scan-512-10-1-lz4",
    "segment:scan-1024-125-1-none",
    "segment:count-64-1000-1-none",
    "connector:scan-64-1000-1-none",
    "connector:scan-1024-1000-4-none",
    "connector:write-64-10-4-none",
    "connector:write-64-1000-4-none",
    "connector:write-512-1000-4-lz4",
    "connector:write-1024-1000-1-none",
    "connector:write-1024-1000-4-none",
)
_WARM_UP, _MOST_WARM_UP, _ROUNDS = 6, 25, 6
_METHODS = 14
_TOOL_SECONDS = 300.0

_THREADS = (
    ("Spark's task threads", r"Executor task l|Executor task"),
    ("threads of the Pulsar client", r"pulsar-"),
    ("threads of the BookKeeper client", r"bookkeeper-|BookKeeperClient"),
    ("garbage collection", r"GC Thread|G1 |VM Thread"),
    ("compilation of Java code", COMPILERS.pattern),
)

# What a sample counts as: the first of these that a frame from the top of the stack down belongs to.
_PARTS = (
    ("reading entries: checksum, unpacking, splitting batches (`format`)", r"io\.github\.pulsarspark\.format\."),
    ("making rows and values (`schema`)", r"io\.github\.pulsarspark\.schema\."),
    ("getting or sending (`pulsar`)", r"io\.github\.pulsarspark\.pulsar\."),
    ("the Pulsar client", r"io\.github\.pulsarspark\.shaded\.org\.apache\.pulsar"),
    ("the BookKeeper client", r"io\.github\.pulsarspark\.shaded\.org\.apache\.bookkeeper"),
    ("netty", r"io\.github\.pulsarspark\.shaded\.io\.netty"),
    ("the rest of the connector", r"io\.github\.pulsarspark\."),
    ("Spark's generated code", r"org\.apache\.spark\.sql\.catalyst\.expressions\.GeneratedClass"),
    ("Spark", r"org\.apache\.spark\."),
)


def profile(arena: Arena, case: Case, contender: Contender, folder: Path) -> str:
    """Run a case in a Spark session of its own and tell what it was busy with, as Markdown."""
    if case.job != "write":
        arena.fill(case.workload)
    recording = folder / f"{case.name}.jfr"
    with arena.spark(contender, f"profile-{case.name}") as spark:
        _jcmd(
            spark.pid, "JFR.start", "name=rounds", "settings=profile"
        )  # before warming up: it makes Java compile anew
        warm, compiling = 0, 1.0
        while warm < _WARM_UP or (compiling > MOST_COMPILING and warm < _MOST_WARM_UP):
            compiling = _once(arena, spark, case, contender, warm)
            warm += 1
        begin = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        before = thread_cpu_seconds(spark.pid)
        for number in range(warm, warm + _ROUNDS):
            _once(arena, spark, case, contender, number)
        after = thread_cpu_seconds(spark.pid)
        _jcmd(spark.pid, "JFR.dump", "name=rounds", f"begin={begin}", f"filename={recording}")
    rows = _ROUNDS * case.workload.count
    spent = Counter({name: after[name] - before.get(name, 0.0) for name in after})
    parts = [
        f"## {JOB_TITLES[case.job]}: {case.workload.title} ({TITLES[contender]})",
        _thread_table(spent, rows),
        _samples(recording),
    ]
    return "\n\n".join(parts)


def _once(arena: Arena, spark: Worker, case: Case, contender: Contender, number: int) -> float:
    """Do the case once; the share of CPU time that compiling took."""
    topic = case.workload.topic if case.job != "write" else f"profile-{case.name}-{number}"
    if case.job == "write":
        arena.create("connector", case.workload, topic)
    answer = spark.ask(case.job, arena.arguments(case.workload, topic, contender))
    if answer.rows != case.workload.count:
        raise ValueError(f"{answer.rows} rows of {case.workload.count} in {case.name}")
    if case.job == "write":
        arena.check_written("connector", case.workload, topic)
    return answer.compiling / answer.cpu


def _thread_table(spent: Counter[str], rows: int) -> str:
    groups: Counter[str] = Counter()
    for name, seconds in spent.items():
        groups[next((title for title, pattern in _THREADS if re.search(pattern, name)), "all other threads")] += seconds
    total = sum(groups.values())
    lines = ["| threads | CPU us per row | share |", "|---|--:|--:|"]
    lines += [f"| {name} | {s / rows * 1e6:.3f} | {s / total:.0%} |" for name, s in groups.most_common()]
    return "\n".join([*lines, f"| all | {total / rows * 1e6:.3f} | |"])


def _samples(recording: Path) -> str:
    events = _events(recording, "jdk.ExecutionSample")
    stacks = [stack for event in events if (stack := _stack(event))]
    parts: Counter[str] = Counter(_part(stack) for stack in stacks)
    tops: Counter[str] = Counter(stack[0] for stack in stacks)
    allocated: Counter[str] = Counter()
    for event in _events(recording, "jdk.ObjectAllocationSample"):
        if stack := _stack(event):
            where = next((method for method in stack if method.startswith("io.github.pulsarspark.")), None)
            if where is None:
                continue
            allocated[f"{event['objectClass']['name'].replace('/', '.')} in {where}"] += event["weight"]
    lines = [f"Java code, {len(stacks)} samples:", "", "| part | share |", "|---|--:|"]
    lines += [f"| {part} | {n / len(stacks):.0%} |" for part, n in parts.most_common()]
    lines += ["", "| method at the top of the stack | share |", "|---|--:|"]
    lines += [f"| `{method}` | {n / len(stacks):.1%} |" for method, n in tops.most_common(_METHODS)]
    weight = sum(allocated.values())
    lines += ["", "| allocated under the connector | share |", "|---|--:|"]
    lines += [f"| `{what}` | {n / weight:.0%} |" for what, n in allocated.most_common(_METHODS // 2)]
    return "\n".join(lines)


def _part(stack: list[str]) -> str:
    for method in stack:
        for name, pattern in _PARTS:
            if re.match(pattern, method):
                return name
    return "Java's library by itself"


def _stack(event: dict[str, Any]) -> list[str]:
    """Methods from the top of the stack down; empty where the recorder could not tell."""
    return [_method(frame) for frame in (event["stackTrace"] or {"frames": []})["frames"]]


def _method(frame: dict[str, Any]) -> str:
    method = frame["method"]
    return f"{method['type']['name'].replace('/', '.')}.{method['name']}"


def _events(recording: Path, kind: str) -> list[dict[str, Any]]:
    command = [jdk_tool("jfr"), "print", "--json", "--stack-depth", "40", "--events", kind, str(recording)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=_TOOL_SECONDS)
    return [event["values"] for event in json.loads(done.stdout)["recording"]["events"]]


def _jcmd(pid: int, *words: str) -> None:
    subprocess.run([jdk_tool("jcmd"), str(pid), *words], capture_output=True, check=True, timeout=_TOOL_SECONDS)


def _pair(text: str, known: dict[str, Case]) -> tuple[Contender, Case]:
    who, _, name = text.partition(":")
    contender = next((c for c in SPARK if c == who and c != "kafka"), None)
    if contender is None or name not in known:
        raise SystemExit(f"{text}: not connector or segment, a colon, and one of {', '.join(known)}")
    return contender, known[name]


def main() -> int:
    """Profile cases; see the text of the module."""
    parser = argparse.ArgumentParser(description="Show where the connector's CPU time goes.")
    parser.add_argument("cases", nargs="*", default=_CASES, help="who (connector or segment), a colon, and a case")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the messages")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "profile.md")
    chosen = parser.parse_args()
    known = {case.name: case.scaled(chosen.scale) for case in CASES}
    pairs = [_pair(text, known) for text in chosen.cases]
    with (
        tempfile.TemporaryDirectory(prefix="pulsar-spark-profile-") as work,
        Arena(Path(work), {case.workload.size for _, case in pairs}, "1g") as arena,
    ):
        parts = [
            "# Where the CPU time goes",
            f"Made by `make bench-profile`, not by hand: {_ROUNDS} rounds after warming up, local[{THREADS}].",
        ]
        for contender, case in pairs:
            parts.append(profile(arena, case, contender, Path(work)))
            chosen.output.write_text("\n\n".join(parts) + "\n", encoding="utf-8")  # stays if the run is stopped
            say(f"{contender} {case.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
