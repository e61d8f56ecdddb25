"""What a run did and read, as the checker takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Guarantee: TypeAlias = Literal["at-least-once", "exactly-once"]


@dataclass(frozen=True, order=True)
class Row:
    """One message of the writer, wherever it was read.

    Attributes:
        key: Rows of one key are in one partition, in the order in which they were sent.
        number: Of the message, counted over all keys; no two messages have the same.
    """

    key: str
    number: int


@dataclass(frozen=True)
class Ended:
    """A query that ended by itself.

    Attributes:
        query: Its name.
        condition: Of its error; None for an error without a name.
        text: The beginning of the error.
    """

    query: str
    condition: str | None
    text: str


@dataclass(frozen=True)
class Read:
    """One batch read.

    Attributes:
        least: How many messages were acknowledged before it began.
        rows: What it read, partition by partition in order.
        level: Its read level.
        noted: How many messages of each partition brokers were allowed to delete until it ended.
        entries: How many stored entries came from each tier.
    """

    least: int
    rows: Mapping[str, Sequence[Row]]
    level: str = "broker"
    noted: Mapping[str, int] = field(default_factory=dict)
    entries: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """All of a run.

    Attributes:
        acknowledged: What the writer was told that the brokers have, in the order of the answers.
        source: What the official client reads of the source, partition by partition in order, with what is gone by now.
        copies: The same of what each streaming query wrote, by its guarantee.
        reads: All batch reads.
        ended: All queries that ended by themselves.
        left: What was still there after all queries had been stopped, such as subscriptions.
        ledgers: The places in the source where a ledger begins, behind the first one. They are deleted as a whole.
    """

    acknowledged: Sequence[Row]
    source: Mapping[str, Sequence[Row]]
    copies: Mapping[Guarantee, Mapping[str, Sequence[Row]]]
    reads: Sequence[Read] = ()
    ended: Sequence[Ended] = ()
    left: Sequence[str] = field(default=())
    ledgers: Mapping[str, Sequence[int]] = field(default_factory=dict)
