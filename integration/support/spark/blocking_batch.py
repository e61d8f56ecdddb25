"""Reads that block in the middle, so that a fault happens during the read on any machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.functions import col, udf
from pyspark.sql.types import BinaryType

from support.spark.settings import session_settings
from support.spark.waiting import eventually
from support.topics.reading import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import DataFrame

    from support.topics.reading import Seen

# A blocked task has taken one row, those that the sockets between Spark and Python hold, and one that waits for them.
# Linux lets sockets grow to 36 MB, which are 180 rows; groups of 100, as Spark has them by itself, would be up to 400.
_ONE_BY_ONE = {"spark.sql.execution.python.udf.maxRecordsPerBatch": "1"}
LARGE = b"x" * 200_000
TAKEN_AT_MOST = 300


@dataclass(frozen=True)
class BlockedBatch:
    """A read whose tasks wait in a Python function."""

    rows: Future[list[Seen]]
    _gate: Path

    def release(self) -> None:
        self._gate.touch()


@contextmanager
def blocking_batch(frame: DataFrame, folder: Path, *, tasks: int = 1) -> Iterator[BlockedBatch]:
    """Start a read of plain bytes and block it. Messages must be `LARGE`, so that most are still unread.

    Args:
        frame: The read.
        folder: An empty folder.
        tasks: The number of tasks to block.
    """
    gate = folder / "gate"
    with session_settings(frame.sparkSession, _ONE_BY_ONE), ThreadPoolExecutor(1) as pool:
        rows = pool.submit(read_rows, frame.withColumn("value", held_until(gate, folder)))
        try:
            eventually(lambda: len(held_tasks(folder)) >= tasks or rows.done())
            assert not rows.done(), f"the read ended before it was blocked: {rows}"
            yield BlockedBatch(rows, gate)
        finally:
            gate.touch()


def held_until(gate: Path, folder: Path, *, free: bytes = b""):  # type: ignore[no-untyped-def]  # noqa: ANN201 - a Column
    """The column `value` of bytes, whose rows wait until the gate exists.

    Args:
        gate: A file.
        folder: Where a task that waits leaves a file, `reached-` and the number of its partition.
        free: A value that does not wait. Rows must be `LARGE`, for those before a waiting one to be passed on.
    """
    return udf(_passing(str(gate), str(folder), free), BinaryType(), useArrow=False)(col("value")).alias("value")


def held_tasks(folder: Path) -> list[Path]:
    """The files of the tasks that wait in such a column, or did."""
    return list(folder.glob("reached-*"))


def _passing(gate: str, folder: str, free: bytes) -> Callable[[bytearray | None], bytearray | None]:
    # Everything it needs is inside: the worker that runs it knows no module of the tests.
    def passing(value: bytearray | None) -> bytearray | None:
        import time
        from pathlib import Path

        from pyspark import TaskContext

        if free and bytes(value or b"") == free:
            return value
        task = TaskContext.get()
        assert task is not None
        Path(folder, f"reached-{task.partitionId()}").touch()
        deadline = time.monotonic() + 600
        while not Path(gate).exists():
            assert time.monotonic() < deadline, "the rows were not released"
            time.sleep(0.02)
        return value

    return passing
