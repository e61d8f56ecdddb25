"""Clocks that jump ahead and, a while later, back."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from nemesis.arena import Arena

    from support.servers.cluster_node import Node


def set_clock_of_job(arena: Arena) -> bool:
    """That of driver and executors. Spark's next micro-batch waits for its time, which ends the fault and is short."""
    seconds = arena.chance.randrange(30, 90)
    bit = False
    with suppress(AssertionError):
        with arena.job_clock.ahead(seconds):
            bit = eventually(lambda: max(arena.lives.ahead.values()) > seconds / 2)
        eventually(lambda: max(arena.lives.ahead.values()) < seconds / 2)
    return bit


def set_clock_of_brokers(arena: Arena) -> bool:
    """That of all brokers, by less than the three hours after which they abort the transactions of a sink."""
    seconds = arena.chance.randrange(60, 3 * 60 * 60)
    broker = arena.chance.choice(arena.cluster.brokers)
    with suppress(OSError), arena.broker_clock.ahead(seconds):
        bit = _ahead(arena, broker) > seconds / 2
        arena.pause(5, 15)
        return bit
    return False


def _ahead(arena: Arena, broker: Node) -> float:
    """The seconds by which a broker's clock is ahead of ours."""
    return (arena.cluster.admin_of(broker).clock() - datetime.now(timezone.utc)).total_seconds()
