"""What faults are done to."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

    from nemesis.lines import Lines
    from nemesis.lives import Lives
    from nemesis.notes import Notes

    from support.servers.admin import Admin
    from support.servers.cluster import Cluster
    from support.servers.shifted_clock import ShiftedClock

_never = threading.Event()


@dataclass(frozen=True)
class Arena:
    """What faults are done to.

    Attributes:
        cluster: The servers.
        lines: Between Spark and the brokers.
        lives: The driver.
        job_clock: That of the driver and its executors.
        broker_clock: That of the brokers.
        notes: What the source had, and may be gone.
        topics: All partitions of the source and of the copies.
        chance: What decides on everything.
    """

    cluster: Cluster
    lines: Lines
    lives: Lives
    job_clock: ShiftedClock
    broker_clock: ShiftedClock
    notes: Notes
    topics: tuple[str, ...]
    chance: random.Random

    def topic(self) -> str:
        """Any partition."""
        return self.chance.choice(self.topics)

    def admin_of(self, topic: str) -> Admin:
        """The admin service of the broker that serves a topic, which alone may change it."""
        return self.cluster.admin_of(self.cluster.owner(topic))

    def pause(self, least: float, most: float) -> None:
        """How long a fault lasts, which is a part of it."""
        _never.wait(self.chance.uniform(least, most))
