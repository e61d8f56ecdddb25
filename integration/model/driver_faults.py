"""What goes wrong with drivers, and how they are started again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cleaning import cleaning
from model.commits import turned
from model.epochs import is_outrun
from model.log import appends, known, record_of
from model.state import ENDED, Accepts, Driver, Kind, Repair, State, Status, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]

_OTHER_QUERY = -1


def driver_faults(state: State, rules: Rules, bounds: Bounds) -> Steps:
    """Drivers die, lose replies, or are taken for dead."""
    for life, driver in enumerate(state.drivers):
        if driver.step in ENDED:
            continue
        if "driver" in bounds.kinds:
            yield f"! driver {life} dies", state.with_driver(life, driver.ended(Step.DEAD))
        if "reply" in bounds.kinds:
            yield from _lost_replies(state, life, driver, rules)
        if "abort" in bounds.kinds and driver.step is Step.CLEAN:
            yield from _lost_aborts(state, life, driver, rules, bounds)
        if "no more rows" in bounds.kinds and driver.step is Step.SPARK and not is_outrun(state, driver):
            noted = state._replace(committed=driver.epoch + 1)
            idle = driver._replace(step=Step.IDLE, epoch=driver.epoch + 1)
            yield f"! no more rows arrive for driver {life}", noted.with_driver(life, idle)
    if len(state.drivers) < bounds.lives:
        yield from (_beside if state.latest.step not in ENDED else _instead)(state, bounds)
        if "repair" in bounds.kinds and state.log:
            yield "! a repair starts", _repaired(state, Accepts.LOST, 0)


def _lost_replies(state: State, life: int, driver: Driver, rules: Rules) -> Steps:
    """An append without an answer is stored nevertheless; a commit is answered as if the transaction were unknown."""
    if appends(driver) and (state.owner == life or not rules.fence):
        record = record_of(state, life, driver, rules)
        stopped = state._replace(log=(*state.log, record)).with_driver(life, driver.ended(Step.DEAD))
        if record.kind is Kind.PREPARED and not rules.keeps_prepared:
            for number in record.chosen:
                stopped = stopped.with_attempt(number, stopped.attempts[number]._replace(status=Status.ABORTED))
        yield f"! driver {life}: appends {record.kind.name}, hears an error and stops", stopped
    if driver.step is Step.COMMIT and state.attempts[driver.chosen[driver.turn]].status is Status.COMMITTING:
        number = driver.chosen[driver.turn]
        following = turned(driver, (number,))
        yield f"! driver {life}: does not hear that T{number} is committed", state.with_driver(life, following)


def _lost_aborts(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """The driver goes on and knows that the transaction may be open."""
    number, *rest = driver.doomed
    following = driver._replace(listed=tuple(n for n in driver.listed if n != number))
    going_on = cleaning(state, life, following, tuple(rest), driver.after, rules, bounds)
    yield f"! driver {life}: the abort of T{number} fails", going_on


def _beside(state: State, bounds: Bounds) -> Steps:
    if "second driver" in bounds.kinds:
        yield "! another driver starts while the first is alive", state.started(bounds)
    if "other query" in bounds.kinds and state.log:
        other = Driver(_OTHER_QUERY, epoch=0)
        yield "! a driver of another query starts", state._replace(drivers=(*state.drivers, other))


def _instead(state: State, bounds: Bounds) -> Steps:
    if "checkpoint deleted" in bounds.kinds:
        emptied = state._replace(committed=0, generation=state.generation + 1)
        yield "! the checkpoint is deleted, another driver starts", emptied.started(bounds)
    if "other role" in bounds.kinds:
        yield "! another driver starts with another role", state._replace(role=state.role + 1).started(bounds)
    if not bounds.targets:
        yield from _checkpoints(state, bounds)


def _repaired(state: State, accepts: Accepts, epoch: int) -> State:
    """The state with a repair, which goes on with the checkpoint of the log."""
    repair = Driver(state.log[-1].generation, Step.TAKE, role=state.role, repair=Repair(accepts, epoch))
    return state._replace(drivers=(*state.drivers, repair))


def _checkpoints(state: State, bounds: Bounds) -> Steps:
    """What happens to the checkpoint of a stream between two lives."""
    if "checkpoint back" in bounds.kinds:
        for planned in range(min(state.committed + 1, bounds.epochs)):
            for committed in {planned, max(planned - 1, 0)}:
                name = f"! the checkpoint goes back: {committed} epochs are committed, {planned} planned"
                back = state.planned_from(planned)._replace(committed=committed)
                yield name, back.started(bounds)
                yield f"{name}; the user knows it", back.planned_from(committed).started(bounds, anew=True)
    reader = known(state, Driver(state.generation), state.kept, bounds)
    first, unnoted = state.committed, state.committed + 1
    is_settled = not reader.chosen and reader.done[0] == first - 1
    if "other guarantee" in bounds.kinds and is_settled and unnoted < bounds.epochs:
        plain = tuple((state.generation, epoch, state.plans[epoch]) for epoch in (first, unnoted))
        name = f"! epochs {first} and {unnoted} are written at least once, {unnoted} is not in Spark's log"
        yield name, state._replace(committed=unnoted, plain=state.plain + plain).started(bounds)


def restarts(state: State, bounds: Bounds) -> Steps:
    """A person starts the query again after its driver has died, writes anew, or accepts a torn epoch."""
    driver = state.latest
    if len(state.drivers) < bounds.lives:
        if driver.step is Step.DEAD:
            yield "another driver starts", state.started(bounds)
        elif driver.reason == "torn" and all(one.step in ENDED for one in state.drivers):
            found = known(state, Driver(driver.generation), state.kept, bounds)
            if not found.chosen:
                yield "another driver starts after the repair", state.started(bounds)
                return
            for accepts in Accepts:
                for epoch in (found.finishing, found.finishing + 1):
                    name = f"a repair starts that accepts {accepts.name} rows of epoch {epoch}"
                    yield name, _repaired(state, accepts, epoch)
        elif driver.reason == "epochs":
            anew = state.planned_from(state.committed).started(bounds, anew=True)
            yield "the user lets a driver write anew from the checkpoint on", anew
