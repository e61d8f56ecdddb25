"""The rows of metadata tables. docs/use/metadata.md describes their columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PartitionInfo:
    """A topic partition, or a topic that has no partitions.

    Attributes:
        topic: Its full name.
        partition: Its number; None for a topic that has no partitions.
        first: The position of the first entry; None without messages.
        last: The position of the last entry with messages; None without messages.
        entries: Entries that are stored. This and the rest are None without an admin URL.
        bytes: Bytes that are stored.
        ledgers: Ledgers that exist.
        offloaded_ledgers: Ledgers that are offloaded.
    """

    topic: str
    partition: int | None
    first: str | None
    last: str | None
    entries: int | None
    bytes: int | None
    ledgers: int | None
    offloaded_ledgers: int | None
