"""A session that knows the file system, and a namespace without retention for the stores of a module."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from support.servers.servers import remove_namespace
from support.spark.settings import hadoop_settings, stores_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def stores(spark: SparkSession, pulsar: Addresses, admin: Admin, namespace: str) -> Iterator[str]:
    """A namespace in which brokers delete what no subscription needs, as they do by default."""
    name = f"{namespace}-stores"
    admin.create_namespace(name)
    admin.set_retention(name, minutes=0, megabytes=0)
    with hadoop_settings(spark, stores_of(pulsar)):
        yield name
    remove_namespace(admin, name)


@pytest.fixture
def checkpoint(stores: str) -> str:
    """The checkpoint of this test alone."""
    return f"pulsar-fs://{stores}/store-{next(_numbers)}/query"
