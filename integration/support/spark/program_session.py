"""The session of a program of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    from collections.abc import Mapping


def program_session(jar: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start a small Spark with the connector in this process.

    Args:
        jar: The path of the connector's jar.
        settings: More settings of Spark.
    """
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", jar)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
    )
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
