"""How a driver commits a recorded epoch, and finds out what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cleaning import cleaning, closing, orphans, run_epoch
from model.log import acknowledged, append, is_ours
from model.state import Accepts, Driver, State, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]

_UNDECIDED = (Status.OPEN, Status.COMMITTING)


def sweep(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Abort other attempts of the epoch: their markers would hide the barrier."""
    after = Step.COMMIT if driver.turn < len(driver.chosen) else Step.RESOLVE
    doomed = _others(state, life, driver, rules)
    yield "lists what the epoch left open", cleaning(state, life, driver, doomed, after, rules, bounds)


def _others(state: State, life: int, driver: Driver, rules: Rules) -> tuple[int, ...]:
    found = [(number, state.attempts[number]) for number in orphans(state, life, driver, rules)]
    return tuple(
        number for number, one in found if one.epoch <= driver.finishing or (rules.of_any_epoch and one.life != life)
    )


def commit(state: State, life: int, driver: Driver, _: Rules, __: Bounds) -> Steps:
    """Commit the next transaction. A coordinator lets only its owner end it, and forgets those that have ended."""
    number = driver.chosen[driver.turn]
    attempt = state.attempts[number]
    if attempt.status is Status.OPEN and state.drivers[attempt.life].role != driver.role:
        yield f"must not commit T{number}", state.with_driver(life, driver.ended(Step.FAILED, "other role"))
    elif attempt.status is Status.OPEN:
        yield f"commits T{number}", state.with_attempt(number, attempt._replace(status=Status.COMMITTING))
    if attempt.status is Status.COMMITTED:
        yield f"hears that T{number} is committed", state.with_driver(life, turned(driver, ()))
    if attempt.status in (Status.COMMITTED, Status.ABORTED):
        yield f"hears TransactionNotFound of T{number}", state.with_driver(life, turned(driver, (number,)))


def turned(driver: Driver, unknown: tuple[int, ...]) -> Driver:
    """The driver after the answer to a commit."""
    following = driver._replace(turn=driver.turn + 1, unknown=driver.unknown + unknown)
    return following._replace(step=Step.RESOLVE) if following.turn == len(driver.chosen) else following


def resolve(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    """A barrier is readable as soon as no transaction with a marker before it is undecided."""
    undecided = [number for number, one in enumerate(state.attempts) if one.marked and one.status in _UNDECIDED]
    if driver.unknown and rules.barrier and undecided:
        yield from _waiting(state, life, driver, rules, undecided)
        return
    absent = [number for number in driver.unknown if state.attempts[number].status is not Status.COMMITTED]
    if not absent:
        yield "reads all markers", state.with_driver(life, driver._replace(step=Step.DONE, unknown=()))
    elif len(absent) == len(driver.chosen):
        yield "finds no marker at all", state.with_driver(life, driver._replace(step=Step.DROP))
    else:
        yield f"finds no marker of T{absent[0]}", state.with_driver(life, _torn(driver, rules))


def _torn(driver: Driver, rules: Rules) -> Driver:
    """The end of a driver that finds a torn epoch, unless a person accepts that one."""
    if driver.repair is None or (rules.by_number and driver.repair.epoch != driver.finishing):
        return driver.ended(Step.FAILED, "torn")
    step = Step.DONE if driver.repair.accepts is Accepts.LOST else Step.DROP
    return driver._replace(step=step, unknown=())


def _waiting(state: State, life: int, driver: Driver, rules: Rules, undecided: list[int]) -> Steps:
    for number in undecided:
        if state.attempts[number].status is Status.OPEN and number in driver.chosen:
            yield (
                f"commits T{number} again",
                state.with_attempt(number, state.attempts[number]._replace(status=Status.COMMITTING)),
            )
    if rules.aborts_again and _others(state, life, driver, rules):
        yield "lists what is open again", state.with_driver(life, driver._replace(step=Step.SWEEP))
    others = [state.attempts[number].life for number in undecided if number not in driver.chosen]
    if not all(is_ours(state, life, driver, other) for other in others):
        dead = state.with_driver(life, driver.ended(Step.DEAD))
        yield "waits in vain for a transaction that is not its own, and stops", dead


def done(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Record that the epoch is done, and acknowledge what is needed no more."""
    one = state.attempts[driver.chosen[0]]
    known = (*driver.done[: one.target], driver.finishing, *driver.done[one.target + 1 :])
    is_own = one.life == life
    anew = driver.anew and not is_own and rules.anew_until_own
    following = driver._replace(done=known, plan=one.plan, anew=anew, finishing=-1, chosen=(), turn=0)
    for name, stored, is_stored in append(state, life, driver, rules):
        if not is_stored:
            yield name, stored
        elif not is_own:
            yield name, run_epoch(acknowledged(stored, rules), life, following, rules, bounds)
        elif bounds.targets:
            yield name, closing(acknowledged(stored, rules), life, following, Step.WROTE, rules, bounds)
        else:
            yield name, acknowledged(stored, rules).with_driver(life, following._replace(step=Step.SPARK))


def drop(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """The driver that prepared the epoch fails; one that found it runs it again."""
    is_own = state.attempts[driver.chosen[0]].life == life
    for name, stored, is_stored in append(state, life, driver, rules):
        if not is_stored:
            yield name, stored
        elif is_own:
            yield name, stored.with_driver(life, driver.ended(Step.DEAD))
        else:
            yield name, run_epoch(stored, life, driver, rules, bounds)
