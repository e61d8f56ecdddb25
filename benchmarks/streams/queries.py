"""The processes that run streams and do what they are told; `latency_query.serve` is the other side."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchmarks.arena import spark_kafka_jars
from pulsar_spark import jar_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class QueryFailedError(RuntimeError):
    """The process of the queries ended by an error of one of them."""


class Queries:
    """A process with a Spark session of its own, one query at a time."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log
        self.pid: int = self.ask()

    def ask(self, *words: object) -> Any:  # noqa: ANN401 - what JSON has
        """Have it do something; without words its first line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if words:
            self._process.stdin.write(" ".join(map(str, words)) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise QueryFailedError(f"the queries' process ended: {self._log.read_text(encoding='utf-8')[-3000:]}")
        return json.loads(line)


@contextmanager
def running_queries(module: str, log: Path, *arguments: str, connector: Path | None = None) -> Iterator[Queries]:
    """A module of the benchmarks that serves, with the jars of both sources and the arguments.

    Args:
        module: Its name.
        log: The file of its standard error.
        arguments: More for its command line.
        connector: Another jar than that of this connector.
    """
    jars = ",".join(map(str, [connector or jar_path(), *spark_kafka_jars()]))
    command = [sys.executable, "-m", f"benchmarks.{module}", jars, *arguments]
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        yield Queries(process, log)
        assert process.stdin is not None
        process.stdin.close()
