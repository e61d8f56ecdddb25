"""What there is at the end of a run: what the official client reads, and what is left over."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pulsar
from nemesis.notes import KEPT
from nemesis.writer import row_of

from support.servers.admin import AdminError
from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nemesis.history import Row

    from support.servers.admin import Admin

_DRAIN_SECONDS, _LEFT_SECONDS = 240.0, 90.0


def drain(client: pulsar.Client, wanted: int, copies: Iterable[str]) -> list[str]:
    """Wait until the copies have so many different messages; tell those that do not."""
    behind: list[str] = []
    for copy in copies:
        try:
            eventually(partial(_has, client, copy, wanted), seconds=_DRAIN_SECONDS)
        except AssertionError:
            behind.append(f"{copy} has not all messages {_DRAIN_SECONDS:.0f} s after the last fault")
    return behind


def _has(client: pulsar.Client, topic: str, least: int) -> bool:
    return _different(client, topic) >= least


def _different(client: pulsar.Client, topic: str) -> int:
    """How many different messages a topic has now, while a stream may still write it."""
    found: set[bytes] = set()
    for partition in client.get_topic_partitions(topic):
        with closing(client.create_reader(partition, pulsar.MessageId.earliest)) as reader:
            found.update(message.data() for message in remaining(reader))
    return len(found)


def stored(client: pulsar.Client, topic: str) -> dict[str, list[Row]]:
    """What a topic has, partition by partition in order."""
    found: dict[str, list[Row]] = {}
    for partition in client.get_topic_partitions(topic):
        found[partition] = [row_of(one.payload) for one in read_all(client, partition)]
    return found


def left(admin: Admin, topics: Sequence[str]) -> list[str]:
    """Subscriptions that are there some time after the driver has ended, beside those that stay."""
    found: Counter[str] = Counter()

    def nothing() -> bool:
        found.clear()
        for topic in topics:
            try:
                names = admin.stats(topic)["subscriptions"].keys() - KEPT
                found.update({f"a subscription of {topic}": len(names)})
            except (AdminError, OSError, KeyError):
                return False
        return not +found

    try:
        eventually(nothing, seconds=_LEFT_SECONDS)
    except AssertionError:
        return [f"{count} of {name}" for name, count in (+found).items()]
    return []
