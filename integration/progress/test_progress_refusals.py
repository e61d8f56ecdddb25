"""Who and what cannot use a progress subscription: other queries and consumers, quotas, options that do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.spark.errors import failing, refused
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import Batches, batch, read_available, running, start, stream, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin


from progress.following import NAME, followed, is_caught_up, numbers, without_retention


@pytest.fixture
def unretained(admin: Admin, topic: str) -> Iterator[str]:
    with without_retention(admin, topic) as name:
        yield name


def test_a_subscription_serves_one_query(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 10))
    batches = Batches()
    second = followed(spark, service_url, topic, operationTimeoutMs="8000")
    with running(start(followed(spark, service_url, topic), tmp_path / "first", batches)) as query:
        wait_for(10, query, batches)
        with failing("PULSAR_SUBSCRIPTION_BUSY", NAME, topic, "8000 ms"):
            read_available(second, tmp_path / "second", Batches())
        produce(client, topic, numbers(10, 10))
        wait_for(20, query, batches)
        eventually(lambda: is_caught_up(admin, topic))
    read_available(followed(spark, service_url, topic), tmp_path / "second", Batches())


@pytest.mark.exhaustive
def test_a_subscription_has_no_shared_consumers(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 10))
    shared = client.subscribe(topic, NAME, consumer_type=pulsar_client.ConsumerType.Shared)
    with failing("PULSAR_SUBSCRIPTION_BUSY", NAME, topic, "different type"):
        read_available(followed(spark, service_url, topic, operationTimeoutMs="8000"), tmp_path, Batches())
    shared.close()
    read_available(followed(spark, service_url, topic), tmp_path, Batches())


@pytest.mark.parametrize(
    ("policy", "value", "condition", "word"),
    [
        ("maxSubscriptionsPerTopic", 1, "PULSAR_REQUEST_FAILED", "maximum number of subscriptions"),
        pytest.param(
            "maxConsumersPerTopic",
            1,
            "PULSAR_REQUEST_FAILED",
            "max consumers limit",
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_a_quota_is_named(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    unretained: str,
    tmp_path: Path,
    policy: str,
    value: object,
    condition: str,
    word: str,
) -> None:
    produce(client, unretained, numbers(0, 10))
    frame = followed(spark, service_url, unretained, operationTimeoutMs="8000")
    admin.set_policy(unretained.removeprefix("persistent://").rpartition("/")[0], policy, value)
    with failing(condition, unretained, word):
        read_available(frame, tmp_path, Batches())


def test_options_that_do_not_fit(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, numbers(0, 1))
    for name in ("progressSubscription", "predefinedSubscription"):
        with refused("PULSAR_OPTION_WRONG_MODE", name, "batch read"):
            batch(spark, service_url, topic=topic, **{name: NAME}).count()
    with refused("PULSAR_OPTION_INCOMPLETE", "startingOffsets=subscription", "progressSubscription"):
        stream(spark, service_url, topic=topic, startingOffsets="subscription")


def test_progress_that_is_written_later_is_refused(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, numbers(0, 10))
    later = {"asyncProgressTrackingEnabled": "true", "_asyncProgressTrackingOverrideSinkSupportCheck": "true"}
    writer = followed(spark, service_url, topic).writeStream.format("noop").options(**later)
    with (
        failing("PULSAR_OPTION_CONFLICT", "progressSubscription", "asyncProgressTrackingEnabled"),
        running(writer.option("checkpointLocation", str(tmp_path)).start()) as query,
    ):
        query.processAllAvailable()
