"""Exactly-once sinks, found, shown and finished by their ids.

    from pulsar_spark import sinks

    sinks.find(spark, namespace="public/default")
    sinks.status(spark, "trips-copy", topic="trips")
    sinks.repair(spark, "trips-copy", topic="trips")
    sinks.finish(spark, "trips-copy", topic="trips")

`repair` and `finish` need a classic session. docs/develop/exactly-once.md describes the control topics of a sink.
"""

from __future__ import annotations

from pulsar_spark.sinks.calls import find, finish, repair, status
from pulsar_spark.sinks.results import FoundSink, LostTask, RepairedSink
from pulsar_spark.sinks.status import FinishedEpoch, PreparedEpoch, SinkStatus, SinkTransaction

__all__ = [
    "FinishedEpoch",
    "FoundSink",
    "LostTask",
    "PreparedEpoch",
    "RepairedSink",
    "SinkStatus",
    "SinkTransaction",
    "find",
    "finish",
    "repair",
    "status",
]
