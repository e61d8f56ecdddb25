"""The exactly-once sink as a model: all steps that can follow a state, and what may never be true of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.driver_faults import driver_faults, restarts
from model.drivers import driver_steps
from model.explorer import Result, explore
from model.rules import Bounds, Rules
from model.state import Expiry, Kind, State, Status, Step, initial
from model.tasks import launches, task_faults, task_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Place = tuple[int, int, int, int]

_VISIBLE = (Status.COMMITTING, Status.COMMITTED)


def check(
    bounds: Bounds,
    rules: Rules | None = None,
    visit: Callable[[State], None] = lambda _: None,
) -> Result[State]:
    """Explore the protocol within the bounds, with all of its rules unless others are named."""
    held = rules or Rules()
    return explore(
        initial(bounds),
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
        if driver.reason == "torn" and not _timed_out(state, driver.chosen):
            return "a driver reports a torn epoch although none of its transactions timed out after the proof"
        if driver.reason == "another checkpoint" and state.owner == life:
            return f"driver {life} fenced another one, and is refused"
    if quiet and state.latest.step not in (Step.FINISHED, Step.FAILED, Step.DEAD, Step.WROTE):
        return f"the last driver waits for ever at {state.latest.step.name}"
    return None


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
    for one in state.attempts:
        if one.status in _VISIBLE and not one.late:
            key = ((one.generation, one.epoch, one.plan, one.target), one.task)
            copies[key] = copies.get(key, 0) + one.rows
    return copies


def _finished(state: State, bounds: Bounds) -> set[Place]:
    """The epochs of which the log, or Spark's own log, says that they are done."""
    by_log = {(one.generation, one.epoch, one.plan, one.target) for one in state.log if one.kind is Kind.DONE}
    return by_log | {
        (state.generation, epoch, state.plans[epoch], target)
        for epoch in range(state.committed)
        for target in range(max(bounds.targets, 1))
    }
