"""The exactly-once sink as a model: all steps that can follow a state, and what may never be true of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.driver_faults import driver_faults, restarts
from model.drivers import driver_steps
from model.explorer import Result, explore
from model.state import Bounds, Kind, Rules, State, Status, Step, initial
from model.tasks import launches, task_faults, task_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    visible = _visible(state)
    for (generation, epoch, task), rows in visible.items():
        if rows > 1:
            return f"task {task} of epoch {epoch} is visible {rows} times (checkpoint {generation})"
    for generation, epoch in _finished(state):
        for task in range(bounds.tasks):
            if visible.get((generation, epoch, task), 0) != 1:
                return f"epoch {epoch} is done, but task {task} of it is lost (checkpoint {generation})"
    wrong = _log_violation(state)
    if wrong is not None:
        return wrong
    for driver in state.drivers:
        if driver.reason == "torn" and not _timed_out(state, driver.chosen):
            return "a driver reports a torn epoch although none of its transactions timed out"
    last = state.drivers[-1]
    if quiet and last.step not in (Step.FINISHED, Step.FAILED, Step.DEAD):
        return f"the last driver waits for ever at {last.step.name}"
    return None


def _log_violation(state: State) -> str | None:
    decided: dict[tuple[int, int], tuple[int, ...]] = {}
    for one in state.log:
        place = (one.generation, one.epoch)
        if one.kind is Kind.PREPARED and decided.setdefault(place, one.chosen) != one.chosen:
            return f"epoch {one.epoch} is prepared twice, with other transactions"
        if one.kind is Kind.DROPPED and not _timed_out(state, decided.pop(place, ())):
            return f"epoch {one.epoch} is dropped although none of its transactions timed out"
    return None


def _timed_out(state: State, chosen: tuple[int, ...]) -> bool:
    return any(state.attempts[number].timed_out for number in chosen)


def _visible(state: State) -> dict[tuple[int, int, int], int]:
    """How many copies of each task's row readers see. A late row in a committed transaction makes all of it vanish."""
    copies: dict[tuple[int, int, int], int] = {}
    for one in state.attempts:
        if one.status in _VISIBLE and not one.late:
            place = (one.generation, one.epoch, one.task)
            copies[place] = copies.get(place, 0) + one.rows
    return copies


def _finished(state: State) -> set[tuple[int, int]]:
    """The epochs of which the log, or Spark's own log, says that they are done, each with its checkpoint."""
    by_log = {(one.generation, one.epoch) for one in state.log if one.kind is Kind.DONE}
    return by_log | {(state.generation, epoch) for epoch in range(state.committed)}
