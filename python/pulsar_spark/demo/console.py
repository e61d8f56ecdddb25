"""Ctrl-C and the log of Spark in the demo's terminal."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from pulsar_spark.demo.report import Report

_LOG_LINES = 20


class Interrupts:
    """Remembers a Ctrl-C. Spark's handler cancels its jobs first, which can raise other errors."""

    came = False

    def watch(self) -> None:
        """Install a handler in front of the current one."""
        handler = signal.getsignal(signal.SIGINT)

        def remember(number: int, frame: FrameType | None) -> None:
            self.came = True
            if callable(handler):
                handler(number, frame)

        signal.signal(signal.SIGINT, remember)


@contextmanager
def errors_to(log: Path) -> Iterator[None]:
    """Redirect stderr to a file, also that of processes started in the block."""
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def show_end(report: Report, log: Path) -> None:
    """Show the last lines of Spark's log, without stack traces."""
    if log.exists():
        report.line("The last lines of Spark's log:")
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        for line in [line for line in lines if not line.startswith("\tat ")][-_LOG_LINES:]:
            report.line(f"    {line}")
