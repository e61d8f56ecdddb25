"""State in a checkpoint store that executors of their own write and read, also when they are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from checkpoints.stores import APART, KEYS, PARTITIONS, ROCKSDB, counted, counts, publish, start_counting

from pulsar_spark.testing import run_to_end
from support.spark.settings import hadoop_settings, session_settings, stores_of
from support.spark.waiting import eventually
from support.topics.reading import running

if TYPE_CHECKING:
    from executors.hosts import Executors

    from support.servers.servers import Addresses
    from support.topics.writing import Target


@pytest.mark.exhaustive
@pytest.mark.parametrize("kills", [0, 4])
def test_state_of_executors_is_exact(
    target: Target, pulsar: Addresses, executors: Executors, topic: str, namespace: str, kills: int
) -> None:
    spark, total = target.spark, 2000
    checkpoint = f"pulsar-fs://{namespace}/store-{kills}/query"
    publish(target.client, topic, total)
    with (
        session_settings(spark, {**PARTITIONS, **ROCKSDB}),
        hadoop_settings(spark, {**stores_of(pulsar), **APART}),
    ):
        query = start_counting(counted(spark, target.service_url, topic, 10), checkpoint, to_end=False)
        with running(query):
            for _ in range(kills):

                def newest() -> int:
                    assert query.isActive, query.exception()
                    return query.lastProgress["batchId"] if query.lastProgress else -1

                before = newest()
                eventually(lambda before=before: newest() > before + 3)  # type: ignore[misc]
                executors.both()[0].kill()
        run_to_end(start_counting(counted(spark, target.service_url, topic, 1000), checkpoint, to_end=True))
        assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), total // KEYS)
