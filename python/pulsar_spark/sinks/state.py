"""The state of a sink: a fold of the records in its control topics."""

from __future__ import annotations

from dataclasses import dataclass

from pulsar_spark.sinks.records import DROPPED, FINISHED, MARKER, OPEN, OWNER, PREPARED, Record, Transaction


@dataclass(frozen=True)
class ControlTopics:
    """The records of the three topics, each in its order. ``mark`` has those that read-committed readers see."""

    log: tuple[Record, ...]
    open: tuple[Record, ...]
    mark: tuple[Record, ...]


@dataclass(frozen=True)
class SinkState:
    """The state that the records describe.

    Attributes:
        nonce: The checkpoint that the state belongs to; None if the log is empty.
        owner: The last record of a driver that took the sink over; None if there is none.
        done: The last finished epoch as a record; None if there is none.
        prepared: The epoch whose transactions are decided, but not known to be committed; None if there is none.
        committed: Transactions of `prepared` whose marker is readable.
        unknown: Transactions of `prepared` without a readable marker.
        others: Records of further transactions that may be open: late attempts of any epoch.
    """

    nonce: str | None
    owner: Record | None
    done: Record | None
    prepared: Record | None
    committed: tuple[Transaction, ...]
    unknown: tuple[Transaction, ...]
    others: tuple[Record, ...]


def fold(topics: ControlTopics) -> SinkState:
    """Compute the state from the records."""
    owner = done = prepared = None
    for record in topics.log:
        if record.kind == OWNER:
            owner = record
        elif record.kind == PREPARED:
            prepared = record
        elif record.kind in (FINISHED, DROPPED):
            done = record if record.kind == FINISHED else done
            prepared = None if prepared is None or prepared.epoch == record.epoch else prepared
    marked = {one.id for record in topics.mark if record.kind == MARKER for one in record.transactions}
    chosen = prepared.transactions if prepared is not None else ()
    ids = {one.id for one in chosen}
    opened = [one for one in topics.open if one.kind == OPEN and one.transactions]
    return SinkState(
        nonce=topics.log[-1].nonce if topics.log else None,
        owner=owner,
        done=done,
        prepared=prepared,
        committed=tuple(one for one in chosen if one.id in marked),
        unknown=tuple(one for one in chosen if one.id not in marked),
        others=tuple(one for one in opened if one.transactions[0].id not in ids | marked),
    )
