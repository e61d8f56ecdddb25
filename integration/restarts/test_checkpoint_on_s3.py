"""A checkpoint on an object store, which has no atomic rename: the stream restarts from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from restarts.killing import Jars, Stream

from support.servers.offloading import s3a_settings
from support.servers.s3_server import running_s3
from support.servers.s3a import s3a_jars
from support.topics.messages import produce, read_all
from support.topics.reading import assert_exactly_once, existing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession
    from restarts.conftest import Topics

    from support.servers.admin import Admin


pytestmark = pytest.mark.exhaustive  # test_killed_drivers has a rename that copies in the gate


@pytest.fixture(scope="module")
def s3_folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of a bucket, and what Hadoop needs for it, which the session has as well."""
    with running_s3(tmp_path_factory.mktemp("s3")) as server:
        bucket = server.bucket("checkpoints")
        settings = s3a_settings(bucket)
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        for name, value in settings.items():
            hadoop.set(name, value)
        yield f"s3a://{bucket.bucket}", {f"spark.hadoop.{name}": value for name, value in settings.items()}


def test_a_stream_whose_driver_is_killed_continues_from_a_checkpoint_on_s3(
    spark: SparkSession,
    jars: Jars,
    service_url: str,
    topics: Topics,
    tmp_path: Path,
    s3_folder: tuple[str, dict[str, str]],
) -> None:
    url, conf = s3_folder
    options = {**topics.options, "maxMessagesPerTrigger": "17"}
    stream = Stream(service_url, tmp_path, options, f"{url}/killed", conf)
    topics.publish()
    stream.run_and_kill(Jars(jars.connector, jars.halting, tuple(s3a_jars())), "row 30")
    topics.publish()
    assert_exactly_once(stream.run(spark).rows, topics.wanted())


def test_a_stream_continues_and_keeps_its_losses_on_s3(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    s3_folder: tuple[str, dict[str, str]],
) -> None:
    url, _ = s3_folder
    stream = Stream(service_url, tmp_path, {"topic": topic, "failOnDataLoss": "false"}, f"{url}/losses")
    produce(client, topic, [b"read"])
    read = stream.run(spark).rows
    admin.delete_topic(topic)
    produce(client, topic, [b"new"])
    assert_exactly_once(stream.run(spark).rows, [*read, *existing(read_all(client, topic))])
    files = spark.read.option("wholetext", True).text(f"{url}/losses/sources/0/losses/*.json").collect()
    assert [topic in row.value for row in files] == [True]
