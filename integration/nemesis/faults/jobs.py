"""Executors and drivers that are killed or frozen, and subscriptions of theirs that are deleted."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from nemesis.notes import KEPT

from support.servers.admin import AdminError
from support.servers.freezing import frozen

if TYPE_CHECKING:
    from nemesis.arena import Arena


def kill_executor(arena: Arena) -> bool:
    with suppress(ProcessLookupError, IndexError):
        os.kill(_executor(arena), signal.SIGKILL)
        return True
    return False


def freeze_executor(arena: Arena) -> bool:
    with suppress(ProcessLookupError, IndexError), frozen(_executor(arena)):
        arena.pause(3, 8)
        return True
    return False


def _executor(arena: Arena) -> int:
    return arena.chance.choice(sorted(arena.lives.executors()))


def kill_driver(arena: Arena) -> bool:
    arena.lives.kill()
    arena.pause(0, 3)
    arena.lives.start()
    arena.lives.await_session()
    return True


def delete_subscriptions(arena: Arena) -> bool:
    """Subscriptions of readers that nobody uses at the moment."""
    deleted = 0
    for topic in arena.topics:
        with suppress(AdminError, OSError):
            admin = arena.admin_of(topic)
            for name, subscription in admin.stats(topic)["subscriptions"].items():
                if name not in KEPT and not subscription["consumers"]:
                    admin.delete_subscription(topic, name)
                    deleted += 1
    return deleted > 0
