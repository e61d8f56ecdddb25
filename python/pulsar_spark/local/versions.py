"""The supported versions of the Pulsar server, and their installation."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsar_spark.local import maven
from pulsar_spark.local.errors import ServerUnavailableError
from pulsar_spark.local.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = "4.0.8"
VARIABLE = "PULSAR_SPARK_SERVER_VERSION"

_INSTALL_PATIENCE_SECONDS = 1800.0

_log = logging.getLogger(__name__)


class Source(Protocol):
    """The download of a server's jars."""

    @property
    def megabytes(self) -> int:
        """Size of the download."""

    def install(self, version: str, folder: Path) -> None:
        """Download the server and store its jars in ``lib`` of the folder.

        Raises:
            FetchError: The download failed.
        """


@dataclass(frozen=True)
class Tarball:
    """Pulsar's own distribution of the server.

    Attributes:
        sha256: Its checksum.
        megabytes: Its size.
    """

    sha256: str
    megabytes: int

    def install(self, version: str, folder: Path) -> None:
        """Unpack the jars of the archive."""
        coordinate = f"org.apache.pulsar:pulsar-server-distribution:{version}:bin@tar.gz"
        tarball = maven.fetch(coordinate, sha256=self.sha256)
        (folder / "lib").mkdir()
        with tarfile.open(tarball) as archive:
            for member in archive:
                _, _, inside = member.name.partition("/")
                if member.isfile() and re.fullmatch(r"LICENSE|NOTICE|lib/[^/]+\.jar", inside):
                    content = archive.extractfile(member)
                    assert content is not None
                    with content, (folder / inside).open("wb") as file:
                        shutil.copyfileobj(content, file)


@dataclass(frozen=True)
class Jars:
    """Single jars, for versions whose distribution is not in the registry. ``tables/server-VERSION.txt`` lists them.

    Attributes:
        megabytes: Their size.
    """

    megabytes: int

    def install(self, version: str, folder: Path) -> None:
        """Download the jars of the list."""
        listed = resources.files("pulsar_spark").joinpath(f"tables/server-{version}.txt").read_text(encoding="ascii")
        maven.fetch_all(dict(line.split() for line in listed.splitlines()), folder / "lib")


KNOWN: Mapping[str, Source] = {
    "3.0.16": Tarball("e4bb206c22c701423844575acc5b2b985cd6babfefdef85be4d2b0d1db1a7892", 442),
    DEFAULT: Tarball("35c7d064c9e0928edbf2e708989faba0379662f98aa84ce0d4190c59efb6765e", 245),
    "4.2.4": Jars(246),
}


def chosen(version: str | None = None) -> str:
    """The version to run: ``version``, else that of ``PULSAR_SPARK_SERVER_VERSION``, else the default.

    Raises:
        ServerUnavailableError: It is not one of `KNOWN`.
    """
    result = version or os.environ.get(VARIABLE) or DEFAULT
    if result not in KNOWN:
        raise ServerUnavailableError(
            f"A local Pulsar {result} is not supported. Use one of these versions: {', '.join(KNOWN)}."
        )
    return result


def home(version: str | None = None) -> Path:
    """The folder of the installed server and its class data archives, which may not exist yet."""
    return maven.cache_folder() / "server" / f"pulsar-{chosen(version)}"


def libraries(version: str | None = None) -> Path:
    """The folder of the server's jars; downloads and unpacks them if they are not in the cache.

    Several processes may call this at once. The folder is complete or missing.

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
                _install(chosen(version), target)
    return target / "lib"


def _install(version: str, target: Path) -> None:
    source = KNOWN[version]
    _log.info("Downloading the Pulsar %s server (%d MB, once)", version, source.megabytes)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as folder:
        unpacked = Path(folder) / "server"
        unpacked.mkdir()
        try:
            source.install(version, unpacked)
        except maven.FetchError as error:
            raise ServerUnavailableError(f"The Pulsar server could not be downloaded. {error}") from error
        unpacked.rename(target)
