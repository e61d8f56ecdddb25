"""What the writer sends: numbers, with keys."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pulsar
from nemesis.history import Row

from support.topics.messages import Message
from support.topics.steady_producer import SteadyProducer

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = 20


def writer(connect: Callable[[], pulsar.Client], topic: str, rate: int) -> SteadyProducer:
    """A producer of rows; each batch has one key."""
    return SteadyProducer(connect, topic, rate, _message, batching_type=pulsar.BatchingType.KeyBased)


def numbered(number: int) -> Row:
    """The row of a number."""
    return Row(f"k{number % KEYS}", number)


def payload(row: Row) -> bytes:
    """A message's bytes: what it is, and when it was sent."""
    return f"{row.key} {row.number} {time.time_ns()}".encode()


def row_of(payload: bytes) -> Row:
    """The message of these bytes; one that nobody sent, for others."""
    parts = payload.decode(errors="replace").split(" ")
    return Row(parts[0], int(parts[1])) if len(parts) == 3 and parts[1].isdigit() else Row(repr(payload), -1)


def _message(number: int) -> Message:
    row = numbered(number)
    return Message(payload(row), row.key)
