"""Streams with a progress subscription, and what brokers say of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.servers.servers import remove_namespace
from support.topics.reading import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

NAME = "follows-the-stream"


@contextmanager
def without_retention(admin: Admin, topic: str) -> Iterator[str]:
    """A topic in a namespace of its own, where brokers keep messages for subscriptions alone."""
    name = topic.removeprefix("persistent://").replace("/", "-").replace("-", "/", 1)
    admin.create_namespace(name)
    admin.set_retention(name, minutes=0, megabytes=0)
    yield f"persistent://{name}/events"
    remove_namespace(admin, name)


def numbers(first: int, count: int) -> list[bytes]:
    """Payloads."""
    return [b"%d" % number for number in range(first, first + count)]


def followed(spark: SparkSession, service_url: str, topic: str, **options: str) -> DataFrame:
    """A stream with the subscription."""
    return stream(
        spark, service_url, topic=topic, **{"startingOffsets": "earliest", "progressSubscription": NAME, **options}
    )


def backlog(admin: Admin, topic: str) -> int:
    """In entries."""
    one = admin.stats(topic)["subscriptions"][NAME]
    assert one["isDurable"]
    return int(one["msgBacklog"])


def is_caught_up(admin: Admin, topic: str) -> bool:
    """Whether the backlog is empty."""
    return backlog(admin, topic) == 0
