"""The Pulsar server distribution: getting it, the Java it runs on, its command line and its configuration."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local import maven, versions
from pulsar_spark.local.process import FileLock
from pulsar_spark.local.versions import ServerUnavailableError as ServerUnavailableError
from pulsar_spark.local.versions import home

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA_FOLDER = "metadata"
DATA_FOLDERS = (METADATA_FOLDER, "bookie")
_OLDEST_JAVA = 17
_JAVA_ANSWER_SECONDS = 60.0
_INSTALL_PATIENCE_SECONDS = 1800.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    Attributes:
        command: The absolute path of the ``java`` command.
        version: The feature version, such as 17.
        build: Vendor and full version: class data archives fit this build only.
    """

    command: str
    version: int
    build: str

    @classmethod
    def find(cls, command: str | None = None) -> Java:
        """Ask ``command``, or the ``java`` of ``JAVA_HOME`` or ``PATH``, what it is.

        Raises:
            ServerUnavailableError: It is missing, does not answer or is too old.
        """
        try:
            found = shutil.which(command) if command else maven.java_command()
        except maven.FetchError as error:
            raise ServerUnavailableError(str(error)) from error
        if found is None:
            raise ServerUnavailableError(
                f"'{command}' is not a command. Give the path of the java of a JDK 17 or newer."
            )
        return cls._parse(found, _properties_text(found))

    @classmethod
    def _parse(cls, command: str, text: str) -> Java:
        properties = dict(re.findall(r"(?m)^\s+(java\.[\w.]+) = (.*)$", text))
        version = properties.get("java.specification.version", "")
        if not version.isdecimal() or int(version) < _OLDEST_JAVA:
            raise ServerUnavailableError(
                f"{command} is Java {version or 'of an unknown version'}, Pulsar needs {_OLDEST_JAVA} or "
                f"newer. Install a JDK {_OLDEST_JAVA} and set JAVA_HOME to it."
            )
        return cls(command, int(version), f"{properties.get('java.vendor')} {properties.get('java.vm.version')}")


def _properties_text(command: str) -> str:
    try:
        answer = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_JAVA_ANSWER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerUnavailableError(
            f"{command} does not run: {error}. Set JAVA_HOME to a JDK {_OLDEST_JAVA} or newer."
        ) from error
    return answer.stderr


def libraries(version: str | None = None) -> Path:
    """The folder of the server's jars, downloaded and unpacked when the cache does not hold it yet.

    Safe with several processes at once; the folder appears complete or not at all.

    Args:
        version: The version of the server; see `versions.chosen`.

    Raises:
        ServerUnavailableError: The download failed, or the version is not known.
    """
    target = home(version)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(f"{target.name}.lock"), patience_seconds=_INSTALL_PATIENCE_SECONDS):
            if not target.exists():
                _install(versions.chosen(version), target)
    return target / "lib"


def _install(version: str, target: Path) -> None:
    source = versions.KNOWN[version]
    _log.info("Getting the Pulsar %s server (%d MB, once)", version, source.megabytes)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as folder:
        unpacked = Path(folder) / "server"
        unpacked.mkdir()
        try:
            source.install(version, unpacked)
        except maven.FetchError as error:
            raise ServerUnavailableError(f"The Pulsar server could not be downloaded. {error}") from error
        unpacked.rename(target)


def archive_file(java: Java, version: str | None = None) -> Path:
    """Where the class data archive of a server on this Java is kept: with it a start takes half the time."""
    return home(version) / f"classes-{java.version}-{hashlib.sha256(java.build.encode()).hexdigest()[:12]}.jsa"


@dataclass(frozen=True)
class Profile:
    """How much of the machine a server may use.

    Attributes:
        heap: Java heap size.
        direct: Off-heap buffer size.
        jvm: Further JVM options.
        config: Broker and bookie settings.
    """

    heap: str
    direct: str
    jvm: tuple[str, ...]
    config: Mapping[str, str]


