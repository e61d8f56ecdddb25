"""One query at both read levels: through the broker, and directly from bookies."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulsar_spark import plan, read_pulsar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, Row, SparkSession

    from pulsar_spark.demo.report import Report
    from pulsar_spark.options import ReadLevel

_LEVELS: tuple[ReadLevel, ...] = ("broker", "segment")
_ROUNDS = 3


@dataclass(frozen=True)
class _Answer:
    seconds: float
    rows: list[Row]


def compare(
    spark: SparkSession, report: Report, topic: str, rows: int, question: Callable[[DataFrame], DataFrame]
) -> dict[str, Any]:
    """Run the query in turns, since both levels share the machine with other processes; returns the rates."""
    report.line(f"\nThe plan of a direct read of `{topic}`:\n")
    for line in str(plan(read_pulsar(spark, topic, level="segment"))).splitlines():
        report.line(f"    {line}")
    report.line()
    answers: dict[ReadLevel, list[_Answer]] = {level: [] for level in _LEVELS}
    with report.step(f"The same query at both levels, {_ROUNDS} times in turn"):
        for _ in range(_ROUNDS):
            for level in _LEVELS:
                answers[level].append(_ask(question(read_pulsar(spark, topic, level=level))))
    seconds = {level: statistics.median(one.seconds for one in answers[level]) for level in _LEVELS}
    report.table(
        ("read level", "rows/s", "seconds", "tasks", "read from"),
        [
            (level, f"{rows / seconds[level]:,.0f}", f"{seconds[level]:.2f}", *_where(spark, topic, level))
            for level in _LEVELS
        ],
    )
    by_broker, by_segments = (answers[level][-1].rows for level in _LEVELS)
    same = sum(one == other for one, other in zip(by_broker, by_segments, strict=False))
    report.check("rows of the answer that are the same at both levels", expected=len(by_broker), found=same)
    return {level: {"seconds": seconds[level], "rows_per_second": round(rows / seconds[level])} for level in _LEVELS}


def _ask(question: DataFrame) -> _Answer:
    begin = time.monotonic()
    rows = question.collect()
    return _Answer(time.monotonic() - begin, rows)


def _where(spark: SparkSession, topic: str, level: ReadLevel) -> tuple[str, str]:
    made = plan(read_pulsar(spark, topic, level=level))
    return str(len(made.tasks)), " and ".join(made.totals)
