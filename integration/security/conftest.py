"""A server with authentication, with a topic for each module, and an issuer of tokens for it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.servers.auth_server import AuthServer
from support.servers.issuer import running_issuer
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers.issuer import Issuer

_NAMESPACE = "public/auth_server"


@pytest.fixture(scope="session")
def auth_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuthServer]:
    """In its namespace the role ``reader`` may consume."""
    auth_server = AuthServer(tmp_path_factory.mktemp("auth_server"))
    with auth_server.server:
        auth_server.admin.create_namespace(_NAMESPACE)
        auth_server.admin.set_policy(_NAMESPACE, "permissions/reader", ["consume"])
        yield auth_server


@pytest.fixture(scope="module")
def protected_topic(
    auth_server: AuthServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> str:
    """A topic of this module on the server with authentication; it has ten messages."""
    name = f"persistent://{_NAMESPACE}/events-of-{Path(request.node.name).stem}"
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(tmp_path_factory.mktemp("client") / "log"))
    login = pulsar_client.AuthenticationToken(auth_server.admin_token)
    with closing(pulsar_client.Client(auth_server.server.service_url, authentication=login, logger=logger)) as client:
        produce(client, name, [str(n).encode() for n in range(10)])
    return name


@pytest.fixture(scope="module")
def issuer(auth_server: AuthServer) -> Iterator[Issuer]:
    with running_issuer(lambda: auth_server.token("admin")) as issuer:
        yield issuer
