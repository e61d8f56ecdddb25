"""An OAuth 2.0 issuer on this machine, which gives tokens to clients that know their secret."""

from __future__ import annotations

import base64
import json
import secrets
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from guarded import PLUGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENT = "spark-job"
AUDIENCE = "urn:the-cluster"
SCOPE = "messages"


class Issuer:
    """What a test knows of a running issuer: where it is, the secret, and which tokens it gave."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.secret = f"canary{secrets.token_hex(16)}"
        self.given: list[str] = []
        self.refused = 0

    def key_file(self, *, secret: str | None = None) -> str:
        """What a client's key file holds."""
        return json.dumps({"type": "client_credentials", "client_id": CLIENT, "client_secret": secret or self.secret})

    def key_data(self, *, secret: str | None = None) -> str:
        """The same as a URL that holds it."""
        return f"data:application/json;base64,{base64.b64encode(self.key_file(secret=secret).encode()).decode()}"

    def typed(self, credentials_url: str) -> dict[str, str]:
        """Options of the connector."""
        given = {"issuerUrl": self.url, "credentialsUrl": credentials_url, "audience": AUDIENCE, "scope": SCOPE}
        return {f"auth.oauth2.{name}": value for name, value in given.items()}

    def plugin(self, credentials_url: str) -> dict[str, str]:
        """Options of the client."""
        given = {"issuerUrl": self.url, "privateKey": credentials_url, "audience": AUDIENCE, "scope": SCOPE}
        return {
            "pulsar.client.authPluginClassName": f"{PLUGIN}oauth2.AuthenticationOAuth2",
            "pulsar.client.authParams": json.dumps({"type": "client_credentials", "readTimeout": "PT3S", **given}),
        }

    def accepts(self, form: dict[str, list[str]]) -> bool:
        wanted = {"client_id": CLIENT, "client_secret": self.secret, "audience": AUDIENCE, "scope": SCOPE}
        return form == {key: [value] for key, value in {"grant_type": "client_credentials", **wanted}.items()}


@contextmanager
def running_issuer(token: Callable[[], str]) -> Iterator[Issuer]:
    """Serve the two resources of the client-credentials flow; ``token`` makes a token."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/.well-known/openid-configuration"
            self._send(200 if found else 404, {"issuer": issuer.url, "token_endpoint": f"{issuer.url}/token"})

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if self.path == "/token" and issuer.accepts(form):
                issuer.given.append(token())
                self._send(200, {"access_token": issuer.given[-1], "token_type": "Bearer", "expires_in": 3600})
            else:
                issuer.refused += 1
                self._send(401, {"error": "invalid_client", "error_description": "this client is not known here"})

        def _send(self, status: int, answer: dict[str, object]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield issuer
        finally:
            server.shutdown()
