"""Waiting for something to become true, and limits of time."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pulsar_spark.testing.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["eventually", "within"]


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done inside takes less time than that."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds
