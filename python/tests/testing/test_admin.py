"""Calls of the admin service of several brokers."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.testing.admin import Admin, AdminError

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPIC = "persistent://public/default/moved"
_SELF = "itself"
Seen = list[tuple[str, str, str, str]]


@contextmanager
def broker(seen: Seen, owner: str = "") -> Iterator[str]:
    """A broker that notes requests, and names another one where it is not the owner."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            seen.append((self.command, self.path, body, str(self.headers.get("Authorization"))))
            self.send_response(307 if owner else 200)
            if owner:
                self.send_header(
                    "Location", (f"http://{self.headers['Host']}" if owner == _SELF else owner) + self.path
                )
            answer = b"" if owner else b"3"
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
def test_a_request_is_repeated_where_the_owner_of_the_topic_is(method: str) -> None:
    first: Seen = []
    second: Seen = []
    body = None if method == "GET" else {"one": 1}
    with broker(second) as owner, broker(first, owner) as other:
        assert Admin(other, token="secret").call(method, "persistent/public/default/moved/unload", body) == 3
    assert first == second
    [(found, path, text, login)] = second
    assert (found, path, login) == (method, "/admin/v2/persistent/public/default/moved/unload", "Bearer secret")
    assert text == ("" if body is None else json.dumps(body))


def test_a_broker_that_names_itself_for_ever_is_an_error() -> None:
    seen: Seen = []
    with broker(seen, _SELF) as lost, pytest.raises(AdminError) as failure:
        Admin(lost).unload(TOPIC)
    assert failure.value.status == 307
    assert 1 < len(seen) < 20
