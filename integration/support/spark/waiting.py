"""Waiting for something to become true, and limits of time.

The connector closes readers and connections in the background, and brokers, listeners of Spark and other processes
report a change a moment later. A test that looks once meets this moment on a busy machine; here it looks again.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from pulsar_spark.testing import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["IN_TIME", "SOON", "becomes", "eventually", "within"]

T = TypeVar("T")

SOON = 180.0
"""How long what happens at once may take on a machine that has many times the work it can do, in seconds."""

IN_TIME = 100.0
"""Less than the two minutes that reads wait by default: what has a limit of its own ends within it, in seconds."""


def eventually(look: Callable[[], T | None], *, seconds: float = SOON) -> T:
    """Return the first true value of ``look``; fail with the last one when there is none within the time."""
    __tracebackhide__ = True
    seen = waiting.eventually(look, seconds=seconds)
    assert seen is not None
    return seen


def becomes(look: Callable[[], object], expected: object, *, seconds: float = SOON) -> None:
    """Wait until ``look`` returns what is expected; fail with what it returned last."""
    __tracebackhide__ = True
    seen: list[object] = []

    def is_there() -> bool:
        seen[:] = [look()]
        return seen[0] == expected

    try:
        waiting.eventually(is_there, seconds=seconds)
    except AssertionError:
        raise AssertionError(f"not {expected!r} within {seconds:g} s, but {seen[0]!r}") from None


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done inside takes less time than that."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"{took:.1f} s"
