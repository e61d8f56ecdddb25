"""Files by Hadoop, as Spark sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def names(spark: SparkSession, folder: str) -> list[str]:
    """The files in a folder; none if it does not exist."""
    files, path = _opened(spark, folder)
    return sorted(one.getPath().getName() for one in files.listStatus(path)) if files.exists(path) else []


def size(spark: SparkSession, folder: str) -> int:
    """Bytes of all files below a folder."""
    files, path = _opened(spark, folder)
    return int(files.getContentSummary(path).getLength())


def make_folder(spark: SparkSession, folder: str) -> None:
    """Make a folder, with those above it."""
    files, path = _opened(spark, folder)
    files.mkdirs(path)


def write_file(spark: SparkSession, name: str, content: bytes) -> None:
    """Write a file, also in place of another."""
    files, path = _opened(spark, name)
    out = files.create(path, True)
    out.write(content)
    out.close()


def read_file(spark: SparkSession, name: str) -> bytes:
    files, path = _opened(spark, name)
    source = files.open(path)
    try:
        return bytes(source.readAllBytes())
    finally:
        source.close()


def _opened(spark: SparkSession, folder: str) -> tuple[Any, Any]:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()), path
