"""The targets of the JVM, each in a Jazzer of its own."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from fuzz.runs import Run, numbers

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE = "io.github.pulsarspark"
_MOST_BYTES = 8192
_START_SECONDS = 600
_OPENED = ["java.lang", "java.lang.invoke", "java.nio", "java.util", "java.util.concurrent", "java.net", "java.io"]
_JAVA = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:-OmitStackTraceInFastThrow"]
# Jazzer's own checks look for unsafe calls of libraries, which a decoder has none of, and stop netty from starting.
_JAZZER = [
    f"--instrumentation_includes={_PACKAGE}.**",
    "--custom_hook_excludes=io.netty.**:org.apache.spark.**:sun.**:java.**",
    "--disabled_hooks=com.code_intelligence.jazzer.sanitizers.UnsafeSanitizer",
]


def targets(class_path: str, seeds: Path) -> list[str]:
    """Write the inputs to begin with; returns the names of the targets."""
    command = [*_java(class_path), f"{_PACKAGE}.fuzz.FuzzTargets", str(seeds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_START_SECONDS)
    return [line for line in done.stdout.splitlines() if line.startswith(_PACKAGE)]


def fuzz(class_path: str, target: str, folder: Path, seconds: int) -> Run:
    """Run a target for so long; a new finding is kept in its folder, with what it takes to repeat it."""
    found, corpus, log = folder / "found" / target, folder / "corpus" / target, folder / "logs" / f"{target}.txt"
    for one in (found, corpus, log.parent):
        one.mkdir(parents=True, exist_ok=True)
    command = [*_java(class_path), "com.code_intelligence.jazzer.Jazzer", f"--target_class={target}", *_JAZZER]
    command += [f"--reproducer_path={found}", "--keep_going=5", f"-artifact_prefix={found}/"]
    command += [f"-max_total_time={seconds}", "-print_final_stats=1", "-timeout=600", "-rss_limit_mb=0"]
    command += [f"-max_len={_MOST_BYTES}", str(corpus), str(folder / "seeds" / target)]
    with log.open("w") as out:
        subprocess.run(command, stdout=out, stderr=out, cwd=found, timeout=seconds + _START_SECONDS, check=False)
    return _run(target.removeprefix(f"{_PACKAGE}."), log.read_text(errors="replace"), seconds)


def _run(name: str, log: str, seconds: int) -> Run:
    executions = [*numbers(r"stat::number_of_executed_units: +(\d+)", log), *numbers(r"(?m)^#(\d+)", log)]
    findings = re.findall(r"== Java Exception: (.*)|(ERROR: libFuzzer: .*)", log)
    edges = numbers(r"cov: (\d+)", log)
    return Run(
        name,
        max(executions, default=0),
        max(numbers(r"Done \d+ runs in (\d+)", log), default=seconds),
        max(edges, default=0),
        tuple(sorted({one or other for one, other in findings})),
    )


def _java(class_path: str) -> list[str]:
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in (*_OPENED, "sun.nio.ch")]
    home = os.environ.get("JAVA_HOME")
    return [f"{home}/bin/java" if home else "java", *_JAVA, *opened, "-cp", class_path]