# The first compiler alone is enough for tests and demos and takes a quarter of the CPU time of a start.
SMALL = Profile(
    heap="256m",
    direct="256m",
    jvm=("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    config={
        "numIOThreads": "2",
        "numOrderedExecutorThreads": "2",
        "numExecutorThreadPoolSize": "2",
        "numCacheExecutorThreadPoolSize": "2",
        "topicOrderedExecutorThreadNum": "2",
        "managedLedgerNumSchedulerThreads": "2",
        "bookkeeperClientNumIoThreads": "1",
        "bookkeeperClientNumWorkerThreads": "2",
        "bookkeeperNumberOfChannelsPerBookie": "2",
        "managedLedgerCacheSizeMB": "32",
        "dbStorage_writeCacheMaxSizeMb": "32",
        "dbStorage_readAheadCacheMaxSizeMb": "64",
        "dbStorage_readAheadCacheBatchSize": "1000",
        "dbStorage_readAheadCacheBatchBytesSize": "4194304",
        "dbStorage_rocksDB_blockCacheSize": "8388608",
        "serverNumIOThreads": "1",
        "numAddWorkerThreads": "1",
        "numReadWorkerThreads": "2",
        "numHighPriorityWorkerThreads": "1",
        "numJournalCallbackThreads": "1",
    },
)

# Thread counts are left to the server, which takes them from the number of processors.
PERFORMANCE = Profile(
    heap="1g",
    direct="1g",
    jvm=("-XX:+UseParallelGC",),
    config={
        "managedLedgerCacheSizeMB": "256",
        "dbStorage_writeCacheMaxSizeMb": "128",
        "dbStorage_readAheadCacheMaxSizeMb": "64",
        "dbStorage_readAheadCacheBatchSize": "1000",
        "dbStorage_readAheadCacheBatchBytesSize": "4194304",
        "dbStorage_rocksDB_blockCacheSize": "67108864",
    },
)

# One file configures the broker and the bookie of a standalone server.
_CONFIG: Mapping[str, str] = {
    "clusterName": "standalone",
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    # Without this the port given for the bookie on the command line is ignored.
    "allowEphemeralPorts": "true",
    # The bookie would listen on every interface otherwise.
    "allowLoopback": "true",
    "httpServerEnabled": "false",
    "webSocketServiceEnabled": "false",
    "loadBalancerEnabled": "false",
    "loadManagerClassName": "org.apache.pulsar.broker.loadbalance.NoopLoadManager",
    "numHttpServerThreads": "8",
    "numWorkerThreadsForNonPersistentTopic": "1",
    # Threads that recover topics' transactions share one reader for each namespace in Pulsar 4.0: two at once may wait
    # for the same message, and one of them for 30 seconds, in which its topic tells nobody its last position.
    "numTransactionReplayThreadPoolSize": "1",
    "exposeTopicLevelMetricsInPrometheus": "false",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "managedLedgerMinLedgerRolloverTimeMinutes": "0",
    # Messages and topics stay until somebody deletes them.
    "defaultRetentionTimeInMinutes": "-1",
    "defaultRetentionSizeInMB": "-1",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "backlogQuotaCheckEnabled": "false",
    "allowAutoTopicCreation": "true",
    "allowAutoTopicCreationType": "non-partitioned",
    "forceDeleteNamespaceAllowed": "true",
    "forceDeleteTenantAllowed": "true",
    "brokerShutdownTimeoutMs": "5000",
    "ledgerStorageClass": "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
    "nettyMaxFrameSizeBytes": "5253120",
    # The page cache survives the end of the process, however it ends; a power cut is not what this server is for.
    "journalSyncData": "false",
    "journalMaxGroupWaitMSec": "1",
    "journalPreAllocSizeMB": "4",
    "journalMaxSizeMB": "128",
    "flushInterval": "60000",
    "gcWaitTime": "300000",
    "diskUsageThreshold": "0.99",
    "diskUsageWarnThreshold": "0.99",
}

_LOGGING = """\
<Configuration status="warn">
  <Appenders>
    <Console name="console" target="SYSTEM_OUT">
      <PatternLayout pattern="%d{ISO8601} %-5p [%t] %c{1} - %m%n"/>
    </Console>
  </Appenders>
  <Loggers>
    <Root level="info"><AppenderRef ref="console"/></Root>
  </Loggers>
</Configuration>
"""

