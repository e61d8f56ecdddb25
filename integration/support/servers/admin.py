"""The few calls of Pulsar's admin REST interface that tests need, with the standard library only.

Topics are named in full, ``persistent://tenant/namespace/topic``, namespaces ``tenant/namespace``; names are escaped
here.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import Any, TypeAlias
from urllib.parse import quote

from support.spark.waiting import eventually

Json: TypeAlias = Any

_REQUEST_SECONDS = 60.0
_POLL_SECONDS = 0.1

_COORDINATORS = "persistent://pulsar/system/transaction_coordinator_assign"

# A topic is gone; it is being closed; it is fenced.
_TOPIC_CHANGES = (404, 422, 500)


class AdminError(RuntimeError):
    """The server refused a call; `status` is the HTTP status."""

    def __init__(self, method: str, path: str, status: int, text: str) -> None:
        super().__init__(f"{method} {path} failed with {status}: {text}")
        self.status = status


class Admin:
    """Calls one server; safe to share between threads."""

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Proxies of the environment are not for local servers.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def call(self, method: str, path: str, body: object = None) -> Json:
        """Send one request below ``/admin/v2``, unless the path begins with ``/admin/``; return JSON, or else text."""
        path = path if path.startswith("/admin/") else f"/admin/v2/{path}"
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, **({"Content-Type": "application/json"} if data is not None else {})}
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=_REQUEST_SECONDS) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                raise AdminError(method, path, error.code, error.read().decode(errors="replace")) from None
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text

    def ready_within(self, seconds: float, *, transactions: bool = False) -> bool:
        """Whether the server, and if requested its transactions, become ready in time."""
        deadline = time.monotonic() + seconds
        while not self._ready(transactions):
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _ready(self, transactions: bool) -> bool:
        try:
            return (
                all(self.call("GET", f"brokers/{sign}") == "ok" for sign in ("health", "ready"))
                and "public/default" in self.namespaces("public")
                and (not transactions or self.partitions(_COORDINATORS) > 0)
            )
        except (OSError, AdminError):
            return False

    # Namespaces

    def namespaces(self, tenant: str) -> list[str]:
        return list(self.call("GET", f"namespaces/{quote(tenant, safe='')}"))

    def create_namespace(self, namespace: str, *, policies: dict[str, object] | None = None) -> None:
        self.call("PUT", f"namespaces/{namespace}", policies or {})

    def delete_namespace(self, namespace: str) -> None:
        """Delete the namespace with all its topics; tried again when one of them was just being closed or deleted."""

        def deleted() -> bool:
            try:
                self.call("DELETE", f"namespaces/{namespace}?force=true")
            except AdminError as error:
                if error.status not in _TOPIC_CHANGES or namespace not in self.namespaces(namespace.partition("/")[0]):
                    raise
                return False
            return True

        eventually(deleted, seconds=120)  # a broker with transactions may stand still for half a minute

    def policies(self, namespace: str) -> dict[str, Any]:
        return dict(self.call("GET", f"namespaces/{namespace}"))

    def set_policy(self, namespace: str, policy: str, value: object, *, method: str = "POST") -> None:
        """Set one policy by its name in the REST path, such as ``messageTTL`` or ``maxTopicsPerNamespace``."""
        self.call(method, f"namespaces/{namespace}/{policy}", value)

    def set_retention(self, namespace: str, *, minutes: int, megabytes: int) -> None:
        """Keep acknowledged messages so long and so many; -1 is without limit, 0 not at all."""
        self.set_policy(namespace, "retention", {"retentionTimeInMinutes": minutes, "retentionSizeInMB": megabytes})

    def has_topic(self, topic: str) -> bool:
        """True if the topic exists, with partitions or without."""
        names = self.topics("/".join(topic.split("/")[2:4]))
        return any(topic in (name, name.rpartition("-partition-")[0]) for name in names)

    def topics(self, namespace: str) -> list[str]:
        """The topics of the namespace, partitions listed one by one."""
        return sorted(self.call("GET", f"persistent/{namespace}"))

    # Clusters

    def create_cluster(self, name: str, *, admin_url: str, service_url: str) -> None:
        """Register another cluster."""
        self.call("PUT", f"clusters/{name}", {"serviceUrl": admin_url, "brokerServiceUrl": service_url})

    def allow_clusters(self, tenant: str, clusters: list[str]) -> None:
        """Let the namespaces of a tenant be replicated between these clusters."""
        self.call("POST", f"tenants/{tenant}", {"adminRoles": [], "allowedClusters": clusters})

    # Topics

    def create_topic(self, topic: str, *, partitions: int = 0) -> None:
        """Create a topic, not partitioned when ``partitions`` is 0."""
        if partitions:
            self.call("PUT", f"{_path(topic)}/partitions", partitions)
        else:
            self.call("PUT", _path(topic))

    def set_partitions(self, topic: str, partitions: int) -> None:
        """Raise the number of partitions."""
        self.call("POST", f"{_path(topic)}/partitions", partitions)

    def partitions(self, topic: str) -> int:
        """The number of partitions; 0 for a topic that is not partitioned."""
        return int(self.call("GET", f"{_path(topic)}/partitions")["partitions"])

    def delete_topic(self, topic: str) -> None:
        """Delete a topic, whoever still uses it."""
        part = "/partitions" if self.partitions(topic) else ""
        self.call("DELETE", f"{_path(topic)}{part}?force=true")

    def unload(self, topic: str) -> None:
        """Unload the topic, which also closes its connections."""
        self.call("PUT", f"{_path(topic)}/unload")

    def truncate(self, topic: str) -> None:
        """Delete every ledger but the open one, whatever the retention; subscriptions move to the end."""
        self.call("DELETE", f"{_path(topic)}/truncate")

    def trim(self, topic: str) -> None:
        """Delete the ledgers beyond the retention now, not at the next check."""
        self.call("POST", f"{_path(topic)}/trim")

    def terminate(self, topic: str) -> None:
        """Let the topic take no message any more."""
        self.call("POST", f"{_path(topic)}/terminate")

    def create_shadow(self, shadow: str, source: str) -> None:
        """Create a topic that shows the messages of another one, in the ledgers of that one."""
        self.call("PUT", _path(shadow), {"PULSAR.SHADOW_SOURCE": source})
        self.call("PUT", f"{_path(source)}/shadowTopics", [shadow])

    def compact(self, topic: str) -> None:
        """Start a compaction; `is_compacted` reports its end."""
        self.call("PUT", f"{_path(topic)}/compaction")

    def is_compacted(self, topic: str) -> bool:
        """Whether the compaction that was started last is done; fails when it failed."""
        status = self.call("GET", f"{_path(topic)}/compaction")
        assert status["status"] != "ERROR", status
        return bool(status["status"] == "SUCCESS")

    def stats(self, topic: str) -> dict[str, Any]:
        """The topic's statistics with an exact backlog; those of all partitions together for a partitioned topic."""
        name = "partitioned-stats" if self.partitions(topic) else "stats"
        return dict(self.call("GET", f"{_path(topic)}/{name}?getPreciseBacklog=true"))

    def internal_stats(self, topic: str) -> dict[str, Any]:
        """Ledgers and cursors of one topic or partition."""
        return dict(self.call("GET", f"{_path(topic)}/internalStats?metadata=true"))

    def internal_info(self, topic: str) -> dict[str, Any]:
        """What the metadata store has of one topic or partition."""
        return dict(self.call("GET", f"{_path(topic)}/internal-info"))

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
        self.call("PUT", f"{_path(topic)}/offload", end)
        deadline = time.monotonic() + seconds
        while (status := self.call("GET", f"{_path(topic)}/offload"))["status"] != "SUCCESS":
            if status["status"] == "ERROR" or time.monotonic() > deadline:
                raise TimeoutError(f"{topic} is not offloaded: {status}")
            time.sleep(_POLL_SECONDS)

    # Subscriptions

    def subscriptions(self, topic: str) -> list[str]:
        return sorted(self.call("GET", f"{_path(topic)}/subscriptions"))

    def create_subscription(self, topic: str, subscription: str) -> None:
        """Create a durable subscription at the first message."""
        self.call("PUT", f"{_path(topic)}/subscription/{quote(subscription, safe='')}", _EARLIEST)

    def delete_subscription(self, topic: str, subscription: str) -> None:
        self.call("DELETE", f"{_path(topic)}/subscription/{quote(subscription, safe='')}")

    def expire(self, topic: str, subscription: str, *, ledger: int, entry: int) -> None:
        """Let the messages of a subscription expire up to this one, as their time to live would do."""
        body = {"ledgerId": ledger, "entryId": entry, "partitionIndex": -1, "batchIndex": -1, "isExcluded": False}
        self.call("POST", f"{_path(topic)}/subscription/{quote(subscription, safe='')}/expireMessages", body)

    # Schemas

    def upload_schema(
        self, topic: str, kind: str, schema: str = "", *, properties: dict[str, str] | None = None
    ) -> int:
        """Register a schema such as ``AVRO`` with its definition; returns its version."""
        body = {"type": kind, "schema": schema, "properties": properties or {}}
        return int(self.call("POST", f"schemas/{_name(topic)}/schema", body)["version"]["version"])

    def schema(self, topic: str) -> dict[str, Any]:
        """The newest schema of the topic."""
        return dict(self.call("GET", f"schemas/{_name(topic)}/schema"))


_EARLIEST = {"ledgerId": -1, "entryId": -1, "partitionIndex": -1}


def _name(topic: str) -> str:
    domain, sign, rest = topic.partition("://")
    tenant, namespace, local = rest.split("/", 2)
    if domain != "persistent" or not sign:
        raise ValueError(f"'{topic}' is not of the form persistent://tenant/namespace/topic")
    return "/".join(quote(part, safe="") for part in (tenant, namespace, local))


def _path(topic: str) -> str:
    return f"persistent/{_name(topic)}"
