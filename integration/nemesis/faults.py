"""What may happen to a run, each with its end, and whether it bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemesis import job_faults, line_faults, server_faults, topic_faults

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from nemesis.arena import Arena

FAULTS: Mapping[str, Callable[[Arena], bool]] = {
    "all brokers killed": server_faults.kill_brokers,
    "broker frozen": server_faults.freeze_broker,
    "owner killed": server_faults.kill_owner,
    "owner frozen": server_faults.freeze_owner,
    "bookie killed": server_faults.kill_bookie,
    "bookie frozen": server_faults.freeze_bookie,
    "topic unloaded": topic_faults.unload_topic,
    "bundle moved": topic_faults.move_bundle,
    "bundle split": topic_faults.split_bundle,
    "connections cut": line_faults.cut,
    "line slow": line_faults.slow_down,
    "reply lost": line_faults.lose_reply,
    "executor killed": job_faults.kill_executor,
    "executor frozen": job_faults.freeze_executor,
    "driver killed": job_faults.kill_driver,
    "idle subscriptions deleted": job_faults.delete_subscriptions,
}
"""Each returns whether it bit."""


def order(chance: random.Random) -> list[str]:
    """A round of all faults: each once, in an order of chance."""
    names = list(FAULTS)
    chance.shuffle(names)
    return names
