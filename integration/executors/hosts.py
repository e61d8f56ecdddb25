"""A standalone Spark cluster of two hosts, both on this machine, and its executors.

Master and workers run in the driver's JVM, as they do for ``local-cluster``. That has one host only, and Spark places
the second copy of a slow task on another one.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import SparkConf, SparkContext

from support.runs import spark_jvm
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

HOSTS = ("127.0.0.1", "127.0.0.2")

_CORES, _MEGABYTES = 1, 1024
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
_SECONDS = 180
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": HOSTS[0],
    "spark.driver.bindAddress": HOSTS[0],
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.executor.cores": str(_CORES),
    "spark.executor.memory": f"{_MEGABYTES}m",
    "spark.master.rest.enabled": "false",
    # Executors that tests kill are not held against the application, nor lost tasks against the job.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "8",
    # How long Spark waits for what a frozen executor has.
    "spark.network.timeout": "30s",
    "spark.network.timeoutInterval": "10s",
    "spark.executor.heartbeatInterval": "5s",
    # Spark does not give a frozen executor up before a second copy of its task starts, on a busy machine either.
    "spark.storage.blockManagerHeartbeatTimeoutMs": "120s",
    # A second copy of a task is started when it really is slow.
    "spark.speculation": "true",
    "spark.speculation.minTaskRuntime": "4s",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.interval": "200ms",
}


@contextmanager
def running_cluster(folder: Path, jar: Path) -> Iterator[SparkConf]:
    """Start a master and workers in the JVM of this process; give the settings of a session with the jar.

    What executors write goes to the folder.
    """
    conf = SparkConf().setAll([*_SETTINGS.items(), ("spark.jars", str(jar))])
    conf.set("spark.executor.extraJavaOptions", spark_jvm.chosen())
    SparkContext._ensure_initialized(conf=conf)
    jvm: Any = SparkContext._jvm
    gateway: Any = SparkContext._gateway
    deploy, none = jvm.org.apache.spark.deploy, getattr(getattr(jvm.scala, "None$"), "MODULE$")
    settings = jvm.org.apache.spark.SparkConf()
    master = deploy.master.Master.startRpcEnvAndEndpoint(HOSTS[0], 0, 0, settings)._1()
    url = f"spark://{HOSTS[0]}:{master.address().port()}"
    masters = gateway.new_array(jvm.java.lang.String, 1)
    masters[0] = url
    workers = [
        deploy.worker.Worker.startRpcEnvAndEndpoint(
            host, 0, 0, _CORES, _MEGABYTES, masters, str(folder), jvm.scala.Some(number), settings, none
        )
        for number, host in enumerate(HOSTS, 1)
    ]
    try:
        yield conf.setMaster(url)
    finally:
        for environment in (*workers, master):
            environment.shutdown()
            environment.awaitTermination()


@dataclass(frozen=True)
class Executor:
    """A running executor."""

    pid: int
    id: str

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside it keeps its connections and does nothing."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):  # Spark may have ended it
                os.kill(self.pid, signal.SIGCONT)


@dataclass(frozen=True)
class Executors:
    """The executors of a session."""

    spark: SparkSession

    def running(self) -> list[Executor]:
        """Those that run now, the oldest first."""
        return executors_of(self.spark.sparkContext.applicationId)

    def both(self) -> list[Executor]:
        """Wait until as many run as there are hosts, and Spark has them all."""
        return eventually(lambda: self._ready(), seconds=_SECONDS)

    def _ready(self) -> list[Executor]:
        known: Any = self.spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        running = self.running()
        return running if len(running) == len(HOSTS) == len(known) - 1 else []


class Attempts:
    """Counts the attempts of tasks of all jobs since this was made. Spark counts a little later than tasks end."""

    def __init__(self, spark: SparkSession) -> None:
        self._gateway: Any = spark.sparkContext._gateway
        jsc: Any = spark.sparkContext._jsc
        self._store = jsc.sc().statusStore()
        self._before = {stage.stageId() for stage in self._all()}

    @property
    def failed(self) -> int:
        """How many attempts failed, those of lost executors included."""
        return sum(int(stage.numFailedTasks()) for stage in self._stages())

    @property
    def speculative(self) -> int:
        """How many second copies were started of tasks that took long."""
        found = [self._store.speculationSummary(stage.stageId(), stage.attemptId()) for stage in self._stages()]
        return sum(int(summary.get().numTasks()) for summary in found if summary.isDefined())

    def _stages(self) -> list[Any]:
        return [stage for stage in self._all() if stage.stageId() not in self._before]

    def _all(self) -> list[Any]:
        none = self._gateway.new_array(self._gateway.jvm.double, 0)
        stages = self._store.stageList(None, False, False, none, None)
        return [stages.apply(index) for index in range(stages.size())]


def executors_of(application: str) -> list[Executor]:
    """The executors of an application that run now, the oldest first."""
    found = [_executor(Path(folder), application.encode()) for folder in Path("/proc").glob("[0-9]*")]
    return sorted((one for one in found if one is not None), key=lambda one: int(one.id))


def _executor(folder: Path, application: bytes) -> Executor | None:
    try:
        arguments = (folder / "cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    if _EXECUTOR not in arguments or application not in arguments:
        return None
    return Executor(int(folder.name), arguments[arguments.index(b"--executor-id") + 1].decode())
