"""Spark with executors of their own: a cluster of two hosts on this machine, whose executors tests kill and freeze.

These tests are not collected with the others, since a process has one Spark context: ``make test-executors``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from executors.hosts import Executors, running_cluster
from pyspark.sql import SparkSession

from support.spark.leaks import assert_back, on_broker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.servers.admin import Admin


@pytest.fixture(scope="session")
def spark(connector_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session whose tasks run in two executors with a core each."""
    folder = tmp_path_factory.mktemp("executors")
    with running_cluster(folder / "work", connector_jar) as conf:
        conf.set("spark.sql.warehouse.dir", str(folder / "warehouse"))
        session = SparkSession.builder.config(conf=conf).appName("pulsar-spark tests with executors").getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def executors(spark: SparkSession) -> Executors:
    return Executors(spark)


@pytest.fixture(autouse=True)
def nothing_left(admin: Admin, namespace: str) -> Iterator[None]:
    """No subscription, consumer or producer of a test stays on the broker, whatever became of its executors."""
    yield
    assert_back(lambda: on_broker(admin, namespace), Counter())
