"""The targets of Python, each in an Atheris of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from fuzz.python_targets import targets
from fuzz.runs import Run, numbers

if TYPE_CHECKING:
    from pathlib import Path

_START_SECONDS = 600
_MOST_BYTES = 4096


def names() -> list[str]:
    """All targets."""
    return list(targets())


def fuzz(atheris: Path, name: str, folder: Path, seconds: int) -> Run:
    """Run a target for so long with the Atheris of a folder."""
    found, corpus, seeds = folder / "found" / name, folder / "corpus" / name, folder / "seeds" / name
    log = folder / "logs" / f"{name}.txt"
    for one in (found, corpus, seeds, log.parent):
        one.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(targets()[name].seeds):
        (seeds / str(number)).write_text(seed, encoding="utf-8")
    command = [sys.executable, "-m", "fuzz.atheris_run", name, f"-max_total_time={seconds}", "-print_final_stats=1"]
    command += [f"-artifact_prefix={found}/", "-timeout=600", f"-max_len={_MOST_BYTES}", str(corpus), str(seeds)]
    path = os.pathsep.join([str(atheris), *sys.path])
    with log.open("w") as out:
        subprocess.run(
            command,
            stdout=out,
            stderr=out,
            env={**os.environ, "PYTHONPATH": path},
            timeout=seconds + _START_SECONDS,
            check=False,
        )
    text = log.read_text(errors="replace")
    findings = re.findall(r"(?m)^ === Uncaught Python exception: ===\n(.*)|(ERROR: libFuzzer: .*)", text)
    return Run(
        f"python: {name}",
        max([*numbers(r"stat::number_of_executed_units: +(\d+)", text), *numbers(r"(?m)^#(\d+)", text)], default=0),
        max(numbers(r"Done \d+ (?:runs )?in (\d+)", text), default=seconds),
        max(numbers(r"cov: (\d+)", text), default=0),
        tuple(sorted({one or other for one, other in findings})),
    )
