"""An admin service as something between it and its users may make it look: refusing, or with other answers."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

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

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                with opener.open(admin_url + self.path, timeout=_REQUEST_SECONDS) as answer:
                    body = json.dumps(change(self.path, json.load(answer))).encode()
            except urllib.error.HTTPError as error:
                self.send_error(error.code, error.reason)
                return
            except RefusedError as error:
                self.send_error(error.status, error.text)
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
