"""`LocalPulsar`: the life of one server, from its start to its stop."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pulsar_spark.local import offload, versions
from pulsar_spark.local.metadata import end_session
from pulsar_spark.local.process import FileLock, InUseError, Port, ServerProcess
from pulsar_spark.local.server import (
    DATA_FOLDERS,
    METADATA_FOLDER,
    PERFORMANCE,
    SMALL,
    Java,
    Launch,
    Ports,
    ServerUnavailableError,
    archive_file,
    libraries,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from pulsar_spark.local.offload import FileSystemOffload, S3Offload

LOCK_NAME = "lock"
STOP_SECONDS = 10.0
READY_SECONDS = 120.0

_ARCHIVING_SECONDS = 120.0
_TRIAL_ARCHIVE = "classes.jsa"
_POLL_SECONDS = 0.05
_REQUEST_SECONDS = 5.0
_TAIL_LINES, _TAIL_COLUMNS, _TAIL_BYTES = 30, 220, 256 * 1024

# Paths of the admin service and what their answers contain, in the order of a start. TLS listeners and offloaders are
# there before the admin service answers. The first namespaces are created after the broker has started; a restarted
# server finds them, so they alone prove nothing.
_READY = (
    ("/admin/v2/brokers/health", "ok"),
    ("/admin/v2/brokers/ready", "ok"),
    ("/admin/v2/namespaces/public", "public/default"),
)
# The last step of all: clients with transactions cannot connect before.
_TRANSACTIONS_READY = (
    "/admin/v2/persistent/pulsar/system/transaction_coordinator_assign/partitions",
    '"partitions":1',
)

_PROFILES = {"small": SMALL, "performance": PERFORMANCE}

# What the server writes when it cannot start, and what the reader of the error can do about it.
_ADVICE = (
    (
        r"Address already in use|Failed to bind",
        "Another process took one of the ports: choose others, or none to get free ones.",
    ),
    (r"OutOfMemoryError|Could not reserve enough space", "Give the server more memory (heap, direct), or free some."),
    (r"No space left on device|NoWritableLedgerDir", "Free some disk space, or choose a data folder on another disk."),
)

_log = logging.getLogger(__name__)


class LocalPulsarError(RuntimeError):
    """The local server could not be started or used; the message says why and what to do."""


class LocalPulsar:
    """A standalone Pulsar server that this object starts, restarts and stops.

    Messages are kept without limit, topics are created at their first use and never deleted by themselves, there is no
    backlog quota: nothing disappears unless a setting in ``config`` or the user says so. One object is used by one
    thread at a time; any thread may start it, and any number of servers may run at once.
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
        """Describe a server; `start` or ``with`` starts it.

        Args:
            server_version: The version of Pulsar, such as ``3.0.16``; that of ``PULSAR_SPARK_SERVER_VERSION`` without
                it, else 4.0.8.
            data_dir: The folder for data, log and configuration, kept when the server stops. Without it a temporary
                folder is made, and removed at the stop.
            keep_data: Keep the temporary folder, too.
            broker_port: The port of ``service_url``; any free one without it.
            web_port: The port of ``admin_url``; any free one without it.
            profile: ``small`` starts fast and stays small; ``performance`` is for measuring.
            heap: Java heap size such as ``512m``, instead of the profile's.
            direct: Size of the off-heap buffers, instead of the profile's.
            transactions: Run the transaction coordinator.
            offload: Where ledgers go that somebody asks to be offloaded; the first use downloads the plug-in.
            config: Further broker settings, which go before all others.
            admin_token: The token for the ready check, when ``config`` switches authentication on.
            java: The ``java`` command; that of ``JAVA_HOME`` or ``PATH`` without it.
            ready_seconds: How long a start may take.
            detached: Let the server go on when this process ends.
        """
        try:
            self._version = versions.chosen(server_version)
        except ServerUnavailableError as error:
            raise LocalPulsarError(str(error)) from error
        chosen = _PROFILES[profile]
        self._profile = replace(chosen, heap=heap or chosen.heap, direct=direct or chosen.direct)
        self._config = {"transactionCoordinatorEnabled": str(transactions).lower(), **(config or {})}
        self._offload = offload
        self._wanted_dir = Path(data_dir).absolute() if data_dir is not None else None
        self._keep_data = keep_data or data_dir is not None
        self._wanted_ports = broker_port, web_port
        self._admin_token = admin_token
        self._java = java
        self._ready_seconds = ready_seconds
        self._detached = detached
        self._folder: Path | None = None
        self._reserved: tuple[Port, Port, Port] | None = None
        self._process: ServerProcess | None = None

    _stop_seconds = STOP_SECONDS

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
        """The server's log. It stays when a start fails and goes with the data folder otherwise."""
        return self.data_dir / "pulsar.log"

    @property
    def pid(self) -> int:
        """The process id of the server itself."""
        if self._process is None or not self._process.running:
            raise LocalPulsarError("The local Pulsar is not running.")
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the server process is alive."""
        return self._process is not None and self._process.running

    @property
    def keeps_data(self) -> bool:
        """Whether the data folder stays after `stop`."""
        return self._keep_data

    def __enter__(self) -> LocalPulsar:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the server and return when it can be used.

        After `kill` it starts on the same ports and data as before. The first start on a machine downloads the server
        and prepares its classes, which takes longer; ``ready_seconds`` counts from the start of the server process.

        Raises:
            LocalPulsarError: It is running already, a port or the data folder is in use, the server cannot be had, it
                ended by itself, or it was not ready in time.
        """
        if self.running:
            raise LocalPulsarError(f"The local Pulsar is already running as process {self.pid}.")
        try:
            java = Java.find(self._java)
            jars = libraries(self._version)
        except ServerUnavailableError as error:
            raise LocalPulsarError(str(error)) from error
        self._launch(java, jars)

    def stop(self) -> None:
        """Stop the server and remove its data, unless that is to be kept. Does nothing when it is not running."""
        if self._process is not None:
            self._process.stop(self._stop_seconds)
        self._release(keep_files=self._keep_data)

    def kill(self) -> None:
        """End the server with SIGKILL; ports and data are kept for `start`."""
        if self._process is not None:
            self._process.kill()

    def restart(self, *, graceful: bool = True) -> None:
        """Stop or, when not ``graceful``, kill the server, and start it again on the same ports and data."""
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
            self._folder = self._wanted_dir or Path(tempfile.mkdtemp(prefix="pulsar-spark-"))
            self._folder.mkdir(parents=True, exist_ok=True)
        try:
            class_data = self._class_data(java)
            with self._folder_lock() as lock:
                plan = Launch(self._folder, self._ports, self._profile, self._settings(self._folder))
                command = plan.command(java, jars, class_data=class_data)
                end_session(java, jars, self._folder / METADATA_FOLDER)
                self._process = self._spawn(command, lock)
            self._wait_until_ready()
        except BaseException as error:
            if self._process is not None:
                self._process.kill()
            # An interrupted start leaves nothing; a failed one leaves what is needed to find out why.
            failed = isinstance(error, LocalPulsarError)
            if failed and not self._keep_data:
                for part in DATA_FOLDERS:
                    shutil.rmtree(self._folder / part, ignore_errors=True)
            self._release(keep_files=self._keep_data or failed)
            raise

    def _settings(self, folder: Path) -> dict[str, str]:
        if self._offload is None:
            return self._config
        try:
            return {**offload.settings(self._offload, folder, self._version), **self._config}
        except ServerUnavailableError as error:
            raise LocalPulsarError(str(error)) from error

    def _reserve_ports(self) -> tuple[Port, Port, Port]:
        reserved: list[Port] = []
        try:
            for wanted in (*self._wanted_ports, None):
                reserved.append(Port.reserve(wanted))
        except InUseError as error:
            for port in reserved:
                port.close()
            raise LocalPulsarError(
                f"The local Pulsar cannot start: {error}. Choose another, or none to get a free one."
            ) from error
        broker, web, bookie = reserved
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
        """Wait for the signs of what the server was started for, in the order in which it does them."""
        deadline = time.monotonic() + self._ready_seconds
        checks = list(_READY)
        if self._config["transactionCoordinatorEnabled"] == "true":
            checks.append(_TRANSACTIONS_READY)
        while checks:
            path, sign = checks[0]
            if sign in self._get(path):
                del checks[0]
                continue
            if not self.running:
                code = self._process.exit_code if self._process else None
                raise self._start_error(
                    f"The local Pulsar ended while starting (exit code {code}).", "Look for the first error in the log."
                )
            if time.monotonic() > deadline:
                raise self._start_error(
                    f"The local Pulsar was not ready within {self._ready_seconds:g} s.",
                    "On a busy machine give it more time (ready_seconds).",
                )
            time.sleep(_POLL_SECONDS)

    def _get(self, path: str) -> str:
        request = urllib.request.Request(self.admin_url + path)
        if self._admin_token:
            request.add_header("Authorization", f"Bearer {self._admin_token}")
        # A proxy of the environment is for the network, never for 127.0.0.1.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_REQUEST_SECONDS) as answer:
                return str(answer.read().decode("utf-8"))
        except (OSError, urllib.error.HTTPError):
            return ""

    def _start_error(self, problem: str, advice: str) -> LocalPulsarError:
        tail = log_tail(self.log_file)
        hints = [hint for pattern, hint in _ADVICE if re.search(pattern, tail)]
        return LocalPulsarError(
            f"{problem} {' '.join(hints) or advice}\nThe log is {self.log_file}; its last lines are:\n{tail}"
        )

    def _release(self, *, keep_files: bool) -> None:
        self._process = None
        for port in self._reserved or ():
            port.close()
        if self._folder is not None and not keep_files:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self._reserved = None

    def _class_data(self, java: Java) -> tuple[str, ...]:
        """Return the JVM option that uses the class data archive; a trial run makes the archive when there is none."""
        archive = archive_file(java, self._version)
        if not archive.exists():
            with FileLock(
                archive.with_suffix(".lock"), patience_seconds=2 * (self._ready_seconds + _ARCHIVING_SECONDS)
            ):
                if not archive.exists():
                    _log.info("Preparing the server's classes for Java %d (once)", java.version)
                    _make_archive(archive, java, self._version, self._ready_seconds)
        return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


