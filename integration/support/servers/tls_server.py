"""A Pulsar with TLS, authentication and authorization."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulsar_spark.local.ports import Port
from support.servers.admin import Admin
from support.servers.auth_server import AuthServer
from support.servers.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pulsar_spark.local import FileSystemOffload

NAMESPACE = "public/encrypted"
TOPIC = f"persistent://{NAMESPACE}/events"
_DEADLINE_MS = 10_000


@dataclass(frozen=True)
class TlsServer:
    """A server with TLS, and the authority that vouches for it. Its role ``reader`` may consume in `NAMESPACE`."""

    auth_server: AuthServer
    authority: Authority
    broker_port: int
    web_port: int

    def options(self, **more: str) -> dict[str, str]:
        """What a client of `TOPIC` needs."""
        return {
            "service.url": f"pulsar+ssl://localhost:{self.broker_port}",
            "topic": TOPIC,
            "tls.trustCertsFile": str(self.authority.file),
            "auth.token": self.auth_server.admin_token,
            "operationTimeoutMs": str(_DEADLINE_MS),
            **more,
        }

    @property
    def admin_url(self) -> str:
        return f"https://localhost:{self.web_port}"


@contextmanager
def running_tls_server(
    folder: Path,
    host: str,
    *,
    settings: Mapping[str, str] | None = None,
    offload: FileSystemOffload | None = None,
) -> Iterator[TlsServer]:
    """Start a server on this machine.

    Args:
        folder: Where it keeps everything.
        host: The host that its certificate is for.
        settings: Further settings of the broker.
        offload: Where ledgers are offloaded to.
    """
    authority = Authority(folder)
    server = authority.certificate("server", host=host)
    with closing(Port.reserve()) as broker, closing(Port.reserve()) as web:
        config = {
            "brokerServicePortTls": str(broker.number),
            "webServicePortTls": str(web.number),
            "tlsCertificateFilePath": str(server.file),
            "tlsKeyFilePath": str(server.key_file),
            "tlsTrustCertsFilePath": str(authority.file),
            **(settings or {}),
        }
        auth_server = AuthServer(folder, config, offload=offload)
        with auth_server.server:
            admin = Admin(auth_server.server.admin_url, token=auth_server.admin_token)
            admin.create_namespace(NAMESPACE)
            admin.set_policy(NAMESPACE, "permissions/reader", ["consume"])
            yield TlsServer(auth_server, authority, broker.number, web.number)
