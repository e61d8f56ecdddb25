"""The summary of a run: the slowest tests, how idle the processors were, and the server's log of failures."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.runs import sharing

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_MODULES = 15
_LOG_LINES, _LOG_COLUMNS = 30, 220
_PROCESSORS = Path("/proc/stat")


@dataclass(frozen=True)
class Processors:
    """What all processors together have done since the machine was started, in units of time of their own."""

    idle: int
    total: int

    @classmethod
    def now(cls) -> Processors | None:
        """None where the system does not say."""
        if not _PROCESSORS.exists():
            return None
        # user nice system idle iowait irq softirq steal; what follows is in the first ones as well
        times = [int(number) for number in _PROCESSORS.read_text().split("\n", 1)[0].split()[1:9]]
        return cls(times[3] + times[4], sum(times))

    def idle_since(self, before: Processors) -> float:
        """The share of the time since then in which they had nothing to do."""
        return (self.idle - before.idle) / max(1, self.total - before.total)


class Summary:
    """Collects reports in the process that prints them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._processors = Processors.now()
        self._began = time.monotonic()
        self._modules: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._modules[report.nodeid.split("::", 1)[0]] += report.duration
        if report.failed:
            warnings = warnings_between(sharing.log_file(self._config), report.start, report.stop)
            if warnings:
                report.sections.append(("Warnings of the shared server during this phase", warnings))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        if len(self._modules) < 2:
            return
        terminalreporter.section(f"slowest {_MODULES} modules")
        for module in sorted(self._modules, key=self._modules.__getitem__, reverse=True)[:_MODULES]:
            terminalreporter.write_line(f"{self._modules[module]:8.1f} s  {module}")
        processors = Processors.now()
        if self._processors and processors:
            idle = processors.idle_since(self._processors)
            seconds = time.monotonic() - self._began
            terminalreporter.write_line(f"{os.cpu_count()} processors were idle for {idle:.0%} of {seconds:.0f} s")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Summary(config))


def warnings_between(log: Path, start: float, stop: float) -> str:
    """The warnings and errors of a server's log between two times, the last ones, without stack traces."""
    if not log.exists():
        return ""
    begin, end = (datetime.fromtimestamp(seconds).isoformat(timespec="milliseconds") for seconds in (start, stop))
    with log.open(encoding="utf-8", errors="replace") as lines:
        found = [
            line[:_LOG_COLUMNS].rstrip()
            for line in lines
            if begin <= line[:23].replace(",", ".") <= end and line[24:30].startswith(("WARN", "ERROR"))
        ]
    return "\n".join(found[-_LOG_LINES:])
