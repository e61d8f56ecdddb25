"""What Spark 4.3 reported of a real query with a limit, as JSON, and stand-ins for queries and sessions."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINES = Path(__file__).with_name("reports.jsonl").read_text(encoding="utf-8").splitlines()

REPORTS = tuple(_LINES[:3])
"""Three micro-batches, which end a backlog."""
UNKNOWN = _LINES[3]
"""A backlog over several ledgers, without an admin service."""
TOPIC = json.loads(REPORTS[0])["sources"][0]["description"].removeprefix("Pulsar[").removesuffix("]")


def source_with(metrics: dict[str, str]) -> str:
    """The first report with other metrics of its source."""
    fields = json.loads(REPORTS[0])
    fields["sources"][0]["metrics"] = metrics
    return json.dumps(fields)


class FakeQuery:
    """A query that has reported these."""

    def __init__(self, reports: Sequence[str], *, is_active: bool = True) -> None:
        self.isActive = is_active
        self._reported = [StreamingQueryProgress.fromJson(json.loads(report)) for report in reports]

    @property
    def recentProgress(self) -> list[Any]:  # noqa: N802
        return self._reported

    @property
    def lastProgress(self) -> Any:  # noqa: ANN401, N802
        return self._reported[-1]

    def awaitTermination(self, timeout: float) -> bool:  # noqa: ARG002, N802
        return not self.isActive


class FakeSession:
    """Hands events to listeners."""

    def __init__(self) -> None:
        self.conf = SimpleNamespace()
        self.listeners: list[Any] = []
        self.streams = SimpleNamespace(addListener=self.listeners.append, removeListener=self.listeners.remove)

    def report(self, text: str) -> None:
        event = SimpleNamespace(progress=StreamingQueryProgress.fromJson(json.loads(text)))
        for listener in self.listeners:
            listener.onQueryStarted(event)
            listener.onQueryProgress(event)

    def end(self, run_id: str) -> None:
        for listener in self.listeners:
            listener.onQueryTerminated(SimpleNamespace(runId=run_id))
