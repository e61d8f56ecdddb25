"""What may happen to a run, each with its end, and whether it bit."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.servers.admin import AdminError
from support.servers.freezing import frozen

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from nemesis.lives import Lives

    from support.proxies.broker_proxy import BrokerProxy
    from support.servers.admin import Admin
    from support.servers.cluster import Cluster
    from support.servers.cluster_node import Node

_never = threading.Event()


@dataclass(frozen=True)
class Arena:
    """What faults are done to.

    Attributes:
        cluster: The servers.
        proxy: Between Spark and the broker.
        admin: The broker's admin service.
        lives: The driver.
        topics: All partitions of the source and of the copies.
        chance: What decides on everything.
    """

    cluster: Cluster
    proxy: BrokerProxy
    admin: Admin
    lives: Lives
    topics: tuple[str, ...]
    chance: random.Random


def _pause(arena: Arena, least: float, most: float) -> None:
    """How long a fault lasts, which is a part of it."""
    _never.wait(arena.chance.uniform(least, most))


def _killed(arena: Arena, node: Node) -> bool:
    with node.killed():
        bit = not node.running
        _pause(arena, 1, 5)
    return bit


def _frozen(arena: Arena, node: Node) -> bool:
    with node.frozen():
        _pause(arena, 2, 8)
    return True


def _bookie(arena: Arena) -> Node:
    return arena.chance.choice(arena.cluster.bookies)


def _unload(arena: Arena) -> bool:
    with suppress(AdminError, OSError):  # a topic that is being loaded refuses it
        arena.admin.unload(arena.chance.choice(arena.topics))
        return True
    return False


def _cut(arena: Arena) -> bool:
    with arena.proxy.cutting(0.7) as cuts:
        _pause(arena, 1, 4)
    return sum(cuts) > 0


def _slow(arena: Arena) -> bool:
    arena.proxy.delay_seconds = arena.chance.uniform(0.02, 0.2)
    _pause(arena, 3, 8)
    arena.proxy.delay_seconds = 0.0
    return True


def _lose(arena: Arena) -> bool:
    """A reply to a message or to the end of a transaction is lost with its connection."""
    arena.proxy.lose(arena.chance.choice(["SEND_RECEIPT", "END_TXN_RESPONSE"]), after=arena.chance.randrange(5))
    _pause(arena, 3, 6)
    bit = arena.proxy.has_lost
    arena.proxy.lose("")
    arena.proxy.cut()
    return bit


def _signal_executor(arena: Arena, freezes: bool) -> bool:
    running = sorted(arena.lives.executors())
    if not running:
        return False
    pid = arena.chance.choice(running)
    with suppress(ProcessLookupError):
        if freezes:
            with frozen(pid):
                _pause(arena, 3, 8)
        else:
            os.kill(pid, signal.SIGKILL)
        return True
    return False


def _kill_driver(arena: Arena) -> bool:
    arena.lives.kill()
    _pause(arena, 0, 3)
    arena.lives.start()
    arena.lives.await_session()
    return True


def _delete_subscriptions(arena: Arena) -> bool:
    """Subscriptions of readers that nobody uses at the moment."""
    deleted = 0
    for topic in arena.topics:
        with suppress(AdminError, OSError):
            for name, subscription in arena.admin.stats(topic)["subscriptions"].items():
                if not subscription["consumers"]:
                    arena.admin.delete_subscription(topic, name)
                    deleted += 1
    return deleted > 0


FAULTS: Mapping[str, Callable[[Arena], bool]] = {
    "broker killed": lambda arena: _killed(arena, arena.cluster.broker),
    "broker frozen": lambda arena: _frozen(arena, arena.cluster.broker),
    "bookie killed": lambda arena: _killed(arena, _bookie(arena)),
    "bookie frozen": lambda arena: _frozen(arena, _bookie(arena)),
    "topic unloaded": _unload,
    "connections cut": _cut,
    "line slow": _slow,
    "reply lost": _lose,
    "executor killed": lambda arena: _signal_executor(arena, freezes=False),
    "executor frozen": lambda arena: _signal_executor(arena, freezes=True),
    "driver killed": _kill_driver,
    "idle subscriptions deleted": _delete_subscriptions,
}
"""Each returns whether it bit."""


def order(chance: random.Random) -> list[str]:
    """A round of all faults: each once, in an order of chance."""
    names = list(FAULTS)
    chance.shuffle(names)
    return names
