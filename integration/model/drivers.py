"""What drivers do, one step at a time: own the log, clean up, run epochs, commit in two phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.state import Attempt, Bounds, Driver, Kind, Record, Rules, State, Status, Step, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Steps = Iterator[tuple[str, State]]
    Act = Callable[[State, int, Driver, Rules, Bounds], Steps]

_UNDECIDED = (Status.OPEN, Status.COMMITTING)


def driver_steps(state: State, rules: Rules, bounds: Bounds) -> Steps:
    """The steps of all drivers that live."""
    for life, driver in enumerate(state.drivers):
        act = _ACTS.get(driver.step)
        if act is not None:
            for name, following in act(state, life, driver, rules, bounds):
                yield f"driver {life}: {name}", following


def _take(state: State, life: int, driver: Driver, _: Rules, __: Bounds) -> Steps:
    yield "takes the log over", state._replace(owner=life).with_driver(life, driver._replace(step=Step.READ))


def _read(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    if rules.nonce and any(one.generation != driver.generation for one in state.log):
        yield "refuses another checkpoint", _failed(state, life, driver, "another checkpoint")
        return
    done = max((one.epoch for one in state.log if one.kind is Kind.DONE), default=-1)
    unfinished = _unfinished(state.log)
    known = driver._replace(step=Step.SCAN if rules.claim_last else Step.CLAIM, epoch=state.committed, done=done)
    if unfinished is not None:
        known = known._replace(finishing=unfinished.epoch, chosen=unfinished.chosen)
    yield "reads the log", state.with_driver(life, known)


def _unfinished(log: tuple[Record, ...]) -> Record | None:
    """The last PREPARED without a later DONE or DROPPED of its epoch."""
    prepared = None
    for one in log:
        if one.kind is Kind.PREPARED:
            prepared = one
        elif prepared is not None and one.kind is not Kind.OWNER and one.epoch == prepared.epoch:
            prepared = None
    return prepared


def _scan(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    listed = driver._replace(listed=tuple(n for n in _open(state) if n not in driver.chosen))
    if rules.claim_last:
        yield "lists open transactions", state.with_driver(life, listed._replace(step=Step.CLAIM))
    else:
        yield "lists open transactions", _finish_or_clean(state, life, listed, bounds)


def _claim(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    record = Record(Kind.OWNER, life, driver.generation)
    for name, following in _append(state, life, driver, record, rules):
        if following.drivers[life].step is Step.DEAD:
            yield name, following
        elif rules.claim_last:
            yield name, _finish_or_clean(following, life, driver, bounds)
        else:
            yield name, following.with_driver(life, driver._replace(step=Step.SCAN))


def _open(state: State) -> tuple[int, ...]:
    return tuple(number for number, one in enumerate(state.attempts) if one.status is Status.OPEN)


def _finish_or_clean(state: State, life: int, driver: Driver, bounds: Bounds) -> State:
    return _cleaning(state, life, driver, driver.listed, Step.SWEEP if driver.chosen else Step.RUN, bounds)


def _cleaning(state: State, life: int, driver: Driver, doomed: tuple[int, ...], after: Step, bounds: Bounds) -> State:
    """Aborts what is listed, one by one, then goes on."""
    doomed = tuple(number for number in doomed if state.attempts[number].status is Status.OPEN)
    if doomed:
        return state.with_driver(life, driver._replace(step=Step.CLEAN, doomed=doomed, after=after))
    if after is Step.RUN:
        return _run_epoch(state, life, driver, bounds)
    if after is Step.DEAD:
        return _dead(state, life, driver)
    return state.with_driver(life, driver._replace(step=after, doomed=(), after=Step.RUN))


def _clean(state: State, life: int, driver: Driver, _: Rules, bounds: Bounds) -> Steps:
    number, *rest = driver.doomed
    yield f"aborts T{number}", _cleaning(_aborted(state, number), life, driver, tuple(rest), driver.after, bounds)


def _run_epoch(state: State, life: int, driver: Driver, bounds: Bounds) -> State:
    if driver.epoch >= bounds.epochs:
        return state.with_driver(life, Driver(driver.generation, Step.FINISHED))
    tasks = tuple(Attempt(life, driver.generation, driver.epoch, task) for task in range(bounds.tasks))
    running = Driver(driver.generation, Step.RUN, driver.epoch, driver.done)
    return state._replace(attempts=state.attempts + tasks).with_driver(life, running)


def _run(state: State, life: int, driver: Driver, _: Rules, bounds: Bounds) -> Steps:
    mine = [(n, one) for n, one in enumerate(state.attempts) if (one.life, one.epoch) == (life, driver.epoch)]
    handed = tuple(number for number, one in mine if one.stage is Task.HANDED)
    if len(handed) == bounds.tasks:
        chosen = driver._replace(step=Step.DECIDE, finishing=driver.epoch, chosen=handed)
        yield f"has all tasks of epoch {driver.epoch}", state.with_driver(life, chosen)
    for task in range(bounds.tasks):
        tried = [one for _, one in mine if one.task == task]
        if len(tried) >= bounds.attempts and all(one.stage is Task.GONE for one in tried):
            own = tuple(number for number, _ in mine)
            yield f"gives up, as task {task} failed", _cleaning(state, life, driver, own, Step.DEAD, bounds)
            return


def _decide(state: State, life: int, driver: Driver, _: Rules, bounds: Bounds) -> Steps:
    if driver.done >= driver.epoch:
        again = driver._replace(chosen=(), finishing=-1)
        name = f"drops the repetition of epoch {driver.epoch}, which is done"
        yield name, _cleaning(state, life, again, driver.chosen, Step.SPARK, bounds)
    else:
        yield "goes on to PREPARED", state.with_driver(life, driver._replace(step=Step.PREPARE))


def _prepare(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    record = Record(Kind.PREPARED, life, driver.generation, driver.finishing, driver.chosen)
    yield from _append(state, life, driver._replace(step=Step.SWEEP), record, rules)


def _append(state: State, life: int, following: Driver, record: Record, rules: Rules) -> Steps:
    epoch = f" of epoch {record.epoch}" if record.epoch >= 0 else ""
    if state.owner == life or not rules.fence:
        stored = state._replace(log=(*state.log, record))
        yield f"appends {record.kind.name}{epoch}", stored.with_driver(life, following)
    else:
        yield f"is fenced, {record.kind.name}{epoch} is refused", _dead(state, life, following)


def _commit(state: State, life: int, driver: Driver, _: Rules, __: Bounds) -> Steps:
    number = driver.chosen[driver.turn]
    attempt = state.attempts[number]
    if attempt.status is Status.OPEN:
        yield f"commits T{number}", state.with_attempt(number, attempt._replace(status=Status.COMMITTING))
    if attempt.status is Status.COMMITTED:
        yield f"hears that T{number} is committed", state.with_driver(life, _turned(driver, ()))
    if attempt.status in (Status.COMMITTED, Status.ABORTED):
        yield f"hears TransactionNotFound of T{number}", state.with_driver(life, _turned(driver, (number,)))


def _turned(driver: Driver, unknown: tuple[int, ...]) -> Driver:
    following = driver._replace(turn=driver.turn + 1, unknown=driver.unknown + unknown)
    return following._replace(step=Step.RESOLVE) if following.turn == len(driver.chosen) else following


def _sweep(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    after = Step.COMMIT if driver.turn < len(driver.chosen) else Step.RESOLVE
    doomed = _others(state, life, driver, rules)
    yield "lists what the epoch left open", _cleaning(state, life, driver, doomed, after, bounds)


def _others(state: State, life: int, driver: Driver, rules: Rules) -> tuple[int, ...]:
    """The open transactions of epochs up to the one that is finished, without its own and those of later owners."""
    return tuple(
        number
        for number in _open(state)
        if number not in driver.chosen and state.attempts[number].epoch <= driver.finishing
        if not rules.own_aborts or _owned_before(state, state.attempts[number].life, life)
    )


def _owned_before(state: State, life: int, other: int) -> bool:
    """Whether the first life is the second or took the log over before it."""
    for one in state.log:
        if one.kind is Kind.OWNER and one.life in (life, other):
            return one.life == life
    return False


def _resolve(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
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
        yield f"finds no marker of T{absent[0]}", _failed(state, life, driver, "torn")


def _waiting(state: State, life: int, driver: Driver, rules: Rules, undecided: list[int]) -> Steps:
    for number in undecided:
        if state.attempts[number].status is Status.OPEN and number in driver.chosen:
            yield (
                f"commits T{number} again",
                state.with_attempt(number, state.attempts[number]._replace(status=Status.COMMITTING)),
            )
    if rules.aborts_again and _others(state, life, driver, rules):
        yield "lists what is open again", state.with_driver(life, driver._replace(step=Step.SWEEP))
    others = {state.attempts[number].life for number in undecided if number not in driver.chosen} - {life}
    if any(_owned_before(state, life, other) for other in others):
        yield "waits in vain for a later owner and stops", _dead(state, life, driver)


def _done(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    record = Record(Kind.DONE, life, driver.generation, driver.finishing)
    done = driver._replace(done=driver.finishing, finishing=-1, chosen=(), turn=0)
    for name, following in _append(state, life, done, record, rules):
        if following.drivers[life].step is Step.DEAD:
            yield name, following
        elif _ran(state, life, driver):
            yield name, following.with_driver(life, done._replace(step=Step.SPARK))
        else:
            yield name, _run_epoch(following, life, done, bounds)


def _drop(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """The driver that prepared the epoch fails; one that found it runs it again."""
    record = Record(Kind.DROPPED, life, driver.generation, driver.finishing)
    for name, following in _append(state, life, driver, record, rules):
        if following.drivers[life].step is Step.DEAD or _ran(state, life, driver):
            yield name, _dead(following, life, driver)
        else:
            yield name, _run_epoch(following, life, driver, bounds)


def _ran(state: State, life: int, driver: Driver) -> bool:
    return any((one.life, one.epoch) == (life, driver.finishing) for one in state.attempts)


def _spark(state: State, life: int, driver: Driver, _: Rules, bounds: Bounds) -> Steps:
    if state.committed != driver.epoch or state.generation != driver.generation:
        yield "finds another driver's entry in Spark's log", _dead(state, life, driver)
    else:
        written = state._replace(committed=driver.epoch + 1)
        following = driver._replace(epoch=driver.epoch + 1)
        yield f"writes epoch {driver.epoch} into Spark's log", _run_epoch(written, life, following, bounds)


def _aborted(state: State, number: int) -> State:
    attempt = state.attempts[number]
    if attempt.status is not Status.OPEN:
        return state
    return state.with_attempt(number, attempt._replace(status=Status.ABORTED))


def _dead(state: State, life: int, driver: Driver) -> State:
    return state.with_driver(life, Driver(driver.generation, Step.DEAD))


def _failed(state: State, life: int, driver: Driver, reason: str) -> State:
    failed = Driver(driver.generation, Step.FAILED, chosen=driver.chosen, reason=reason)
    return state.with_driver(life, failed)


_ACTS: dict[Step, Act] = {
    Step.TAKE: _take,
    Step.READ: _read,
    Step.SCAN: _scan,
    Step.CLAIM: _claim,
    Step.CLEAN: _clean,
    Step.RUN: _run,
    Step.DECIDE: _decide,
    Step.PREPARE: _prepare,
    Step.COMMIT: _commit,
    Step.SWEEP: _sweep,
    Step.RESOLVE: _resolve,
    Step.DONE: _done,
    Step.DROP: _drop,
    Step.SPARK: _spark,
}
