"""The records in the control topics of an exactly-once sink: JSON, version 1."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

OWNER, PREPARED, FINISHED, DROPPED = "owner", "prepared", "done", "dropped"
OPEN, MARKER, BARRIER = "open", "marker", "barrier"
_VERSION = 1


class SinkError(RuntimeError):
    """An error of a sink whose state cannot be read. The message contains the reason and what to do."""


@dataclass(frozen=True)
class Transaction:
    """A transaction of one task attempt.

    Attributes:
        most: The upper half of its id, a signed integer of 64 bits.
        least: The lower half.
        partition: Spark's number of the task.
        attempt: Spark's id of the task attempt.
        rows: Number of its rows; 0 if the record has none.
        bytes: Size of their values, in bytes; 0 if the record has none.
    """

    most: int
    least: int
    partition: int
    attempt: int
    rows: int = 0
    bytes: int = 0

    @property
    def id(self) -> tuple[int, int]:
        """The id as Pulsar prints it."""
        return self.most, self.least


@dataclass(frozen=True)
class Record:
    """One record.

    Attributes:
        kind: `owner`, `prepared`, `done` and `dropped` of the log, `open`, `marker` or `barrier`; others are ignored.
        sink: The id of the sink.
        nonce: The checkpoint that the state belongs to.
        owner: The id of the coordinator in the driver that wrote the record, or for which the task ran.
        time: Time of writing, in milliseconds since 1970, by the clock of the writer.
        epoch: The epoch; -1 for none.
        transactions: The transactions that it names.
        count: Number of transactions of a `done`.
        rows: Number of rows of a `done`.
        lost: Number of these rows that are not in the topic, which a person accepted.
        target: Topic of the rows of an `owner`, `prepared` or `done`; empty in early records, which are of all targets.
        others: The last epoch of each other target, in a `done`.
    """

    kind: str
    sink: str
    nonce: str
    owner: str
    time: int
    epoch: int = -1
    transactions: tuple[Transaction, ...] = ()
    count: int = 0
    rows: int = 0
    lost: int = 0
    target: str = ""
    others: tuple[tuple[str, int], ...] = ()


def parse(payload: bytes) -> Record:
    """Read one record from the payload of a message.

    Raises:
        SinkError: It is not a record, or of a later version.
    """
    try:
        fields = json.loads(payload)
        version = int(fields["version"])
        if version > _VERSION:
            raise SinkError(f"A record has version {version}; this pulsar-spark reads {_VERSION}. Use a later one.")
        return _record(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SinkError(f"{payload[:200]!r} is not a record of a sink ({error!r}).") from error


def _record(fields: Mapping[str, Any]) -> Record:
    listed = fields.get("transactions", [])
    counted = isinstance(listed, int)
    return Record(
        kind=str(fields["kind"]),
        sink=str(fields["sinkId"]),
        nonce=str(fields["nonce"]),
        owner=str(fields["owner"]),
        time=int(fields["time"]),
        epoch=int(fields.get("epoch", -1)),
        transactions=() if counted else tuple(map(_transaction, listed)),
        count=listed if counted else len(listed),
        rows=int(fields.get("rows", 0)),
        lost=int(fields.get("lost", 0)),
        target=str(fields.get("target", "")),
        others=tuple(sorted((str(one), int(epoch)) for one, epoch in fields.get("others", {}).items())),
    )


def _transaction(fields: Mapping[str, Any]) -> Transaction:
    return Transaction(
        most=int(fields["most"]),
        least=int(fields["least"]),
        partition=int(fields["partition"]),
        attempt=int(fields["attempt"]),
        rows=int(fields.get("rows", 0)),
        bytes=int(fields.get("bytes", 0)),
    )
