"""Topics of a test, with the session that reads and writes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pulsar_spark.facade import Pulsar
    from pulsar_spark.testing.servers import PulsarServer


@dataclass(frozen=True)
class Topic:
    """A topic of one test.

    Attributes:
        name: Its full name, also as ``str(topic)``.
        server: Where it is.
        spark: The session that reads and writes it.
    """

    name: str
    server: PulsarServer
    spark: SparkSession = field(repr=False)

    def __str__(self) -> str:
        return self.name

    @property
    def service_url(self) -> str:
        """The address of the brokers."""
        return self.server.service_url

    @property
    def pulsar(self) -> Pulsar:
        """The server in the session, with ``read``, ``write``, ``lag`` and all else of `pulsar_spark.Pulsar`."""
        return self.server.cluster.on(self.spark)

    def beside(self, name: str) -> Topic:
        """Another topic in the same namespace.

        Args:
            name: Its short name.

        Returns:
            The topic, which need not exist.
        """
        return replace(self, name=f"{self.name.rpartition('/')[0]}/{name}")

    def create(self, *, partitions: int = 0) -> Topic:
        """Create the topic before its first message, as a topic with partitions needs it.

        Args:
            partitions: Their number. Default: the topic is not partitioned.

        Returns:
            The topic itself.
        """
        self.server.admin.create_topic(self.name, partitions=partitions)
        return self
