"""Writing with the connector and looking at the result with the official client."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pulsar

from support.topics.messages import read_all
from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.topics.messages import Received


class Target:
    """Where the writes of a test go: one server, seen through Spark and through the official client."""

    def __init__(self, spark: SparkSession, client: pulsar.Client, admin: Admin, service_url: str) -> None:
        self.spark = spark
        self.client = client
        self.admin = admin
        self.service_url = service_url

    def options(self, topic: str | None, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"service.url": self.service_url, **({"topic": topic} if topic else {}), **(more or {})}

    def append(self, rows: DataFrame, topic: str | None = None, more: Mapping[str, str] | None = None) -> None:
        rows.write.format("pulsar").mode("append").options(**self.options(topic, more)).save()

    def append_sql(self, query: str, topic: str | None = None, more: Mapping[str, str] | None = None) -> None:
        self.append(self.spark.sql(query), topic, more)

    def read(self, topic: str, more: Mapping[str, str] | None = None) -> DataFrame:
        return self.spark.read.format("pulsar").options(**self.options(topic, more)).load()

    def messages(self, topic: str) -> list[Received]:
        """What the official client reads, in the order of the topic."""
        return read_all(self.client, topic)

    def schema(self, topic: str) -> tuple[str, Any]:
        """Type and definition of the topic's schema."""
        found = self.admin.schema(topic)
        return found["type"], json.loads(found["data"]) if found["data"] else None

    def values(self, topic: str, schema: pulsar.schema.Schema) -> list[Any]:
        """What the official client decodes with a schema of its own."""
        reader = self.client.create_reader(topic, pulsar.MessageId.earliest, schema=schema)
        try:
            return [message.value() for message in remaining(reader)]
        finally:
            reader.close()
