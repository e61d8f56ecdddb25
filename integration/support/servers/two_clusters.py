"""Two clusters with topics of the same names, and a namespace that they replicate to each other."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.topics.messages import connected

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pulsar as pulsar_client
    import pytest

CLUSTERS = ("east", "west")
REPLICATED = "public/replicated"


@dataclass(frozen=True)
class Side:
    """One of the two clusters."""

    server: LocalPulsar
    client: pulsar_client.Client

    @property
    def service_url(self) -> str:
        return self.server.service_url

    @property
    def admin(self) -> Admin:
        return Admin(self.server.admin_url)


@contextmanager
def two_clusters(folders: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """Start both; whatever they have is kept for ever."""
    with ExitStack() as stack:

        def side(name: str) -> Side:
            folder = folders.mktemp(name)
            server = stack.enter_context(
                LocalPulsar(data_dir=folder / "pulsar", config={"clusterName": name}, transactions=True)
            )
            return Side(server, stack.enter_context(connected(server.service_url, folder)))

        east, west = (side(name) for name in CLUSTERS)
        for here, there, name in ((east, west, "west"), (west, east, "east")):
            here.admin.create_cluster(name, admin_url=there.server.admin_url, service_url=there.service_url)
        for here in (east, west):
            here.admin.allow_clusters("public", list(CLUSTERS))
            here.admin.create_namespace(REPLICATED, policies={"replication_clusters": list(CLUSTERS)})
            here.admin.set_retention(REPLICATED, minutes=-1, megabytes=-1)
        yield east, west
