"""Ledgers of the source that are trimmed or offloaded while they are read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pulsar

from support.servers.admin import AdminError
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from nemesis.arena import Arena

    from support.servers.admin import Admin

_SECONDS = 60.0


def trim(arena: Arena) -> bool:
    """Ledgers are deleted that both streams have read and committed, and whose messages are noted down."""
    partition = arena.chance.choice(arena.notes.partitions)

    def is_shorter() -> bool:
        admin.trim(partition)
        return _first(admin, partition) > first

    with suppress(AdminError, OSError, AssertionError, pulsar.PulsarException):
        admin = arena.admin_of(partition)
        first = _first(admin, partition)
        arena.notes.release(admin, partition)
        return eventually(is_shorter, seconds=_SECONDS)
    return False


def offload(arena: Arena) -> bool:
    """All closed ledgers of a partition go to the tiered storage, and their copies on bookies are deleted."""
    partition = arena.chance.choice(arena.notes.partitions)
    with suppress(AdminError, OSError, AssertionError):
        owner = arena.cluster.owner(partition)
        admin = arena.cluster.admin_of(owner)
        before = _offloaded(admin, partition)
        admin.offload(partition, seconds=_SECONDS)
        admin.trim(partition)
        ledgers = _offloaded(admin, partition) - before
        log = owner.folder / "log.txt"
        lines = [f"Deleted and invalidated offloaded ledger {one} from bookkeeper" for one in ledgers]
        return eventually(lambda: any(one in log.read_text(errors="replace") for one in lines), seconds=_SECONDS)
    return False


def _first(admin: Admin, topic: str) -> int:
    return min(int(one["ledgerId"]) for one in admin.internal_stats(topic)["ledgers"])


def _offloaded(admin: Admin, topic: str) -> set[int]:
    return {int(one["ledgerId"]) for one in admin.internal_stats(topic)["ledgers"] if one["offloaded"]}
