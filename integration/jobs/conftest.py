"""The topics of jobs, as `pulsar_spark.testing` has them, on the server and in the session of the other tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pulsar_spark.testing import PulsarServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses


@pytest.fixture(scope="module")
def pulsar_server(pulsar: Addresses) -> PulsarServer:
    return PulsarServer(pulsar.service_url, pulsar.admin_url)


@pytest.fixture(scope="module")
def pulsar_session(spark: SparkSession) -> SparkSession:
    return spark
