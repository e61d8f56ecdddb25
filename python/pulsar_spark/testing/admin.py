"""The calls of Pulsar's admin REST interface that tests need, with the standard library only.

Topics are named in full, ``persistent://tenant/namespace/topic``, namespaces ``tenant/namespace``; names are escaped
here.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote

from pulsar_spark.testing.waiting import eventually

if TYPE_CHECKING:
    from http.client import HTTPMessage

_REQUEST_SECONDS = 60.0
_POLL_SECONDS = 0.1
_COORDINATORS = "persistent://pulsar/system/transaction_coordinator_assign"
# A topic is gone; it is being closed; it is fenced.
_TOPIC_CHANGES = (404, 422, 500)


class AdminError(RuntimeError):
    """A call that the server refused.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, method: str, path: str, status: int, text: str) -> None:
        super().__init__(f"{method} {path} failed with {status}: {text}")
        self.status = status


class _OtherBrokers(urllib.request.HTTPRedirectHandler):
    """Repeats a request, also one that changes something, at the broker that owns its topic."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,
    ) -> urllib.request.Request:
        return urllib.request.Request(newurl, data=req.data, headers=dict(req.headers), method=req.get_method())


class Admin:
    """Calls of one server, safe to share between threads.

    Attributes:
        url: The address of the admin service.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Proxies of the environment are not for local servers.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _OtherBrokers())

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send one request.

        Args:
            method: The HTTP method.
            path: The path below ``/admin/v2``, unless it begins with a slash.
            body: A value that is sent as JSON. Default: no body.

        Returns:
            The JSON of the response; its text if that is none; None without a response.

        Raises:
            AdminError: The server refused the request.
        """
        path = path if path.startswith("/") else f"/admin/v2/{path}"
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
        """True if the server, and if requested its transactions, become ready in time."""
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

    def namespaces(self, tenant: str) -> list[str]:
        """List the namespaces of a tenant."""
        return list(self.call("GET", f"namespaces/{quote(tenant, safe='')}"))

    def create_namespace(self, namespace: str, *, policies: dict[str, object] | None = None) -> None:
        """Create a namespace."""
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

    def set_policy(self, namespace: str, policy: str, value: object, *, method: str = "POST") -> None:
        """Set one policy by its name in the REST path, such as ``messageTTL`` or ``maxTopicsPerNamespace``."""
        self.call(method, f"namespaces/{namespace}/{policy}", value)

    def set_retention(self, namespace: str, *, minutes: int, megabytes: int) -> None:
        """Keep acknowledged messages so long and so many; -1 is without limit, 0 not at all."""
        self.set_policy(namespace, "retention", {"retentionTimeInMinutes": minutes, "retentionSizeInMB": megabytes})

    def create_topic(self, topic: str, *, partitions: int = 0) -> None:
        """Create a topic, not partitioned when ``partitions`` is 0."""
        if partitions:
            self.call("PUT", f"{topic_path(topic)}/partitions", partitions)
        else:
            self.call("PUT", topic_path(topic))

    def partitions(self, topic: str) -> int:
        """The number of partitions; 0 for a topic that is not partitioned."""
        return int(self.call("GET", f"{topic_path(topic)}/partitions")["partitions"])

    def unload(self, topic: str) -> None:
        """Unload the topic, which also closes its connections."""
        self.call("PUT", f"{topic_path(topic)}/unload")

    def truncate(self, topic: str) -> None:
        """Delete every ledger but the open one, whatever the retention; subscriptions move to the end."""
        self.call("DELETE", f"{topic_path(topic)}/truncate")

    def internal_stats(self, topic: str) -> dict[str, Any]:
        """Ledgers and cursors of one topic or partition."""
        return dict(self.call("GET", f"{topic_path(topic)}/internalStats?metadata=true"))


def topic_name(topic: str) -> str:
    """The name of a topic in paths, ``tenant/namespace/topic``."""
    domain, sign, rest = topic.partition("://")
    tenant, namespace, local = rest.split("/", 2)
    if domain != "persistent" or not sign:
        raise ValueError(f"'{topic}' is not of the form persistent://tenant/namespace/topic")
    return "/".join(quote(part, safe="") for part in (tenant, namespace, local))


def topic_path(topic: str) -> str:
    """The path of a topic."""
    return f"persistent/{topic_name(topic)}"
