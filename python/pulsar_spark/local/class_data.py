"""Class data archives: with one, a server starts in half the time.

An archive fits one build of Java and one version of the server. A trial run of the server makes it.
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

    from pulsar_spark.local.java import Java

_TRIAL_ARCHIVE = "classes.jsa"

_log = logging.getLogger(__name__)


def archive_file(java: Java, version: str | None = None) -> Path:
    """Where the class data archive of a server on this Java is kept: with it a start takes half the time."""
    return versions.home(version) / f"classes-{java.version}-{hashlib.sha256(java.build.encode()).hexdigest()[:12]}.jsa"


def archiving_options(folder: Path) -> tuple[str, ...]:
    """The JVM options of a trial run, which leaves its archive in the folder when it ends."""
    return (f"-XX:ArchiveClassesAtExit={folder / _TRIAL_ARCHIVE}",)


def options(
    java: Java, version: str, trial_run: Callable[[Path, Java], None], *, patience_seconds: float
) -> tuple[str, ...]:
    """The JVM options that use the archive, which is made when there is none; empty if that fails.

    Args:
        java: The Java to run on.
        version: The version of the server.
        trial_run: Starts and stops a server with `archiving_options` in a folder.
        patience_seconds: How long to wait for another process that makes the same archive.
    """
    archive = archive_file(java, version)
    if not archive.exists():
        with FileLock(archive.with_suffix(".lock"), patience_seconds=patience_seconds):
            if not archive.exists():
                _log.info("Preparing the server's classes for Java %d (once)", java.version)
                _make(archive, java, trial_run)
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


def _make(archive: Path, java: Java, trial_run: Callable[[Path, Java], None]) -> None:
    """Let a trial run write the archive. An archive only saves time, so a failure is a warning."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".classes-") as folder:
        try:
            trial_run(Path(folder), java)
            (Path(folder) / _TRIAL_ARCHIVE).rename(archive)
        except (LocalPulsarError, FileNotFoundError) as error:
            _log.warning("The server's classes could not be prepared, it will start more slowly: %s", error)
