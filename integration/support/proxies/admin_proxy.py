"""A proxy of the admin service that delays requests, rejects them or changes responses."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.proxies.counting import Passed, Tap
from support.servers.serving import JsonHandler, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.servers.admin import Json

_REQUEST_SECONDS = 180
_OF_TOPIC = re.compile(r"/admin/v\d/(?P<what>.*?/)?persistent/[^/]+/[^/]+/[^/?]+/?(?P<rest>.*)")


class RefusedError(Exception):
    """Raised to reject a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class AdminProxy(Tap):
    """Forwards GET requests to an admin service and counts them by [`kind`][] with the size of the responses.

    Attributes:
        url: The address for clients.
        delay_seconds: The delay of each request.
    """

    def __init__(self, admin_url: str, change: Callable[[str, Json], Json]) -> None:
        super().__init__()
        self.url = ""
        self.delay_seconds = 0.0
        self._admin_url = admin_url
        self._change = change
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, path: str) -> Json:
        time.sleep(self.delay_seconds)
        size = 0
        try:
            with self._opener.open(self._admin_url + path, timeout=_REQUEST_SECONDS) as answer:
                body = answer.read()
                size = len(body)
            return self._change(path, json.loads(body or b"null"))
        finally:
            self.report(Passed(kind(path), size))


def kind(path: str) -> str:
    """The requested resource without topic and namespace: ``internalStats?metadata=true``, ``bookies/all``."""
    match = _OF_TOPIC.fullmatch(path)
    if match is None:
        return re.sub(r"^/admin/v\d/", "", path)
    return (match["what"] or "") + (match["rest"] or "topic")


@contextmanager
def running_admin_proxy(
    admin_url: str, change: Callable[[str, Json], Json] = lambda _, answer: answer
) -> Iterator[AdminProxy]:
    """Serve GET requests with the responses of the admin service, changed by ``change(path, answer)``."""
    proxy = AdminProxy(admin_url, change)

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            try:
                answer = proxy.get(self.path)
            except urllib.error.HTTPError as error:
                self.send_error(error.code, error.reason)
            except RefusedError as error:
                self.send_error(error.status, error.text)
            else:
                self.answer(200, answer)

    with serving(Handler) as url:
        proxy.url = url
        yield proxy


@contextmanager
def changed_admin_url(admin_url: str, change: Callable[[str, Json], Json]) -> Iterator[str]:
    """The address of a proxy that changes responses."""
    with running_admin_proxy(admin_url, change) as proxy:
        yield proxy.url
