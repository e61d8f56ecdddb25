"""Settings of a session that runs, and of its Hadoop, for a part of a test."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

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


class _Settings(Protocol):
    def set(self, name: str, value: str, /) -> object: ...

    def unset(self, name: str, /) -> object: ...


@contextmanager
def session_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Settings of the session for a block."""
    before = {name: spark.conf.get(name, None) for name in values}
    with _set(spark.conf, values, before):
        yield


@contextmanager
def hadoop_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Settings of Hadoop for a block, where users set them before the session starts."""
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    with _set(hadoop, values, {name: hadoop.get(name) for name in values}):
        yield


@contextmanager
def _set(conf: _Settings, values: Mapping[str, str], before: Mapping[str, str | None]) -> Iterator[None]:
    for name, value in values.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                conf.unset(name)
            else:
                conf.set(name, old)
