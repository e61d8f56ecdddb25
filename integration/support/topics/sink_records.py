"""The records in the control topics of an exactly-once sink, as the official client reads them: JSON, version 1.

The tests read them by docs/develop/exactly-once.md, and by no code of the connector.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulsar

from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

OWNER, PREPARED, FINISHED, DROPPED = "owner", "prepared", "done", "dropped"
OPEN, MARKER = "open", "marker"


@dataclass(frozen=True)
class Transaction:
    """A transaction of one task attempt. Its id has two halves; rows and bytes are 0 if the record has none."""

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


@dataclass(frozen=True)
class ControlTopics:
    """The records of the three topics, each in its order. ``mark`` has those that read-committed readers see."""

    log: tuple[Record, ...]
    open: tuple[Record, ...]
    mark: tuple[Record, ...]


def control_topic(namespace: str, sink: str, which: str) -> str:
    """The full name of one of the topics: ``log``, ``open`` or ``mark``."""
    return f"persistent://{namespace}/pulsar-spark-sink-{sink}-{which}"


def read_control_topics(client: pulsar.Client, namespace: str, sink: str) -> ControlTopics:
    """Read every record that readers see now. The log comes first: what it decides was opened before."""
    log, opened, mark = (_read(client, control_topic(namespace, sink, which)) for which in ("log", "open", "mark"))
    return ControlTopics(log, opened, mark)


def _read(client: pulsar.Client, name: str) -> tuple[Record, ...]:
    reader = client.create_reader(name, pulsar.MessageId.earliest)
    try:
        return tuple(_record(json.loads(message.data())) for message in remaining(reader))
    finally:
        reader.close()


def _record(fields: Mapping[str, Any]) -> Record:
    assert fields["version"] == 1, fields
    listed = fields.get("transactions", [])
    counted = isinstance(listed, int)
    return Record(
        kind=fields["kind"],
        sink=fields["sinkId"],
        nonce=fields["nonce"],
        owner=fields["owner"],
        time=fields["time"],
        epoch=fields.get("epoch", -1),
        transactions=() if counted else tuple(map(_transaction, listed)),
        count=listed if counted else len(listed),
        rows=fields.get("rows", 0),
        lost=fields.get("lost", 0),
        target=fields.get("target", ""),
        others=tuple(sorted(fields.get("others", {}).items())),
    )


def _transaction(fields: Mapping[str, Any]) -> Transaction:
    named = {name: fields[name] for name in ("most", "least", "partition", "attempt")}
    return Transaction(**named, rows=fields.get("rows", 0), bytes=fields.get("bytes", 0))
