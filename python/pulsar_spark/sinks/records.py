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
    """The state of a sink cannot be read or repaired; the message says why and what to do."""


@dataclass(frozen=True)
class Transaction:
    """A transaction of one task attempt.

    Attributes:
        most: The upper half of its id, a signed integer of 64 bits.
        least: The lower half.
        partition: Spark's number of the task.
        attempt: Spark's id of the task attempt.
        rows: How many rows it has; 0 when the record does not say.
        bytes: The size of their values; 0 when the record does not say.
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
        owner: The life of a driver.
        time: Milliseconds since 1970.
        epoch: The epoch, -1 for none.
        transactions: The transactions that it names.
        count: How many transactions a `done` counts.
        rows: How many rows a `done` counts.
        target: Where the rows of a `prepared` or `done` go; empty in records of early versions, which are of all.
        others: The last epoch of each other target, as a `done` says it.
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
    target: str = ""
    others: tuple[tuple[str, int], ...] = ()


def parse(payload: bytes) -> Record:
    """Read one record.

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


def owner_record(last: Record, owner: str, time: int) -> bytes:
    """The record by which ``owner`` takes over a sink whose log ends with ``last``."""
    return json.dumps(_fields(OWNER, last, owner, time)).encode()


def done_record(prepared: Record, done: Record | None, owner: str, time: int) -> bytes:
    """The record by which ``owner`` finishes an epoch, all of whose transactions are committed.

    It has the whole state, as those of drivers: what ``done`` says of other targets must outlive it.
    """
    targets = {} if done is None else {**dict(done.others), done.target: done.epoch}
    sums = {
        "epoch": prepared.epoch,
        "target": prepared.target,
        "others": {one: epoch for one, epoch in targets.items() if one != prepared.target},
        "transactions": len(prepared.transactions),
        "rows": sum(one.rows for one in prepared.transactions),
        "bytes": sum(one.bytes for one in prepared.transactions),
    }
    return json.dumps({**_fields(FINISHED, prepared, owner, time), **sums}).encode()


def _fields(kind: str, like: Record, owner: str, time: int) -> dict[str, Any]:
    named = {"version": _VERSION, "kind": kind, "sinkId": like.sink, "nonce": like.nonce}
    return {**named, "owner": owner, "time": time}
