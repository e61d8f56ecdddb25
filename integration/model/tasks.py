"""What tasks, their connections and the transaction coordinator do, one step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.state import Attempt, Expiry, State, Status, Step, Task, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

_ENDED_BY_COMMIT = (Status.COMMITTING, Status.COMMITTED)


def task_steps(state: State, rules: Rules) -> Iterator[tuple[str, State]]:
    """The steps of all attempts, with what the broker does to their transactions."""
    for number, attempt in enumerate(state.attempts):
        who = f"task {attempt.task} of epoch {attempt.epoch}, T{number}"
        for name, following in _own(state, number, attempt, rules):
            yield f"{who}: {name}", state.with_attempt(number, following)
        if attempt.wire is Wire.SENT:
            yield f"{who}: the row arrives", state.with_attempt(number, _arrived(attempt))
        if attempt.status is Status.COMMITTING:
            yield (
                f"{who}: the commit reaches all topics",
                state.with_attempt(number, attempt._replace(status=Status.COMMITTED)),
            )


def _own(state: State, number: int, attempt: Attempt, rules: Rules) -> Iterator[tuple[str, Attempt]]:
    stage, is_open = attempt.stage, attempt.status is Status.OPEN
    if stage is Task.NEW:
        yield "opens its transaction and records it", attempt._replace(stage=Task.OPENED, status=Status.OPEN)
    elif stage is Task.OPENED:
        yield "sends its row", attempt._replace(stage=Task.SENT, wire=Wire.SENT)
    elif stage is Task.SENT and attempt.wire is Wire.STORED:
        yield "has its row acknowledged", attempt._replace(stage=Task.FLUSHED, wire=Wire.EMPTY)
    elif stage is Task.FLUSHED and rules.disconnect_check and attempt.cut:
        yield (
            "sees the lost connection and aborts",
            attempt._replace(stage=Task.GONE, status=Status.ABORTED if is_open else attempt.status),
        )
    if stage in (Task.SENT, Task.FLUSHED) and not attempt.marked:
        yield "sends its marker", _marked(attempt)
    may_end = attempt.marked and (stage is Task.FLUSHED or (stage is Task.SENT and not rules.flush_first))
    if may_end and not (rules.disconnect_check and attempt.cut) and _is_awaited(state, number, attempt):
        yield "hands its transaction over", attempt._replace(stage=Task.HANDED)


def _arrived(attempt: Attempt) -> Attempt:
    """The broker acknowledges any row. An aborted transaction filters it, a committed one loses its rows in the end."""
    rows = attempt.rows + (attempt.status is Status.OPEN)
    wire = Wire.STORED if attempt.stage < Task.HANDED else Wire.EMPTY
    return attempt._replace(rows=rows, wire=wire, late=attempt.late or attempt.status in _ENDED_BY_COMMIT)


def _marked(attempt: Attempt) -> Attempt:
    """The marker's topic is registered with the coordinator first, which refuses that for an ended transaction."""
    if attempt.status is Status.OPEN:
        return attempt._replace(marked=True)
    return attempt._replace(stage=Task.GONE)


def _is_awaited(state: State, number: int, attempt: Attempt) -> bool:
    driver = state.drivers[attempt.life]
    return (
        driver.step is Step.RUN
        and driver.epoch == attempt.epoch
        and not any(
            other.stage is Task.HANDED
            for place, other in enumerate(state.attempts)
            if place != number and _same_task(other, attempt)
        )
    )


def _same_task(one: Attempt, other: Attempt) -> bool:
    return (one.life, one.epoch, one.task) == (other.life, other.epoch, other.task)


def task_faults(state: State, bounds: Bounds) -> Iterator[tuple[str, State]]:
    """What may go wrong with tasks."""
    kinds = bounds.kinds
    for number, attempt in enumerate(state.attempts):
        who = f"task {attempt.task} of epoch {attempt.epoch}, T{number}"
        if attempt.stage < Task.HANDED and "executor" in kinds:
            yield f"! {who}: its executor dies", state.with_attempt(number, attempt._replace(stage=Task.GONE))
        if attempt.wire is Wire.STORED and attempt.stage < Task.HANDED and "cut" in kinds:
            yield (
                f"! {who}: the connection is cut before the acknowledgement, the row is sent again",
                (state.with_attempt(number, attempt._replace(wire=Wire.SENT, cut=True))),
            )
        if attempt.status is Status.OPEN and "time-out" in kinds:
            is_late = attempt.expiry is Expiry.NONE and _is_proved(state, number)
            expiry = Expiry.LATE if is_late else Expiry.EARLY
            yield (
                f"! {who}: the transaction times out",
                state.with_attempt(number, attempt._replace(status=Status.ABORTED, expiry=expiry)),
            )
        has_time = attempt.status is Status.OPEN and attempt.expiry is Expiry.NONE
        if has_time and "little time" in kinds and not _is_proved(state, number):
            yield (
                f"! {who}: the transaction has little time left",
                state.with_attempt(number, attempt._replace(expiry=Expiry.SOON)),
            )


def _is_proved(state: State, number: int) -> bool:
    """A driver that wants to append PREPARED, or has done so, proved that its transactions were open."""
    return any(number in one.chosen for one in state.log) or any(
        number in one.chosen for one in state.drivers if one.step is Step.PREPARE
    )


def launches(state: State, bounds: Bounds) -> Iterator[tuple[str, State]]:
    """A driver starts another attempt where all of a task's have failed, or, as a fault, believes that they have."""
    for life, driver in enumerate(state.drivers):
        if driver.step is not Step.RUN:
            continue
        for task in range(bounds.tasks):
            mine = [one for one in state.attempts if (one.life, one.epoch, one.task) == (life, driver.epoch, task)]
            if not mine or len(mine) >= bounds.attempts or any(one.stage is Task.HANDED for one in mine):
                continue
            failed = all(one.stage is Task.GONE for one in mine)
            if failed or "lost task" in bounds.kinds:
                again = state.attempt(life, driver, task)
                name = f"driver {life}: attempts task {task} of epoch {driver.epoch} again"
                following = state._replace(attempts=(*state.attempts, again))
                yield (name, following) if failed else (f"! {name} while the first is alive", following)
