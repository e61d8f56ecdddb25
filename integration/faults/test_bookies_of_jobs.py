"""Reads through a broker, and writes, while one of the bookies behind it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.servers.cluster import Cluster, running_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faults.jobs import Jobs
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.exhaustive

# A broker gives a bookie up that answers no write for so long, by default for half a minute.
_PATIENCE = {"bookkeeperClientTimeoutInSeconds": "5"}


@pytest.fixture(scope="module")
def cluster(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:  # noqa: ARG001
    with running_cluster(tmp_path_factory.mktemp("cluster"), transactions=True, settings=_PATIENCE) as cluster:
        yield cluster


@pytest.mark.parametrize("fault", ["killed", "frozen"])
def test_a_bookie_fails_under_a_read_and_streams(cluster: Cluster, jobs: Jobs, fault: str) -> None:
    """Ledgers have two copies on two of three bookies, so any two ledgers have a bookie in common."""
    bookie = next(one for one in cluster.ensembles(jobs.source)[-1] if one in cluster.ensembles(jobs.read_topic)[-1])
    jobs.send()
    with getattr(bookie, fault)():
        jobs.read_on()
        jobs.send()
        assert bookie not in cluster.ensembles(jobs.source)[-1], "the broker writes on with another one"
        jobs.copies.check()
    jobs.check()
