"""Topics that leave their broker: by themselves, or with the bundle of their namespace."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from support.servers.admin import AdminError
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from nemesis.arena import Arena


def unload_topic(arena: Arena) -> bool:
    topic = arena.topic()
    with suppress(AdminError, OSError):  # a topic that is being loaded refuses it
        arena.admin_of(topic).unload(topic)
        return True
    return False


def move_bundle(arena: Arena) -> bool:
    """The bundle of a topic goes from its broker to another one."""
    topic = arena.topic()
    with suppress(AdminError, OSError, AssertionError):
        other = arena.cluster.other(arena.cluster.owner(topic))
        arena.cluster.move_bundle(topic, other)
        return eventually(lambda: arena.cluster.is_served(topic, other))
    return False


def split_bundle(arena: Arena) -> bool:
    """The bundle of a topic becomes two, and each is loaded anew."""
    topic = arena.topic()
    namespace = "/".join(topic.split("/")[2:4])
    with suppress(AdminError, OSError, AssertionError):
        admin = arena.admin_of(topic)
        before = admin.bundles(namespace)
        admin.split_bundle(namespace, admin.bundle_of(topic))
        return eventually(lambda: len(admin.bundles(namespace)) > len(before))
    return False
