"""Results of calls about exactly-once sinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FoundSink:
    """An exactly-once sink whose state is in a namespace.

    Attributes:
        sink: Its id.
        nonce: The owner of the state: ``query:<id>`` for a stream, ``versions`` for batches with ``txnVersion``,
            ``job`` for a batch without; None before the first write.
        target: Full name of the topic of the rows; ``*`` if rows name their topics; empty if it is not known.
        done: The last epoch that is written; None if there is none.
        prepared: An epoch that is decided and not finished; None if there is none.
    """

    sink: str
    nonce: str | None
    target: str
    done: int | None = None
    prepared: int | None = None


@dataclass(frozen=True)
class LostTask:
    """The transaction of a task whose rows are not in the topic.

    Attributes:
        partition: Spark's number of the task.
        attempt: Spark's id of the task attempt.
        rows: Number of its rows.
        bytes: Size of their values, in bytes.
        most: The upper half of the id of its transaction, a signed integer of 64 bits.
        least: The lower half.
    """

    partition: int
    attempt: int
    rows: int
    bytes: int
    most: int
    least: int


@dataclass(frozen=True)
class RepairedSink:
    """The result of a repair.

    Attributes:
        sink: The id of the sink.
        nonce: The owner of the state, as in `FoundSink`.
        epoch: The epoch that was decided and not finished; None if there was none.
        outcome: The end of that epoch: ``committed``, ``dropped`` (nothing of it is visible, it can be written again)
            or ``torn`` (a part is lost, which was accepted); None without an epoch.
        lost: The tasks of the epoch whose rows are lost.
        aborted: Number of transactions that were aborted because no epoch had decided them.
        removed: True if nothing needs the state any more, so its topics are deleted.
    """

    sink: str
    nonce: str | None
    epoch: int | None = None
    outcome: str | None = None
    lost: tuple[LostTask, ...] = ()
    aborted: int = 0
    removed: bool = False

    def text(self) -> str:
        """The result as text."""
        lines = []
        if self.epoch is not None:
            lines.append(f"Epoch {self.epoch} is {self.outcome}.")
            lines += [f"  lost: {one.rows} rows of partition {one.partition}" for one in self.lost]
        if self.aborted:
            lines.append(f"{self.aborted} transactions that no epoch had decided are aborted.")
        if self.removed:
            lines.append("The state of the sink is needed no more: its topics are removed.")
        return "\n".join(lines or ["There was nothing to repair."])

    @classmethod
    def of(cls, told: dict[str, Any]) -> RepairedSink:
        """The result that the connector returned as JSON."""
        return cls(**{**told, "lost": tuple(LostTask(**one) for one in told.get("lost", ()))})
