"""What a reader of the official client has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pulsar

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS = 180


def remaining(reader: pulsar.Reader) -> Iterator[pulsar.Message]:
    """Receive the messages up to the one that is last when the reader has come there."""
    while _has_more(reader):
        yield reader.read_next(timeout_millis=_SECONDS * 1000)


def _has_more(reader: pulsar.Reader) -> bool:
    """Asks again where the broker does not know the reader: it subscribes anew after its topic was unloaded."""
    found: list[bool] = []

    def is_answered() -> bool:
        try:
            found.append(cast("bool", reader.has_message_available()))
        except pulsar.BrokerMetadataError:
            return False
        return True

    eventually(is_answered, seconds=_SECONDS)
    return found[0]
