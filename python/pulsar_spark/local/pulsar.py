"""`LocalPulsar`: one server from start to stop."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pulsar_spark.local import class_data, offload, versions
from pulsar_spark.local.errors import LocalPulsarError
from pulsar_spark.local.java import Java
from pulsar_spark.local.locks import FileLock, InUseError
from pulsar_spark.local.logs import start_error
from pulsar_spark.local.metadata import end_session
from pulsar_spark.local.ports import Port
from pulsar_spark.local.process import ServerProcess
from pulsar_spark.local.readiness import ReadyCheck
from pulsar_spark.local.server import DATA_FOLDERS, METADATA_FOLDER, Launch, Ports
from pulsar_spark.local.settings import PERFORMANCE, SMALL

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from pulsar_spark.local.offload import FileSystemOffload, S3Offload

LOCK_NAME = "lock"
STOP_SECONDS = 10.0
READY_SECONDS = 120.0

_POLL_SECONDS = 0.05
_PROFILES = {"small": SMALL, "performance": PERFORMANCE}


class LocalPulsar:
    """A standalone Pulsar server that this object starts, restarts and stops.

    Messages are kept without limit, topics are created on first use and never deleted automatically, and there is no
    backlog quota, unless ``config`` changes that. One thread at a time may use an object; any thread may start it, and
    any number of servers may run at once.
    """

    def __init__(
        self,
        *,
        server_version: str | None = None,
        data_dir: Path | str | None = None,
        keep_data: bool = False,
        broker_port: int | None = None,
        web_port: int | None = None,
        profile: Literal["small", "performance"] = "small",
        heap: str | None = None,
        direct: str | None = None,
        transactions: bool = False,
        offload: FileSystemOffload | S3Offload | None = None,
        config: Mapping[str, str] | None = None,
        admin_token: str | None = None,
        java: str | None = None,
        ready_seconds: float = READY_SECONDS,
        detached: bool = False,
    ) -> None:
        """Create a server that is not running yet; `start` or ``with`` starts it.

        Args:
            server_version: The version of Pulsar, such as ``3.0.16``. Default: that of ``PULSAR_SPARK_SERVER_VERSION``,
                else 4.0.8.
            data_dir: The folder for data, log and configuration, which is kept. Default: a temporary folder, which is
                removed when the server stops.
            keep_data: Keep the temporary folder as well.
            broker_port: The port of ``service_url``. Default: any free port.
            web_port: The port of ``admin_url``. Default: any free port.
            profile: ``small`` starts fast and needs little memory; ``performance`` is for benchmarks.
            heap: Java heap size such as ``512m``. Default: that of the profile.
            direct: Size of the off-heap buffers. Default: that of the profile.
            transactions: Run the transaction coordinator.
            offload: The target of offloaded ledgers; the first use downloads the plug-in.
            config: Further broker settings, which override all others.
            admin_token: The token for the ready check, if ``config`` enables authentication.
            java: The ``java`` command. Default: that of ``JAVA_HOME``, else of ``PATH``.
            ready_seconds: The limit for a start.
            detached: Keep the server running when this process ends.
        """
        self._version = versions.chosen(server_version)
        chosen = _PROFILES[profile]
        self._profile = replace(chosen, heap=heap or chosen.heap, direct=direct or chosen.direct)
        self._config = {"transactionCoordinatorEnabled": str(transactions).lower(), **(config or {})}
        self._offload = offload
        self._data_dir = Path(data_dir).absolute() if data_dir is not None else None
        self._keep_data = keep_data or data_dir is not None
        self._fixed_ports = broker_port, web_port
        self._admin_token = admin_token
        self._java = java
        self._ready_seconds = ready_seconds
        self._detached = detached
        self._folder: Path | None = None
        self._reserved: tuple[Port, Port, Port] | None = None
        self._process: ServerProcess | None = None
        self._stop_seconds = STOP_SECONDS
        self._archiving: tuple[str, ...] = ()  # of a trial run, which writes the archive

    @property
    def server_version(self) -> str:
        """The version of Pulsar."""
        return self._version

    @property
    def service_url(self) -> str:
        """The address for Pulsar clients, ``pulsar://127.0.0.1:<port>``."""
        return f"pulsar://127.0.0.1:{self._ports.broker}"

    @property
    def admin_url(self) -> str:
        """The address of the admin REST interface, ``http://127.0.0.1:<port>``."""
        return f"http://127.0.0.1:{self._ports.web}"

    @property
    def data_dir(self) -> Path:
        """The folder with the server's data, configuration and log."""
        if self._folder is None:
            raise LocalPulsarError("The local Pulsar was not started: call start(), or use it in a with statement.")
        return self._folder

    @property
    def log_file(self) -> Path:
        """The server's log. It is removed with the data folder, but kept after a failed start."""
        return self.data_dir / "pulsar.log"

    @property
    def pid(self) -> int:
        """The process id of the server."""
        if self._process is None or not self._process.running:
            raise LocalPulsarError("The local Pulsar is not running.")
        return self._process.pid

    @property
    def running(self) -> bool:
        """True if the server is running."""
        return self._process is not None and self._process.running

    @property
    def keeps_data(self) -> bool:
        """True if `stop` keeps the data folder."""
        return self._keep_data

    def __enter__(self) -> LocalPulsar:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and return when it is ready.

        After `kill` it starts with the same ports and data. The first start on a machine downloads the server and
        prepares its classes, which takes longer; ``ready_seconds`` counts from the start of the server process.

        Raises:
            LocalPulsarError: The server is already running, cannot be downloaded, ended during the start, or was not
                ready in time; or a port or the data folder is in use.
        """
        if self.running:
            raise LocalPulsarError(f"The local Pulsar is already running as process {self.pid}.")
        java = Java.find(self._java)
        self._launch(java, versions.libraries(self._version))

    def stop(self) -> None:
        """Stop the server and remove its data unless they are kept. Does nothing if it is not running."""
        if self._process is not None:
            self._process.stop(self._stop_seconds)
        self._release(keep_files=self._keep_data)

    def kill(self) -> None:
        """End the server with SIGKILL; keeps ports and data for `start`."""
        if self._process is not None:
            self._process.kill()

    def restart(self, *, graceful: bool = True) -> None:
        """Stop or, if not ``graceful``, kill the server, and start it again with the same ports and data."""
        if self._process is None:
            raise LocalPulsarError("The local Pulsar was not started, so it cannot be restarted.")
        if graceful:
            self._process.stop(STOP_SECONDS)
        else:
            self._process.kill()
        self.start()

    @property
    def _ports(self) -> Ports:
        if self._reserved is None:
            raise LocalPulsarError("The local Pulsar was not started: call start(), or use it in a with statement.")
        broker, web, bookie = self._reserved
        return Ports(broker.number, web.number, bookie.number)

    def _launch(self, java: Java, jars: Path) -> None:
        if self._reserved is None:
            self._reserved = self._reserve_ports()
        if self._folder is None:
            self._folder = self._data_dir or Path(tempfile.mkdtemp(prefix="pulsar-spark-"))
            self._folder.mkdir(parents=True, exist_ok=True)
        try:
            archive = self._class_data(java)
            with self._folder_lock() as lock:
                plan = Launch(self._folder, self._ports, self._profile, self._settings(self._folder))
                command = plan.command(java, jars, class_data=archive)
                end_session(java, jars, self._folder / METADATA_FOLDER)
                self._process = self._spawn(command, lock)
            self._wait_until_ready()
        except BaseException as error:
            if self._process is not None:
                self._process.kill()
            # An interrupted start leaves nothing; a failed one leaves its log and configuration.
            failed = isinstance(error, LocalPulsarError)
            if failed and not self._keep_data:
                for part in DATA_FOLDERS:
                    shutil.rmtree(self._folder / part, ignore_errors=True)
            self._release(keep_files=self._keep_data or failed)
            raise

    def _settings(self, folder: Path) -> dict[str, str]:
        if self._offload is None:
            return self._config
        return {**offload.settings(self._offload, folder, self._version), **self._config}

    def _reserve_ports(self) -> tuple[Port, Port, Port]:
        try:
            broker, web, bookie = Port.reserve_all(*self._fixed_ports, None)
        except InUseError as error:
            raise LocalPulsarError(
                f"The local Pulsar cannot start: {error}. Choose another, or none for a free one."
            ) from error
        return broker, web, bookie

    def _folder_lock(self) -> FileLock:
        try:
            return FileLock(self.data_dir / LOCK_NAME)
        except InUseError as error:
            raise LocalPulsarError(
                f"Another server is running on the data folder {self.data_dir}. Stop it, or choose another folder."
            ) from error

    def _spawn(self, command: list[str], lock: FileLock) -> ServerProcess:
        folder, log, environment = self.data_dir, self.log_file, self._offload.environment if self._offload else {}
        if self._detached:
            return ServerProcess.detached(command, folder=folder, log=log, lock=lock, environment=environment)
        return ServerProcess.supervised(
            command, folder=folder, log=log, lock=lock, discard=not self._keep_data, environment=environment
        )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._ready_seconds
        transactions = self._config["transactionCoordinatorEnabled"] == "true"
        check = ReadyCheck(self.admin_url, self._admin_token, transactions=transactions)
        while not check.passes():
            if not self.running:
                code = self._process.exit_code if self._process else None
                raise start_error(
                    self.log_file,
                    f"The local Pulsar ended while starting (exit code {code}).",
                    "Look for the first error in the log.",
                )
            if time.monotonic() > deadline:
                raise start_error(
                    self.log_file,
                    f"The local Pulsar was not ready within {self._ready_seconds:g} s.",
                    "On a busy machine increase ready_seconds.",
                )
            time.sleep(_POLL_SECONDS)

    def _release(self, *, keep_files: bool) -> None:
        self._process = None
        for port in self._reserved or ():
            port.close()
        if self._folder is not None and not keep_files:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self._reserved = None

    def _class_data(self, java: Java) -> tuple[str, ...]:
        """The JVM options that use or write the class data archive."""

        def trial(folder: Path, archiving: tuple[str, ...]) -> LocalPulsar:
            server = LocalPulsar(
                server_version=self._version,
                data_dir=folder,
                java=java.command,
                transactions=True,
                ready_seconds=self._ready_seconds,
            )
            server._archiving, server._stop_seconds = archiving, class_data.ARCHIVING_SECONDS
            return server

        return self._archiving or class_data.options(
            java, self._version, ready_seconds=self._ready_seconds, trial=trial
        )
