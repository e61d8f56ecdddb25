"""What tests on a cluster of their own share; each module has the cluster that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.topics.messages import connected

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pulsar as pulsar_client

    from support.servers.cluster import Cluster


@pytest.fixture(scope="module")
def writer(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pulsar_client.Client]:
    """A client of the module's cluster."""
    with connected(cluster.service_url, tmp_path_factory.mktemp("client")) as client:
        yield client
