"""Downloads into the cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local.errors import FetchError
from pulsar_spark.local.locks import FileLock, InUseError
from pulsar_spark.local.maven import ivy
from pulsar_spark.local.maven.coordinate import Coordinate

if TYPE_CHECKING:
    from collections.abc import Mapping

CACHE_VARIABLE = "PULSAR_SPARK_CACHE"
DEFAULT_TIMEOUT_SECONDS = 1800.0

_OTHER_FILE = "The registry or mirror served a different file than this version expects."
_MEGABYTE = 1_000_000


def cache_folder() -> Path:
    """The folder for downloads: ``PULSAR_SPARK_CACHE``, else ``pulsar-spark`` in the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "pulsar-spark"


def fetch(
    coordinate: str,
    *,
    sha256: str | None,
    cache: Path | None = None,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> Path:
    """Return the local path of a Maven artifact, and download it first if it is not in the cache.

    Several processes may call this at once: one downloads, the others wait. A file in the cache is complete and
    verified.

    Args:
        coordinate: ``group:artifact:version[:classifier][@ext]``.
        sha256: The expected checksum, or None to accept any file.
        cache: The folder for the file. Default: `cache_folder`.
        timeout_seconds: The limit for all: waiting for another process and the download.

    Raises:
        FetchError: No java, no Ivy, no such artifact, no network, a wrong checksum, or a timeout.
    """
    requested = Coordinate.parse(coordinate)
    target = requested.path_in(cache or cache_folder())
    record = target.with_name(target.name + ".sha256")
    deadline = time.monotonic() + timeout_seconds
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_name(target.name + ".lock")
        try:
            with FileLock(lock, patience_seconds=timeout_seconds):
                if not target.exists():
                    _download(requested, target, record, sha256, deadline)
        except InUseError as error:
            raise FetchError(f"Another process has held {lock} for too long; is it still running?") from error
    _compare(requested, record.read_text(encoding="ascii").strip(), sha256, f"Delete {target} to fetch it again.")
    return target


def fetch_all(checksums: Mapping[str, str], folder: Path, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
    """Download several artifacts into a new folder, each under its group and its file name.

    Args:
        checksums: The expected SHA-256 for each coordinate.
        folder: The target, whose parent exists.
        timeout_seconds: The limit for all downloads.

    Raises:
        FetchError: As `fetch`; the folder is not created.
    """
    requested = {Coordinate.parse(text): sha256 for text, sha256 in checksums.items()}
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetch-") as name:
        work = Path(name)
        ivy.run(list(requested), work, time.monotonic() + timeout_seconds)
        for one, sha256 in requested.items():
            file = ivy.fetched_file(one, work)
            _compare(one, _sha256_of(file), sha256, _OTHER_FILE)
        (work / ivy.FETCHED).rename(folder)


def _compare(requested: Coordinate, found: str, expected: str | None, advice: str) -> None:
    if expected is not None and found != expected.lower():
        raise FetchError(f"The checksum of {requested} is {found}, expected {expected.lower()}. {advice}")


def _download(requested: Coordinate, target: Path, record: Path, sha256: str | None, deadline: float) -> None:
    # The work folder is on the file system of the target, so that the last step is a rename.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
        work = Path(folder)
        ivy.run([requested], work, deadline)
        file = ivy.fetched_file(requested, work)
        found = _sha256_of(file)
        _compare(requested, found, sha256, _OTHER_FILE)
        record.write_text(found + "\n", encoding="ascii")
        file.rename(target)


def _sha256_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(_MEGABYTE):
            digest.update(chunk)
    return digest.hexdigest()
