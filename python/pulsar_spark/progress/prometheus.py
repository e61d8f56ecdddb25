"""The progress of queries as lines for Prometheus, in its text format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pulsar_spark.progress.views import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pulsar_spark.progress.records import Backlog, QueryProgress, SourceProgress

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The type of the lines in HTTP."""


@dataclass(frozen=True)
class _Metric:
    kind: Literal["counter", "gauge"]
    help: str


METRICS: Mapping[str, _Metric] = {
    "pulsar_spark_backlog_entries": _Metric("gauge", "Stored entries left to read. Missing when not known."),
    "pulsar_spark_backlog_messages": _Metric("gauge", "Estimated messages left to read. Missing when not known."),
    "pulsar_spark_backlog_bytes": _Metric("gauge", "Estimated stored bytes left to read. Missing when not known."),
    "pulsar_spark_backlog_seconds": _Metric(
        "gauge", "Time since the message read last was published, 0 with nothing left to read. Missing when not known."
    ),
    "pulsar_spark_partitions_behind": _Metric("gauge", "Topic partitions with messages left. Missing when not known."),
    "pulsar_spark_worst_partition_backlog_entries": _Metric("gauge", "The same of the partition furthest behind."),
    "pulsar_spark_worst_partition_backlog_messages": _Metric("gauge", "The same of the partition furthest behind."),
    "pulsar_spark_worst_partition_backlog_bytes": _Metric("gauge", "The same of the partition furthest behind."),
    "pulsar_spark_worst_partition_backlog_seconds": _Metric("gauge", "The same of the partition furthest behind."),
    "pulsar_spark_rows_total": _Metric("counter", "Rows read since the query started, by level."),
    "pulsar_spark_read_entries_total": _Metric("counter", "Stored entries read since the query started, by level."),
    "pulsar_spark_read_bytes_total": _Metric("counter", "Stored bytes read since the query started, by level."),
    "pulsar_spark_lost_ranges_total": _Metric("counter", "Ranges of messages lost since the query started."),
    "pulsar_spark_decode_errors_total": _Metric("counter", "Messages that did not decode since the query started."),
    "pulsar_spark_reconnects_total": _Metric("counter", "Reconnects of readers since the query started."),
    "pulsar_spark_input_rows_per_second": _Metric("gauge", "Rate at which rows arrived."),
    "pulsar_spark_processed_rows_per_second": _Metric("gauge", "Rate at which rows were processed."),
    "pulsar_spark_latency_seconds": _Metric(
        "gauge", "Time from messages to rows in a batch of real-time mode. Missing without messages."
    ),
    "pulsar_spark_batch_id": _Metric("gauge", "Number of the last micro-batch."),
    "pulsar_spark_batch_duration_seconds": _Metric("gauge", "Duration of the last trigger."),
    "pulsar_spark_progress_timestamp_seconds": _Metric("gauge", "When the last trigger started, since 1970."),
}
"""All metrics, by name."""

_Sample = tuple[str, "Mapping[str, str]", float | None]


def prometheus_lines(progresses: Iterable[QueryProgress]) -> str:
    """The newest progresses in Prometheus' text format, with ``# HELP`` and ``# TYPE``.

    A figure that is not known has no line, so it is never 0. Queries without a Pulsar source have no lines.

    Args:
        progresses: One of each query; of several with the same name, or without a name the same id, the latest counts.

    Returns:
        The lines, each with its line break.

    Raises:
        AttributeError: An element is not a `QueryProgress`.

    Examples:
        >>> print(prometheus_lines(history(query)[-1:]))
        # HELP pulsar_spark_backlog_messages Estimated messages left to read. Missing when not known.
        # TYPE pulsar_spark_backlog_messages gauge
        pulsar_spark_backlog_messages{query="clicks",source="Pulsar[clicks]"} 0
    """
    newest: dict[str, QueryProgress] = {}
    for progress in sorted(progresses, key=lambda one: one.time):
        if progress.sources:
            newest[progress.label] = progress
    by_name: dict[str, list[str]] = {name: [] for name in METRICS}
    for progress in newest.values():
        for name, names, value in _samples(progress):
            if value is not None:
                by_name[name].append(f"{name}{_labels(names)} {value:.15g}\n")
    return "".join(
        f"# HELP {name} {METRICS[name].help}\n# TYPE {name} {METRICS[name].kind}\n{''.join(lines)}"
        for name, lines in by_name.items()
        if lines
    )


def _samples(progress: QueryProgress) -> Iterator[_Sample]:
    query = {"query": progress.label}
    yield "pulsar_spark_batch_id", query, progress.batch_id
    yield "pulsar_spark_batch_duration_seconds", query, progress.seconds
    yield "pulsar_spark_progress_timestamp_seconds", query, progress.time.timestamp()
    for label, source in zip(labels(progress.sources), progress.sources, strict=True):
        yield from _of_source({**query, "source": label}, source)


def _of_source(names: Mapping[str, str], source: SourceProgress) -> Iterator[_Sample]:
    yield from _of_backlog("pulsar_spark_backlog", names, source.backlog)
    yield "pulsar_spark_partitions_behind", names, source.partitions_behind
    if source.worst is not None and source.worst_partition is not None:
        partition = {**names, "partition": source.worst_partition}
        yield from _of_backlog("pulsar_spark_worst_partition_backlog", partition, source.worst)
    for level in source.rows_by_level:
        of_level = {**names, "level": level}
        yield "pulsar_spark_rows_total", of_level, source.rows_by_level[level]
        yield "pulsar_spark_read_entries_total", of_level, source.entries_by_level[level]
        yield "pulsar_spark_read_bytes_total", of_level, source.bytes_by_level[level]
    yield "pulsar_spark_lost_ranges_total", names, source.lost_ranges
    yield "pulsar_spark_decode_errors_total", names, source.decode_errors
    yield "pulsar_spark_reconnects_total", names, source.reconnects
    yield "pulsar_spark_input_rows_per_second", names, source.input_rows_per_second
    yield "pulsar_spark_processed_rows_per_second", names, source.processed_rows_per_second
    if source.latency is not None:
        times = {"0.5": source.latency.median, "0.99": source.latency.p99, "1": source.latency.longest}
        for quantile, seconds in times.items():
            yield "pulsar_spark_latency_seconds", {**names, "quantile": quantile}, seconds


def _of_backlog(name: str, names: Mapping[str, str], backlog: Backlog) -> Iterator[_Sample]:
    yield f"{name}_entries", names, backlog.entries
    yield f"{name}_messages", names, backlog.messages
    yield f"{name}_bytes", names, backlog.bytes
    yield f"{name}_seconds", names, backlog.seconds


def _labels(names: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in names.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
