"""The rows of metadata tables. docs/use/metadata.md describes their columns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pulsar_spark.plans import Tier


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


@dataclass(frozen=True)
class TopicInfo:
    """A topic of a namespace.

    Attributes:
        topic: Its full name.
        partitions: Partitions that exist; None for a topic that has none.
        schema_type: The type of the newest schema; None without a schema.
        schema_version: The version of the newest schema.
    """

    topic: str
    partitions: int | None
    schema_type: str | None
    schema_version: int | None


@dataclass(frozen=True)
class LedgerInfo:
    """A ledger of a topic partition.

    Attributes:
        topic: The full name of the topic or topic partition.
        partition: The number of the partition; None for a topic that has none.
        ledger_id: The number of the ledger.
        entries: Entries in it, markers too.
        bytes: Bytes in it.
        state: ``open`` while it is written, then ``closed``, then perhaps ``offloaded``.
        closed_at: When the broker closed it; None while it is open.
        offloaded_to: File or folder of the copy; None if it is not offloaded, or not known where to.
        bookies: Bookies that have or had it; None if they are not known.
    """

    topic: str
    partition: int | None
    ledger_id: int
    entries: int | None
    bytes: int | None
    state: str
    closed_at: datetime | None
    offloaded_to: str | None
    bookies: tuple[str, ...] | None


@dataclass(frozen=True)
class SchemaInfo:
    """A version of the schema of a topic.

    Attributes:
        topic: The full name of the topic.
        version: The number of the version, from 0.
        type: The type, such as ``AVRO``.
        registered_at: When it was registered; None without an admin URL.
        columns: The columns of a read with this schema, as DDL; None if it cannot be read.
        definition: The schema itself; empty for a primitive type.
    """

    topic: str
    version: int
    type: str
    registered_at: datetime | None
    columns: str | None
    definition: str | None


@dataclass(frozen=True)
class SubscriptionInfo:
    """A subscription of a topic partition.

    Attributes:
        topic: The full name of the topic or topic partition.
        partition: The number of the partition; None for a topic that has none.
        subscription: The name of the subscription.
        type: As ``Exclusive``; None as long as the broker has seen no consumer.
        durable: True if brokers keep messages for it; readers have one that is not.
        backlog_entries: Entries that it has not acknowledged.
        consumers: Consumers that are connected.
        mark_delete: The position up to which everything is acknowledged.
    """

    topic: str
    partition: int | None
    subscription: str
    type: str | None
    durable: bool
    backlog_entries: int | None
    consumers: int | None
    mark_delete: str | None


@dataclass(frozen=True)
class PositionInfo:
    """The position of a topic partition at a time.

    Attributes:
        topic: The full name of the topic or topic partition.
        partition: The number of the partition; None for a topic that has none.
        position: The last position before the time, as ``end`` of `read_pulsar`.
        starting_offset: The first position at the time or later, as ``start`` of `read_pulsar`.
    """

    topic: str
    partition: int | None
    position: str
    starting_offset: str


@dataclass(frozen=True)
class LagInfo:
    """The unread messages of a topic partition.

    Attributes:
        topic: The full name of the topic or topic partition.
        partition: The number of the partition; None for a topic that has none.
        position: The position up to and including which everything is read.
        last: The position of the last entry with messages; None without messages.
        entries: Unread entries, markers too; None if they are in several ledgers and there is no admin URL.
        messages: An estimate of the unread messages: as many in each entry as in the first one that is unread.
        bytes: An estimate of the unread bytes in storage; None without an admin URL.
        seconds: The age of the oldest unread message; 0 if everything is read.
    """

    topic: str
    partition: int | None
    position: str
    last: str | None
    entries: int | None
    messages: int | None
    bytes: int | None
    seconds: int | None


@dataclass(frozen=True)
class SliceInfo:
    """A slice of a batch read.

    Attributes:
        task: The number of the task, from 0.
        topic: The full name of the topic or topic partition.
        after: The position before the slice.
        through: The last position of the slice.
        tier: The place that it is read from: ``broker``, ``bookies`` or ``tiered``.
        entries: Entries; None for several ledgers that the broker delivers.
        bytes: Estimated bytes in storage; None for what the broker delivers.
        reason: Why the broker delivers it; None if it does not.
        hosts: Hosts that store the first slice of the task.
    """

    task: int
    topic: str
    after: str
    through: str
    tier: Tier
    entries: int | None
    bytes: int | None
    reason: str | None
    hosts: tuple[str, ...] | None


@dataclass(frozen=True)
class FollowedInfo:
    """A topic partition that a task of a query in real-time mode follows.

    Attributes:
        task: The number of the task, from 0.
        topic: The full name of the topic or topic partition.
        after: The position after which the task begins.
        last: The position of the last entry with messages; None without messages.
        entries: The backlog in entries; None if it is in several ledgers and there is no admin URL.
        bytes: Estimated bytes of the backlog in storage; None without an admin URL.
    """

    task: int
    topic: str
    after: str
    last: str | None
    entries: int | None
    bytes: int | None