class _TrialPulsar(LocalPulsar):
    """A server that leaves ``classes.jsa`` in its data folder when it stops, which takes it some seconds."""

    _stop_seconds = _ARCHIVING_SECONDS

    def _class_data(self, java: Java) -> tuple[str, ...]:  # noqa: ARG002
        return (f"-XX:ArchiveClassesAtExit={self.data_dir / _TRIAL_ARCHIVE}",)


def _make_archive(archive: Path, java: Java, version: str, ready_seconds: float) -> None:
    """Run a server that writes the archive. An archive only saves time, so it is no error when none comes about."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".classes-") as folder:
        try:
            server = _TrialPulsar(
                server_version=version,
                data_dir=folder,
                java=java.command,
                transactions=True,
                ready_seconds=ready_seconds,
            )
            with server:
                _log.debug("The trial run is ready")
            (Path(folder) / _TRIAL_ARCHIVE).rename(archive)
        except (LocalPulsarError, FileNotFoundError) as error:
            _log.warning("The server's classes could not be prepared, it will start more slowly: %s", error)


def log_tail(file: Path) -> str:
    """Return the last lines of a server log, each indented and cut: some lines of Pulsar are 20 kB long."""
    if not file.exists():
        return "  (no log was written)"
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode("utf-8", errors="replace").splitlines()
    return "\n".join(f"  {line[:_TAIL_COLUMNS]}" for line in lines[-_TAIL_LINES:])
