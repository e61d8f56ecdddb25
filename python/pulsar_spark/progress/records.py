"""The progress of a streaming query as typed values, from what Spark reports."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - for `typing.get_type_hints`
from typing import TYPE_CHECKING, Any

from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.iso import iso_time
from pulsar_spark.progress import views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LEVELS: Mapping[str, str] = {"broker": "Broker", "bookies": "Bookie", "tiered": "Tiered"}
"""The names of levels in metrics of the connector."""

# The last three are of numbers without end and of lists in each other without end.
_MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    SyntaxError,
    OverflowError,
    RecursionError,
    MemoryError,
)


@dataclass(frozen=True)
class Backlog:
    """Messages left to read. A figure is None if it is not known, and 0 only if everything was read.

    Attributes:
        entries: Number of stored entries, each a message or a batch of messages.
        messages: Estimated number of messages: ``entries`` times the messages in an entry that the query has read so
            far, on average.
        bytes: Estimated size in bytes, as the messages are stored; an average as well.
        seconds: Seconds since the message that was read last was published. The oldest unread message is no older.
    """

    entries: int | None = None
    messages: int | None = None
    bytes: int | None = None
    seconds: float | None = None

    @property
    def is_empty(self) -> bool:
        """True if everything was read."""
        return self.entries == 0


@dataclass(frozen=True)
class Latency:
    """Time from the publish time of messages to their rows, in a batch of real-time mode.

    Attributes:
        median: Seconds within which half of the messages were rows.
        p99: Seconds within which 99 of 100 were.
        longest: Seconds of the slowest one.
    """

    median: float
    p99: float
    longest: float


@dataclass(frozen=True)
class SourceProgress:
    """Progress of one Pulsar source of a query: what it has read, and what is left.

    Sums by level, errors, reconnects and losses count from the start of the query. A level is ``broker``, ``bookies``
    or ``tiered``. Positions are ``ledger:entry:batchIndex`` by the full name of the topic partition.

    Attributes:
        description: The topics, such as ``Pulsar[events]``.
        rows: Number of rows of this micro-batch.
        input_rows_per_second: Rows that arrived, per second; None if Spark reports no rate.
        processed_rows_per_second: Rows that were processed, per second; None if Spark reports no rate.
        backlog: Messages left of all topic partitions, as the trigger found it at its begin.
        partitions_behind: Number of topic partitions with messages left; None if it is not known.
        worst_partition: Full name of the partition that is furthest behind; None if none is.
        worst: Messages left of that partition; None if none is behind.
        entries_by_level: Number of stored entries read, by level.
        bytes_by_level: Stored bytes read, by level.
        rows_by_level: Number of rows read, by level.
        decode_errors: Number of messages that did not decode.
        reconnects: Number of times that a reader connected to a broker again.
        lost_ranges: Number of ranges of messages that were lost, with ``failOnDataLoss=false``.
        losses: The newest of them: condition, topic, from, to and reason of each.
        latency: Time from messages to rows in this batch; None in micro-batches, and in a batch without messages.
        start: Positions where this micro-batch starts.
        end: Positions where it ends.
        latest: Positions of the last messages.
        metrics: All metrics of the source as Spark reports them.
    """

    description: str
    rows: int
    input_rows_per_second: float | None
    processed_rows_per_second: float | None
    backlog: Backlog
    partitions_behind: int | None
    worst_partition: str | None
    worst: Backlog | None
    entries_by_level: Mapping[str, int]
    bytes_by_level: Mapping[str, int]
    rows_by_level: Mapping[str, int]
    decode_errors: int
    reconnects: int
    lost_ranges: int
    losses: tuple[Mapping[str, str], ...]
    latency: Latency | None
    start: Mapping[str, str]
    end: Mapping[str, str]
    latest: Mapping[str, str]
    metrics: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class QueryProgress:
    """One report of a query. ``print`` and notebooks show a table.

    Attributes:
        id: The id of the query, the same after a restart.
        run_id: The id of this run.
        name: The name of the query; None if it has none.
        time: Start of the trigger, an aware `datetime`.
        batch_id: The number of the micro-batch.
        rows: Number of rows of the micro-batch, of all sources.
        seconds: Duration of the trigger in seconds.
        sources: The Pulsar sources; others are omitted.
    """

    id: str
    run_id: str
    name: str | None
    time: datetime
    batch_id: int
    rows: int
    seconds: float
    sources: tuple[SourceProgress, ...]

    @property
    def label(self) -> str:
        """The name of the query, or its id."""
        return self.name or self.id

    def __str__(self) -> str:
        return views.text(self)

    def _repr_html_(self) -> str:
        return views.html(self)


def parse(progress: Mapping[str, Any] | str) -> QueryProgress:
    """Read a progress as Spark reports it, classic or Connect.

    Args:
        progress: An element of ``query.recentProgress``, ``query.lastProgress``, the ``progress`` of an event of a
            listener, or the JSON text of one.

    Returns:
        The progress as typed values.

    Raises:
        PulsarOptionError: This is not the progress of a query.

    Examples:
        >>> parse(query.lastProgress).sources[0].backlog.messages
        0
    """
    try:
        fields = json.loads(progress) if isinstance(progress, str) else progress
        every = list(fields["sources"])
        rows = fields.get("numInputRows")
        return QueryProgress(
            id=str(fields["id"]),
            run_id=str(fields["runId"]),
            name=fields["name"],
            time=iso_time(str(fields["timestamp"])),
            batch_id=int(fields["batchId"]),
            rows=int(rows if rows is not None else sum(source["numInputRows"] for source in every)),
            seconds=int(fields.get("batchDuration") or 0) / 1000,
            sources=tuple(_source(source) for source in every if _is_pulsar(source)),
        )
    except _MALFORMED as error:
        raise PulsarOptionError("PULSAR_PROGRESS_MALFORMED", why=f"{type(error).__name__}: {error}") from error


def _is_pulsar(source: Mapping[str, Any]) -> bool:
    return "pulsarDataLoss" in _metrics(source)


def _metrics(source: Mapping[str, Any]) -> Mapping[str, str]:
    return source.get("metrics") or {}


def _source(source: Mapping[str, Any]) -> SourceProgress:
    metrics = _metrics(source)
    worst = metrics.get("pulsarWorstPartition")
    return SourceProgress(
        description=str(source["description"]),
        rows=int(source["numInputRows"]),
        input_rows_per_second=_rate(source.get("inputRowsPerSecond")),
        processed_rows_per_second=_rate(source.get("processedRowsPerSecond")),
        backlog=_backlog(metrics, "pulsarBacklog"),
        partitions_behind=_number(metrics, "pulsarPartitionsBehind"),
        worst_partition=worst,
        worst=_backlog(metrics, "pulsarWorstPartition") if worst else None,
        entries_by_level=_by_level(metrics, "Entries"),
        bytes_by_level=_by_level(metrics, "Bytes"),
        rows_by_level=_by_level(metrics, "Rows"),
        decode_errors=_number(metrics, "pulsarDecodeErrors") or 0,
        reconnects=_number(metrics, "pulsarReconnects") or 0,
        lost_ranges=_number(metrics, "pulsarDataLoss") or 0,
        losses=tuple(json.loads(metrics.get("pulsarDataLossRanges", "[]"))),
        latency=_latency(metrics),
        start=_positions(source.get("startOffset")),
        end=_positions(source.get("endOffset")),
        latest=_positions(source.get("latestOffset")),
        metrics=dict(metrics),
    )


def _backlog(metrics: Mapping[str, str], name: str) -> Backlog:
    age = _number(metrics, f"{name}Ms")
    return Backlog(
        entries=_number(metrics, f"{name}Entries"),
        messages=_number(metrics, f"{name}MessagesEstimate"),
        bytes=_number(metrics, f"{name}BytesEstimate"),
        seconds=None if age is None else age / 1000,
    )


def _latency(metrics: Mapping[str, str]) -> Latency | None:
    times = [_number(metrics, f"pulsarLatency{name}Ms") for name in ("P50", "P99", "Max")]
    known = [time / 1000 for time in times if time is not None]
    return Latency(*known) if len(known) == len(times) else None


def _by_level(metrics: Mapping[str, str], what: str) -> dict[str, int]:
    return {level: _number(metrics, f"pulsar{word}{what}") or 0 for level, word in LEVELS.items()}


def _number(metrics: Mapping[str, str], name: str) -> int | None:
    """None also for the text that the connector has for an unknown number."""
    text = metrics.get(name)
    return None if text is None or text == "unknown" else int(text)


def _rate(value: float | str | None) -> float | None:
    """Spark has NaN and infinity where it cannot divide, and JSON has neither."""
    rate = math.nan if value is None else float(value)
    return rate if math.isfinite(rate) else None


def _positions(offset: Mapping[str, Any] | str | None) -> Mapping[str, str]:
    """The positions of an offset, which is JSON, or a part of the JSON of a progress."""
    parsed = _object(offset) if isinstance(offset, str) and offset.startswith("{") else offset
    positions = parsed.get("positions") if isinstance(parsed, dict) else None
    return dict(_flat(positions)) if isinstance(positions, dict) else {}


def _object(text: str) -> object:
    """The object of a text: JSON, or Python's own form, which listeners of Spark Connect 4.0 and 4.1 receive."""
    try:
        return json.loads(text)
    except ValueError:
        return ast.literal_eval(text)


def _flat(positions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each full name of a topic partition with its position.

    Version 1 of the JSON has these. Version 2 has levels: namespace, topic, and number of the partition, which is empty
    for a topic without partitions that has the name of a partitioned one. As `PartitionNames` in the connector.
    """
    for prefix, topics in positions.items():
        if not isinstance(topics, dict):
            yield prefix, topics
            continue
        for topic, partitions in topics.items():
            if not isinstance(partitions, dict):
                yield prefix + topic, partitions
                continue
            for number, position in partitions.items():
                yield (f"{prefix}{topic}-partition-{number}" if number else prefix + topic), position
