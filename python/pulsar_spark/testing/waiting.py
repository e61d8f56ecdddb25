"""Waiting for something to become true: by looking again until a deadline, never by sleeping for a fixed time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# The more often a long wait looks, the less of the processors is left for what it waits for.
_FIRST_SECONDS, _LONGEST_SECONDS, _GROWTH = 0.05, 0.2, 1.2


def eventually(look: Callable[[], T], *, seconds: float = 30) -> T:
    """Return the first true value of ``look``; fail with the last one when there is none within the time.

    Args:
        look: The function that is called again and again, twenty times a second at first, then five times.
        seconds: The limit.

    Returns:
        The first true value.

    Raises:
        AssertionError: There was none in time.
    """
    __tracebackhide__ = True
    deadline, pause = time.monotonic() + seconds, _FIRST_SECONDS
    while not (seen := look()):
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds:g} s: the last look gave {seen!r}")
        time.sleep(pause)
        pause = min(_GROWTH * pause, _LONGEST_SECONDS)
    return seen
