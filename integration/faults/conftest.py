"""What tests on a cluster of their own share; each module has the cluster that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from faults.jobs import Jobs, running_jobs

from support.topics.messages import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.cluster import Cluster


@pytest.fixture(scope="module")
def writer(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pulsar_client.Client]:
    """A client of the module's cluster."""
    with connected(cluster.service_url, tmp_path_factory.mktemp("client")) as client:
        yield client


@pytest.fixture
def jobs(
    spark: SparkSession,
    cluster: Cluster,
    writer: pulsar_client.Client,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Jobs]:
    """A batch read and two streams on the module's cluster."""
    namespace = f"public/{re.sub(r'[^a-z]+', '-', request.node.name)}".strip("-")
    with running_jobs(spark, cluster, writer, namespace, tmp_path) as jobs:
        yield jobs
