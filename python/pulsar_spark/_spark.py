"""The types of pyspark in public annotations, which `typing.get_type_hints` evaluates.

Without pyspark each of them is `Any`: the package can be imported, and `pulsar_spark.session` reports what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType
else:
    try:
        from pyspark.sql import Column, DataFrame, SparkSession
        from pyspark.sql.streaming.query import StreamingQuery
        from pyspark.sql.types import StructType
    except ImportError:
        Column = DataFrame = SparkSession = StreamingQuery = StructType = Any

__all__ = ["Column", "DataFrame", "SparkSession", "StreamingQuery", "StructType"]
