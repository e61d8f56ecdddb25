"""The cluster in a session, as classic Spark and Spark Connect both must have it."""

from __future__ import annotations

from dataclasses import fields
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import PulsarCluster, PulsarOptionError, PulsarTopicNotFoundError
from pulsar_spark._tables import name_in_python
from pulsar_spark.facade import (
    CheckpointRecord,
    LagInfo,
    LedgerInfo,
    PartitionInfo,
    PositionInfo,
    SchemaInfo,
    SliceInfo,
    StepInfo,
    SubscriptionInfo,
    TopicInfo,
)
from support.spark.waiting import becomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pulsar_spark import Pulsar
    from support.servers.servers import Addresses

KINDS = {
    "checkpoint": CheckpointRecord,
    "doctor": StepInfo,
    "lag": LagInfo,
    "ledgers": LedgerInfo,
    "partitions": PartitionInfo,
    "plan": SliceInfo,
    "positions": PositionInfo,
    "schemas": SchemaInfo,
    "subscriptions": SubscriptionInfo,
    "topics": TopicInfo,
}
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
        own = {"startingOffsets": "earliest"} if table in ("lag", "positions") else {}
        given = {"checkpoint": "/none"} if table == "checkpoint" else {"topic": topic, **own}
        columns = session.metadata(table, **given).columns
        assert [name_in_python(column) for column in columns] == [one.name for one in fields(kind)], table

    namespace, name = topic.removeprefix("persistent://").rsplit("/", 1)
    (listed,) = session.topics(namespace, pattern=f"{name}.*")
    assert (listed.topic, listed.partitions, listed.schema_type) == (topic, None, "AVRO")
    assert session.topics(namespace, pattern="no-such-topic") == ()
    schema = session.schema(topic)
    assert schema is not None
    assert (schema.version, (schema.columns or "").lower()) == (0, "id bigint,name string")
    assert session.schema(topic, 0) == schema
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INVALID.*`version` is `7`, but must be one of 0"):
        session.schema(topic, 7)
    assert session.ledgers(topic)[0].ledger_id == int((found[0].first or "").split(":")[0])
    becomes(lambda: session.subscriptions(topic), ())
    (left,) = session.lag(topic, start="earliest")
    assert (left.last, left.entries) == (found[0].last, found[0].entries)
    check_lag_of_a_query(session, topic)
    (position,) = session.positions(topic, at="-1h")
    assert session.read(topic, start=position.starting_offset).count() == 21
    assert sum(part.entries or 0 for part in session.plan(topic).slices) == found[0].entries

    assert {step.state for step in session.doctor(topic)} <= {"ok", "warn", "skipped"}
    (failed,) = [step for step in session.doctor(f"{topic}-missing") if step.state == "fail"]
    assert (failed.condition, bool(failed.action)) == ("PULSAR_TOPIC_NOT_FOUND", True)

    with pytest.raises(PulsarTopicNotFoundError):
        session.partitions(f"{topic}-missing")
    with pytest.raises(PulsarOptionError, match="PULSAR_TOPIC_OPTION"):
        session.partitions()
    with pytest.raises(PulsarOptionError, match="the nearest is `partitions`"):
        session.metadata("partition", topic=topic)
    with pytest.raises(PulsarOptionError, match="PULSAR_OPTION_UNKNOWN"):
        session.metadata("partitions", topik=topic)


def check_lag_of_a_query(session: Pulsar, topic: str) -> None:
    """Measure a query by its progress and by its checkpoint."""
    with TemporaryDirectory() as folder:
        rows = session.read_stream(topic, start="earliest").writeStream.format("noop")
        query = rows.option("checkpointLocation", folder).trigger(availableNow=True).start()
        assert query.awaitTermination(300)
        for found in (session.lag(query), session.lag(checkpoint=folder)):
            assert [(one.topic, one.entries, one.seconds) for one in found] == [(topic, 0, 0)]
