"""How a driver aborts what nobody will ever commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.log import is_ours
from model.state import ENDED, Driver, State, Status, Step, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]


def open_transactions(state: State) -> tuple[int, ...]:
    """Those that are open, as the topic of open transactions has them."""
    return tuple(n for n, one in enumerate(state.attempts) if one.status is Status.OPEN and not one.given_up)


def orphans(state: State, life: int, driver: Driver, rules: Rules) -> tuple[int, ...]:
    """The open transactions that the driver is not about to commit, without those of later owners."""
    return tuple(
        number
        for number in open_transactions(state)
        if number not in driver.chosen
        if not rules.own_aborts or is_ours(state, life, driver, state.attempts[number].life)
    )


def cleaning(
    state: State, life: int, driver: Driver, doomed: tuple[int, ...], after: Step, rules: Rules, bounds: Bounds
) -> State:
    """Abort what is listed, one by one, then go on."""
    doomed = tuple(number for number in doomed if state.attempts[number].status is Status.OPEN)
    if doomed:
        return state.with_driver(life, driver._replace(step=Step.CLEAN, doomed=doomed, after=after))
    if after is Step.RUN:
        return run_epoch(state, life, driver, rules, bounds)
    if after in ENDED:
        return state.with_driver(life, driver.ended(after, driver.reason))
    return state.with_driver(life, driver._replace(step=after, doomed=(), after=Step.RUN))


def clean(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Abort the next one. A coordinator lets only its owner end a transaction."""
    number, *rest = driver.doomed
    attempt = state.attempts[number]
    following = state
    if attempt.status is Status.OPEN and state.drivers[attempt.life].role == driver.role:
        following = state.with_attempt(number, attempt._replace(status=Status.ABORTED))
    elif attempt.status is Status.OPEN and rules.refused_stops:
        yield f"must not abort T{number}", state.with_driver(life, driver.ended(Step.FAILED, "other role"))
        return
    elif attempt.status is Status.OPEN:
        following = state.with_attempt(number, attempt._replace(given_up=True))
    yield f"aborts T{number}", cleaning(following, life, driver, tuple(rest), driver.after, rules, bounds)


def run_epoch(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> State:
    """Begin the tasks of the next epoch, or end after the last one. A repair runs none.

    Tasks of an epoch that is written count their rows and send nothing.
    """
    at_rest = driver._replace(step=Step.RUN, finishing=-1, chosen=(), turn=0, unknown=(), doomed=(), after=Step.RUN)
    if driver.epoch >= bounds.epochs or driver.repair is not None:
        return closing(state, life, at_rest, Step.FINISHED, rules, bounds)
    stage = Task.HANDED if driver.has_written(rules) else Task.NEW
    tasks = tuple(state.attempt(life, driver, task)._replace(stage=stage) for task in range(bounds.tasks))
    return state._replace(attempts=state.attempts + tasks).with_driver(life, at_rest)


def closing(state: State, life: int, driver: Driver, after: Step, rules: Rules, bounds: Bounds) -> State:
    """Abort all that is open before the driver ends."""
    listed = orphans(state, life, driver, rules)
    return cleaning(state, life, driver._replace(listed=listed), listed if rules.closes else (), after, rules, bounds)


def tidy(state: State, life: int, driver: Driver, rules: Rules) -> Steps:
    """Abort each minute what late attempts opened, between the epochs of a stream. A refused abort stops nothing."""
    if driver.step not in (Step.RUN, Step.IDLE) or driver.anew or driver.done[0] < 0 or not rules.tidies:
        return
    for number in orphans(state, life, driver, rules):
        one = state.attempts[number]
        is_over = one.epoch <= driver.done[0] if one.life == life else True
        if is_over and state.drivers[one.life].role == driver.role:
            yield f"aborts T{number}, as each minute", state.with_attempt(number, one._replace(status=Status.ABORTED))
