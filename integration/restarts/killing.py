"""Streams whose driver fails or is killed at one step of a micro-batch, and what each of their batches read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.spark.submitting import compiled
from support.topics.reading import Batches, Seen, read_available, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

_HERE = Path(__file__).parent
_CLASS = "restarts.HaltingFileSystem"
_SECONDS = 600
KILLED = 137
FAULT = "restarts.fault"
_HELD = "restarts.held"
SETTINGS = {"spark.hadoop.fs.halting.impl": _CLASS}


@dataclass(frozen=True)
class Jars:
    """What a driver of its own needs.

    Attributes:
        connector: The packaged connector.
        halting: The file system that fails or halts.
        others: Further ones.
    """

    connector: Path
    halting: Path
    others: tuple[Path, ...] = ()

    @property
    def words(self) -> list[str]:
        """Spark's settings for jars and for the driver's class path."""
        return [",".join(map(str, (self.connector, *self.others))), str(self.halting)]


class Files(Batches):
    """A sink that keeps the rows of each batch in a file of its own. A batch that is run again must have the same."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        folder.mkdir(exist_ok=True)
        for file in folder.glob("batch-*.json"):
            rows = [Seen(topic, position, text.encode()) for topic, position, text in json.loads(file.read_text())]
            self.by_id[int(file.stem.partition("-")[2])] = rows

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        super().__call__(frame, batch_id)
        rows = [(one.topic, one.position, (one.payload or b"").decode()) for one in self.by_id[batch_id]]
        part = self._folder / f"batch-{batch_id}.part"
        part.write_text(json.dumps(rows))
        part.rename(part.with_suffix(".json"))


@dataclass(frozen=True)
class Stream:
    """A stream with a sink, in a folder of its own.

    Attributes:
        service_url: The address of the brokers.
        folder: Where the sink is.
        options: Those of the data source.
        checkpoint: Its URL, if it is not in the folder as well.
        conf: Settings that a driver of its own needs for the checkpoint.
    """

    service_url: str
    folder: Path
    options: dict[str, str]
    checkpoint: str = ""
    conf: dict[str, str] = field(default_factory=dict)

    def run(self, spark: SparkSession) -> Files:
        """Read what is there; returns all that the stream has read so far."""
        return self._run(spark, "value")

    def run_counted(self, spark: SparkSession) -> None:
        """Read what is there; a driver can be killed at a row."""
        self._run(spark, f"encode(java_method('{_CLASS}', 'row', decode(value, 'UTF-8')), 'UTF-8') as value")

    def _run(self, spark: SparkSession, value: str) -> Files:
        sink = Files(self.folder / "sink")
        frame = stream(spark, self.service_url, startingOffsets="earliest", **self.options)
        checkpoint = self.checkpoint or f"halting:{self.folder}/checkpoint"
        read_available(frame.selectExpr("__topic", "__position", value), checkpoint, sink)
        return sink

    def run_and_kill(self, jars: Jars, fault: str) -> None:
        """Run in a driver of its own, which must halt at the step."""
        task = {**asdict(self), "folder": str(self.folder)}
        log = self.folder / "driver.log"
        self.folder.mkdir(exist_ok=True)
        command = [sys.executable, str(_HERE / "driver.py"), json.dumps(task), *jars.words, f"halt {fault}"]
        with log.open("w") as out:
            code = subprocess.run(
                command,
                stdout=out,
                stderr=out,
                timeout=_SECONDS,
                check=False,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            ).returncode
        assert code == KILLED, f"the driver ended with {code} and was not killed at: {fault}\n{log.read_text()[-3000:]}"


def halting_jar(folder: Path) -> Path:
    """The file system that fails or halts, compiled."""
    return compiled({_CLASS: (_HERE / "HaltingFileSystem.java").read_text()}, folder / "halting.jar")


@contextmanager
def added_halting(spark: SparkSession, jar: Path) -> Iterator[None]:
    """Makes the file system known to a session that runs."""
    jvm: Any = spark.sparkContext._jvm
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    urls = spark.sparkContext._gateway.new_array(jvm.java.net.URL, 1)  # type: ignore[union-attr]
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    before = hadoop.getClassLoader()
    hadoop.setClassLoader(jvm.java.net.URLClassLoader(urls, before))
    for name, value in SETTINGS.items():
        hadoop.set(name.removeprefix("spark.hadoop."), value)
    yield
    hadoop.setClassLoader(before)


@contextmanager
def failing_at(spark: SparkSession, fault: str) -> Iterator[None]:
    """The query that runs inside fails at the step."""
    with surviving(spark, fault), pytest.raises(Exception, match=f"a fault of the test {fault.split()[0]}"):
        yield


@contextmanager
def surviving(spark: SparkSession, fault: str) -> Iterator[None]:
    """The file system fails once at the step, which the query that runs inside reaches."""
    jvm: Any = spark.sparkContext._jvm
    jvm.java.lang.System.setProperty(FAULT, f"fail {fault}")
    yield
    assert jvm.java.lang.System.getProperty(FAULT) is None, f"{fault} was not reached"


@contextmanager
def holding(spark: SparkSession, fault: str) -> Iterator[Callable[[], bool]]:
    """The file system waits at the step until the block ends. Yields whether it does."""
    jvm: Any = spark.sparkContext._jvm
    system = jvm.java.lang.System
    system.setProperty(FAULT, f"hold {fault}")
    try:
        yield lambda: system.getProperty(_HELD) is not None
    finally:
        system.clearProperty(FAULT)
        system.clearProperty(_HELD)
