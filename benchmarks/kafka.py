"""A single-node Kafka to compare with: broker and controller in one process, data in a temporary folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.registry import resolve
from pulsar_spark.local.java import java_command
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.ports import Port
from pulsar_spark.local.process import ServerProcess

if TYPE_CHECKING:
    from types import TracebackType

VERSION = "4.3.1"
_READY_SECONDS = 120.0
_FORMAT_SECONDS = 120.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.05

# As with the local Pulsar: nothing is deleted by age, replicas are one, the disk is not waited for.
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
log.dirs={data}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.ms=-1
message.max.bytes=5242880
auto.create.topics.enable=false
file.delete.delay.ms=1000
"""


def jars() -> Path:
    """The folder with the server and the client that belongs to it."""
    return resolve(f"kafka-{VERSION}", [f"org.apache.kafka:kafka_2.13:{VERSION}"], transitive=True)


class LocalKafka:
    """A running Kafka; ``with`` starts and stops it."""

    def __init__(self, heap: str) -> None:
        self.heap = heap
        self._ports = (Port.reserve(), Port.reserve())
        self._folder = Path(tempfile.mkdtemp(prefix="pulsar-spark-kafka-"))
        self._process: ServerProcess | None = None

    @property
    def servers(self) -> str:
        """The value of ``bootstrap.servers``."""
        return f"127.0.0.1:{self._ports[0].number}"

    @property
    def pid(self) -> int:
        """The process id of the server."""
        assert self._process is not None, "Kafka was not started"
        return self._process.pid

    def __enter__(self) -> LocalKafka:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _start(self) -> None:
        broker, controller = self._ports
        settings, log = self._folder / "server.properties", self._folder / "kafka.log"
        settings.write_text(
            _SETTINGS.format(broker=broker.number, controller=controller.number, data=self._folder / "data"),
            encoding="utf-8",
        )
        java = [java_command(), f"-Xms{self.heap}", f"-Xmx{self.heap}", "-cp", f"{jars()}/*"]
        identity = urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=")
        formatted = subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", f"--cluster-id={identity}", "-c", str(settings)],
            capture_output=True,
            text=True,
            timeout=_FORMAT_SECONDS,
            check=False,
        )
        if formatted.returncode != 0:
            raise RuntimeError(f"Kafka's data folder could not be made: {formatted.stdout}{formatted.stderr}")
        with FileLock(self._folder / "lock") as lock:
            command = [*java, "kafka.Kafka", str(settings)]
            self._process = ServerProcess.supervised(command, folder=self._folder, log=log, lock=lock, discard=True)
        deadline = time.monotonic() + _READY_SECONDS
        while not _listens(broker.number):
            if not self._process.running or time.monotonic() > deadline:
                raise RuntimeError(f"Kafka did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")
            time.sleep(_POLL_SECONDS)

    def _end(self) -> None:
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)
        for port in self._ports:
            port.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
