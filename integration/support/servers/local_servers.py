"""Programs that start local servers, and what is left of them."""

from __future__ import annotations

import os
from pathlib import Path

import pulsar_spark

STOP_SECONDS = 120.0
_PACKAGE = str(Path(pulsar_spark.__file__).parents[1])


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended but was not collected by its new parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def environment() -> dict[str, str]:
    """Of a program that imports the package."""
    return {**os.environ, "PYTHONPATH": _PACKAGE}
