"""Every read begins exactly where it should: proved by many consumers, on busy cores."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from read.busy import busy_cores

from support.topics.messages import Id
from support.topics.reading import batch

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_PARTITIONS = 64
_MESSAGES = 6


def _fill(client: pulsar_client.Client, topic: str) -> dict[str, list[str]]:
    """Send some messages to every partition; return the positions in each, in order."""
    positions: dict[str, list[str]] = {}
    for partition in range(_PARTITIONS):
        name = f"{topic}-partition-{partition}"
        producer = client.create_producer(name, batching_enabled=False, send_timeout_millis=0)
        ids = [producer.send(b"%d" % number) for number in range(_MESSAGES)]
        producer.close()
        positions[name] = [Id.of(one).position for one in ids]
    return positions


@pytest.mark.parametrize(
    ("consumers", "load"),
    [
        pytest.param(256, nullcontext, id="256"),
        pytest.param(5000, busy_cores, id="5000", marks=pytest.mark.exhaustive),
    ],
)
def test_a_task_never_begins_before_its_start(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    consumers: int,
    load: Callable[[], AbstractContextManager[None]],
) -> None:
    """In the gate the tests that run beside it keep the cores busy."""
    admin.create_topic(topic, partitions=_PARTITIONS)
    positions = _fill(client, topic)
    middle = _MESSAGES // 2
    read = {name: ids[middle - 1] for name, ids in positions.items()}
    wanted = sorted((name, position) for name, ids in positions.items() for position in ids[middle:])
    frame = batch(
        spark,
        service_url,
        topic=topic,
        readLevel="broker",
        operationTimeoutMs="120000",  # with all cores busy a broker may take long to respond
        startingOffsets=json.dumps({"version": 1, "positions": read}),
    ).select("__topic", "__position")
    with load():
        for turn in range(-(-consumers // _PARTITIONS)):
            found = sorted((row[0], row[1]) for row in frame.collect())
            assert found == wanted, f"turn {turn}: {len(found)} rows instead of {len(wanted)}"
