"""The libraries of table formats, on the line of Spark for which both of them have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark.local import maven

if TYPE_CHECKING:
    from pathlib import Path

DELTA = "io.delta:delta-spark_4.1_2.13:4.2.0"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
_CHECKSUMS = {
    DELTA: "8480050a55c7e50427f3bec3af9243f98fc7cbfa453a2ef55e6ea8d0b7b121ff",
    "io.delta:delta-storage:4.2.0": "2d84df76551f2b3cd27b120abec67ccbba324cea6ec45eb659edcc54234f99f3",
    ICEBERG: "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
}


def lake_jars() -> list[Path]:
    """The jars, from the cache or downloaded."""
    return [maven.fetch(coordinate, sha256=sha256) for coordinate, sha256 in _CHECKSUMS.items()]
