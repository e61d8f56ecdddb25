"""Exactly-once writes that cannot work, or whose state somebody takes away."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from write.epochs import ONCE, expected, kinds, once, rows_of, values

from pulsar_spark import sinks
from support.servers.admin import Admin
from support.servers.auth_server import AuthServer
from support.spark.errors import failing, refused
from support.spark.logs import warnings
from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.reading import run_available, running

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.servers import Addresses
    from support.topics.writing import Target


def log_of(topic: str, sink: str) -> str:
    return f"{topic.rpartition('/')[0]}/pulsar-spark-sink-{sink}-log"


def test_a_topic_that_is_not_persistent_is_refused(target: Target, topic: str) -> None:
    with refused("PULSAR_TOPIC_NAME", "persistent"):
        target.append_sql("select 'x' as value", topic.replace("persistent:", "non-persistent:"), ONCE)


@pytest.mark.parametrize("version", [False, True])
def test_foreach_batch_needs_a_version(target: Target, topic: str, tmp_path: Path, version: bool) -> None:
    """With the id of the batch as version, a batch that runs again is not written again."""
    rows = rows_of(target, tmp_path, 2)

    def write(frame: DataFrame, batch: int) -> None:
        options = {**ONCE, "sinkId": f"foreach-{version}", **({"txnVersion": str(batch)} if version else {})}
        for _ in range(2):
            target.append(frame, topic, options)

    writer = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
    if version:
        run_available(writer)
        assert values(target, topic) == expected(2)
    else:
        with failing("PULSAR_EXACTLY_ONCE_OPTION", "`txnVersion` is not", "foreachBatch"):
            run_available(writer)


def test_topics_that_brokers_create_with_partitions_are_refused(
    target: Target, topic: str, namespace: str, tmp_path: Path
) -> None:
    rows = rows_of(target, tmp_path, 1)
    target.admin.create_topic(topic)
    partitioned = {"allowAutoTopicCreation": True, "topicType": "partitioned", "defaultNumPartitions": 1}
    target.admin.set_policy(namespace, "autoTopicCreation", partitioned)
    try:
        with failing("PULSAR_SINK_TOPIC", "it is partitioned", "create its `-log`, `-open` and `-mark`"):
            run_available(once(target, tmp_path, topic, rows, sinkId="cut-up"))
    finally:
        target.admin.set_policy(namespace, "autoTopicCreation", None, method="DELETE")
    for kind in ("log", "open", "mark"):
        target.admin.create_topic(f"{log_of(topic, 'whole').removesuffix('log')}{kind}")
    run_available(once(target, tmp_path, topic, rows, sinkId="whole"))
    assert values(target, topic) == expected(1)


def test_policies_that_stop_an_idle_sink_are_a_warning(
    target: Target, pulsar: Addresses, topic: str, namespace: str, tmp_path: Path
) -> None:
    limits = {"messageTTL": 86400, "subscriptionExpirationTime": 1440}
    for policy, value in limits.items():
        target.admin.set_policy(namespace, policy, value)
    try:
        with warnings(target.spark, tmp_path) as logged:
            rows = rows_of(target, tmp_path, 1)
            admin = {"admin.url": pulsar.admin_url}
            run_available(once(target, tmp_path, topic, rows, sinkId="idle").options(**admin))
            eventually(lambda: "a message TTL of 86400 s, an expiry of subscriptions of 1440 min" in logged())
    finally:
        for policy in limits:
            target.admin.set_policy(namespace, policy, None, method="DELETE")


def test_a_stream_does_not_continue_without_its_log(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 1)
    run_available(once(target, tmp_path, topic, rows, sinkId="cut"))
    target.admin.delete_topic(log_of(topic, "cut"))
    (tmp_path / "in" / "00001.json").write_text(json.dumps({"value": "late"}))
    with failing("PULSAR_SINK_STATE", "cut", "its log is empty"):
        run_available(once(target, tmp_path, topic, rows, sinkId="cut"))
    assert values(target, topic) == expected(1)


def test_a_stream_whose_log_is_deleted_meanwhile_repeats_nothing(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 1)
    with running(once(target, tmp_path, topic, rows, sinkId="gone").start()) as query:
        query.processAllAvailable()
        target.admin.delete_topic(log_of(topic, "gone"))
        (tmp_path / "in" / "00001.json").write_text(json.dumps({"value": "late"}))
        query.processAllAvailable()
    assert values(target, topic) == sorted([*expected(1), "late"])
    assert kinds(target, topic, "gone") == [("prepared", 1), ("done", 1)]


@pytest.mark.exhaustive
def test_a_role_without_rights_on_state_or_coordinators_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    auth = AuthServer(tmp_path, transactions=True)
    with auth.server as server:
        admin = Admin(server.admin_url, token=auth.admin_token)
        admin.create_namespace("public/granted")
        topic = "persistent://public/granted/t"
        admin.create_topic(topic)
        rows = spark.sql("select 'x' as value").write.format("pulsar").mode("append")
        for action in ("produce", "consume"):
            admin.call("POST", f"namespaces/public/granted/permissions/only-{action}", [action])
            admin.call("POST", f"namespaces/pulsar/system/permissions/only-{action}", ["produce", "consume"])
            options = {**auth.options(topic), "auth.token": auth.token(f"only-{action}"), **ONCE}
            with failing("PULSAR_ACCESS_DENIED", server.service_url, "public/granted"):
                rows.options(**options).save()
        admin.call("POST", "namespaces/public/granted/permissions/reader", ["produce", "consume"])
        options = {**auth.options(topic), "auth.token": auth.reader_token, **ONCE}
        with failing("PULSAR_TRANSACTIONS_UNAVAILABLE", server.service_url, "pulsar/system"):
            rows.options(**options).save()
        admin.call("POST", "namespaces/pulsar/system/permissions/reader", ["produce", "consume"])
        rows.options(**options).save()
        login = pulsar_client.AuthenticationToken(auth.admin_token)
        with closing(pulsar_client.Client(server.service_url, authentication=login)) as client:
            assert [message.payload for message in read_all(client, topic)] == [b"x"]


def test_a_stream_after_its_sink_is_finished(target: Target, topic: str, tmp_path: Path) -> None:
    """It goes on without loss as long as brokers have not deleted the topics of the sink, and is refused afterwards."""
    rows = rows_of(target, tmp_path, 2)
    for number, name in ((2, "soon"), (3, "late")):
        run_available(once(target, tmp_path, topic, rows, sinkId="retired"))
        assert sinks.finish(target.spark, "retired", topic=topic, service_url=target.service_url).removed
        (tmp_path / "in" / f"{number:05}.json").write_text(json.dumps({"value": name}))
    for which in ("log", "open", "mark"):
        target.admin.delete_topic(log_of(topic, "retired").removesuffix("log") + which)
    with failing("PULSAR_SINK_STATE", "retired", "its log is empty"):
        run_available(once(target, tmp_path, topic, rows, sinkId="retired"))
    assert values(target, topic) == [*expected(2), "soon"]
