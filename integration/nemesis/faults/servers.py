"""Brokers and bookies that are killed or frozen."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from support.servers.freezing import frozen
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from nemesis.arena import Arena

    from support.servers.cluster_node import Node


def kill_brokers(arena: Arena) -> bool:
    """There is no broker at all for some seconds."""
    with ExitStack() as stack:
        for broker in arena.cluster.brokers:
            stack.enter_context(broker.killed())
        bit = not any(broker.running for broker in arena.cluster.brokers)
        arena.pause(1, 5)
    return bit


def freeze_broker(arena: Arena) -> bool:
    """One broker is silent, mostly for less than the metadata store takes to give it up."""
    return _freeze(arena, arena.chance.choice(arena.cluster.brokers))


def kill_owner(arena: Arena) -> bool:
    """The owner of a topic dies; the fault ends when another broker serves the topic."""
    topic = arena.topic()
    owner = arena.cluster.owner(topic)
    with owner.killed():
        return _is_replaced(arena, topic, owner)


def freeze_owner(arena: Arena) -> bool:
    """The owner of a topic is frozen until another one serves it, and then awake for a while, as if it still did."""
    topic = arena.topic()
    owner = arena.cluster.owner(topic)
    with owner.renewed():
        with frozen(owner.pid):
            bit = _is_replaced(arena, topic, owner)
        arena.pause(1, 4)
    return bit


def kill_bookie(arena: Arena) -> bool:
    bookie = arena.chance.choice(arena.cluster.bookies)
    with bookie.killed():
        bit = not bookie.running
        arena.pause(1, 5)
    return bit


def freeze_bookie(arena: Arena) -> bool:
    return _freeze(arena, arena.chance.choice(arena.cluster.bookies))


def _freeze(arena: Arena, node: Node) -> bool:
    with node.frozen():
        arena.pause(2, 8)
    return True


def _is_replaced(arena: Arena, topic: str, owner: Node) -> bool:
    """Wait until the metadata store has given the owner up, and another broker serves its topic."""
    other = arena.cluster.other(owner)
    try:
        eventually(lambda: arena.cluster.has_given_up(owner))
        eventually(lambda: arena.cluster.is_served(topic, other))
    except AssertionError:
        return False
    return True
