"""Counts of what passes a proxy: commands between clients and a broker, requests of an admin service.

with counted(proxy) as counts:
    ...
assert counts["GET_LAST_MESSAGE_ID"] <= 4, counts
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Sent by themselves while a connection is idle.
_KEEP_ALIVE = ("PING", "PONG")


@dataclass(eq=False)
class Link:
    """One connection, and the roles of those who have used it."""

    roles: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Passed:
    """A command or a request that passed.

    Attributes:
        kind: Its name.
        size: Its bytes; of a request those of its answer.
        role: Who it is from or for; empty when only its connection can show that.
        link: Its connection.
        is_answer: Whether the server sent it.
    """

    kind: str
    size: int
    role: str = ""
    link: Link = field(default_factory=Link)
    is_answer: bool = False

    @property
    def sender(self) -> str:
        """The role, else that of the connection: ``shared`` by several, ``unknown`` when nobody has used it."""
        if self.role:
            return self.role
        roles = self.link.roles
        return next(iter(roles)) if len(roles) == 1 else "shared" if roles else "unknown"


class Counts:
    """What passed, without what keeps connections alive; grows until its `counted` ends."""

    def __init__(self) -> None:
        self._passed: list[Passed] = []

    def add(self, passed: Passed) -> None:
        if passed.kind not in _KEEP_ALIVE:
            self._passed.append(passed)

    def __getitem__(self, kind: str) -> int:
        """How many of a kind there were."""
        return sum(passed.kind == kind for passed in self._passed)

    def requests(self, *senders: str) -> Counter[str]:
        """What clients sent, by kind; that of some senders when they are named."""
        return Counter(one.kind for one in self._passed if not one.is_answer and (not senders or one.sender in senders))

    def to_plan(self) -> int:
        """How many requests of an admin service were made for plans: others only look how far behind a stream is."""
        return self.requests().total() - self.requests()["internalStats?metadata=false"]

    def answers(self) -> Counter[str]:
        """What the server sent, by kind."""
        return Counter(one.kind for one in self._passed if one.is_answer)

    def bytes_of(self, kind: str) -> int:
        """The size of all of a kind."""
        return sum(passed.size for passed in self._passed if passed.kind == kind)

    def __str__(self) -> str:
        """One line for each kind and sender, with number and bytes."""
        keys = [(one.is_answer, one.sender, one.kind) for one in self._passed]
        sizes: Counter[tuple[bool, str, str]] = Counter()
        for key, one in zip(keys, self._passed, strict=True):
            sizes[key] += one.size
        numbers = Counter(keys)
        lines = [
            f"{'<' if key[0] else '>'} {key[1]:8}{key[2]:34}{numbers[key]:6}{sizes[key]:10} B" for key in sorted(sizes)
        ]
        return "\n".join(lines) or "nothing"


class Tap:
    """What a proxy has in common with others: all that passes it is reported here."""

    def __init__(self) -> None:
        self._counts: list[Counts] = []
        self._tap = threading.Lock()

    def report(self, passed: Passed) -> None:
        with self._tap:
            for counts in self._counts:
                counts.add(passed)

    def open(self) -> Counts:
        counts = Counts()
        with self._tap:
            self._counts.append(counts)
        return counts

    def shut(self, counts: Counts) -> None:
        with self._tap:
            self._counts.remove(counts)


@contextmanager
def counted(tap: Tap) -> Iterator[Counts]:
    """Count what passes a proxy until the end."""
    counts = tap.open()
    try:
        yield counts
    finally:
        tap.shut(counts)


def requests_of(tap: Tap, action: Callable[[], object]) -> Counter[str]:
    """What clients send for an action, by kind; to be looked at until it is as expected.

    A busy machine shows a request more, or one less. The connector repeats a lookup whose response is there before the
    thread that asked runs on (`CurrentLookup`), and closes consumers in the background, also when the action is over.
    """
    with counted(tap) as counts:
        action()
    return counts.requests()
