"""A Pulsar with authentication by token or client certificate."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from typing import TYPE_CHECKING

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pulsar_spark.local import FileSystemOffload

PLUGIN = "org.apache.pulsar.client.impl.auth."
PROVIDER = "org.apache.pulsar.broker.authentication.AuthenticationProvider"


class AuthServer:
    """A server with authentication, and the tokens of three roles; ``admin`` is a superuser."""

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, str] | None = None,
        *,
        transactions: bool = False,
        offload: FileSystemOffload | None = None,
        broker_port: int | None = None,
    ) -> None:
        self._folder = folder
        self._key = secrets.token_bytes(32)
        key_file = folder / "secret.key"
        key_file.write_bytes(self._key)
        self.admin_token = self.token("admin")
        self.reader_token = self.token("reader")
        self.nobody_token = self.token("nobody")
        self.server = LocalPulsar(
            data_dir=folder / "pulsar",
            admin_token=self.admin_token,
            transactions=transactions,
            offload=offload,
            broker_port=broker_port,
            config={
                "authenticationEnabled": "true",
                "authenticationProviders": f"{PROVIDER}Token,{PROVIDER}Tls",
                "tokenSecretKey": key_file.as_uri(),
                "authorizationEnabled": "true",
                "superUserRoles": "admin",
                "brokerClientAuthenticationPlugin": f"{PLUGIN}AuthenticationToken",
                "brokerClientAuthenticationParameters": f"token:{self.admin_token}",
                **(config or {}),
            },
        )

    @property
    def admin(self) -> Admin:
        """With the superuser's token; the server must run."""
        return Admin(self.server.admin_url, token=self.admin_token)

    def token(self, role: str, **claims: int) -> str:
        """A new token each time, with further claims."""

        def encoded(data: bytes) -> str:
            return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

        text = ".".join(
            encoded(json.dumps(part).encode())
            for part in ({"alg": "HS256"}, {"sub": role, "jti": secrets.token_hex(8), **claims})
        )
        return f"{text}.{encoded(hmac.digest(self._key, text.encode(), 'sha256'))}"

    def token_file(self, token: str) -> str:
        """The path of a new file with a token."""
        file = self._folder / f"{secrets.token_hex(8)}.token"
        file.write_text(token)
        return str(file)

    def wrong_token(self) -> str:
        """The reader's with another signature."""
        return self.reader_token[:-6] + "canary"

    def options(self, topic: str, **more: str) -> dict[str, str]:
        return {"service.url": self.server.service_url, "topic": topic, **more}
