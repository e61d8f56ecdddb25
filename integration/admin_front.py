"""An admin service as something between it and its users may make it look: refusing, or with other answers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

from serving import JsonHandler, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from admin import Json

_REQUEST_SECONDS = 60


class RefusedError(Exception):
    """Raised instead of an answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@contextmanager
def in_front_of(admin_url: str, change: Callable[[str, Json], Json]) -> Iterator[str]:
    """Serve GET requests with what the admin service answers, after ``change(path, answer)``; give the address."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            try:
                with opener.open(admin_url + self.path, timeout=_REQUEST_SECONDS) as answer:
                    changed = change(self.path, json.load(answer))
            except urllib.error.HTTPError as error:
                self.send_error(error.code, error.reason)
                return
            except RefusedError as error:
                self.send_error(error.status, error.text)
                return
            self.answer(200, changed)

    with serving(Handler) as url:
        yield url
