"""What goes wrong with drivers, and how they are started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.state import ENDED, Bounds, Driver, Kind, Record, Rules, State, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    Steps = Iterator[tuple[str, State]]

_APPENDS = {Step.CLAIM: Kind.OWNER, Step.PREPARE: Kind.PREPARED, Step.DONE: Kind.DONE, Step.DROP: Kind.DROPPED}


def driver_faults(state: State, rules: Rules, bounds: Bounds) -> Steps:
    """Drivers die, lose replies, or are taken for dead."""
    for life, driver in enumerate(state.drivers):
        if driver.step in ENDED:
            continue
        if "driver" in bounds.kinds:
            yield f"! driver {life} dies", _stopped(state, life, driver)
        if "reply" in bounds.kinds:
            yield from _lost_replies(state, life, driver, rules)
    if len(state.drivers) < bounds.lives:
        alive = state.drivers[-1].step not in ENDED
        if alive and "second driver" in bounds.kinds:
            yield "! another driver starts while the first is alive", _started(state)
        if not alive and "checkpoint" in bounds.kinds:
            emptied = state._replace(committed=0, generation=state.generation + 1)
            yield "! the checkpoint is deleted, another driver starts", _started(emptied)


def _lost_replies(state: State, life: int, driver: Driver, rules: Rules) -> Steps:
    """An append without an answer is stored nevertheless; a commit is answered as if the transaction were unknown."""
    kind = _APPENDS.get(driver.step)
    if kind is not None and (state.owner == life or not rules.fence):
        epoch, chosen = (-1, ()) if kind is Kind.OWNER else (driver.finishing, driver.chosen)
        record = Record(kind, life, driver.generation, epoch, chosen if kind is Kind.PREPARED else ())
        stopped = _stopped(state._replace(log=(*state.log, record)), life, driver)
        if kind is Kind.PREPARED and not rules.keeps_prepared:
            for number in chosen:
                stopped = stopped.with_attempt(number, stopped.attempts[number]._replace(status=Status.ABORTED))
        yield f"! driver {life}: appends {kind.name}, hears an error and stops", stopped
    if driver.step is Step.COMMIT and state.attempts[driver.chosen[driver.turn]].status is Status.COMMITTING:
        number = driver.chosen[driver.turn]
        following = driver._replace(turn=driver.turn + 1, unknown=(*driver.unknown, number))
        if following.turn == len(driver.chosen):
            following = following._replace(step=Step.RESOLVE)
        yield f"! driver {life}: does not hear that T{number} is committed", state.with_driver(life, following)


def restarts(state: State, bounds: Bounds) -> Steps:
    """The user starts the query again after its driver has died."""
    if state.drivers[-1].step is Step.DEAD and len(state.drivers) < bounds.lives:
        yield "another driver starts", _started(state)


def _stopped(state: State, life: int, driver: Driver) -> State:
    return state.with_driver(life, Driver(driver.generation, Step.DEAD))


def _started(state: State) -> State:
    return state._replace(drivers=(*state.drivers, Driver(state.generation)))
