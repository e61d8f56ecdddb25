"""The Pulsar servers that can be run here: their versions, and how each of them gets onto this machine."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from pulsar_spark.local import maven

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT = "4.0.8"
VARIABLE = "PULSAR_SPARK_SERVER_VERSION"


class ServerUnavailableError(RuntimeError):
    """No server can be run on this machine; the message says what is missing and how to get it."""


class Source(Protocol):
    """Where the jars of a server are downloaded from."""

    @property
    def megabytes(self) -> int:
        """Size of the download."""

    def install(self, version: str, folder: Path) -> None:
        """Download the server and put its jars into ``lib`` in the folder.

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
    """The version to run: the given one, else that of ``PULSAR_SPARK_SERVER_VERSION``, else the default.

    Raises:
        ServerUnavailableError: It is not one of `KNOWN`.
    """
    wanted = version or os.environ.get(VARIABLE) or DEFAULT
    if wanted not in KNOWN:
        raise ServerUnavailableError(
            f"A local Pulsar {wanted} is not supported. Use one of these versions: {', '.join(KNOWN)}."
        )
    return wanted


def home(version: str | None = None) -> Path:
    """The folder that holds or will hold the installed server and what belongs to it."""
    return maven.cache_folder() / "server" / f"pulsar-{chosen(version)}"
