"""The calls of Pulsar's admin REST interface that these tests need beyond those of every user's tests."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from pulsar_spark.testing import admin as testing
from pulsar_spark.testing.admin import AdminError, topic_name, topic_path

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Admin", "AdminError", "Json"]

Json: TypeAlias = Any

_POLL_SECONDS = 0.1
_EARLIEST = {"ledgerId": -1, "entryId": -1, "partitionIndex": -1}


class Admin(testing.Admin):
    """All calls of one server that these tests need."""

    def clock(self) -> datetime:
        """What time it is for the server."""
        with self._opener.open(f"{self.url}/admin/v2/brokers/ready") as answer:
            return parsedate_to_datetime(answer.headers["Date"])

    # Namespaces

    def policies(self, namespace: str) -> dict[str, Any]:
        return dict(self.call("GET", f"namespaces/{namespace}"))

    def has_topic(self, topic: str) -> bool:
        """True if the topic exists, with partitions or without."""
        names = self.topics("/".join(topic.split("/")[2:4]))
        return any(topic in (name, name.rpartition("-partition-")[0]) for name in names)

    def topics(self, namespace: str) -> list[str]:
        """The topics of the namespace, partitions listed one by one."""
        return sorted(self.call("GET", f"persistent/{namespace}"))

    def bundles(self, namespace: str) -> list[str]:
        """The boundaries of the bundles of a namespace."""
        return list(self.call("GET", f"namespaces/{namespace}/bundles")["boundaries"])

    def bundle_of(self, topic: str) -> str:
        """The bundle in which a topic is, as ``0x00000000_0x40000000``."""
        return str(self.call("GET", f"/lookup/v2/topic/persistent/{topic_name(topic)}/bundle"))

    def split_bundle(self, namespace: str, bundle: str) -> None:
        """Make two bundles of one, and unload both."""
        self.call("PUT", f"namespaces/{namespace}/{bundle}/split?unload=true")

    # Clusters

    def create_cluster(self, name: str, *, admin_url: str, service_url: str) -> None:
        """Register another cluster."""
        self.call("PUT", f"clusters/{name}", {"serviceUrl": admin_url, "brokerServiceUrl": service_url})

    def allow_clusters(self, tenant: str, clusters: list[str]) -> None:
        """Let the namespaces of a tenant be replicated between these clusters."""
        self.call("POST", f"tenants/{tenant}", {"adminRoles": [], "allowedClusters": clusters})

    # Topics

    def set_partitions(self, topic: str, partitions: int) -> None:
        """Raise the number of partitions."""
        self.call("POST", f"{topic_path(topic)}/partitions", partitions)

    def delete_topic(self, topic: str) -> None:
        """Delete a topic, whoever still uses it."""
        part = "/partitions" if self.partitions(topic) else ""
        self.call("DELETE", f"{topic_path(topic)}{part}?force=true")

    def unload_if_idle(self, topic: str) -> bool:
        """Unload a topic, such as a transaction coordinator's; a broker refuses that while it is busy with it."""
        try:
            self.unload(topic)
        except AdminError as error:
            if "it is doing other operations" not in str(error):
                raise
            return False
        return True

    def trim(self, topic: str) -> None:
        """Delete the ledgers beyond the retention now, not at the next check."""
        self.call("POST", f"{topic_path(topic)}/trim")

    def terminate(self, topic: str) -> None:
        """Let the topic take no message any more."""
        self.call("POST", f"{topic_path(topic)}/terminate")

    def create_shadow(self, shadow: str, source: str) -> None:
        """Create a topic that shows the messages of another one, in the ledgers of that one."""
        self.call("PUT", topic_path(shadow), {"PULSAR.SHADOW_SOURCE": source})
        self.call("PUT", f"{topic_path(source)}/shadowTopics", [shadow])

    def compact(self, topic: str) -> None:
        """Start a compaction; `is_compacted` reports its end."""
        self.call("PUT", f"{topic_path(topic)}/compaction")

    def is_compacted(self, topic: str) -> bool:
        """Whether the compaction that was started last is done; fails when it failed."""
        status = self.call("GET", f"{topic_path(topic)}/compaction")
        assert status["status"] != "ERROR", status
        return bool(status["status"] == "SUCCESS")

    def stats(self, topic: str) -> dict[str, Any]:
        """The topic's statistics with an exact backlog; those of all partitions together for a partitioned topic."""
        name = "partitioned-stats" if self.partitions(topic) else "stats"
        return dict(self.call("GET", f"{topic_path(topic)}/{name}?getPreciseBacklog=true"))

    def internal_info(self, topic: str) -> dict[str, Any]:
        """What the metadata store has of one topic or partition."""
        return dict(self.call("GET", f"{topic_path(topic)}/internal-info"))

    def offload(self, topic: str, *, seconds: float = 180.0) -> None:
        """Have every ledger but the open one offloaded, and wait until that is done.

        Raises:
            TimeoutError: It was not done in time: a broker with wrong settings tries for ever.
        """
        stats = self.internal_stats(topic)
        ledger, _, entry = str(stats["lastConfirmedEntry"]).partition(":")
        # As long as nothing is in the open one, the broker takes its entry 0 as the end.
        if stats["currentLedgerEntries"] == 0:
            ledger, entry = stats["ledgers"][-1]["ledgerId"], "0"
        end = {"ledgerId": int(ledger), "entryId": int(entry), "partitionIndex": -1}
        self.call("PUT", f"{topic_path(topic)}/offload", end)
        deadline = time.monotonic() + seconds
        while (status := self.call("GET", f"{topic_path(topic)}/offload"))["status"] != "SUCCESS":
            if status["status"] == "ERROR" or time.monotonic() > deadline:
                raise TimeoutError(f"{topic} is not offloaded: {status}")
            time.sleep(_POLL_SECONDS)

    # Subscriptions

    def subscriptions(self, topic: str) -> list[str]:
        return sorted(self.call("GET", f"{topic_path(topic)}/subscriptions"))

    def create_subscription(self, topic: str, subscription: str) -> None:
        """Create a durable subscription at the first message."""
        self.call("PUT", f"{topic_path(topic)}/subscription/{quote(subscription, safe='')}", _EARLIEST)

    def delete_subscription(self, topic: str, subscription: str) -> None:
        self.call("DELETE", f"{topic_path(topic)}/subscription/{quote(subscription, safe='')}")

    def expire(self, topic: str, subscription: str, *, ledger: int, entry: int) -> None:
        """Let the messages of a subscription expire up to this one, as their time to live would do."""
        number = topic.rpartition("-partition-")[2]
        partition = int(number) if number.isdigit() else -1  # brokers refuse another one
        body = {
            "ledgerId": ledger,
            "entryId": entry,
            "partitionIndex": partition,
            "batchIndex": -1,
            "isExcluded": False,
        }
        self.call("POST", f"{topic_path(topic)}/subscription/{quote(subscription, safe='')}/expireMessages", body)

    # Schemas

    def upload_schema(
        self, topic: str, kind: str, schema: str = "", *, properties: dict[str, str] | None = None
    ) -> int:
        """Register a schema such as ``AVRO`` with its definition; returns its version."""
        body = {"type": kind, "schema": schema, "properties": properties or {}}
        return int(self.call("POST", f"schemas/{topic_name(topic)}/schema", body)["version"]["version"])

    def schema(self, topic: str) -> dict[str, Any]:
        """The newest schema of the topic."""
        return dict(self.call("GET", f"schemas/{topic_name(topic)}/schema"))
