"""Writes that an executor is lost in the middle of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from executors.hosts import Attempts
from waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from executors.hosts import Executors
    from pyspark.sql import DataFrame
    from writing import Target

_JOB_SECONDS = 120


def slow_rows(target: Target, first: int, count: int, *, milliseconds: int = 2) -> DataFrame:
    """Numbers in two partitions, each row of which takes its time."""
    pause = f"java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', {milliseconds}000000L)"
    rows = target.spark.range(first, first + count, 1, 2)
    return rows.selectExpr(f"if({pause} is null, string(id), string(id)) as value")


def write_without(
    fault: str, target: Target, executors: Executors, topic: str, count: int, options: Mapping[str, str] | None = None
) -> None:
    """Write numbers to a new topic by two executors, one of which is `killed` or `frozen` meanwhile.

    Its task must run a second time.
    """
    victim = executors.both()[0]
    # A new executor may take longer to begin than an old one to end. And what Spark needs to run a task is copied from
    # executor to executor: one that has not begun would wait for a frozen one.
    target.append(slow_rows(target, 0, 100), f"{topic}-first")
    attempts = Attempts(target.spark)
    target.admin.create_topic(topic)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(target.append, slow_rows(target, 0, count, milliseconds=4), topic, options)
        eventually(lambda: _both_send(target, topic) or job.done(), seconds=_JOB_SECONDS)
        assert not job.done(), f"the job was over too early: {job}"
        if fault == "killed":
            victim.kill()
            job.result(timeout=_JOB_SECONDS)
        else:  # a second copy of its task ends first; then the first one goes on
            with victim.frozen():
                job.result(timeout=_JOB_SECONDS)
    eventually(lambda: (attempts.failed if fault == "killed" else attempts.speculative) >= 1)


def _both_send(target: Target, topic: str) -> bool:
    stats = target.admin.stats(topic)
    return len(stats["publishers"]) == 2 and int(stats["msgInCounter"]) > 100
