"""The log of a sink: what a driver reads of it, and what it appends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.state import Driver, Kind, Record, State, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

_KINDS = {Step.CLAIM: Kind.OWNER, Step.PREPARE: Kind.PREPARED, Step.DONE: Kind.DONE, Step.DROP: Kind.DROPPED}


def is_foreign(state: State, driver: Driver, rules: Rules) -> bool:
    """Whether another checkpoint began the log."""
    return rules.nonce and any(one.generation != driver.generation for one in state.log)


def known(state: State, driver: Driver, first: int, bounds: Bounds) -> Driver:
    """The driver with what the log says from a record on."""
    done, plan, prepared = [-1] * max(bounds.targets, 1), 0, None
    for one in state.log[first:]:
        if one.kind is Kind.DONE:
            plan = -1 if one.lacks else one.plan
            for target, epoch in one.done:
                done[target] = epoch
        if one.kind is Kind.PREPARED:
            prepared = one
        elif prepared is not None and one.kind is not Kind.OWNER and one.epoch == prepared.epoch:
            prepared = None
    epoch = driver.epoch if bounds.targets else state.committed
    reader = driver._replace(epoch=epoch, first=first, done=tuple(done), plan=plan)
    return reader if prepared is None else reader._replace(finishing=prepared.epoch, chosen=prepared.chosen)


def is_ours(state: State, life: int, driver: Driver, other: int) -> bool:
    """Whether a life is the driver's own, or one that the driver read of and that owned the log before."""
    if other == life:
        return True
    for one in state.log[driver.first :]:
        if one.life in (life, other):
            return one.life == other
    return False


def appends(driver: Driver) -> bool:
    """Whether the next step of the driver is an append."""
    return driver.step in _KINDS


def record_of(state: State, life: int, driver: Driver, rules: Rules) -> Record:
    """What the driver appends at its next step."""
    kind = _KINDS[driver.step]
    if kind is Kind.OWNER:
        return Record(kind, life, driver.generation)
    one = state.attempts[driver.chosen[0]]
    record = Record(kind, life, driver.generation, driver.finishing, one.plan, one.target)
    if kind is Kind.PREPARED:
        return record._replace(chosen=driver.chosen)
    if kind is Kind.DROPPED:
        return record
    lacks = not rules.counts_lost and any(state.attempts[n].status is not Status.COMMITTED for n in driver.chosen)
    others = [(target, epoch) for target, epoch in enumerate(driver.done) if target != one.target and epoch >= 0]
    done = ((one.target, driver.finishing), *(others if rules.whole_state else ()))
    return record._replace(done=done, lacks=lacks)


def append(state: State, life: int, driver: Driver, rules: Rules) -> Iterator[tuple[str, State, bool]]:
    """The append of the driver's next step, and whether it succeeds: another owner of the log prevents it."""
    record = record_of(state, life, driver, rules)
    epoch = f" of epoch {record.epoch}" if record.epoch >= 0 else ""
    if state.owner == life or not rules.fence:
        stored = state._replace(log=(*state.log, record))
        yield f"appends {record.kind.name}{epoch}", stored, True
    else:
        dead = state.with_driver(life, driver.ended(Step.DEAD))
        yield f"is fenced, {record.kind.name}{epoch} is refused", dead, False


def acknowledged(state: State, rules: Rules) -> State:
    """The state after an appended DONE: the log is acknowledged up to the one before, which still has all targets."""
    done = [number for number, one in enumerate(state.log) if one.kind is Kind.DONE]
    last = done[-2:-1] if rules.keeps_done else done[-1:]
    return state._replace(kept=max([state.kept, *(number + 1 for number in last)]))
