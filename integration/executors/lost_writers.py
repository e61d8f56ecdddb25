"""Writes that an executor is lost in the middle of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from executors.hosts import Attempts

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from executors.hosts import Executors
    from pyspark.sql import DataFrame

    from support.topics.messages import Received
    from support.topics.writing import Target

_JOB_SECONDS = 300
_TRIES = 5


def slow_rows(target: Target, first: int, count: int, *, milliseconds: int = 2) -> DataFrame:
    """Numbers in two partitions, each row of which takes its time. A key has ascending numbers of one partition."""
    pause = f"java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', {milliseconds}000000L)"
    rows = target.spark.range(first, first + count, 1, 2)
    key = "concat(spark_partition_id(), '-', id % 7) as __key"
    return rows.selectExpr(f"if({pause} is null, string(id), string(id)) as value", key)


def assert_ordered(messages: Iterable[Received]) -> None:
    """The numbers of each key ascend; of those that came again, the first ones do."""
    by_key: dict[str, dict[int, None]] = {}
    for message in messages:
        by_key.setdefault(message.key, {})[int(message.payload)] = None
    assert len(by_key) > 1
    for key, numbers in by_key.items():
        assert list(numbers) == sorted(numbers), f"the rows of the key {key} are in another order"


def write_without(
    fault: str, target: Target, executors: Executors, topic: str, count: int, options: Mapping[str, str] | None = None
) -> str:
    """Write numbers by two executors, one of which is `killed` or `frozen` meanwhile: its task runs a second time.

    A new executor may take longer to begin than an old one to end, and what Spark needs to run a task is copied from
    executor to executor: one that has not begun would wait for a frozen one. So the write begins again, in another
    topic, until both executors send at the same time.

    Returns:
        The topic of the last write, whose name begins with `topic`.
    """
    with ThreadPoolExecutor(1) as pool:
        for turn in range(_TRIES):
            victim, attempts = executors.both()[0], Attempts(target.spark)
            name = f"{topic}-{turn}"
            target.admin.create_topic(name)
            job = pool.submit(target.append, slow_rows(target, 0, count, milliseconds=4), name, options)
            eventually(lambda name=name, job=job: _both_send(target, name) or job.done(), seconds=_JOB_SECONDS)  # type: ignore[misc]
            if not job.done():
                break
            job.result()
        assert not job.done(), f"in {_TRIES} writes two executors never sent at the same time"
        if fault == "killed":
            victim.kill()
            job.result(timeout=_JOB_SECONDS)
        else:  # a second copy of its task ends first; then the first one goes on
            with victim.frozen():
                job.result(timeout=_JOB_SECONDS)
    eventually(lambda: (attempts.failed if fault == "killed" else attempts.speculative) >= 1)
    return name


def _both_send(target: Target, topic: str) -> bool:
    stats = target.admin.stats(topic)
    return len(stats["publishers"]) == 2 and int(stats["msgInCounter"]) > 100
