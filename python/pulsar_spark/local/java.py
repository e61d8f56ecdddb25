"""The Java runtime of servers and downloads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pulsar_spark.local.errors import ServerUnavailableError

_OLDEST = 17
_SECONDS = 60.0


def java_command() -> str:
    """The ``java`` of ``JAVA_HOME`` if that is set, else the one on ``PATH``.

    Raises:
        ServerUnavailableError: Java is missing.
    """
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home) / "bin" / "java")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME is {home} but holds no bin/java" if home else "JAVA_HOME is not set and PATH has no java"
        raise ServerUnavailableError(f"No java: {where}. Install a JDK 17 or newer, or set JAVA_HOME to one.")
    return found


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    Attributes:
        command: The absolute path of the ``java`` command.
        version: The feature version, such as 17.
        build: Vendor and full version; class data archives fit one build only.
    """

    command: str
    version: int
    build: str

    @classmethod
    def find(cls, command: str | None = None) -> Java:
        """Inspect ``command``, or by default the ``java`` of ``JAVA_HOME`` or ``PATH``.

        Raises:
            ServerUnavailableError: It is missing, does not run or is too old.
        """
        found = shutil.which(command) if command else java_command()
        if found is None:
            raise ServerUnavailableError(
                f"'{command}' is not a command. Use the path of the java of a JDK 17 or newer."
            )
        return cls._parse(found, _properties_text(found))

    @classmethod
    def _parse(cls, command: str, text: str) -> Java:
        properties = dict(re.findall(r"(?m)^\s+(java\.[\w.]+) = (.*)$", text))
        version = properties.get("java.specification.version", "")
        if not version.isdecimal() or int(version) < _OLDEST:
            raise ServerUnavailableError(
                f"{command} is Java {version or 'of an unknown version'}, Pulsar needs {_OLDEST} or "
                f"newer. Install a JDK {_OLDEST} and set JAVA_HOME to it."
            )
        return cls(command, int(version), f"{properties.get('java.vendor')} {properties.get('java.vm.version')}")


def _properties_text(command: str) -> str:
    try:
        answer = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ServerUnavailableError(
            f"{command} does not run: {error}. Set JAVA_HOME to a JDK {_OLDEST} or newer."
        ) from error
    return answer.stderr
