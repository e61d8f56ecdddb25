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

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pulsar_spark.local.java import Java

ARCHIVING_SECONDS = 120.0
"""How long a server may take to write its archive when it stops."""

_TRIAL_ARCHIVE = "classes.jsa"
# Java writes a line for each class that it cannot archive, after the reason why a server ended.
_QUIET = "-Xlog:cds*=off"

_log = logging.getLogger(__name__)


def archive_file(java: Java, version: str | None = None) -> Path:
    """The path of the class data archive of a server on this Java."""
    return versions.home(version) / f"classes-{java.version}-{hashlib.sha256(java.build.encode()).hexdigest()[:12]}.jsa"


def options(
    java: Java,
    version: str,
    *,
    ready_seconds: float,
    trial: Callable[[Path, tuple[str, ...]], AbstractContextManager[object]],
) -> tuple[str, ...]:
    """The JVM options that use the archive, which a trial run writes first if it is missing; empty if that fails.

    Args:
        java: The Java to run on.
        version: The version of the server.
        ready_seconds: How long the start of the trial run may take.
        trial: A server with this data folder and these JVM options, which has `ARCHIVING_SECONDS` for its end.
    """
    archive = archive_file(java, version)
    if not archive.exists():
        with FileLock(archive.with_suffix(".lock"), patience_seconds=2 * (ready_seconds + ARCHIVING_SECONDS)):
            if not archive.exists():
                _log.info("Preparing the server's classes for Java %d (once)", java.version)
                _make(archive, trial)
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


def _make(archive: Path, trial: Callable[[Path, tuple[str, ...]], AbstractContextManager[object]]) -> None:
    """Run a server that writes the archive. An archive only saves time, so a failure is a warning."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".classes-") as folder:
        written = Path(folder) / _TRIAL_ARCHIVE
        try:
            with trial(Path(folder), (f"-XX:ArchiveClassesAtExit={written}", _QUIET)):
                _log.debug("The trial run is ready")
            written.rename(archive)
        except (LocalPulsarError, FileNotFoundError) as error:
            _log.warning("The server's classes could not be prepared, it will start more slowly: %s", error)
