"""Read and write Apache Pulsar topics from Apache Spark.

    import pulsar_spark

    spark = pulsar_spark.session()
    rides = pulsar_spark.read_pulsar(spark, "rides", start="-2h", service_url="pulsar://localhost:6650")

`pulsar_spark.local` runs a Pulsar server on the local machine.
"""

from __future__ import annotations

from pulsar_spark._version import __version__
from pulsar_spark.errors import PulsarOptionError, PulsarSetupError, PulsarSparkError, condition_of
from pulsar_spark.io import read_pulsar, read_pulsar_stream, write_pulsar, write_pulsar_stream
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions
from pulsar_spark.plans import PlannedSlice, PlannedTask, ReadPlan, plan
from pulsar_spark.sessions import configure, jar_path, maven_coordinate, session

__all__ = [
    "PlannedSlice",
    "PlannedTask",
    "PulsarOptionError",
    "PulsarReadOptions",
    "PulsarSetupError",
    "PulsarSparkError",
    "PulsarWriteOptions",
    "ReadPlan",
    "__version__",
    "condition_of",
    "configure",
    "jar_path",
    "maven_coordinate",
    "plan",
    "read_pulsar",
    "read_pulsar_stream",
    "session",
    "write_pulsar",
    "write_pulsar_stream",
]
