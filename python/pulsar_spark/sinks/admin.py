"""Calls of Pulsar's admin service that show a sink."""

from __future__ import annotations

import json
import re
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pulsar_spark.sinks.records import SinkError

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 30.0
_ID = re.compile(r"\((-?\d+),\s*(-?\d+)\)")
_OPEN = "OPEN"
_MISSING, _DENIED = 404, (401, 403)


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that its coordinator reports as open.

    Attributes:
        began: Time of its begin, in milliseconds since 1970.
        timeout: Time from its begin until the coordinator aborts it, in milliseconds.
    """

    began: int
    timeout: int


class SinkAdmin:
    """Calls the admin service at a URL, with a token if there is one.

    A request waits at most 30 seconds. One that fails raises `SinkError`.

    Args:
        url: Address of the service, such as ``http://localhost:8080``.
        token: Token of a role. Default: no authentication.
        trust_certs: A PEM file with the certificates to trust. Default: those of the machine.
    """

    def __init__(self, url: str, token: str | None = None, trust_certs: Path | None = None) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tls = ssl.create_default_context(cafile=trust_certs)

    def exists(self, topic: str) -> bool:
        """True if a topic exists."""
        return self._stats(topic) is not None

    def producers(self, topic: str) -> tuple[str, ...]:
        """Names and addresses of the producers that are connected to a topic."""
        publishers = (self._stats(topic) or {}).get("publishers", [])
        return tuple(f"{one.get('producerName')} at {one.get('address')}" for one in publishers)

    def open_transactions(self) -> dict[tuple[int, int], OpenTransaction] | None:
        """All open transactions of the cluster by id; None if the role may not list them."""
        try:
            listed = self._call("/admin/v3/transactions/slowTransactions/0") or {}
        except _RequestError as error:
            if error.status in _DENIED:
                return None
            raise
        found = {}
        for name, fields in listed.items():
            number = _ID.search(str(fields.get("txnId") or name))
            if number is not None and fields.get("status") == _OPEN:
                began, timeout = int(fields["openTimestamp"]), int(fields["timeoutAt"])
                found[int(number[1]), int(number[2])] = OpenTransaction(began, timeout)
        return found

    def _stats(self, topic: str) -> dict[str, Any] | None:
        kind, _, name = topic.partition("://")
        path = "/".join(quote(part, safe="") for part in name.split("/", 2))
        try:
            return dict(self._call(f"/admin/v2/{kind}/{path}/stats"))
        except _RequestError as error:
            if error.status == _MISSING:
                return None
            raise

    def _call(self, path: str) -> Any:  # noqa: ANN401 - JSON has no type
        request = urllib.request.Request(self._url + path, headers=self._headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS, context=self._tls) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise _RequestError(path, error.code, error.read().decode(errors="replace")) from None
        except OSError as error:
            raise SinkError(
                f"The admin service at {self._url} cannot be reached ({error}). Set --admin-url."
            ) from error
        return json.loads(text) if text else None


class _RequestError(SinkError):
    def __init__(self, path: str, status: int, text: str) -> None:
        super().__init__(f"GET {path} failed with {status}: {text}")
        self.status = status
