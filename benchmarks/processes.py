"""Child processes that do what they are told, and what they use: CPU time and memory, from ``/proc`` (Linux)."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

_TICK = os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM = 11, 12  # fields of /proc/<pid>/stat, counted after the name of the command
_STEAL = 8  # word of /proc/stat, whose first line begins with the name "cpu"
_END_SECONDS = 30.0
_TAIL = 4000

COMPILERS = re.compile(r"C1 Comp|C2 Comp|Sweeper")
"""Names of the threads in which a JVM compiles."""


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process so far, user and system."""
    return _cpu_seconds(Path(f"/proc/{pid}/stat"))


def _cpu_seconds(stat: Path) -> float:
    fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICK


def stolen_seconds() -> float:
    """CPU time of all cores so far that the host gave to others while this machine wanted it; 0 without a host."""
    return int(Path("/proc/stat").read_text(encoding="ascii").split()[_STEAL]) / _TICK


def thread_cpu_seconds(pid: int) -> dict[str, float]:
    """CPU time so far of the threads of a process, added up by their names (of which Linux keeps 15 characters)."""
    found: dict[str, float] = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (thread / "comm").read_text(encoding="utf-8", errors="replace").strip()
            found[name] = found.get(name, 0.0) + _cpu_seconds(thread / "stat")
        except (FileNotFoundError, ProcessLookupError):  # the thread ended meanwhile
            continue
    return found


def peak_megabytes(pid: int) -> float:
    """Most resident memory of a process since `reset_peak`, in MB (10^6)."""
    return _megabytes(pid, "VmHWM")


def resident_megabytes(pid: int) -> float:
    """Resident memory of a process now, in MB (10^6)."""
    return _megabytes(pid, "VmRSS")


def _megabytes(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"process {pid} has no {field}")


def reset_peak(pid: int) -> None:
    """Forget the peak so far."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


@dataclass(frozen=True)
class Answer:
    """What one action did and used.

    Attributes:
        rows: Messages read or written.
        bytes: Size of their values, 0 when nobody looked at them.
        seconds: Wall time.
        cpu: CPU seconds of the process that did it.
        compiling: The part of ``cpu`` that Java's compilers took.
        peak: Most resident memory meanwhile, in MB.
        heap: Most Java heap in use meanwhile, in MB; 0 when it was not looked at.
        content: Checksums of keys and values, where they were asked for.
        batches: Rows of each micro-batch of a stream.
        figures: What else the process measured, by name.
    """

    rows: int
    bytes: int
    seconds: float
    cpu: float
    compiling: float
    peak: float
    heap: float
    content: tuple[int, ...] = ()
    batches: tuple[int, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


class Worker:
    """A process that reads actions from its standard input and answers each with a line of JSON."""

    def __init__(self, command: Sequence[str], log: Path, *, start_seconds: float = 180.0) -> None:
        """Start it; its first line names the process to measure.

        Args:
            command: The command line.
            log: The file for its standard error.
            start_seconds: How long the first line may take.
        """
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        self.pid: int = self._answer(start_seconds)["pid"]

    @property
    def peak(self) -> float:
        """The most resident memory since the start or the last action began, in MB."""
        return peak_megabytes(self.pid)

    def ask(self, action: str, arguments: Mapping[str, object], *, seconds: float = 600.0) -> Answer:
        """Have an action done and measure it.

        Raises:
            RuntimeError: It failed or took longer than ``seconds``.
        """
        words = [action, *(f"{name}={value}" for name, value in arguments.items())]
        reset_peak(self.pid)
        compiled, before = self._compiling(), cpu_seconds(self.pid)
        self._input.write((" ".join(words) + "\n").encode("utf-8"))
        self._input.flush()
        said = self._answer(seconds)
        return Answer(
            rows=said["rows"],
            bytes=said.get("bytes", 0),
            seconds=said["seconds"],
            cpu=cpu_seconds(self.pid) - before,
            compiling=max(0.0, self._compiling() - compiled),
            peak=peak_megabytes(self.pid),
            heap=said.get("heap", 0.0),
            content=tuple(said.get("content", ())),
            batches=tuple(said.get("batches", ())),
            figures=said.get("figures", {}),
        )

    def _compiling(self) -> float:
        return sum(seconds for name, seconds in thread_cpu_seconds(self.pid).items() if COMPILERS.search(name))

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            problem = "ended" if ready else f"did not answer within {seconds:g} s"
            tail = self._log.read_text(encoding="utf-8", errors="replace")[-_TAIL:]
            raise RuntimeError(f"{self._log.stem} {problem}; its log ends:\n{tail}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._input.close()
        try:
            self._process.wait(timeout=_END_SECONDS if error is None else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
