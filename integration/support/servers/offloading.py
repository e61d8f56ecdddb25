"""A broker that offloads in one of Pulsar's two formats."""

from __future__ import annotations

import itertools
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pulsar_spark.local import FileSystemOffload, LocalPulsar, S3Offload
from support.servers.admin import Admin
from support.servers.s3_server import running_s3
from support.spark.waiting import eventually
from support.topics.messages import connected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pulsar

FORMATS = ("block", "mapfile")
ENTRIES_PER_LEDGER = 100

_DELETION_SECONDS = 180
_buckets = itertools.count(1)


@dataclass(frozen=True)
class Offloading:
    """A broker that offloads, and its storage.

    Attributes:
        server: The broker; a ledger is closed after ENTRIES_PER_LEDGER entries, unless it was started otherwise.
        admin: Its admin interface.
        client: The official client.
        format: One of FORMATS, as option ``offload.format`` has it.
        location: Where the ledgers go, as option ``offload.location`` has it.
        hadoop: What Hadoop's file system has to be told, as users do by ``spark.hadoop...``.
    """

    server: LocalPulsar
    admin: Admin
    client: pulsar.Client
    format: str
    location: str
    hadoop: Mapping[str, str]

    def ledgers(self, topic: str) -> list[dict[str, Any]]:
        """The ledgers that are offloaded, with id, entries and the uuid of the offload."""
        offloaded = {one["ledgerId"] for one in self.admin.internal_stats(topic)["ledgers"] if one["offloaded"]}
        return [one for one in self.admin.internal_info(topic)["ledgers"] if one["ledgerId"] in offloaded]

    def offload(self, topic: str) -> None:
        """Have all ledgers but the open one offloaded, and their copies on the bookie deleted."""
        self.admin.offload(topic)
        self.admin.trim(topic)
        ids = [one["ledgerId"] for one in self.ledgers(topic)]
        assert ids
        eventually(lambda: all(map(self._is_deleted, ids)), seconds=_DELETION_SECONDS)

    def _is_deleted(self, ledger: int) -> bool:
        log = self.server.log_file.read_text(encoding="utf-8", errors="replace")
        return f"Deleted and invalidated offloaded ledger {ledger} from bookkeeper" in log


@contextmanager
def running_offload(
    kind: str,
    folder: Path,
    *,
    entries_per_ledger: int = ENTRIES_PER_LEDGER,
    settings: Mapping[str, str] | None = None,
    profile: Literal["small", "performance"] = "small",
) -> Iterator[Offloading]:
    """Run a broker, with further settings, that offloads in this format to storage that nobody else uses."""
    with ExitStack() as stack:
        offload: S3Offload | FileSystemOffload
        if kind == "block":
            # Hadoop keeps the way to a bucket of this name, so each server has its own.
            offload = stack.enter_context(running_s3(folder)).bucket(f"pulsar-offload-{next(_buckets)}")
            location, hadoop = f"s3a://{offload.bucket}", s3a_settings(offload)
        else:
            offload = FileSystemOffload(folder / "offloaded")
            location, hadoop = offload.folder.as_uri(), {}
        config = {"managedLedgerMaxEntriesPerLedger": str(entries_per_ledger), **(settings or {})}
        server = stack.enter_context(
            LocalPulsar(data_dir=folder / "pulsar", offload=offload, config=config, profile=profile)
        )
        client = stack.enter_context(connected(server.service_url, folder))
        yield Offloading(server, Admin(server.admin_url), client, kind, location, hadoop)


def s3a_settings(offload: S3Offload) -> dict[str, str]:
    settings = {
        "endpoint": offload.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "access.key": offload.access_key,
        "secret.key": offload.secret_key,
    }
    return {f"fs.s3a.{key}": value for key, value in settings.items()}
