"""Small HTTP servers of tests, which answer in JSON."""

from __future__ import annotations

import json
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers.certificates import Certificate


class JsonHandler(BaseHTTPRequestHandler):
    """Responds with JSON and does not log requests."""

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


@contextmanager
def serving(
    handler: type[JsonHandler], certificate: Certificate | None = None, *, host: str = "localhost"
) -> Iterator[str]:
    """Serve requests on a port of this machine, each in a thread, over TLS with a certificate; yields the address."""
    with ThreadingHTTPServer((host, 0), handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.file, certificate.key_file)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"{'https' if certificate else 'http'}://{host}:{server.server_port}"
        finally:
            server.shutdown()
