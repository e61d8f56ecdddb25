"""A local OAuth 2.0 issuer of tokens for clients with a secret."""

from __future__ import annotations

import base64
import json
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from support.servers.auth_server import PLUGIN
from support.servers.serving import JsonHandler, serving

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
            "pulsar.client.authParams": json.dumps({"type": "client_credentials", "readTimeout": "PT10S", **given}),
        }

    def accepts(self, form: dict[str, list[str]]) -> bool:
        wanted = {"client_id": CLIENT, "client_secret": self.secret, "audience": AUDIENCE, "scope": SCOPE}
        return form == {key: [value] for key, value in {"grant_type": "client_credentials", **wanted}.items()}


@contextmanager
def running_issuer(token: Callable[[], str], *, seconds: int = 3600) -> Iterator[Issuer]:
    """Serve the two resources of the client-credentials flow.

    Args:
        token: Creates a token.
        seconds: How long it is good for, as the issuer says.
    """

    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            found = self.path == "/.well-known/openid-configuration"
            self.answer(200 if found else 404, {"issuer": issuer.url, "token_endpoint": f"{issuer.url}/token"})

        def do_POST(self) -> None:  # noqa: N802 - so http.server calls it
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if self.path == "/token" and issuer.accepts(form):
                issuer.given.append(token())
                self.answer(200, {"access_token": issuer.given[-1], "token_type": "Bearer", "expires_in": seconds})
            else:
                issuer.refused += 1
                self.answer(401, {"error": "invalid_client", "error_description": "this client is not known here"})

    with serving(Handler) as url:
        issuer = Issuer(url)
        yield issuer