_OPENED_PACKAGES = (
    "java.base/java.io",
    "java.base/java.util.zip",
    "java.base/java.nio",
    "java.base/jdk.internal.misc",
    "java.base/sun.net",
    "java.base/jdk.internal.platform",
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)


@dataclass(frozen=True)
class Ports:
    """The three ports of a standalone server, all on 127.0.0.1."""

    broker: int
    web: int
    bookie: int


@dataclass(frozen=True)
class Launch:
    """Everything that decides how a standalone server is started; a subclass starts another program of the same jars.

    Attributes:
        folder: Holds the server's files and data.
        ports: Where it listens.
        profile: Its share of the machine.
        config: Settings that go before the profile's and the defaults.
    """

    folder: Path
    ports: Ports
    profile: Profile
    config: Mapping[str, str]

    def config_text(self) -> str:
        """The server's configuration file."""
        ports = {
            "brokerServicePort": str(self.ports.broker),
            "webServicePort": str(self.ports.web),
            "listeningInterface": _loopback_interface(),
        }
        settings = {**_CONFIG, **self.profile.config, **ports, **self.config}
        for key, value in settings.items():
            if not re.fullmatch(r"[\w.-]+", key) or "\n" in value:
                raise ValueError(f"'{key}' with the value {value!r} cannot be written to a Pulsar configuration file")
        escaped = {key: value.replace("\\", "\\\\") for key, value in settings.items()}
        return "".join(f"{key}={value}\n" for key, value in sorted(escaped.items()))

    def command(self, java: Java, jars: Path, *, class_data: tuple[str, ...]) -> list[str]:
        """Write the server's files into the folder and return the command line.

        Args:
            java: The Java to run on.
            jars: The folder of `libraries`.
            class_data: JVM options that use or make the class data archive.
        """
        config, logging_file, arguments = (self.folder / name for name in ("server.conf", "log4j2.xml", "java.args"))
        config.write_text(self.config_text(), encoding="utf-8")
        logging_file.write_text(_LOGGING, encoding="utf-8")
        # The archive fits one order of the jars only, which a wildcard would leave to the file system.
        class_path = os.pathsep.join(str(jar) for jar in sorted(jars.glob("*.jar")))
        lines = [*self._jvm(java), *class_data, f"-Dlog4j2.configurationFile={logging_file}", "-cp", class_path]
        lines += self.program(config)
        arguments.write_text("".join(f"{_quoted(line)}\n" for line in lines), encoding="utf-8")
        return [java.command, f"@{arguments}"]

    def program(self, config: Path) -> list[str]:
        """The main class and its arguments."""
        lines = ["org.apache.pulsar.PulsarStandaloneStarter", "--config", str(config)]
        lines += ["-nfw", "-nss", "--num-bookies", "1", "--bookkeeper-port", str(self.ports.bookie), "-a", "127.0.0.1"]
        metadata, bookie = (str(self.folder / part) for part in DATA_FOLDERS)
        return [*lines, "--metadata-dir", metadata, "--bookkeeper-dir", bookie]

    def _jvm(self, java: Java) -> list[str]:
        drivers = "org.apache.pulsar.metadata.bookkeeper.PulsarMetadata"
        options = [f"-Xmx{self.profile.heap}", f"-XX:MaxDirectMemorySize={self.profile.direct}", *self.profile.jvm]
        options += [
            "-Xms64m",
            "-XX:+PerfDisableSharedMem",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.net.preferIPv4Stack=true",
        ]
        options += ["-Djute.maxbuffer=10485760", "-Dio.netty.tryReflectionSetAccessible=true"]
        options += ["-Dlog4j2.is.webapp=false", "-Dlog4j.shutdownHookEnabled=false"]
        options += [f"-Dbookkeeper.metadata.bookie.drivers={drivers}BookieDriver"]
        options += [f"-Dbookkeeper.metadata.client.drivers={drivers}ClientDriver"]
        options += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED_PACKAGES]
        options += ["--enable-native-access=ALL-UNNAMED"]
        if java.version >= 23:
            options += ["--sun-misc-unsafe-memory-access=allow"]
        return options


def _quoted(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _loopback_interface() -> str:
    return "lo" if os.uname().sysname == "Linux" else "lo0"
