"""Limits of messages where brokers number messages and have no transactions: numbers alone say how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from limits.limited import NUMBERING, earliest, numbers, sizes_of

from support.servers.servers import Addresses, own_server
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, read_available

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_MOST = 1234  # no multiple of a batch


@pytest.fixture(scope="module")
def pulsar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with own_server(tmp_path_factory.mktemp("plain"), NUMBERING, transactions=False) as addresses:
        yield addresses


@pytest.mark.parametrize("level", ["broker", "auto", "segment"])
def test_a_limit_is_used_and_not_exceeded(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    level: str,
) -> None:
    for size in (1, 7, 100):
        produce(client, topic, numbers(0, 60 * size), batch_size=size)
    batches = Batches()
    options = {"readLevel": level, "admin.url": admin.url, "maxMessagesPerTrigger": str(_MOST)}
    read_available(earliest(spark, service_url, topic, **options), tmp_path, batches)
    *full, _ = sizes_of(batches)
    assert all(_MOST * 0.95 <= size <= _MOST for size in full), full
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
