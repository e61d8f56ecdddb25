"""Tables of metadata as sequences of typed rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import translated
from pulsar_spark.facade.listing import Listing
from pulsar_spark.facade.methods import InSession
from pulsar_spark.facade.rows import PartitionInfo
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.resolve import FORMAT, checked

Row = TypeVar("Row")
_TABLE = "metadata"


class MetadataTables(InSession):
    """The tables of metadata of a cluster in a session."""

    def partitions(
        self, topics: str | Sequence[str] | None = None, *, topics_pattern: str | None = None
    ) -> Listing[PartitionInfo]:
        """List the partitions of topics: where each begins and ends, and what it stores.

        Args:
            topics: A topic, or several.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar`.

        Returns:
            A row for each partition.

        Raises:
            PulsarOptionError: An argument is wrong.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.partitions("rides")[0].last
            '7:1233'
        """
        return self._listing(PartitionInfo, "partitions", _selection(topics, topics_pattern))

    def metadata(self, table: str, **options: str) -> DataFrame:
        """Read a metadata table, as the option ``metadata`` does.

        Args:
            table: Its name; docs/use/metadata.md lists them.
            options: Further options, by their names in Spark.

        Returns:
            The table, which the driver requests when Spark plans a query on it.

        Raises:
            PulsarOptionError: There is no such table, or an option is wrong.
            PulsarSparkError: The table lacks an option, or the cluster denies the request.

        Examples:
            >>> pulsar.metadata("partitions", topicsPattern="rides.*").orderBy("bytes").show()
        """
        own = self.cluster.options()
        given = checked(self.spark, {**own, **options, _TABLE: table}, _TABLE)
        with named_as_arguments(own), translated():
            return self.spark.read.format(FORMAT).options(**given).load()

    def _listing(self, kind: type[Row], table: str, options: dict[str, str]) -> Listing[Row]:
        with translated():
            return Listing(kind, self.metadata(table, **options))


def _selection(topics: str | Sequence[str] | None, pattern: str | None) -> dict[str, str]:
    """The options that select topics."""
    text = topics if topics is None or isinstance(topics, str) else ",".join(topics)
    return {key: value for key, value in (("topics", text), ("topicsPattern", pattern)) if value is not None}
