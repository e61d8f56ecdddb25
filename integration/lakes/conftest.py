"""Spark with the libraries of Delta Lake and Iceberg, which are of one line of Spark each.

These tests are not collected with the others, whose Spark is of another line: ``make test-lakes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from examples import topic_to_delta, topic_to_iceberg
from support.spark.lakes import lake_jars

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EXTENSIONS = "spark.sql.extensions"


@pytest.fixture(scope="session")
def spark(connector_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the settings of both examples."""
    folder = tmp_path_factory.mktemp("lakes")
    delta, iceberg = topic_to_delta.SETTINGS, topic_to_iceberg.SETTINGS
    settings = {
        **delta,
        **iceberg,
        _EXTENSIONS: f"{delta[_EXTENSIONS]},{iceberg[_EXTENSIONS]}",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.jars": ",".join(map(str, [connector_jar, *lake_jars()])),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",  # 50 tasks for each look at a table, unless it is told
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master("local[2]").appName("pulsar-spark tests with table formats")
    session = builder.config(map=dict(settings)).getOrCreate()
    yield session
    session.stop()
