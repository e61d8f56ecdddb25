"""Servers and contenders, started for one run and stopped after it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyspark

from benchmarks import kafka
from benchmarks.processes import Answer, Worker, cpu_seconds
from benchmarks.registry import resolve
from benchmarks.workloads import BEFORE, SPARK, Case, Contender, Workload, write_content
from pulsar_spark import jar_path
from pulsar_spark.local import LocalPulsar
from pulsar_spark.local.java import java_command
from pulsar_spark.local.versions import libraries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

HERE = Path(__file__).parent
SERVER_HEAP = "1g"
CLIENT_HEAP = "1g"
THREADS = 2

ReadCache = Literal["warm", "cold"]
READ_CACHE_MEGABYTES: dict[ReadCache, int] = {"warm": 2048, "cold": 256}
"""Size of the bookie's read cache: all that a case reads fits into it, or it holds nothing that is asked for again."""


def pulsar_config(cache: ReadCache) -> dict[str, str]:
    """Settings of the server beside its profile's."""
    # The bookie reads ahead by number of entries: with large ones it would drop what it has read before it is asked.
    return {
        "dbStorage_readAheadCacheMaxSizeMb": str(READ_CACHE_MEGABYTES[cache]),
        "dbStorage_readAheadCacheBatchBytesSize": "8388608",
    }


def direct_memory(cache: ReadCache) -> str:
    """Of the server: its read cache and enough for everything else."""
    return {"warm": "4g", "cold": "2g"}[cache]


def local_pulsar(
    cache: ReadCache = "warm", *, transactions: bool = False, config: Mapping[str, str] | None = None
) -> LocalPulsar:
    """The server that is measured, with some settings more; the caller starts it."""
    return LocalPulsar(
        profile="performance",
        heap=SERVER_HEAP,
        direct=direct_memory(cache),
        config={**pulsar_config(cache), **(config or {})},
        transactions=transactions,
    )


# The newest of the pyspark line that the registry has. The token provider that belongs to it is not there; the one of
# another version takes its place and does nothing here, without delegation tokens.
SPARK_KAFKA = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.1",
)
_COMPILE_SECONDS = 120.0


