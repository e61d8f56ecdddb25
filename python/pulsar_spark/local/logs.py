"""The end of a server's log, and the advice for known errors in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pulsar_spark.local.errors import LocalPulsarError

if TYPE_CHECKING:
    from pathlib import Path

_TAIL_LINES, _TAIL_COLUMNS, _TAIL_BYTES = 30, 220, 256 * 1024

# Errors in the log of a start that failed, and the advice for each.
_ADVICE = (
    (
        r"Address already in use|Failed to bind",
        "Another process uses one of the ports: choose other ports, or none for free ones.",
    ),
    (
        r"OutOfMemoryError|Could not reserve enough space",
        "Increase the server's memory (heap, direct), or free memory.",
    ),
    (r"No space left on device|NoWritableLedgerDir", "Free some disk space, or use a data folder on another disk."),
)


def log_tail(file: Path) -> str:
    """Return the last lines of a server log, each indented and cut: some lines of Pulsar are 20 kB long."""
    if not file.exists():
        return "  (no log was written)"
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode("utf-8", errors="replace").splitlines()
    return "\n".join(f"  {line[:_TAIL_COLUMNS]}" for line in lines[-_TAIL_LINES:])


def start_error(log: Path, problem: str, advice: str) -> LocalPulsarError:
    """The error of a failed start, with the end of its log; the advice is for causes that are not in `_ADVICE`."""
    tail = log_tail(log)
    hints = [hint for pattern, hint in _ADVICE if re.search(pattern, tail)]
    return LocalPulsarError(f"{problem} {' '.join(hints) or advice}\nThe log is {log}; its last lines are:\n{tail}")
