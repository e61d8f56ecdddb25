"""Download files from the Maven registry by their coordinates.

The Ivy jar inside Spark does the downloads and knows the public registry, so all that is needed is
pyspark, or ``SPARK_HOME``, and a ``java`` command. ``PULSAR_SPARK_MAVEN_MIRROR`` is the root of another registry;
``PULSAR_SPARK_CACHE`` is the folder for downloads.

Command line: ``python -m pulsar_spark.local.maven GROUP:ARTIFACT:VERSION[:CLASSIFIER][@EXT] [--sha256 SUM]`` prints
the path.
"""

from __future__ import annotations

from pulsar_spark.local.errors import FetchError
from pulsar_spark.local.maven.coordinate import Coordinate
from pulsar_spark.local.maven.download import CACHE_VARIABLE, cache_folder, fetch, fetch_all
from pulsar_spark.local.maven.ivy import MIRROR_VARIABLE, ivy_jar

__all__ = [
    "CACHE_VARIABLE",
    "MIRROR_VARIABLE",
    "Coordinate",
    "FetchError",
    "cache_folder",
    "fetch",
    "fetch_all",
    "ivy_jar",
]
