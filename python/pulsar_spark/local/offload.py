"""Offloading of a local server's ledgers: the target, the broker's plug-in and its settings.

A closed ledger is offloaded on request through the admin interface; its copy on the bookie is deleted at once.
"""

from __future__ import annotations

import logging
import shutil
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pulsar_spark.local import maven, versions
from pulsar_spark.local.errors import ServerUnavailableError
from pulsar_spark.local.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Mapping

# A plug-in works with one version of the broker.
_VERSION = versions.DEFAULT
_COORDINATE = f"org.apache.pulsar:pulsar-offloader-distribution:{_VERSION}:bin@tar.gz"
_SHA256 = "a73d8c48f578edbc572147351fbca742740b3fe4329f892ce80f3de717adf6c7"
_INSTALL_PATIENCE_SECONDS = 1800.0

_SETTINGS = {
    "managedLedgerOffloadDeletionLagMs": "0",
    "managedLedgerOffloadAutoTriggerSizeThresholdBytes": "-1",
    "managedLedgerOffloadMaxThreads": "2",
}

# The file format of Pulsar's own profile.
_PROFILE = """\
<configuration>
  <property><name>io.file.buffer.size</name><value>4096</value></property>
  <property><name>io.map.index.interval</name><value>128</value></property>
  <property><name>io.seqfile.compression.type</name><value>BLOCK</value></property>
</configuration>
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileSystemOffload:
    """Offload to a local folder, one Hadoop ``MapFile`` for each ledger.

    Attributes:
        folder: The target; created if it is missing.
    """

    folder: Path

    plug_in: ClassVar[str] = "tiered-storage-file-system"

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the server."""
        return {}

    def settings(self, server: Path) -> dict[str, str]:
        """Broker settings; writes the files that they name into the folder of the server."""
        profile = server / "offload.xml"
        profile.write_text(_PROFILE, encoding="utf-8")
        self.folder.mkdir(parents=True, exist_ok=True)
        return {
            "managedLedgerOffloadDriver": "filesystem",
            "fileSystemURI": self.folder.absolute().as_uri(),
            "fileSystemProfilePath": str(profile),
        }


@dataclass(frozen=True)
class S3Offload:
    """Offload to a bucket of a server that speaks S3, in the block format of Pulsar's cloud offloaders.

    Attributes:
        endpoint: The address of the S3 server, ``http://host:port``.
        bucket: A bucket that exists.
        access_key: The access key.
        secret_key: The secret key.
        block_bytes: Size of the blocks, at least 5 MiB.
    """

    endpoint: str
    bucket: str
    access_key: str
    secret_key: str = field(repr=False)
    block_bytes: int = 5 * 1024 * 1024

    plug_in: ClassVar[str] = "tiered-storage-jcloud"

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the server, the only place where this driver looks for credentials."""
        return {"ACCESS_KEY_ID": self.access_key, "ACCESS_KEY_SECRET": self.secret_key}

    def settings(self, server: Path) -> dict[str, str]:  # noqa: ARG002 - same signature as above
        """Broker settings. Not with the driver ``aws-s3``, which looks up the bucket's region on the internet."""
        return {
            "managedLedgerOffloadDriver": "S3",
            "managedLedgerOffloadBucket": self.bucket,
            "managedLedgerOffloadServiceEndpoint": self.endpoint,
            "managedLedgerOffloadMaxBlockSizeInBytes": str(self.block_bytes),
            "managedLedgerOffloadReadBufferSizeInBytes": "1048576",
        }


Offload = FileSystemOffload | S3Offload


def settings(offload: Offload, server: Path, version: str) -> dict[str, str]:
    """All broker settings for offloading; downloads the plug-in if it is not in the cache.

    Raises:
        ServerUnavailableError: The download failed, or this version of the server has no plug-in.
    """
    if version != _VERSION:
        raise ServerUnavailableError(f"A local Pulsar {version} cannot offload; {_VERSION} can.")
    plug_ins = versions.home(version) / "offloaders"
    return {
        **_SETTINGS,
        "offloadersDirectory": str(_plug_in(plug_ins / offload.plug_in)),
        # Unpacked once for all servers: 67 MB.
        "narExtractionDirectory": str(plug_ins / "unpacked"),
        **offload.settings(server),
    }


def _plug_in(target: Path) -> Path:
    """The folder with one plug-in only, since a broker unpacks all of a folder; complete or missing."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name("lock"), patience_seconds=_INSTALL_PATIENCE_SECONDS):
            if not target.exists():
                _install(target)
    return target


def _install(target: Path) -> None:
    _log.info("Downloading Pulsar's offloaders (62 MB, once)")
    try:
        tarball = maven.fetch(_COORDINATE, sha256=_SHA256)
    except maven.FetchError as error:
        raise ServerUnavailableError(f"Pulsar's offloaders could not be downloaded. {error}") from error
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as folder:
        unpacked = Path(folder) / target.name
        unpacked.mkdir()
        with tarfile.open(tarball) as archive:
            for member in archive:
                name = Path(member.name).name
                if member.isfile() and name.startswith(target.name) and name.endswith(".nar"):
                    content = archive.extractfile(member)
                    assert content is not None
                    with content, (unpacked / name).open("wb") as file:
                        shutil.copyfileobj(content, file)
        unpacked.rename(target)
