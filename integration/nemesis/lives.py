"""The process of the driver, which is killed and started again, and what it says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nemesis.history import Ended, Read
from nemesis.writer import row_of

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_PROGRAM = Path(__file__).with_name("driver.py")
_END_SECONDS = 120
_SESSION_SECONDS = 600
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
_QUERIES = ("at-least-once", "exactly-once")


class Lives:
    """All lives of one driver: its checkpoints stay.

    Attributes:
        ended: Queries that ended by themselves.
        reads: Batch reads that were whole.
        copied: Seconds since the start and rows of each batch, by query.
        ahead: Seconds by which the clock of the driver was ahead at the last batch of each query.
    """

    def __init__(
        self,
        task: Mapping[str, Any],
        environment: Mapping[str, str],
        acknowledged: Callable[[], int],
        noted: Callable[[], Mapping[str, int]],
    ) -> None:
        self._task, self._acknowledged, self._noted = dict(task), acknowledged, noted
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
        self._folder = Path(task["folder"])
        self._began = time.monotonic()
        self._life = 0
        self._process: subprocess.Popen[str] | None = None
        self._application = b""
        self._least: dict[int, int] = {}
        self.ended: list[Ended] = []
        self.reads: list[Read] = []
        self.ahead: dict[str, float] = dict.fromkeys(_QUERIES, 0.0)
        self.copied: dict[str, list[tuple[float, int]]] = {name: [] for name in _QUERIES}

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._began

    def start(self) -> None:
        """Begin a life."""
        self._life += 1
        self._application = b""
        task = json.dumps({**self._task, "life": self._life})
        with (self._folder / "driver.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(_PROGRAM), task],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
                start_new_session=True,
            )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def await_session(self) -> None:
        """Wait until the driver has its session: how long Spark takes to start says nothing of the connector."""
        eventually(lambda: bool(self._application), seconds=_SESSION_SECONDS)

    def kill(self) -> None:
        """End it with all its executors, as when a machine is lost."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it in an orderly way."""
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):
            print("stop", file=self._process.stdin, flush=True)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self.kill()

    def executors(self) -> list[int]:
        """The processes of the executors that run now."""
        return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self._is_executor(folder)]

    def _is_executor(self, folder: Path) -> bool:
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            return bool(self._application) and _EXECUTOR in words and self._application in words
        return False

    def copied_since(self, second: float) -> float | None:
        """When each query had copied a batch after this second; None as long as one has not."""
        firsts = [next((at for at, _ in batches if at > second), None) for batches in self.copied.values()]
        return None if None in firsts else max(at for at in firsts if at is not None)

    def await_copies(self, second: float, seconds: float) -> float | None:
        """Wait until each query has copied a batch after this second; how long that took after it, None if too long."""
        with suppress(AssertionError):
            eventually(lambda: self.copied_since(second) is not None, seconds=seconds)
        at = self.copied_since(second)
        return None if at is None else at - second

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with suppress(ValueError):  # a line that was cut off
                self._hear(json.loads(line))

    def _hear(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "driver":
                self._application = event["application"].encode()
            case "copied":
                self.copied[event["query"]].append((self.seconds, event["rows"]))
                ahead = datetime.fromisoformat(event["clock"]) - datetime.now(timezone.utc)
                self.ahead[event["query"]] = ahead.total_seconds()
            case "reads":
                self._least[event["number"]] = self._acknowledged()
            case "read":
                text = (self._folder / event["file"]).read_text(encoding="utf-8")
                rows = {topic: [row_of(one.encode()) for one in found] for topic, found in json.loads(text).items()}
                least = self._least[event["number"]]
                self.reads.append(Read(least, rows, event["level"], self._noted(), event["entries"]))
            case "ended":
                self.ended.append(Ended(event["query"], event["condition"], event["text"]))
