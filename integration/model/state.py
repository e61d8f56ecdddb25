"""What the model of the exactly-once sink knows at one moment: tasks with their transactions, drivers, and the log.

Every attempt of a task writes one row in one transaction, whose id is the place of the attempt in `State.attempts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


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


class Step(_Code):
    """What a driver does next. `DEAD` may be followed by another life, `FAILED` reports a reason to the user."""

    TAKE = 0
    READ = 1
    SCAN = 2
    CLAIM = 3
    CLEAN = 4
    RUN = 5
    DECIDE = 6
    PREPARE = 7
    COMMIT = 8
    SWEEP = 9
    RESOLVE = 10
    DONE = 11
    DROP = 12
    SPARK = 13
    FINISHED = 14
    FAILED = 15
    DEAD = 16


ENDED = (Step.FINISHED, Step.FAILED, Step.DEAD)


class Kind(_Code):
    """A record of the log topic."""

    OWNER = 0
    PREPARED = 1
    DONE = 2
    DROPPED = 3


class Attempt(NamedTuple):
    """One attempt of a task and its transaction."""

    life: int
    generation: int
    epoch: int
    task: int
    stage: Task = Task.NEW
    status: Status = Status.NONE
    rows: int = 0
    wire: Wire = Wire.EMPTY
    cut: bool = False
    late: bool = False
    marked: bool = False
    timed_out: bool = False


class Driver(NamedTuple):
    """One life of the driver.

    Attributes:
        epoch: The epoch that Spark runs.
        done: The last epoch that the log says is done.
        finishing: The epoch whose transactions `chosen` are committed.
        turn: How many of `chosen` the driver has committed, or tried to.
        unknown: Those of them whose outcome the driver does not know.
        listed: Open transactions that it found at its start.
        doomed: Transactions that it is about to abort; then it goes on with `after`.
    """

    generation: int
    step: Step = Step.TAKE
    epoch: int = -1
    done: int = -1
    finishing: int = -1
    chosen: tuple[int, ...] = ()
    turn: int = 0
    unknown: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    doomed: tuple[int, ...] = ()
    after: Step = Step.RUN
    reason: str = ""


class Record(NamedTuple):
    """One record of the log topic."""

    kind: Kind
    life: int
    generation: int
    epoch: int = -1
    chosen: tuple[int, ...] = ()


class State(NamedTuple):
    """Everything. ``committed``: how many epochs Spark's commit log has, ``faults``: how many may still happen."""

    attempts: tuple[Attempt, ...]
    drivers: tuple[Driver, ...]
    log: tuple[Record, ...]
    owner: int
    committed: int
    generation: int
    faults: int

    def with_attempt(self, number: int, attempt: Attempt) -> State:
        """The state with one attempt replaced."""
        return self._replace(attempts=(*self.attempts[:number], attempt, *self.attempts[number + 1 :]))

    def with_driver(self, life: int, driver: Driver) -> State:
        """The state with one driver replaced."""
        return self._replace(drivers=(*self.drivers[:life], driver, *self.drivers[life + 1 :]))


@dataclass(frozen=True)
class Rules:
    """The rules of the protocol. Each one is there because the model fails without it.

    Attributes:
        fence: Only the last owner appends to the log.
        barrier: A marker counts as absent only when a message behind it is readable.
        nonce: A driver refuses a log that another checkpoint began.
        disconnect_check: A task aborts when its producer lost a connection, as the resend may be stored twice.
        flush_first: A task hands its transaction over after its rows are stored.
        claim_last: A driver appends OWNER after it has read the open transactions, which proves that they are of
            earlier owners.
        own_aborts: At the end of an epoch a driver aborts only transactions of its own tasks and of earlier owners.
        aborts_again: A driver that waits for a barrier aborts what other attempts of its epoch opened meanwhile.
        keeps_prepared: A driver aborts nothing after an append of PREPARED whose answer it did not see.
    """

    fence: bool = True
    barrier: bool = True
    nonce: bool = True
    disconnect_check: bool = True
    flush_first: bool = True
    claim_last: bool = True
    own_aborts: bool = True
    aborts_again: bool = True
    keeps_prepared: bool = True


FAULTS = frozenset({"driver", "second driver", "executor", "lost task", "cut", "reply", "time-out", "checkpoint"})


@dataclass(frozen=True)
class Bounds:
    """How much the model explores: each number is a maximum, and ``kinds`` the faults that may happen."""

    epochs: int = 2
    tasks: int = 2
    attempts: int = 2
    lives: int = 2
    faults: int = 1
    kinds: frozenset[str] = FAULTS


def initial(bounds: Bounds) -> State:
    """A first driver that has done nothing."""
    return State((), (Driver(0),), (), -1, 0, 0, bounds.faults)
