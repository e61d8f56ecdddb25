"""What ``pulsar-spark sink repair`` does, as a driver does when it starts, as far as the admin service allows.

The admin service can abort a transaction but not commit one. So a prepared epoch with transactions that are still
open is left to the next driver of the sink, which commits them.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pulsar_spark.sinks.records import SinkError, done_record, owner_record

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulsar_spark.sinks.admin import SinkAdmin
    from pulsar_spark.sinks.status import SinkStatus


@dataclass
class Repair:
    """What was done and what is left.

    Attributes:
        finished: The prepared epoch that is now recorded as done.
        aborted: Transactions that were aborted.
        remaining: What a driver or a person has to do, one sentence each.
    """

    finished: int | None = None
    aborted: list[tuple[int, int]] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The result as text."""
        lines = [] if self.finished is None else [f"Epoch {self.finished} is recorded as done: it was committed."]
        lines += [f"Transaction ({most},{least}) is aborted." for most, least in self.aborted]
        return "\n".join([*lines, *self.remaining] or ["There was nothing to repair."])


def repair(status: SinkStatus, admin: SinkAdmin, append: Callable[[bytes], None]) -> Repair:
    """Finish or abort what is left over.

    Args:
        status: The status, read by the only producer of the log.
        admin: The admin service.
        append: Appends to the log, and fails when another driver took over since.

    Raises:
        SinkError: Open transactions cannot be listed.
    """
    state, result = status.state, Repair()
    if not state.nonce or status.open_ is None:
        if status.open_ is None:
            raise SinkError("Open transactions cannot be listed: the role needs rights on the namespace pulsar/system.")
        return result
    if state.prepared is None and not status.left_open:
        return result
    owner, last = str(uuid.uuid4()), state.prepared or state.done or state.owner
    if last is not None:
        last = replace(last, nonce=state.nonce)  # that of the newest record: a query may have taken the state over
        # As for a driver: the append proves that the transactions read before are of earlier owners.
        append(owner_record(last, owner, status.now))
    if state.prepared is not None and not state.unknown:
        append(done_record(replace(state.prepared, nonce=state.nonce), state.done, owner, status.now))
        result.finished = state.prepared.epoch
    elif state.prepared is not None:
        result.remaining = _undecided(status)
    for record in status.left_open:
        _abort(record.transactions[0].id, admin, result)
    return result


def _undecided(status: SinkStatus) -> list[str]:
    prepared, state = status.state.prepared, status.state
    assert prepared is not None
    still = [one for one in state.unknown if status.state_of(one) == "open"]
    gone = [one for one in state.unknown if status.state_of(one) != "open"]
    lines = []
    if still:
        lines.append(
            f"Epoch {prepared.epoch} is decided, and {len(still)} of its transactions are to be committed, which only "
            "a driver can do: start the write again with its checkpoint, before they time out."
        )
    if gone:
        tasks = ", ".join(f"{one.partition} ({one.rows} rows)" for one in gone)
        lines.append(
            f"Epoch {prepared.epoch} is decided, but transactions of these tasks ended without a marker that can be "
            f"read: {tasks}. Start the write again: it finds out whether they are committed. If they are not, their "
            "rows are missing from the topic, while those of the other tasks are there."
        )
    return lines


def _abort(transaction: tuple[int, int], admin: SinkAdmin, result: Repair) -> None:
    try:
        admin.abort(transaction)
    except SinkError as error:
        most, least = transaction
        result.remaining.append(
            f"Transaction ({most},{least}) could not be aborted ({error}). Only a super-user can do so here; the next "
            "driver of the sink aborts it, or its time-out ends it."
        )
    else:
        result.aborted.append(transaction)
