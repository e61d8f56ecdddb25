"""What the policy of a shared Spark server lists in tests, and what it does not: a canary for each kind."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from support.proxies.broker_proxy import BrokerProxy, running_broker_proxy
from support.proxies.canary import Canary, running_canary
from support.servers.serving import JsonHandler, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.servers.servers import Addresses

SECRET = "the-secret-of-the-server"
TOKEN_CLASS = "org.apache.pulsar.client.impl.auth.AuthenticationToken"


@dataclass(frozen=True)
class Places:
    """Places that are listed, and the canaries, which are not.

    Attributes:
        silent: A canary whose port is not listed.
        far: A canary whose host is not listed.
        listed: One that is, to show that a canary hears.
        keys: The folder that is listed.
        outside: A folder that is not.
        secret: A file in `outside`.
        issuer: An issuer that is listed and names `silent` for tokens.
        moved: A server that is listed and redirects to `silent`.
        gone: A server that is listed with all its ports and redirects to `far`.
        proxy: A broker that is listed and names other brokers.
    """

    pulsar: Addresses
    silent: Canary
    far: Canary
    listed: Canary
    keys: Path
    outside: Path
    secret: Path
    issuer: str
    moved: str
    gone: str
    proxy: BrokerProxy

    def settings(self) -> dict[str, str]:
        """Spark's static settings."""
        urls = (
            self.pulsar.service_url,
            self.pulsar.admin_url,
            self.issuer,
            self.moved,
            self.proxy.service_url,
        )
        ports = [urlsplit(url).port for url in urls] + [self.listed.port]
        hosts = [f"{host}:{port}" for port in ports for host in ("localhost", "127.0.0.1")] + ["127.0.0.3:*"]
        values = {
            "mode": "shared",
            "files": str(self.keys),
            "hosts": ", ".join(hosts),
            "classes": TOKEN_CLASS,
            "storage": self.keys.as_uri(),
        }
        return {f"spark.pulsar.policy.{key}": value for key, value in values.items()}


@contextmanager
def running_places(pulsar: Addresses, folder: Path) -> Iterator[Places]:
    """All that the tests need besides the Pulsar server."""
    keys, outside = folder / "keys", folder / "outside"
    for made in (keys, outside):
        made.mkdir()
    secret = outside / "token"
    secret.write_text(SECRET, encoding="utf-8")
    (keys / "token").write_text("a-listed-token", encoding="utf-8")
    (keys / "link").symlink_to(secret)
    with ExitStack() as running:
        silent, listed = (running.enter_context(running_canary()) for _ in range(2))
        far = running.enter_context(running_canary("127.0.0.2"))
        proxy = running.enter_context(running_broker_proxy(pulsar.service_url))
        issuer = running.enter_context(serving(_issuer(f"http://{silent.address}/token")))
        moved = running.enter_context(serving(_moved(f"http://{silent.address}/")))
        gone = running.enter_context(serving(_moved(f"http://{far.address}/"), host="127.0.0.3"))
        yield Places(pulsar, silent, far, listed, keys, outside, secret, issuer, moved, gone, proxy)


def _issuer(token_endpoint: str) -> type[JsonHandler]:
    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            self.answer(200, {"issuer": "http://localhost", "token_endpoint": token_endpoint})

    return Handler


def _moved(target: str) -> type[JsonHandler]:
    class Handler(JsonHandler):
        def do_GET(self) -> None:  # noqa: N802 - so http.server calls it
            self.send_response(307)
            self.send_header("Location", target + self.path.lstrip("/"))
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Handler
