"""A server, Sparks and places for checkpoints, and what the queries of `checkpoints.md` do with them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.arena import compiled, local_pulsar
from benchmarks.checkpoints.page import LEDGER_ENTRIES
from benchmarks.run import say
from benchmarks.streams.queries import Queries
from pulsar_spark import jar_path
from pulsar_spark.testing import eventually
from support.servers.admin import Admin
from support.spark.settings import STORES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack
    from pathlib import Path

Place = Literal["topic", "local", "plain"]
PLACES: tuple[Place, ...] = ("topic", "local", "plain")
_NAMESPACE = "public/stores"
_CLUSTER = "local-cluster[2,1,1536]"
_EXECUTORS = 2
_STATE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PLAIN_MANAGER = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "20000",
    "spark.sql.streaming.stateStore.providerClass": _STATE,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
_OFTEN = {
    "spark.sql.streaming.stateStore.maintenanceInterval": "5s",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "5",
}
_SNAPSHOT_SECONDS = 180


@dataclass(frozen=True)
class Restart:
    """A query that starts again in a new JVM: seconds until its first micro-batch is committed, and what that took."""

    seconds: float
    tasks: float


@dataclass(frozen=True)
class Wide:
    """Bytes for each trigger: what all tasks and the driver wrote, and what each JVM read, on the average."""

    seconds: float
    written: float
    read: float


class Stage:
    """A server whose ledgers are small, so that it has deleted many of them within a thousand micro-batches."""

    def __init__(self, work: Path, stack: ExitStack) -> None:
        """Start the server.

        Args:
            work: A folder for logs and local checkpoints.
            stack: Stops it.
        """
        self._work, self._numbers = work, itertools.count()
        small = {"managedLedgerMaxEntriesPerLedger": str(LEDGER_ENTRIES)}
        config = {**small, "managedLedgerMinLedgerRolloverTimeMinutes": "0"}
        self._server = stack.enter_context(local_pulsar(config=config))
        self._classes = compiled(work)
        self._admin = Admin(self._server.admin_url)
        self._admin.create_namespace(_NAMESPACE)
        self._admin.set_retention(_NAMESPACE, minutes=0, megabytes=0)

    def checkpoint(self, place: Place) -> str:
        """A new folder."""
        name = f"query{next(self._numbers)}"
        return f"pulsar-fs://{_NAMESPACE}/{name}/query" if place == "topic" else str(self._work / name)

    @contextmanager
    def spark(self, place: Place, *, master: str = "local[2]", **more: str) -> Iterator[Queries]:
        """A new process whose checkpoints are in one place."""
        number = next(self._numbers)
        file, log = self._work / f"settings-{number}", self._work / f"spark-{number}.log"
        settings = {**_SETTINGS, **more, "spark.master": master, "spark.jars": str(jar_path())}
        if place == "topic":
            urls = {"service.url": self._server.service_url, "admin.url": self._server.admin_url}
            settings |= {f"spark.hadoop.{name}": value for name, value in STORES.items()}
            settings |= {f"spark.hadoop.pulsar-fs.{name}": value for name, value in urls.items()}
        elif place == "plain":
            settings["spark.sql.streaming.checkpointFileManagerClass"] = _PLAIN_MANAGER
            settings["spark.hadoop.fs.file.impl"] = "PlainFiles"
            settings["spark.driver.extraClassPath"] = str(self._classes)
        file.write_text(json.dumps(settings), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.checkpoints.query", str(file)]
        pipe = subprocess.PIPE
        with (
            log.open("w", encoding="utf-8") as errors,
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True) as process,
        ):
            yield Queries(process, log)
            assert process.stdin is not None
            process.stdin.close()

    def restart(self, place: Place, keys: int, batches: int) -> Restart:
        """Fill the state of a query with keys, and start it again in another JVM, from a snapshot with all of them."""
        folder = self.checkpoint(place)
        with self.spark(place, **_OFTEN) as spark:
            spark.ask("begin", "grow", folder, keys // batches, 0)
            spark.ask("reach", batches - 1)
            filled = spark.ask("end")[-1][0]
            # Spark makes a snapshot of state a while later, and only if the query runs
            spark.ask("begin", "grow", folder, 10, 1)
            spark.ask("reach", filled + 1)
            eventually(lambda: min(spark.ask("snapshots", folder), default=0) > filled, seconds=_SNAPSHOT_SECONDS)
            last = spark.ask("end")[-1][0]
        with self.spark(place) as spark:
            spark.ask("begin", "counts-10", self.checkpoint(place), 10, 0)
            spark.ask("reach", 2)
            spark.ask("end")
            began = spark.ask("begin", "grow", folder, 10, 0)
            ended = spark.ask("reach", last + 1)
            first = next(one for one in spark.ask("end") if one[0] > last)
        found = Restart(ended - began, first[3] / 1000)
        say(f"{place}: again after {found.seconds:.1f} s")
        return found

    def growth(self, kind: str, batches: int, samples: int) -> list[tuple[int, int, int]]:
        """What a query keeps after more and more micro-batches.

        Args:
            kind: Of the query.
            batches: How many micro-batches it runs.
            samples: How often it is looked.

        Returns:
            The micro-batch, the bytes that the server stores, and those of the files there are.
        """
        folder, found = self.checkpoint("topic"), []
        with self.spark("topic") as spark:
            spark.ask("begin", kind, folder, 1000, 0)
            for sample in range(1, samples + 1):
                spark.ask("reach", batches * sample // samples)
                batch, files = spark.ask("files", folder)
                found.append((batch, self._stored(folder), files))
                say(f"{kind}: {found[-1][1] / 1e6:.2f} MB after {batch} micro-batches")
            spark.ask("end")
        return found

    def wide(self, partitions: int, batches: int, inline: str) -> Wide:
        """What executors read and write with many partitions of state and a trigger each second.

        Args:
            partitions: Of state.
            batches: How many triggers are counted.
            inline: Size of the largest content in the log itself.
        """
        folder = self.checkpoint("topic")
        more = {"spark.sql.shuffle.partitions": str(partitions), "spark.executor.memory": "1536m"}
        more["spark.hadoop.pulsar-fs.inlineBytes"] = inline
        with self.spark("topic", master=_CLUSTER, **more) as spark:
            spark.ask("begin", "counts-1000000", folder, 200000, 1)
            began = spark.ask("reach", 1)
            before = self._traffic(folder)
            took = spark.ask("reach", 1 + batches) - began
            after = self._traffic(folder)
            spark.ask("end")
        written, read = ((now - then) / batches for now, then in zip(after, before, strict=True))
        found = Wide(took / batches, written, read / (1 + _EXECUTORS))
        say(f"contents up to {inline} in the log: {found}")
        return found

    def _topics(self, folder: str) -> list[str]:
        store = folder.split("/")[-2]
        return [name for name in self._admin.topics(_NAMESPACE) if f"-{store}-" in f"{name}-"]

    def _traffic(self, folder: str) -> tuple[int, int]:
        stats: list[Any] = [self._admin.stats(topic) for topic in self._topics(folder)]
        return sum(one["bytesInCounter"] for one in stats), sum(one["bytesOutCounter"] for one in stats)

    def _stored(self, folder: str) -> int:
        return sum(int(self._admin.stats(topic)["storageSize"]) for topic in self._topics(folder))
