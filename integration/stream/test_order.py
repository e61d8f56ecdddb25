"""Streams hand on the rows of a topic partition in its order: recorded by what a sink has received, at each level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.topics.messages import Message, produce
from support.topics.reading import run_available

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers.servers import Addresses
    from support.topics.writing import Target

LEDGERS, EACH, BYTES = 4, 1000, 4096  # together more than a stream leaves to the broker


@pytest.fixture
def source(target: Target, topic: str) -> str:
    """Messages of one key, one in an entry, over several ledgers."""
    target.admin.create_topic(topic)
    for ledger in range(LEDGERS):
        numbers = range(ledger * EACH, (ledger + 1) * EACH)
        produce(
            target.client,
            topic,
            [Message(b"%d" % number + b" " * BYTES, key="k") for number in numbers],
            batch_size=None,
        )
        if ledger < LEDGERS - 1:
            target.admin.unload(topic)
    return topic


@pytest.mark.parametrize(
    ("level", "more"),
    [
        ("auto", {}),
        ("auto", {"maxMessagesPerTrigger": "1500"}),
        ("broker", {}),
        pytest.param("segment", {}, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.parametrize("guarantee", ["at-least-once", pytest.param("exactly-once", marks=pytest.mark.exhaustive)])
def test_a_sink_receives_a_partition_in_its_order(
    target: Target, pulsar: Addresses, source: str, tmp_path: Path, level: str, more: dict[str, str], guarantee: str
) -> None:
    options = {**target.options(source, more), "startingOffsets": "earliest", "readLevel": level}
    rows = target.spark.readStream.format("pulsar").options(**options, **{"admin.url": pulsar.admin_url}).load()
    copy = f"{source}-copy"
    writer = rows.selectExpr("string(__key) as __key", "value").writeStream.format("pulsar")
    writer = writer.options(**target.options(copy), deliveryGuarantee=guarantee)
    run_available(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))
    received = [int(message.payload) for message in target.messages(copy)]
    assert received == list(range(LEDGERS * EACH))


def test_a_ledger_on_bookies_is_read_there(target: Target, pulsar: Addresses, source: str, tmp_path: Path) -> None:
    """The control: above, segments were read beside what the broker read."""
    options = {**target.options(source), "startingOffsets": "earliest", "admin.url": pulsar.admin_url}
    rows = target.spark.readStream.format("pulsar").options(**options).load()
    writer = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = run_available(writer)
    assert query.lastProgress is not None
    found = query.lastProgress["sources"][0]["metrics"]
    assert int(found["pulsarBookieEntries"]) >= (LEDGERS - 1) * EACH
