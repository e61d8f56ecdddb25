"""The configuration and the command line of a standalone server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulsar_spark.local.settings import DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pulsar_spark.local.java import Java
    from pulsar_spark.local.settings import Profile

METADATA_FOLDER = "metadata"
DATA_FOLDERS = (METADATA_FOLDER, "bookie")

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
    """The parameters of a start; a subclass starts another program of the same jars.

    Attributes:
        folder: The folder for the server's files and data.
        ports: Its ports.
        profile: Its memory and threads.
        config: Settings that override those of the profile and the defaults.
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
        settings = {**DEFAULTS, **self.profile.config, **ports, **self.config}
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
            class_data: JVM options that use or write the class data archive.
        """
        config, logging_file, arguments = (self.folder / name for name in ("server.conf", "log4j2.xml", "java.args"))
        config.write_text(self.config_text(), encoding="utf-8")
        logging_file.write_text(_LOGGING, encoding="utf-8")
        # The archive needs the jars in one order; with a wildcard the file system decides on it.
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