class Arena:
    """A Pulsar, a Kafka and the processes that use them. All idle but the one that is asked."""

    def __init__(
        self, work: Path, sizes: set[int], spark_memory: str, cache: ReadCache = "warm", before: Path | None = None
    ) -> None:
        """Prepare to start.

        Args:
            work: A folder for content, classes and logs.
            sizes: The sizes of values there will be.
            spark_memory: Heap of each Spark JVM.
            cache: Whether the bookie finds in its read cache what was read before.
            before: The jar of an earlier version, for contenders of it.
        """
        self._before = before
        self._work = work
        self._sizes = sizes
        self._spark_memory = spark_memory
        self._stack = ExitStack()
        self._filled: set[Workload] = set()
        self.pulsar = local_pulsar(cache)
        self.kafka = kafka.LocalKafka(SERVER_HEAP)

    def __enter__(self) -> Arena:
        try:
            write_content(self._work, self._sizes)
            classes = compiled(self._work)
            self._stack.enter_context(self.pulsar)
            self._stack.enter_context(self.kafka)
            java = java_commands(classes)
            self._java = self._worker("java-pulsar", [*java["pulsar"], self.pulsar.service_url])
            self._kafka_java = self._worker("java-kafka", [*java["kafka"], self.kafka.servers])
            bookies = self._worker("java-bookies", [*java["bookies"], self.pulsar.admin_url])
            self._workers: dict[Contender, Worker] = {"java": self._java, "fresh": self._java, "bookies": bookies}
            for contender in (*SPARK, *(BEFORE.values() if self._before else ())):
                self._workers[contender] = self._stack.enter_context(self.spark(contender))
            self._workers["single"] = self._workers["segment"]
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def spark(self, contender: Contender, name: str = "spark", java_options: str = "") -> Worker:
        """A fresh Spark session with the connector or with Spark's Kafka source; the caller ends it."""
        if contender == "kafka":
            arguments = ["kafka", self.kafka.servers, ",".join(map(str, spark_kafka_jars()))]
        else:
            jar = self._before if contender in BEFORE.values() else jar_path()
            arguments = ["pulsar", self.pulsar.service_url, str(jar)]
        command = [sys.executable, "-m", "benchmarks.spark_worker", *arguments, "--memory", self._spark_memory]
        return Worker([*command, f"--java-options={java_options}"], self._work / f"{name}-{contender}.log")

    def server_cpu(self, contender: Contender) -> float:
        """CPU seconds so far of the server that a contender talks to."""
        return cpu_seconds(self.kafka.pid if contender == "kafka" else self.pulsar.pid)

    def fill(self, workload: Workload) -> None:
        """Make and fill the topic of a workload in both, unless it is there, and see that both hold the same."""
        if workload in self._filled:
            return
        arguments = self.arguments(workload, workload.topic)
        of_connector = self.arguments(workload, workload.topic, "connector")
        self.create("connector", workload, workload.topic)
        self.create("kafka", workload, workload.topic)
        filled = [worker.ask("fill", arguments) for worker in (self._java, self._kafka_java)]
        checked = [
            self._workers["connector"].ask("check", of_connector),
            self._workers["kafka"].ask("check", arguments),
        ]
        seen = {(answer.rows, answer.bytes) for answer in (*filled, *checked)}
        if seen != {(workload.count, workload.count * workload.size)} or checked[0].content != checked[1].content:
            raise ValueError(f"{workload.topic} differs between the servers: {filled} {checked}")
        self._filled.add(workload)

    def arguments(self, workload: Workload, topic: str, contender: Contender | None = None) -> dict[str, object]:
        """What a contender has to know to do a job on a topic, and the options with which it reads."""
        options = {f"option.{name}": value for name, value in self._read_options(contender).items()}
        own = {"topic": topic, "threads": THREADS, "fresh": str(contender == "fresh").lower()}
        return workload.arguments(self._work) | own | options

    def _read_options(self, contender: Contender | None) -> dict[str, str]:
        past_broker = {"readLevel": "segment", "admin.url": self.pulsar.admin_url}
        options: dict[Contender | None, dict[str, str]] = {
            "segment": past_broker,
            "before-segment": past_broker,
            "single": {**past_broker, "minPartitions": "1", "maxBytesPerPartition": "16g"},
            "connector": {"readLevel": "broker"},
            "before-connector": {"readLevel": "broker"},
        }
        return options.get(contender, {})

    def act(self, contender: Contender, action: str, workload: Workload, topic: str) -> Answer:
        """Have one contender do one job, and check its number of rows."""
        own_name = "read" if (contender, action) == ("java", "scan") else action
        answer = self._workers[contender].ask(own_name, self.arguments(workload, topic, contender))
        if answer.rows != workload.count:
            raise ValueError(f"{contender} had {answer.rows} rows of {workload.count} in {action} of {topic}")
        return answer

    def lifetime_peak(self, contender: Contender, case: Case, rounds: int) -> float:
        """Do a case so often in a Spark JVM of its own; the most memory it ever had, in MB."""
        peaks = []
        with self.spark(contender, f"memory-{case.name}") as fresh:
            for number in range(rounds):
                topic = case.workload.topic if case.job != "write" else f"memory-{case.name}-{contender}-{number}"
                if case.job == "write":
                    self.create(contender, case.workload, topic)
                peaks.append(fresh.peak)
                peaks.append(fresh.ask(case.job, self.arguments(case.workload, topic, contender)).peak)
                if case.job == "write":
                    self.check_written(contender, case.workload, topic)
        return max(peaks)

    def create(self, contender: Contender, workload: Workload, topic: str) -> None:
        """Make an empty topic where a contender works."""
        if contender == "kafka":
            self._kafka_java.ask("create", {"topic": topic, "partitions": workload.partitions})
        elif workload.partitions == 1:
            self._admin("PUT", topic)
        else:
            self._admin("PUT", f"{topic}/partitions", workload.partitions)

    def check_written(self, contender: Contender, workload: Workload, topic: str) -> None:
        """See that a topic holds as many messages as were written, and delete it."""
        if contender == "kafka":
            arguments = {"topic": topic, "partitions": workload.partitions}
            rows = self._kafka_java.ask("count", arguments).rows
            self._kafka_java.ask("delete", arguments)
        else:
            rows = self._workers["connector"].ask("count", self.arguments(workload, topic, "connector")).rows
            suffix = "" if workload.partitions == 1 else "/partitions"
            self._admin("DELETE", f"{topic}{suffix}?force=true")
        if rows != workload.count:
            raise ValueError(f"{contender} wrote {workload.count} rows to {topic}, which holds {rows}")

    def _admin(self, method: str, path: str, body: object = None) -> None:
        url = f"{self.pulsar.admin_url}/admin/v2/persistent/public/default/{path}"
        data = None if body is None else json.dumps(body).encode("ascii")
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=60) as answer:
            answer.read()

    def _worker(self, name: str, command: list[str]) -> Worker:
        return self._stack.enter_context(Worker(command, self._work / f"{name}.log"))


def compiled(work: Path) -> Path:
    """The folder with the classes of the Java programs here, compiled into a folder for work."""
    classes = work / "classes"
    path = f"{jar_path()}:{kafka.jars()}/*:{libraries()}/*:{spark_jars()}/*"
    sources = map(str, sorted((HERE / "java").glob("*.java")))
    command = [
        jdk_tool("javac"),
        "--release",
        "17",
        "-Xlint:all,-processing,-path,-classfile,-try",
        "-d",
        str(classes),
        "-cp",
        path,
        *sources,
    ]
    subprocess.run(command, check=True, timeout=_COMPILE_SECONDS)
    return classes


def java_commands(classes: Path) -> dict[str, list[str]]:
    """How to start the programs of the Java clients, but for the address of their server."""
    java = [java_command(), f"-Xmx{CLIENT_HEAP}", "-cp"]
    return {
        "pulsar": [*java, f"{classes}:{jar_path()}:{spark_jars()}/*", "PulsarJava"],
        "kafka": [*java, f"{classes}:{kafka.jars()}/*", "KafkaJava"],
        "bookies": [*java, f"{classes}:{libraries()}/*", "Bookies"],
    }


def spark_kafka_jars() -> list[Path]:
    """Spark's Kafka source and what it needs."""
    return sorted(resolve("spark-kafka-4.1.3", SPARK_KAFKA, transitive=False).glob("*.jar"))


def jdk_tool(name: str) -> str:
    """The path of a tool of the JDK whose ``java`` is used."""
    return str(Path(java_command()).resolve().with_name(name))


def spark_jars() -> Path:
    """The folder of Spark's own jars."""
    return Path(pyspark.__file__).parent / "jars"
