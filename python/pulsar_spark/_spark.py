"""The types of pyspark in public annotations, which `typing.get_type_hints` evaluates.

Everything that needs Spark imports this module, which fails with one sentence where pyspark is missing, of another
version or not Spark's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pulsar_spark.errors import PulsarImportError

_OLDEST, _NEWEST = (4, 0), (4, 3)


def require_pyspark() -> None:
    """Check that pyspark is there, in a supported version.

    Raises:
        PulsarImportError: It is not.
    """
    try:
        import pyspark
    except ImportError as error:
        raise PulsarImportError("PULSAR_SPARK_VERSION", found="there is none") from error
    version = str(getattr(pyspark, "__version__", "a module `pyspark` without a version"))
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or not _OLDEST <= (int(numbers[1]), int(numbers[2])) <= _NEWEST:
        raise PulsarImportError("PULSAR_SPARK_VERSION", found=f"this is {version}")


if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryListener
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType
else:
    require_pyspark()
    try:
        from pyspark.sql import Column, DataFrame, SparkSession
        from pyspark.sql.streaming.listener import StreamingQueryListener
        from pyspark.sql.streaming.query import StreamingQuery
        from pyspark.sql.streaming.readwriter import DataStreamWriter
        from pyspark.sql.types import StructType
    except ImportError as error:
        raise PulsarImportError("PULSAR_SPARK_VERSION", found=f"this one cannot be imported: {error}") from error

__all__ = [
    "Column",
    "DataFrame",
    "DataStreamWriter",
    "SparkSession",
    "StreamingQuery",
    "StreamingQueryListener",
    "StructType",
    "require_pyspark",
]
