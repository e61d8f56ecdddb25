"""Tables of metadata as sequences of typed rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TypeVar

from pulsar_spark._spark import DataFrame
from pulsar_spark.errors import PulsarOptionError, translated
from pulsar_spark.facade.listing import Listing
from pulsar_spark.facade.methods import InSession
from pulsar_spark.facade.rows import (
    LedgerInfo,
    PartitionInfo,
    PositionInfo,
    SchemaInfo,
    SubscriptionInfo,
    TopicInfo,
)
from pulsar_spark.options.bounds import Bound, bound_options
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
        return self._listing(PartitionInfo, "partitions", selection(topics, topics_pattern))

    def topics(self, namespace: str = "public/default", *, pattern: str = ".*") -> Listing[TopicInfo]:
        """List the topics of a namespace, partitioned ones as one.

        Args:
            namespace: The namespace, ``tenant/namespace``.
            pattern: A regular expression that matches whole names of topics.

        Returns:
            A row for each topic; none if there is no such topic.

        Raises:
            PulsarOptionError: An argument is wrong.
            PulsarSparkError: The cluster denies the request.

        Examples:
            >>> [one.topic for one in pulsar.topics("public/default", pattern="rides.*")]
            ['persistent://public/default/rides']
        """
        options = {"topicsPattern": f"{namespace}/{pattern}", "allowMissingTopics": "true"}
        return self._listing(TopicInfo, "topics", options)

    def schemas(self, topic: str) -> Listing[SchemaInfo]:
        """List the versions of a topic's schema; only the newest without an admin URL.

        Args:
            topic: The topic.

        Returns:
            A row for each version.

        Raises:
            PulsarSparkError: The topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.schemas("rides")[-1].columns
            'city STRING, km DOUBLE'
        """
        return self._listing(SchemaInfo, "schemas", {"topic": topic})

    def schema(self, topic: str, version: int | None = None) -> SchemaInfo | None:
        """Find a version of a topic's schema.

        Args:
            topic: The topic.
            version: Its number. Default: the newest.

        Returns:
            The schema; None if the topic has none.

        Raises:
            PulsarOptionError: There is no such version.
            PulsarSparkError: The topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.schema("rides").type
            'AVRO'
        """
        known = {one.version: one for one in self.schemas(topic)}
        if version is not None and version not in known:
            allowed = f"one of {', '.join(map(str, sorted(known)))}" if known else "nothing, as the topic has no schema"
            raise PulsarOptionError("PULSAR_OPTION_INVALID", option="version", value=str(version), allowed=allowed)
        return known[max(known) if version is None else version] if known else None

    def ledgers(
        self, topics: str | Sequence[str] | None = None, *, topics_pattern: str | None = None
    ) -> Listing[LedgerInfo]:
        """List the ledgers of topics. Needs an admin URL.

        Args:
            topics: A topic, or several.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar`.

        Returns:
            A row for each ledger, in the order of the messages.

        Raises:
            PulsarOptionError: An argument is wrong, or the cluster has no admin URL.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> sum(one.bytes for one in pulsar.ledgers("rides") if one.state == "offloaded")
            5242880
        """
        return self._listing(LedgerInfo, "ledgers", selection(topics, topics_pattern))

    def subscriptions(
        self, topics: str | Sequence[str] | None = None, *, topics_pattern: str | None = None
    ) -> Listing[SubscriptionInfo]:
        """List the subscriptions of topics. Needs an admin URL.

        Args:
            topics: A topic, or several.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar`.

        Returns:
            A row for each subscription of each partition.

        Raises:
            PulsarOptionError: An argument is wrong, or the cluster has no admin URL.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> {one.subscription: one.backlog_entries for one in pulsar.subscriptions("rides")}
            {'rides-to-lake': 1204}
        """
        return self._listing(SubscriptionInfo, "subscriptions", selection(topics, topics_pattern))

    def positions(self, topics: str | Sequence[str], *, at: Bound) -> Listing[PositionInfo]:
        """Find the positions of topics at a time.

        Args:
            topics: A topic, or several.
            at: The time, in the forms of ``start`` of `read_pulsar`.

        Returns:
            A row for each partition.

        Raises:
            PulsarOptionError: An argument is wrong.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.positions("rides", at="-2h")[0].position
            '7:1233'
        """
        options = selection(topics, None)
        bounds = bound_options("start", at, topic=options["topics"], now=datetime.now(timezone.utc))
        return self._listing(PositionInfo, "positions", {**options, **bounds})

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


def selection(topics: str | Sequence[str] | None, pattern: str | None) -> dict[str, str]:
    """The options that select topics."""
    text = topics if topics is None or isinstance(topics, str) else ",".join(topics)
    return {key: value for key, value in (("topics", text), ("topicsPattern", pattern)) if value is not None}
