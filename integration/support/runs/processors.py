"""How much of the processors a run and its modules take."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CPU = "CPU seconds"
"""The property of a module's last test."""

_PROCESSES = Path("/proc")
_PROCESSORS = _PROCESSES / "stat"


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


def cpu_seconds(root: int, processes: Path = _PROCESSES) -> float:
    """The time of a process and of all that it started; 0 where the system does not say.

    Children of a process that has ended are lost, with those that ended before.
    """
    times, children = {}, defaultdict(list)
    for stat in processes.glob("[0-9]*/stat"):
        try:
            # what follows the name, which may have blanks: state ppid ... utime stime cutime cstime
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        process = int(stat.parent.name)
        times[process] = sum(map(int, fields[11:15]))
        children[int(fields[1])].append(process)
    found, total = [root], 0
    while found:
        process = found.pop()
        total += times.get(process, 0)
        found += children[process]
    return total / os.sysconf("SC_CLK_TCK")


class Meter:
    """Notes, in the process that runs tests, how much CPU time each module took."""

    def __init__(self) -> None:
        self._before = cpu_seconds(os.getpid())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        try:
            yield
        finally:
            if nextitem is None or nextitem.path != item.path:
                now = cpu_seconds(os.getpid())
                item.user_properties.append((CPU, now - self._before))
                self._before = now


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter())
