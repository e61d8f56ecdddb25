from __future__ import annotations

import signal
import threading

import pytest

from pulsar_spark import _interrupts


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
