"""The cluster in a session, as classic Spark and Spark Connect both must have it."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import PulsarCluster, PulsarOptionError, PulsarTopicNotFoundError
from pulsar_spark._tables import name_in_python
from pulsar_spark.facade import PartitionInfo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses

KINDS = {"partitions": PartitionInfo}
"""The class of each metadata table."""


def check_facade(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    """Write, read and look at a topic."""
    session = PulsarCluster(pulsar.service_url, admin_url=pulsar.admin_url).on(spark)
    session.write(spark.range(20).selectExpr("id", "concat('n', id) AS name"), topic)
    assert sorted(row.id for row in session.read(topic, start="earliest").collect()) == list(range(20))

    session.write(spark.sql("SELECT 20 AS id, 'n20' AS name"), topic)
    assert [row.id for row in session.peek(topic, 1).collect()] == [20]
    assert session.peek(topic, 1000).count() == 21

    found = session.partitions(topic)
    assert [(one.topic, one.partition) for one in found] == [(topic, None)]
    assert found[0].first is not None
    assert (found[0].entries or 0) > 0
    assert repr(found).splitlines()[0].split()[:2] == ["topic", "first"]
    assert [tuple(row) for row in found.to_df().select("topic", "last").collect()] == [(topic, found[0].last)]
    for table, kind in KINDS.items():
        columns = session.metadata(table, topic=topic).columns
        assert [name_in_python(column) for column in columns] == [one.name for one in fields(kind)], table

    with pytest.raises(PulsarTopicNotFoundError):
        session.partitions(f"{topic}-missing")
    with pytest.raises(PulsarOptionError, match="PULSAR_TOPIC_OPTION"):
        session.partitions()
    with pytest.raises(PulsarOptionError, match="the nearest is `partitions`"):
        session.metadata("partition", topic=topic)
    with pytest.raises(PulsarOptionError, match="PULSAR_OPTION_UNKNOWN"):
        session.metadata("partitions", topik=topic)
