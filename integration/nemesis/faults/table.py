"""What may happen to a run, each with its end, and whether it bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nemesis.faults import clocks, jobs, ledgers, lines, servers, topics

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from nemesis.arena import Arena

FAULTS: Mapping[str, Callable[[Arena], bool]] = {
    "all brokers killed": servers.kill_brokers,
    "broker frozen": servers.freeze_broker,
    "owner killed": servers.kill_owner,
    "owner frozen": servers.freeze_owner,
    "bookie killed": servers.kill_bookie,
    "bookie frozen": servers.freeze_bookie,
    "topic unloaded": topics.unload_topic,
    "bundle moved": topics.move_bundle,
    "bundle split": topics.split_bundle,
    "ledgers trimmed": ledgers.trim,
    "ledgers offloaded": ledgers.offload,
    "clock of the job set": clocks.set_clock_of_job,
    "clock of the brokers set": clocks.set_clock_of_brokers,
    "connections cut": lines.cut,
    "line slow": lines.slow_down,
    "reply lost": lines.lose_reply,
    "executor killed": jobs.kill_executor,
    "executor frozen": jobs.freeze_executor,
    "driver killed": jobs.kill_driver,
    "idle subscriptions deleted": jobs.delete_subscriptions,
}
"""Each returns whether it bit."""


def order(chance: random.Random) -> list[str]:
    """A round of all faults: each once, in an order of chance."""
    names = list(FAULTS)
    chance.shuffle(names)
    return names
