"""The control topics as a run would leave them that went as far as a state of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.state import Kind, State, Status, Task

from support.topics.sink_records import (
    DROPPED,
    FINISHED,
    MARKER,
    OPEN,
    OWNER,
    PREPARED,
    ControlTopics,
    Record,
    Transaction,
)

if TYPE_CHECKING:
    from model.state import Attempt
    from model.state import Record as ModelRecord

_KINDS = {Kind.OWNER: OWNER, Kind.PREPARED: PREPARED, Kind.DONE: FINISHED, Kind.DROPPED: DROPPED}


def records_of(state: State) -> ControlTopics:
    """The records of all three topics."""
    opened = [_of_attempt(number, one, OPEN) for number, one in enumerate(state.attempts) if _was_opened(one)]
    marks = [
        _of_attempt(number, one, MARKER)
        for number, one in enumerate(state.attempts)
        if one.marked and one.status is Status.COMMITTED
    ]
    log = [_of_log(state, place) for place in range(len(state.log))]
    return ControlTopics(tuple(log), tuple(opened), tuple(marks))


def _was_opened(attempt: Attempt) -> bool:
    return attempt.status is not Status.NONE and attempt.stage is not Task.NEW


def _of_attempt(number: int, attempt: Attempt, kind: str) -> Record:
    nonce, owner = f"query:{attempt.generation}", f"life {attempt.life}"
    return Record(kind, "model", nonce, owner, number, attempt.epoch, (_transaction(number, attempt),), 1)


def _transaction(number: int, attempt: Attempt) -> Transaction:
    return Transaction(0, number, attempt.task, number, attempt.rows)


def _of_log(state: State, place: int) -> Record:
    one = state.log[place]
    chosen = _chosen(state.log[:place], one)
    listed = tuple(_transaction(number, state.attempts[number]) for number in chosen)
    rows = sum(transaction.rows for transaction in listed)
    named = listed if one.kind is Kind.PREPARED else ()
    nonce, owner = f"query:{one.generation}", f"life {one.life}"
    others = tuple((_target(target), epoch) for target, epoch in one.done if target != one.target)
    kind, target = _KINDS[one.kind], _target(one.target)
    return Record(kind, "model", nonce, owner, place, one.epoch, named, len(listed), rows, target=target, others=others)


def _target(number: int) -> str:
    return f"target {number}"


def _chosen(before: tuple[ModelRecord, ...], one: ModelRecord) -> tuple[int, ...]:
    """The transactions of a record: its own, or those of the PREPARED that a DONE finishes."""
    if one.kind is not Kind.DONE:
        return one.chosen
    return next(record.chosen for record in reversed(before) if record.kind is Kind.PREPARED)
