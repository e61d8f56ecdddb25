"""Explores all states of a model, the nearest first, so that the trace of a violation is a shortest one."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

S = TypeVar("S", bound="Hashable")


@dataclass(frozen=True)
class Result(Generic[S]):
    """What an exploration found.

    Attributes:
        states: How many different states it reached.
        violation: What is wrong with the last state, None when nothing is.
        trace: The steps from the first state to the violation.
        last: The state that violates.
    """

    states: int
    violation: str | None = None
    trace: tuple[str, ...] = ()
    last: S | None = None

    def __str__(self) -> str:
        if self.violation is None:
            return f"{self.states:,} states, no violation"
        lines = [f"{self.states:,} states, then a violation: {self.violation}"]
        lines += [f"  {number}. {step}" for number, step in enumerate(self.trace, 1)]
        return "\n".join([*lines, f"  {self.last}"])


def explore(
    first: S,
    steps: Callable[[S], Iterable[tuple[str, S]]],
    violation: Callable[[S, bool], str | None],
    visit: Callable[[S], None] = lambda _: None,
) -> Result[S]:
    """Visit every state that can be reached.

    Args:
        first: The first state.
        steps: The next states, each with the name of the step. A fault's name begins with ``!``.
        violation: What is wrong with a state; its second argument says that only faults can follow.
        visit: Called with each state once.
    """
    before: dict[S, tuple[S, str] | None] = {first: None}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        visit(state)
        quiet = True
        for name, following in steps(state):
            if not name.startswith("!"):
                quiet = False
            if following not in before:
                before[following] = (state, name)
                queue.append(following)
        wrong = violation(state, quiet)
        if wrong is not None:
            return Result(len(before), wrong, _trace(before, state), state)
    return Result(len(before))


def _trace(before: dict[S, tuple[S, str] | None], state: S) -> tuple[str, ...]:
    names: list[str] = []
    at = before[state]
    while at is not None:
        names.append(at[1])
        at = before[at[0]]
    return tuple(reversed(names))
