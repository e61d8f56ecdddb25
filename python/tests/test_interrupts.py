from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import _interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """A process in the background may ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupted(times: int, steps: list[str]) -> None:
    with _interrupts.held_back():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        steps.append("went on")


def test_an_interrupt_arrives_after_the_block() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted(1, steps)
    assert steps == ["went on"]


def test_a_second_interrupt_arrives_at_once() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted(2, steps)
    assert steps == []


def test_without_an_interrupt_nothing_changes() -> None:
    before = signal.getsignal(signal.SIGINT)
    with _interrupts.held_back():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_another_thread_runs_as_it_is() -> None:
    handlers = []

    def block() -> None:
        with _interrupts.held_back():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]


def test_a_handler_of_the_block_stays_and_handles_what_was_held_back() -> None:
    handled: list[int] = []

    def handler(number: int, _frame: object) -> None:
        handled.append(number)

    with _interrupts.held_back():
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, handler)
    assert handled == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_process_that_ignores_interrupts_keeps_doing_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps: list[str] = []
    _interrupted(2, steps)
    assert steps == ["went on"]
