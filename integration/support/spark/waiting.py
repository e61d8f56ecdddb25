"""Waiting for something to become true: by looking again until a deadline, never by sleeping for a fixed time."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_POLL_SECONDS = 0.05


def eventually(look: Callable[[], T], *, seconds: float = 30) -> T:
    """Return the first true value of ``look``; fail with the last one when there is none within the time."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not within {seconds:g} s: the last look gave {seen!r}"
        time.sleep(_POLL_SECONDS)
    return seen


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done inside takes less time than that."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds
