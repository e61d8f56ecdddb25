"""A listener that keeps the progress of the queries of a session."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from pulsar_spark._spark import StreamingQueryListener
from pulsar_spark.progress.records import QueryProgress, parse

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent

_MOST_ENDED = 100  # ended runs that are kept


class ProgressListener(StreamingQueryListener):  # type: ignore[misc, unused-ignore]
    """Keeps the newest progresses of each query. Works in classic sessions and on Spark Connect.

    Add it before queries start: ``spark.streams.addListener(listener)``. Any number of threads may use it. It keeps the
    progresses of running queries and of the 100 runs that ended last.

    A query that waits for messages reports no progress, so the newest one may be old.
    """

    def __init__(self, keep: int = 100) -> None:
        """Create a listener.

        Args:
            keep: Number of progresses to keep of each run. Default: 100.
        """
        self._keep = keep
        self._lock = threading.Lock()
        self._runs: dict[str, deque[QueryProgress]] = {}
        self._ended: dict[str, None] = {}

    def latest(self) -> list[QueryProgress]:
        """The newest progress of each running query that has reported one."""
        with self._lock:
            return [kept[-1] for run, kept in self._runs.items() if run not in self._ended]

    def history(self, run_id: str) -> list[QueryProgress]:
        """The progresses of one run, oldest first, also after its end.

        Args:
            run_id: The id of the run, ``query.runId``.

        Returns:
            At most ``keep`` of them; none for a run that the listener does not know.
        """
        with self._lock:
            return list(self._runs.get(str(run_id), ()))

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Spark calls this in the thread that starts a query."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """Spark calls this after each micro-batch."""
        progress = parse(event.progress)
        with self._lock:
            self._runs.setdefault(progress.run_id, deque(maxlen=self._keep)).append(progress)

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Spark calls this when a query ends."""
        with self._lock:
            self._ended[str(event.runId)] = None
            while len(self._ended) > _MOST_ENDED:
                run = next(iter(self._ended))
                del self._ended[run]
                self._runs.pop(run, None)
