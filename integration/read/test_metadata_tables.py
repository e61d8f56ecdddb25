"""Metadata tables: what is known of topics as rows, by the option `metadata` and by the jar's main class."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from support.spark.errors import failing, no_job, refused
from support.topics.messages import produce

if TYPE_CHECKING:
    from collections.abc import Callable

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

MAIN = "io.github.pulsarspark.inspect.Main"


@pytest.fixture(scope="module")
def read(spark: SparkSession, pulsar: Addresses) -> Callable[..., DataFrame]:
    """Reads a metadata table with options of its own, besides the addresses."""

    def load(view: str, *, with_admin: bool = True, **options: str) -> DataFrame:
        urls = {"service.url": pulsar.service_url, **({"admin.url": pulsar.admin_url} if with_admin else {})}
        return spark.read.format("pulsar").options(**urls, **options).option("metadata", view).load()

    return load


@pytest.fixture(scope="module")
def ask(connector_jar: Path, pulsar: Addresses) -> Callable[..., Any]:
    """Asks the jar's main class, as the command line does."""
    spark_jars = Path(pyspark.__file__).parent / "jars"

    def run(view: str, code: int = 0, *, columns: tuple[str, ...] = (), **options: str) -> dict[str, Any]:
        urls = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url}
        asked = json.dumps({"view": view, "options": {**urls, **options}, "columns": columns})
        command = ["java", "-cp", f"{connector_jar}:{spark_jars}/*", MAIN]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (code, "")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def values(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in frame.collect()]


def test_partitions_have_their_ends_and_sizes(
    spark: SparkSession,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    read: Callable[..., DataFrame],
    ask: Callable[..., Any],
) -> None:
    admin.create_topic(topic, partitions=2)
    ids = produce(client, f"{topic}-partition-0", [str(n).encode() for n in range(6)], batch_size=2)
    table = read("partitions", topic=topic)
    with no_job(spark):
        rows = values(table)
    first, last = f"{ids[0].ledger}:{ids[0].entry}", f"{ids[-1].ledger}:{ids[-1].entry}"
    size = rows[0][5]
    assert size > 0
    expected: list[tuple[Any, ...]] = [
        (f"{topic}-partition-0", 0, first, last, 3, size, 1, 0),
        (f"{topic}-partition-1", 1, None, None, 0, 0, 1, 0),
    ]
    assert rows == expected
    assert values(table.where("entries > 0").select("last", "partition")) == [(last, 0)]
    assert table.count() == 2
    without = read("partitions", with_admin=False, topics=topic).where("partition = 0")
    assert values(without) == [(f"{topic}-partition-0", 0, first, last, None, None, None, None)]
    # the main class shows the same rows
    shown = ask("partitions", topic=topic)
    assert [tuple(row) for row in shown["rows"]] == expected
    assert [one["name"] for one in shown["columns"]] == table.columns
    assert [one["type"] for one in shown["columns"]] == ["STRING", "INT", "STRING", "STRING"] + ["BIGINT"] * 4
    chosen = ask("partitions", columns=("last", "topic"), topic=topic)
    assert chosen["rows"] == [[last, f"{topic}-partition-0"], [None, f"{topic}-partition-1"]]


def test_a_metadata_table_is_read_in_a_batch_and_nothing_else(
    spark: SparkSession,
    client: pulsar_client.Client,
    topic: str,
    pulsar: Addresses,
    read: Callable[..., DataFrame],
    tmp_path: Path,
) -> None:
    produce(client, topic, [b"x"])
    options = {"service.url": pulsar.service_url, "topic": topic, "metadata": "partitions"}
    with refused("PULSAR_METADATA_READ_ONLY", "partitions", "written"):
        spark.range(1).write.format("pulsar").options(**options).mode("append").save()
    stream = spark.readStream.format("pulsar").options(**options).load()
    with failing("PULSAR_METADATA_READ_ONLY", "partitions", "stream"):
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        query.awaitTermination(60)
    with refused("PULSAR_TOPIC_OPTION", "none is set"):
        read("partitions")
    with refused("PULSAR_OPTION_INVALID", "`partition`", "the nearest is `partitions`"):
        read("partition", topic=topic)
    with refused("PULSAR_TOPIC_NOT_FOUND", f"{topic}-missing"):
        values(read("partitions", topic=f"{topic}-missing"))
    # a session does not turn all its reads into metadata
    spark.conf.set("spark.datasource.pulsar.metadata", "partitions")
    try:
        plain = {"service.url": pulsar.service_url, "topic": topic}
        assert [bytes(row[0]) for row in spark.read.format("pulsar").options(**plain).load().collect()] == [b"x"]
    finally:
        spark.conf.unset("spark.datasource.pulsar.metadata")


def test_the_main_class_tells_errors(topic: str, ask: Callable[..., Any]) -> None:
    error = ask("partitions", 1, topic=f"{topic}-missing")["error"]
    assert error["condition"] == "PULSAR_TOPIC_NOT_FOUND"
    assert error["parameters"]["topic"] == f"{topic}-missing"
    assert error["message"].startswith("[PULSAR_TOPIC_NOT_FOUND] ")
