"""How a driver starts: it is admitted, takes the log over, lists open transactions, and claims the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cleaning import cleaning, open_transactions
from model.log import append, is_foreign, known
from model.state import ENDED, Driver, State, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]


def admit(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    """Read the log before anybody is fenced."""
    if rules.reads_first and is_foreign(state, driver, rules):
        yield "is refused by the log of another checkpoint", _refused(state, life, driver)
    else:
        yield "may take the log over", state.with_driver(life, driver._replace(step=Step.TAKE))


def take(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    """Fence every other driver. A repair fails where one is connected."""
    is_connected = state.owner >= 0 and state.drivers[state.owner].step not in ENDED
    if driver.repair is not None and rules.alone and is_connected:
        yield "fails, as a driver is connected", state.with_driver(life, driver.ended(Step.FAILED))
        return
    yield "takes the log over", state._replace(owner=life).with_driver(life, driver._replace(step=Step.READ))


def read(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Read the log: what is not acknowledged, and possibly what is."""
    if is_foreign(state, driver, rules):
        yield "is refused by the log of another checkpoint", _refused(state, life, driver)
        return
    following = driver._replace(step=Step.SCAN if rules.claim_last else Step.CLAIM)
    yield "reads the log", state.with_driver(life, known(state, following, state.kept, bounds))
    if state.kept:
        whole = known(state, following, 0, bounds)
        yield "reads the log, and what is acknowledged, too", state.with_driver(life, whole)


def _refused(state: State, life: int, driver: Driver) -> State:
    return state.with_driver(life, driver.ended(Step.FAILED, "another checkpoint"))


def scan(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """List what is open."""
    listed = driver._replace(listed=tuple(n for n in open_transactions(state) if n not in driver.chosen))
    if rules.claim_last:
        yield "lists open transactions", state.with_driver(life, listed._replace(step=Step.CLAIM))
    else:
        yield "lists open transactions", _finish_or_clean(state, life, listed, rules, bounds)


def claim(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Append OWNER, which proves that nobody took over before."""
    for name, following, is_stored in append(state, life, driver, rules):
        if not is_stored:
            yield name, following
        elif rules.claim_last:
            yield name, _finish_or_clean(following, life, driver, rules, bounds)
        else:
            yield name, following.with_driver(life, driver._replace(step=Step.SCAN))


def _finish_or_clean(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> State:
    after = Step.SWEEP if driver.chosen else Step.RUN
    return cleaning(state, life, driver._replace(listed=()), driver.listed, after, rules, bounds)
