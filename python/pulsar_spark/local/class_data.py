"""Class data archives: with one, a server starts in half the time.

An archive fits one build of Java and one version of the server. A trial run of the server writes it.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local import versions
from pulsar_spark.local.errors import LocalPulsarError
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.pulsar import LocalPulsar

if TYPE_CHECKING:
    from pulsar_spark.local.java import Java

_TRIAL_ARCHIVE = "classes.jsa"
_ARCHIVING_SECONDS = 120.0

_log = logging.getLogger(__name__)


def archive_file(java: Java, version: str | None = None) -> Path:
    """The path of the class data archive of a server on this Java."""
    return versions.home(version) / f"classes-{java.version}-{hashlib.sha256(java.build.encode()).hexdigest()[:12]}.jsa"


def options(java: Java, version: str, *, ready_seconds: float) -> tuple[str, ...]:
    """The JVM options that use the archive, which a trial run writes first if it is missing; empty if that fails.

    Args:
        java: The Java to run on.
        version: The version of the server.
        ready_seconds: How long the start of the trial run may take.
    """
    archive = archive_file(java, version)
    if not archive.exists():
        with FileLock(archive.with_suffix(".lock"), patience_seconds=2 * (ready_seconds + _ARCHIVING_SECONDS)):
            if not archive.exists():
                _log.info("Preparing the server's classes for Java %d (once)", java.version)
                _make(archive, java, version, ready_seconds)
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


def _make(archive: Path, java: Java, version: str, ready_seconds: float) -> None:
    """Run a server that writes the archive. An archive only saves time, so a failure is a warning."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".classes-") as folder:
        try:
            trial = _TrialPulsar(
                server_version=version,
                data_dir=folder,
                java=java.command,
                transactions=True,
                ready_seconds=ready_seconds,
            )
            with trial:
                _log.debug("The trial run is ready")
            (Path(folder) / _TRIAL_ARCHIVE).rename(archive)
        except (LocalPulsarError, FileNotFoundError) as error:
            _log.warning("The server's classes could not be prepared, it will start more slowly: %s", error)


class _TrialPulsar(LocalPulsar):
    """A server that writes its class data archive when it stops, which takes some seconds."""

    _stop_seconds = _ARCHIVING_SECONDS

    def _class_data(self, java: Java) -> tuple[str, ...]:  # noqa: ARG002
        return (f"-XX:ArchiveClassesAtExit={self.data_dir / _TRIAL_ARCHIVE}",)
