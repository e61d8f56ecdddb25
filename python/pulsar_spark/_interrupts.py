"""Ctrl-C at a moment when it does no harm."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def held_back() -> Iterator[None]:
    """Hold a Ctrl-C back until the block has ended; a second one interrupts at once.

    A handler that the block installs stays, and handles the Ctrl-C that was held back. Without a handler of Python, as
    in a process that ignores Ctrl-C, and in another thread than the main one, the block runs as it is.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        if held:
            raise KeyboardInterrupt
        held.append(number)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is hold:
            signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)
