"""Streams over many partitions: most of them receive nothing, and cost no request at most triggers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import Batches, assert_exactly_once, existing, running, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

# More than 128, of which each trigger would request all.
_PARTITIONS = 140
_TRIGGERS = 5
# Without notifications a partition would be requested once in 47 triggers: nine rows within so many are no chance.
_TRIGGER = "1 second"
_SOON = 30


def test_partitions_that_receive_nothing_are_requested_in_turn(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=_PARTITIONS)
    some = [f"{topic}-partition-{number}" for number in (0, 99, 139)]
    batches = Batches()
    with running_broker_proxy(service_url) as proxy:

        def requests() -> float:
            """Requests for the last position at each trigger, of which each looks up the topic once; at most by a fifth
            too many."""
            with counted(proxy) as counts:
                eventually(lambda: counts["PARTITIONED_METADATA"] > _TRIGGERS)
                return counts["GET_LAST_MESSAGE_ID"] / (counts["PARTITIONED_METADATA"] - 1)

        def has_read(count: int) -> bool:
            return len(batches.rows) >= count

        frame = stream(spark, proxy.service_url, topic=topic, startingOffsets="earliest")
        writer = frame.writeStream.foreachBatch(batches).option("checkpointLocation", str(tmp_path))
        with running(writer.trigger(processingTime=_TRIGGER).start()):
            eventually(lambda: requests() < _PARTITIONS / 10, seconds=600)
            for turn in range(1, 4):
                for partition in some:
                    produce(client, partition, [b"%d" % turn] * turn)
                wanted = partial(has_read, len(some) * turn * (turn + 1) // 2)
                with counted(proxy) as counts:
                    eventually(lambda: wanted() or counts["PARTITIONED_METADATA"] > _SOON)  # noqa: B023 - not kept
                assert wanted()
                admin.unload(some[-1])
            eventually(lambda: requests() < _PARTITIONS / 10, seconds=600)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))
