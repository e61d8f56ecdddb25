"""Settings of Hadoop in a session that runs, where users set them before it starts."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses

STORES = {
    "fs.pulsar-fs.impl": "io.github.pulsarspark.checkpoint.PulsarFileSystem",
    "fs.AbstractFileSystem.pulsar-fs.impl": "io.github.pulsarspark.checkpoint.PulsarFs",
}
"""The classes of the file system for checkpoints."""


def stores_of(pulsar: Addresses) -> dict[str, str]:
    """The settings for checkpoints in topics of a server. Hadoop forgets them with each use, for the next server."""
    return {
        **STORES,
        "pulsar-fs.service.url": pulsar.service_url,
        "pulsar-fs.admin.url": pulsar.admin_url,
        "fs.pulsar-fs.impl.disable.cache": "true",
    }


@contextmanager
def hadoop_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Settings of Hadoop for a block."""
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    before = {name: hadoop.get(name) for name in values}
    for name, value in values.items():
        hadoop.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                hadoop.unset(name)
            else:
                hadoop.set(name, value)
