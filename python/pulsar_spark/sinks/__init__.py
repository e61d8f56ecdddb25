"""Exactly-once sinks, found and finished by their ids.

    from pulsar_spark import sinks

    sinks.find(spark, namespace="public/default")
    sinks.repair(spark, "trips-copy", topic="trips")

Classic sessions only. docs/develop/exactly-once.md describes the control topics of a sink.
"""

from __future__ import annotations

from pulsar_spark.sinks.calls import FoundSink, LostTask, RepairedSink, find, repair

__all__ = ["FoundSink", "LostTask", "RepairedSink", "find", "repair"]
