"""Catalogs of a session: each has a name of its own, since Spark keeps a catalog with the options it began with."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.servers import Addresses

CLASS = "io.github.pulsarspark.catalog.PulsarCatalog"

_numbers = itertools.count(1)
_READERS_SECONDS = 50


class Catalog:
    """A catalog of topics that no other test uses."""

    def __init__(self, spark: SparkSession, options: Mapping[str, str]) -> None:
        self.spark = spark
        self.name = f"pulsar{next(_numbers)}"
        spark.conf.set(f"spark.sql.catalog.{self.name}", CLASS)
        for key, value in options.items():
            spark.conf.set(f"spark.sql.catalog.{self.name}.{key}", value)

    @classmethod
    def that_drops(cls, spark: SparkSession, pulsar: Addresses) -> Catalog:
        """A catalog that may delete topics."""
        urls = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url}
        return cls(spark, {**urls, "allowDrop": "true", "sendTimeoutMs": "50s"})

    def table(self, topic: str, *more: str) -> str:
        """The SQL name of a topic, ``persistent://tenant/namespace/topic``, or of a metadata table of it."""
        parts = [*topic.removeprefix("persistent://").split("/"), *more]
        return ".".join([self.name, *(f"`{part}`" for part in parts)])

    def drop(self, topic: str) -> None:
        """Drop a topic as soon as the readers of it are closed, which happens in the background.

        Producers that a stream left would be closed after a minute: that is too late.
        """
        eventually(lambda: self._is_dropped(topic), seconds=_READERS_SECONDS)

    def _is_dropped(self, topic: str) -> bool:
        try:
            self.sql(f"drop table {self.table(topic)}")
        except PySparkException as refused:
            if "PULSAR_TOPIC_IN_USE" not in str(refused):
                raise
            return False
        return True

    def sql(self, text: str) -> DataFrame:
        """Run a statement in which ``{c}`` is the catalog."""
        return self.spark.sql(text.replace("{c}", self.name))

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """The rows of a statement, sorted."""
        return sorted(tuple(row) for row in self.sql(text).collect())
