"""When a started server can be used."""

from __future__ import annotations

import urllib.error
import urllib.request

_REQUEST_SECONDS = 5.0

# Paths of the admin service and what their answers contain, in the order of a start. TLS listeners and offloaders are
# there before the admin service answers. The first namespaces are created after the broker has started; a restarted
# server finds them, so they alone prove nothing.
_READY = (
    ("/admin/v2/brokers/health", "ok"),
    ("/admin/v2/brokers/ready", "ok"),
    ("/admin/v2/namespaces/public", "public/default"),
)
# The last step of all: clients with transactions cannot connect before.
_TRANSACTIONS_READY = (
    "/admin/v2/persistent/pulsar/system/transaction_coordinator_assign/partitions",
    '"partitions":1',
)


class ReadyCheck:
    """What shows that a server can be used, checked in the order of a start; each sign is looked for until seen."""

    def __init__(self, admin_url: str, token: str | None, *, transactions: bool) -> None:
        """Describe the check of one start.

        Args:
            admin_url: The address of the admin service.
            token: The token for its requests, when authentication is on.
            transactions: Whether the server runs the transaction coordinator.
        """
        self._admin_url = admin_url
        self._token = token
        self._pending = [*_READY, *([_TRANSACTIONS_READY] if transactions else [])]

    def passes(self) -> bool:
        """Whether the server has shown every sign by now."""
        while self._pending:
            path, sign = self._pending[0]
            if sign not in self._get(path):
                return False
            del self._pending[0]
        return True

    def _get(self, path: str) -> str:
        request = urllib.request.Request(self._admin_url + path)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        # A proxy of the environment is for the network, never for 127.0.0.1.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_REQUEST_SECONDS) as answer:
                return str(answer.read().decode("utf-8"))
        except (OSError, urllib.error.HTTPError):
            return ""
