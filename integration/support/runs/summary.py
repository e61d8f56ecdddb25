"""The summary of a run: the slowest modules, how busy the processors were, the server's log of failures, their list."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from support.runs import sharing
from support.runs.processors import CPU, Processors

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.terminal import TerminalReporter

_MODULES = 40
_LOG_LINES, _LOG_COLUMNS = 30, 220


class Summary:
    """Collects reports in the process that prints them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._processors = Processors.now()
        self._began = time.monotonic()
        self._modules: defaultdict[str, float] = defaultdict(float)
        self._cpu: defaultdict[str, float] = defaultdict(float)
        self._failed: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        module = report.nodeid.split("::", 1)[0]
        self._modules[module] += report.duration
        if report.when == "teardown":
            self._cpu[module] += sum(float(str(value)) for name, value in report.user_properties if name == CPU)
        if report.failed:
            self._failed.append(failed_line(report))
            warnings = warnings_between(sharing.log_file(self._config), report.start, report.stop)
            if warnings:
                report.sections.append(("Warnings of the shared server during this phase", warnings))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        if len(self._modules) < 2:
            return
        terminalreporter.section(f"slowest {_MODULES} modules")
        for module in sorted(self._modules, key=self._modules.__getitem__, reverse=True)[:_MODULES]:
            terminalreporter.write_line(f"{self._modules[module]:8.1f} s {self._cpu[module]:8.1f} CPU s  {module}")
        total = sum(self._cpu.values())
        terminalreporter.write_line(f"All modules took {total:.0f} CPU s, without the shared server and lost children.")
        processors = Processors.now()
        if self._processors and processors:
            idle = processors.idle_since(self._processors)
            seconds = time.monotonic() - self._began
            terminalreporter.write_line(f"{os.cpu_count()} processors were idle for {idle:.0%} of {seconds:.0f} s")

    def pytest_unconfigure(self) -> None:
        """Print the failures as the very last lines, where a log that keeps its end alone has all of them."""
        for line in self._failed:
            print(line)


def failed_line(report: pytest.TestReport) -> str:
    """A line for a failure: its test, the phase if it is not the test itself, and how its message begins."""
    phase = "" if report.when == "call" else f" ({report.when})"
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(crash.message if crash else report.longrepr).strip().partition("\n")[0]
    return f"FAILED {report.nodeid}{phase} - {message}"[:_LOG_COLUMNS]


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
