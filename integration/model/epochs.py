"""How a driver runs an epoch, and decides whether its transactions are recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cleaning import cleaning, closing, orphans, run_epoch
from model.log import append
from model.state import Driver, Expiry, State, Status, Step, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model.rules import Bounds, Rules

    Steps = Iterator[tuple[str, State]]


def run(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Wait for the tasks."""
    mine = [(n, one) for n, one in enumerate(state.attempts) if (one.life, one.epoch) == (life, driver.epoch)]
    handed = tuple(number for number, one in mine if one.stage is Task.HANDED)
    if len(handed) == bounds.tasks:
        chosen = driver._replace(step=Step.DECIDE, finishing=driver.epoch, chosen=handed)
        yield f"has all tasks of epoch {driver.epoch}", state.with_driver(life, chosen)
    for task in range(bounds.tasks):
        tried = [one for _, one in mine if one.task == task]
        if len(tried) >= bounds.attempts and all(one.stage is Task.GONE for one in tried):
            own = tuple(number for number, _ in mine)
            yield f"gives up, as task {task} failed", cleaning(state, life, driver, own, Step.DEAD, rules, bounds)
            return


def decide(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Compare the epoch with the last one that is done."""
    last = driver.last(rules)
    unchosen = driver._replace(chosen=(), finishing=-1)
    if _is_refused(state, driver, last, rules, bounds):
        refused = cleaning(state, life, unchosen._replace(reason="epochs"), driver.chosen, Step.FAILED, rules, bounds)
        yield f"refuses epoch {driver.epoch} after epoch {last}", refused
    elif driver.has_written(rules):
        name = f"drops the repetition of epoch {driver.epoch}, which is done"
        if bounds.targets:
            yield name, closing(state, life, unchosen, Step.WROTE, rules, bounds)
        else:
            doomed = orphans(state, life, unchosen, rules)
            yield name, cleaning(state, life, unchosen, doomed, Step.SPARK, rules, bounds)
    else:
        yield "goes on to commit", state.with_driver(life, driver._replace(step=Step.PROVE))


def _is_refused(state: State, driver: Driver, last: int, rules: Rules, bounds: Bounds) -> bool:
    """Epochs of a stream repeat the last one or are the next. Versions of batches may be any."""
    if bounds.targets or driver.lenient:
        return False
    if driver.epoch == last:
        return rules.same_rows and state.plans[driver.epoch] != driver.plan
    return (rules.no_return and driver.epoch < last) or (rules.no_gap and driver.epoch > last + 1)


def prove(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Record nothing when a transaction is not open any more, or will soon time out."""
    chosen = [(number, state.attempts[number]) for number in driver.chosen]
    ended = [number for number, one in chosen if rules.proof and one.status is not Status.OPEN]
    ended += [number for number, one in chosen if rules.margin and one.expiry is Expiry.SOON]
    if ended:
        dropped = cleaning(state, life, driver, driver.chosen, Step.DEAD, rules, bounds)
        yield f"finds that T{ended[0]} is not open, or not for long, and drops the epoch", dropped
    else:
        yield "goes on to PREPARED", state.with_driver(life, driver._replace(step=Step.PREPARE))


def prepare(state: State, life: int, driver: Driver, rules: Rules, _: Bounds) -> Steps:
    """Record the transactions: the commit point."""
    for name, following, is_stored in append(state, life, driver, rules):
        going_on = following.with_driver(life, driver._replace(step=Step.SWEEP))
        yield name, going_on if is_stored else following


def spark(state: State, life: int, driver: Driver, rules: Rules, bounds: Bounds) -> Steps:
    """Spark notes the epoch of a stream in its own log."""
    if is_outrun(state, driver):
        yield "finds another driver's entry in Spark's log", state.with_driver(life, driver.ended(Step.DEAD))
    else:
        written = state._replace(committed=driver.epoch + 1)
        following = driver._replace(epoch=driver.epoch + 1)
        name = f"writes epoch {driver.epoch} into Spark's log"
        yield name, run_epoch(written, life, following, rules, bounds)


def wrote(state: State, life: int, driver: Driver, _: Rules, bounds: Bounds) -> Steps:
    """A program writes to the next target, or Spark notes the batch in its own log and calls the program again."""
    ended = driver.ended(Step.FINISHED)
    following = driver._replace(target=driver.target + 1)
    if following.target == bounds.targets:
        if is_outrun(state, driver):
            yield "finds another driver's entry in Spark's log", state.with_driver(life, driver.ended(Step.DEAD))
            return
        following = driver._replace(epoch=driver.epoch + 1, target=0)
        state = state._replace(committed=following.epoch)
    if following.epoch == bounds.epochs:
        yield "writes the last epoch into Spark's log", state.with_driver(life, ended)
    elif len(state.drivers) < bounds.lives:
        later = Driver(driver.generation, epoch=following.epoch, target=following.target, role=driver.role)
        name = f"goes on with target {later.target} of epoch {later.epoch}"
        following_state = state.with_driver(life, ended)
        yield name, following_state._replace(drivers=(*following_state.drivers, later))


def is_outrun(state: State, driver: Driver) -> bool:
    """Whether another driver noted the epoch, or the checkpoint is another one."""
    return state.committed != driver.epoch or state.generation != driver.generation
