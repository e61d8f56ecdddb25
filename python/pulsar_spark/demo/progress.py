"""The micro-batches of a running query."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark.demo.report import Report

_POLL_SECONDS = 0.1
_WAIT_SECONDS = 120.0


class Progress:
    """Follows a query: shows every micro-batch once and counts its rows."""

    def __init__(self, query: StreamingQuery, report: Report) -> None:
        self._query, self._report = query, report
        self._rows: dict[int, int] = {}

    def until_it_ends(self) -> int:
        """Wait for the end of the query; returns the number of rows that it read."""
        return self.until(lambda _: not self._query.isActive)

    def until(self, enough: Callable[[int], bool]) -> int:
        """Wait until enough rows are read; returns their number."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while not enough(self._look()):
            self._raise_failure()
            if time.monotonic() > deadline:
                raise TimeoutError(f"the stream did not get on within {_WAIT_SECONDS:g} s: {self._query.status}")
            time.sleep(_POLL_SECONDS)
        self._raise_failure()
        return self._look()

    def _raise_failure(self) -> None:
        error = self._query.exception()
        if error is not None:
            raise error

    def _look(self) -> int:
        for progress in self._query.recentProgress:
            batch, rows = progress["batchId"], progress["numInputRows"]
            if rows and batch not in self._rows:
                took = progress["durationMs"].get("triggerExecution", 0)
                self._report.line(f"    micro-batch {batch:3}  {rows:9,} rows  {took:7,} ms")
            self._rows[batch] = max(rows, self._rows.get(batch, 0))
        return sum(self._rows.values())
