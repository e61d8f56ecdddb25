"""Read and write Apache Pulsar topics from Apache Spark.

    import pulsar_spark

    spark = pulsar_spark.session()
    rides = pulsar_spark.read_pulsar(spark, "rides", start="-2h", service_url="pulsar://localhost:6650")

`pulsar_spark.local` runs a Pulsar server on the local machine, `pulsar_spark.functions` decodes and encodes columns,
`pulsar_spark.progress` shows how far a stream is behind, `pulsar_spark.sinks` finishes what an exactly-once write left.
They are loaded when they are first used, and so is everything that needs Spark. Without a supported PySpark, names that
need it raise `PulsarImportError`; the others work.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pulsar_spark._jars import jar_path, maven_coordinate
from pulsar_spark._version import __version__
from pulsar_spark.cluster import Basic, Certificate, OAuth2, Plugin, PulsarCluster, Store, Tls, Token, TokenFile
from pulsar_spark.errors import (
    PulsarAccessError,
    PulsarCheckpointError,
    PulsarDataError,
    PulsarDataLossError,
    PulsarImportError,
    PulsarInternalError,
    PulsarOptionError,
    PulsarRequestError,
    PulsarSchemaError,
    PulsarSetupError,
    PulsarSparkError,
    PulsarTopicNotFoundError,
    PulsarUnreachableError,
    condition_of,
    error_of,
)
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions
from pulsar_spark.options.bounds import after

if TYPE_CHECKING:
    from pulsar_spark import functions, local, progress, sinks
    from pulsar_spark.facade import Pulsar
    from pulsar_spark.io import read_pulsar, read_pulsar_stream, write_pulsar, write_pulsar_stream
    from pulsar_spark.plans import FollowedPartition, PlannedSlice, PlannedTask, ReadPlan, RealTimePlan, plan
    from pulsar_spark.sessions import configure, session
    from pulsar_spark.triggers import real_time_trigger

__all__ = [
    "Basic",
    "Certificate",
    "FollowedPartition",
    "OAuth2",
    "PlannedSlice",
    "PlannedTask",
    "Plugin",
    "Pulsar",
    "PulsarAccessError",
    "PulsarCheckpointError",
    "PulsarCluster",
    "PulsarDataError",
    "PulsarDataLossError",
    "PulsarImportError",
    "PulsarInternalError",
    "PulsarOptionError",
    "PulsarReadOptions",
    "PulsarRequestError",
    "PulsarSchemaError",
    "PulsarSetupError",
    "PulsarSparkError",
    "PulsarTopicNotFoundError",
    "PulsarUnreachableError",
    "PulsarWriteOptions",
    "ReadPlan",
    "RealTimePlan",
    "Store",
    "Tls",
    "Token",
    "TokenFile",
    "__version__",
    "after",
    "condition_of",
    "configure",
    "error_of",
    "functions",
    "jar_path",
    "local",
    "maven_coordinate",
    "plan",
    "progress",
    "read_pulsar",
    "read_pulsar_stream",
    "real_time_trigger",
    "session",
    "sinks",
    "write_pulsar",
    "write_pulsar_stream",
]

_MODULES = ("functions", "local", "progress", "sinks")
_NAMES = {
    "facade": ("Pulsar",),
    "io": ("read_pulsar", "read_pulsar_stream", "write_pulsar", "write_pulsar_stream"),
    "plans": ("FollowedPartition", "PlannedSlice", "PlannedTask", "ReadPlan", "RealTimePlan", "plan"),
    "sessions": ("configure", "session"),
    "triggers": ("real_time_trigger",),
}
_ON_FIRST_USE = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return importlib.import_module(f"pulsar_spark.{name}")
        if name in _ON_FIRST_USE:
            return getattr(importlib.import_module(f"pulsar_spark.{_ON_FIRST_USE[name]}"), name)
        raise AttributeError(f"module 'pulsar_spark' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_ON_FIRST_USE})
