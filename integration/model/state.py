"""What the model of the exactly-once sink knows at one moment: tasks with their transactions, drivers, and the log.

Every attempt of a task writes one row in one transaction, whose id is the place of the attempt in `State.attempts`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from model.rules import Bounds, Rules


class _Code(IntEnum):
    """Hashes as an int, without Python code: millions of states are hashed."""

    __hash__ = int.__hash__


class Status(_Code):
    """A transaction, as its coordinator knows it. `COMMITTING` is durable, but its rows are not readable yet."""

    NONE = 0
    OPEN = 1
    COMMITTING = 2
    COMMITTED = 3
    ABORTED = 4


class Task(_Code):
    """How far an attempt is. `GONE`: it failed or was killed; what it sent may still arrive."""

    NEW = 0
    OPENED = 1
    SENT = 2
    FLUSHED = 3
    HANDED = 4
    GONE = 5


class Wire(_Code):
    """The row of an attempt: still under way, or stored while its acknowledgement is under way."""

    EMPTY = 0
    SENT = 1
    STORED = 2


class Expiry(_Code):
    """Whether a transaction timed out.

    `SOON`: not yet, but it has less time left than a driver needs for its commit. `LATE`: it had enough when the driver
    that chose it proved that it was open.
    """

    NONE = 0
    SOON = 1
    EARLY = 2
    LATE = 3


class Step(_Code):
    """What a driver does next.

    `IDLE` waits for new rows. `DEAD` may be followed by another life, `FAILED` reports a reason to the user.
    """

    ADMIT = 0
    TAKE = 1
    READ = 2
    SCAN = 3
    CLAIM = 4
    CLEAN = 5
    RUN = 6
    DECIDE = 7
    PROVE = 8
    PREPARE = 9
    COMMIT = 10
    SWEEP = 11
    RESOLVE = 12
    DONE = 13
    DROP = 14
    SPARK = 15
    WROTE = 16
    IDLE = 17
    FINISHED = 18
    FAILED = 19
    DEAD = 20


ENDED = (Step.FINISHED, Step.FAILED, Step.DEAD)


class Kind(_Code):
    """A record of the log topic."""

    OWNER = 0
    PREPARED = 1
    DONE = 2
    DROPPED = 3


class Accepts(_Code):
    """What a person accepts of a torn epoch: that rows are lost, or that rows are there twice."""

    LOST = 0
    REPEATED = 1


class Repair(NamedTuple):
    """A driver that runs no epoch, started by a person who accepts a torn one by its number."""

    accepts: Accepts
    epoch: int


class Attempt(NamedTuple):
    """One attempt of a task and its transaction.

    Attributes:
        plan: Which rows the epoch has, as `State.plans` says when the attempt begins.
        late: A row came after the commit.
        given_up: A driver took the transaction for ended without an end.
    """

    life: int
    generation: int
    epoch: int
    task: int
    plan: int = 0
    target: int = 0
    stage: Task = Task.NEW
    status: Status = Status.NONE
    rows: int = 0
    wire: Wire = Wire.EMPTY
    cut: bool = False
    late: bool = False
    marked: bool = False
    given_up: bool = False
    expiry: Expiry = Expiry.NONE


class Driver(NamedTuple):
    """One life of the driver: of a stream, or of one write of a batch.

    Attributes:
        epoch: The epoch that Spark runs.
        target: Where its rows go.
        role: Its credentials.
        lenient: It was started to write anew from its checkpoint on.
        anew: It has not done so yet.
        first: The first record of the log that it read.
        done: The last epoch of each target that the log says is done.
        plan: The rows of the last one.
        finishing: The epoch whose transactions `chosen` are committed.
        turn: How many of `chosen` the driver has committed, or tried to.
        unknown: Those of them whose outcome the driver does not know.
        listed: Open transactions that it found at its start, or, when it has finished, at its end.
        doomed: Transactions that it is about to abort; then it goes on with `after`.
        repair: For a life that only repairs.
    """

    generation: int
    step: Step = Step.ADMIT
    epoch: int = -1
    target: int = 0
    role: int = 0
    lenient: bool = False
    anew: bool = False
    first: int = 0
    done: tuple[int, ...] = ()
    plan: int = 0
    finishing: int = -1
    chosen: tuple[int, ...] = ()
    turn: int = 0
    unknown: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    doomed: tuple[int, ...] = ()
    after: Step = Step.RUN
    reason: str = ""
    repair: Repair | None = None

    def last(self, rules: Rules) -> int:
        """The last epoch that is written to the target."""
        return self.done[self.target] if rules.per_target else max(self.done)

    def has_written(self, rules: Rules) -> bool:
        """Whether the epoch is written, and not to be written anew."""
        return self.epoch <= self.last(rules) and not self.anew

    def ended(self, step: Step, reason: str = "") -> Driver:
        """What is left of it."""
        chosen, listed = self.chosen if reason else (), self.listed if step is Step.FINISHED else ()
        left = Driver(self.generation, step, role=self.role, chosen=chosen, listed=listed)
        return left._replace(reason=reason, repair=self.repair)


class Record(NamedTuple):
    """One record of the log topic.

    Attributes:
        done: The last epoch of each target, as far as a DONE says it.
        lacks: A DONE does not count rows of its epoch that are lost.
    """

    kind: Kind
    life: int
    generation: int
    epoch: int = -1
    plan: int = 0
    target: int = 0
    chosen: tuple[int, ...] = ()
    done: tuple[tuple[int, int], ...] = ()
    lacks: bool = False


class State(NamedTuple):
    """Everything.

    Attributes:
        kept: The first record of the log that is not acknowledged. Those before it may be gone.
        committed: How many epochs Spark's commit log has.
        plans: Which rows each epoch has. They change where a checkpoint is put back that did not plan it yet.
        plain: Epochs that were written without exactly-once.
        role: The credentials of the next driver.
        faults: How many may still happen.
    """

    attempts: tuple[Attempt, ...]
    drivers: tuple[Driver, ...]
    log: tuple[Record, ...]
    kept: int
    owner: int
    committed: int
    generation: int
    plans: tuple[int, ...]
    plain: tuple[tuple[int, int, int], ...]
    role: int
    faults: int

    def with_attempt(self, number: int, attempt: Attempt) -> State:
        """The state with one attempt replaced."""
        return self._replace(attempts=(*self.attempts[:number], attempt, *self.attempts[number + 1 :]))

    def with_driver(self, life: int, driver: Driver) -> State:
        """The state with one driver replaced."""
        return self._replace(drivers=(*self.drivers[:life], driver, *self.drivers[life + 1 :]))

    def attempt(self, life: int, driver: Driver, task: int) -> Attempt:
        """A new attempt of a task of the driver's epoch."""
        return Attempt(life, driver.generation, driver.epoch, task, self.plans[driver.epoch], driver.target)

    def started(self, bounds: Bounds, *, anew: bool = False) -> State:
        """The state with one more life of the query, or of the program that writes batches."""
        epoch = self.committed if bounds.targets else -1
        driver = Driver(self.generation, epoch=epoch, role=self.role, lenient=anew, anew=anew)
        return self._replace(drivers=(*self.drivers, driver))

    def planned_from(self, epoch: int) -> State:
        """The state where epochs from this one on have other rows."""
        kept = self.plans[:epoch]
        return self._replace(plans=kept + (max(self.plans) + 1,) * (len(self.plans) - len(kept)))

    @property
    def latest(self) -> Driver:
        """The last life of the query; repairs and drivers of other queries are passed over."""
        return next(
            driver
            for driver in reversed(self.drivers)
            if driver.generation == self.generation and driver.repair is None
        )


def initial(bounds: Bounds) -> State:
    """A query, or a program that writes batches, whose first driver has done nothing."""
    nothing = State((), (), (), 0, -1, 0, 0, (0,) * bounds.epochs, (), 0, bounds.faults)
    return nothing.started(bounds)
