"""The exactly-once sink as a model: all steps that can follow a state, and what may never be true of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.driver_faults import driver_faults, restarts
from model.drivers import driver_steps
from model.explorer import Result, explore
from model.rules import Bounds, Rules
from model.state import ENDED, Expiry, Kind, State, Status, Step, initial
from model.tasks import launches, task_faults, task_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Place = tuple[int, int, int, int]

_VISIBLE = (Status.COMMITTING, Status.COMMITTED)


def check(
    bounds: Bounds,
    rules: Rules | None = None,
    visit: Callable[[State], None] = lambda _: None,
    first: State | None = None,
) -> Result[State]:
    """Explore the protocol within the bounds, with all of its rules unless others are named, from its first state."""
    held = rules or Rules()
    return explore(
        first or initial(bounds),
        lambda state: _steps(state, held, bounds),
        lambda state, quiet: _violation(state, bounds, quiet=quiet),
        visit,
    )


def _steps(state: State, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, State]]:
    yield from task_steps(state, rules)
    yield from driver_steps(state, rules, bounds)
    yield from restarts(state, bounds)
    faults = [*task_faults(state, bounds), *driver_faults(state, rules, bounds)] if state.faults else []
    for name, following in launches(state, bounds):
        if name.startswith("!"):
            faults.append((name, following))
        else:
            yield name, following
    if state.faults:
        for name, following in faults:
            yield name, following._replace(faults=state.faults - 1)


def _violation(state: State, bounds: Bounds, *, quiet: bool) -> str | None:
    visible = _visible(state, bounds)
    for (place, task), rows in visible.items():
        if rows > 1:
            return f"task {task} of {_named(place)} is visible {rows} times"
    for place in _finished(state, bounds):
        for task in range(bounds.tasks):
            if visible.get((place, task), 0) != 1:
                return f"{_named(place)} is done, but task {task} of it is lost"
    wrong = _log_violation(state) or _open_violation(state)
    if wrong is not None:
        return wrong
    for life, driver in enumerate(state.drivers):
        if driver.repair is not None and state.owner == life and _has_fenced(state, life):
            return f"driver {life} is a repair, and fenced a driver that lives"
        if driver.reason == "epochs" and not (any(state.plans) or state.plain):
            return f"driver {life} refuses an epoch although no checkpoint went back"
        if driver.reason == "torn" and not _timed_out(state, driver.chosen):
            return "a driver reports a torn epoch although none of its transactions timed out after the proof"
        if driver.reason == "another checkpoint" and state.owner == life:
            return f"driver {life} fenced another one, and is refused"
    return _end_violation(state) if quiet else None


def _end_violation(state: State) -> str | None:
    """What may not be true where only faults can follow."""
    for driver in (state.latest, *(one for one in state.drivers if one.repair is not None)):
        if driver.step not in (*ENDED, Step.WROTE, Step.IDLE):
            return f"the last driver waits for ever at {driver.step.name}"
    if state.latest.step is Step.IDLE:
        for number, one in enumerate(state.attempts):
            if one.status is Status.OPEN and one.generation == state.latest.generation:
                return f"T{number} is open while the stream waits for new rows"
    return None


def _has_fenced(state: State, repair: int) -> bool:
    """Whether a driver that began before a repair owned the log, and lives."""
    return any(
        driver.step not in (*ENDED, Step.ADMIT, Step.TAKE) for driver in state.drivers[:repair] if driver.repair is None
    )


def _named(place: Place) -> str:
    generation, epoch, plan, target = place
    return f"epoch {epoch} (checkpoint {generation}, plan {plan}, target {target})"


def _log_violation(state: State) -> str | None:
    decided: dict[Place, tuple[int, ...]] = {}
    for one in state.log:
        place = (one.generation, one.epoch, one.plan, one.target)
        if one.kind is Kind.PREPARED and decided.setdefault(place, one.chosen) != one.chosen:
            return f"{_named(place)} is prepared twice, with other transactions"
        if one.kind is Kind.DROPPED and not _timed_out(state, decided.pop(place, ())):
            return f"{_named(place)} is dropped although none of its transactions timed out after the proof"
    return None


def _timed_out(state: State, chosen: tuple[int, ...]) -> bool:
    return any(state.attempts[number].expiry is Expiry.LATE for number in chosen)


def _open_violation(state: State) -> str | None:
    """Readers wait for an open transaction until it times out."""
    for number, one in enumerate(state.attempts):
        if one.given_up and one.status is Status.OPEN:
            return f"T{number} is open, but a driver counts it as ended"
    for life, driver in enumerate(state.drivers):
        if driver.step in (Step.WROTE, Step.FINISHED):
            for number in driver.listed:
                if state.attempts[number].status is Status.OPEN:
                    return f"driver {life} has finished and left T{number} open"
    return None


def _visible(state: State, bounds: Bounds) -> dict[tuple[Place, int], int]:
    """How many copies of each task's row readers see. A late row in a committed transaction makes all of it vanish."""
    copies: dict[tuple[Place, int], int] = {}
    for generation, epoch, plan in state.plain:
        copies.update({((generation, epoch, plan, 0), task): 1 for task in range(bounds.tasks)})
    lost, repeated = _accepted(state)
    for number, one in enumerate(state.attempts):
        if number in lost or (one.status in _VISIBLE and not one.late and number not in repeated):
            key = ((one.generation, one.epoch, one.plan, one.target), one.task)
            copies[key] = copies.get(key, 0) + one.rows
    return copies


def _accepted(state: State) -> tuple[set[int], set[int]]:
    """The transactions of torn epochs whose loss, or whose repetition, a person accepted by the number of the epoch."""
    lost: set[int] = set()
    repeated: set[int] = set()
    if all(driver.repair is None for driver in state.drivers):
        return lost, repeated
    prepared: tuple[int, ...] = ()
    for one in state.log:
        repair = state.drivers[one.life].repair
        if one.kind is Kind.PREPARED:
            prepared = one.chosen
        elif one.kind in (Kind.DONE, Kind.DROPPED) and repair is not None and repair.epoch == one.epoch:
            committed = {number for number in prepared if state.attempts[number].status in _VISIBLE}
            (lost if one.kind is Kind.DONE else repeated).update(
                set(prepared) - committed if one.kind is Kind.DONE else committed
            )
    return lost, repeated


def _finished(state: State, bounds: Bounds) -> set[Place]:
    """The epochs of which the log, or Spark's own log, says that they are done."""
    by_log = {(one.generation, one.epoch, one.plan, one.target) for one in state.log if one.kind is Kind.DONE}
    return by_log | {
        (state.generation, epoch, state.plans[epoch], target)
        for epoch in range(state.committed)
        for target in range(max(bounds.targets, 1))
    }
