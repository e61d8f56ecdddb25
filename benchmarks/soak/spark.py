"""The process of the driver, and what the sink of its stream has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from pulsar_spark import jar_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

_END_SECONDS = 60


class Spark:
    """A driver in a process of its own."""

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        task = {"folder": str(folder), "jar": str(jar_path()), "options": dict(options)}
        self._sink, self._log = folder / "sink", folder / "driver.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.soak.driver", json.dumps(task)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )

    def __enter__(self) -> Spark:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._process.communicate(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def do(self, action: str) -> dict[str, Any]:
        """Have an action done.

        Raises:
            RuntimeError: The driver ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(action, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the driver ended: {self._log.read_text(errors='replace')[-3000:]}")
        return dict(json.loads(answer))

    def rows(self) -> dict[str, Counter[str]]:
        """The positions that the sink has, by partition."""
        found: dict[str, Counter[str]] = {}
        for file in self._sink.glob("*.json"):
            for partition, position in json.loads(file.read_text(encoding="utf-8")):
                found.setdefault(partition, Counter())[position] += 1
        return found
