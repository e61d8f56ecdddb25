"""The progress of queries as a table: for a terminal and for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pulsar_spark._grid import in_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pulsar_spark.progress.records import Backlog, QueryProgress, SourceProgress

_HEAD = ("source", "rows/s", "backlog", "size", "age", "behind", "worst partition", "levels", "lost")
_UNKNOWN = "unknown"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def text(progress: QueryProgress) -> str:
    """A line of the query, and a table with a line for each source."""
    columns = list(zip(_HEAD, *_rows(progress), strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([summary(progress), lines[0], rule, *lines[1:]])


def html(progress: QueryProgress) -> str:
    """The table of `text` as HTML, for a notebook."""
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _rows(progress))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{escape(summary(progress))}</div>{table}"


def summary(progress: QueryProgress) -> str:
    """One line: the query, its micro-batch, and the backlog of each source."""
    behind = ", ".join(count(source.backlog.messages) for source in progress.sources)
    parts = [
        f"query {progress.label}",
        f"micro-batch {progress.batch_id:,}",
        f"{progress.rows:,} rows in {progress.seconds:,.1f} s",
        f"{behind} messages behind" if behind else "no Pulsar source",
    ]
    return " | ".join(parts)


def _rows(progress: QueryProgress) -> list[tuple[str, ...]]:
    return [_cells(label, source) for label, source in zip(labels(progress.sources), progress.sources, strict=True)]


def _cells(label: str, source: SourceProgress) -> tuple[str, ...]:
    rate = source.processed_rows_per_second
    return (
        label,
        "-" if rate is None else f"{rate:,.0f}",
        f"{count(source.backlog.messages)} messages",
        size(source.backlog.bytes),
        age(source.backlog.seconds),
        count(source.partitions_behind),
        _worst(source.worst_partition, source.worst),
        " ".join(f"{level} {rows:,}" for level, rows in source.rows_by_level.items() if rows) or "-",
        f"{source.lost_ranges:,}",
    )


def _worst(name: str | None, backlog: Backlog | None) -> str:
    if name is None or backlog is None:
        return "-"
    return f"{name.removeprefix('persistent://')}: {count(backlog.messages)}"


def count(number: int | None) -> str:
    """A number of messages; a backlog is an estimate, 0 is exact."""
    return _UNKNOWN if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """A number of bytes."""
    return _UNKNOWN if number is None else in_bytes(number)


def age(seconds: float | None) -> str:
    """A duration."""
    if seconds is None:
        return _UNKNOWN
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h" if seconds < _DAY else f"{seconds / _DAY:.1f} d"


def labels(sources: Iterable[SourceProgress]) -> list[str]:
    """A name for each source of a query; of equal ones, the later have a number."""
    seen: dict[str, int] = {}
    result = []
    for source in sources:
        count = seen[source.description] = seen.get(source.description, 0) + 1
        result.append(source.description if count == 1 else f"{source.description} #{count}")
    return result
