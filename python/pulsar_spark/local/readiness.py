"""The ready check of a started server."""

from __future__ import annotations

import urllib.error
import urllib.request

_REQUEST_SECONDS = 5.0

# Paths of the admin service and texts in their responses, in the order of a start. TLS listeners and offloaders are
# ready before the admin service responds. A new server creates the first namespaces after the start of the broker; a
# restarted server has them already, so they alone prove nothing.
_READY = (
    ("/admin/v2/brokers/health", "ok"),
    ("/admin/v2/brokers/ready", "ok"),
    ("/admin/v2/namespaces/public", "public/default"),
)
# The last step: clients with transactions cannot connect before it.
_TRANSACTIONS_READY = (
    "/admin/v2/persistent/pulsar/system/transaction_coordinator_assign/partitions",
    '"partitions":1',
)


class ReadyCheck:
    """Checks in the order of a start; each is repeated until it passes once."""

    def __init__(self, admin_url: str, token: str | None, *, transactions: bool) -> None:
        """Create the check of one start.

        Args:
            admin_url: The address of the admin service.
            token: The token for requests, if authentication is on.
            transactions: Whether the server runs the transaction coordinator.
        """
        self._admin_url = admin_url
        self._token = token
        self._pending = [*_READY, *([_TRANSACTIONS_READY] if transactions else [])]

    def passes(self) -> bool:
        """True if every check has passed."""
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
        # Proxies of the environment are not for 127.0.0.1.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_REQUEST_SECONDS) as response:
                return str(response.read().decode("utf-8"))
        except (OSError, urllib.error.HTTPError):
            return ""
