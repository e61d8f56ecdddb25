"""Checkpoints in topics: frozen and killed brokers, lost answers, policies that change, real-time mode."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyspark
import pytest
from checkpoints.stores import APART, KEYS, PARTITIONS, ROCKSDB, counted, counts, publish, start_counting
from realtime.live import accepting, start_live, wait_for_batches
from realtime.sending import Copy

from pulsar_spark import PulsarSparkError, error_of
from pulsar_spark.local import LocalPulsar
from pulsar_spark.testing import run_to_end
from support.proxies.holding_proxy import HoldingProxy
from support.proxies.relay import listening
from support.servers.freezing import frozen
from support.servers.servers import Addresses
from support.spark.errors import assert_says
from support.spark.files import names
from support.spark.settings import hadoop_settings, session_settings, stores_of
from support.spark.waiting import eventually
from support.topics.reading import running, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.admin import Admin

pytestmark = pytest.mark.exhaustive

_HAS_REAL_TIME = tuple(int(part) for part in pyspark.__version__.split(".")[:2]) >= (4, 1)
_STATE = {**PARTITIONS, **ROCKSDB}


def test_answers_that_are_lost_after_records_were_stored(
    spark: SparkSession,
    client: pulsar_client.Client,
    pulsar: Addresses,
    topic: str,
    checkpoint: str,
) -> None:
    publish(client, topic, 2000)
    with listening() as port:
        proxy = HoldingProxy(pulsar.service_url, port)
        way = {"pulsar-fs.service.url": proxy.service_url, **APART}
        with proxy.running(), session_settings(spark, _STATE), hadoop_settings(spark, way):
            with running(
                start_counting(counted(spark, pulsar.service_url, topic, 10), checkpoint, to_end=False)
            ) as query:
                for receipts in range(1, 11):
                    proxy.cut_at = receipts
                    eventually(lambda: not proxy.cut_at or not query.isActive)
                    assert query.isActive, query.exception()
            run_to_end(start_counting(counted(spark, pulsar.service_url, topic, 1000), checkpoint, to_end=True))
            assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), 2000 // KEYS)


@contextmanager
def _frozen(server: LocalPulsar) -> Iterator[None]:
    with frozen(server.pid):
        yield


@contextmanager
def _killed(server: LocalPulsar) -> Iterator[None]:
    os.kill(server.pid, signal.SIGKILL)
    yield
    server.restart(graceful=False)


def test_a_broker_of_the_store_that_is_frozen_and_one_that_is_killed(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, tmp_path: Path
) -> None:
    publish(client, topic, 4000)
    checkpoint = "pulsar-fs://public/default/frozen/query"
    with LocalPulsar(data_dir=tmp_path) as server:
        way = {**stores_of(Addresses(server.service_url, server.admin_url)), "pulsar-fs.operationTimeoutMs": "10000"}

        with session_settings(spark, _STATE), hadoop_settings(spark, {**way, **APART}):
            for fault in (_frozen, _killed):
                query = start_counting(counted(spark, service_url, topic, 5), checkpoint, to_end=False)
                with running(query):
                    eventually(lambda query=query: query.lastProgress or not query.isActive)  # type: ignore[misc]
                    with fault(server):
                        eventually(lambda query=query: not query.isActive)  # type: ignore[misc]
                assert _failure(query).condition in ("PULSAR_CHECKPOINT_STORE_TIMEOUT", "PULSAR_UNREACHABLE")
            run_to_end(start_counting(counted(spark, service_url, topic, 1000), checkpoint, to_end=True))
            assert counts(spark, checkpoint) == dict.fromkeys(range(KEYS), 4000 // KEYS)


def _failure(query: StreamingQuery) -> PulsarSparkError:
    """The store's own error, which Spark's text does not have if a write of state failed by it."""
    error = query.exception()
    assert error is not None
    found = error_of(error)
    assert found is not None, error
    return found


def test_a_policy_that_is_set_while_a_query_runs_ends_it_by_name(
    spark: SparkSession, admin: Admin, client: pulsar_client.Client, service_url: str, topic: str, stores: str
) -> None:
    namespace = f"{stores}-later"
    admin.create_namespace(namespace)
    publish(client, topic, 10)
    query = start_counting(counted(spark, service_url, topic, 10), f"pulsar-fs://{namespace}/s/query", to_end=False)
    with running(query):
        eventually(lambda: query.lastProgress)
        admin.set_policy(namespace, "messageTTL", 3600)

        def has_ended() -> bool:
            publish(client, topic, 1)
            return not query.isActive

        eventually(has_ended)
    assert_says(_failure(query), "PULSAR_CHECKPOINT_STORE_POLICY", "messageTTL=3600")


@pytest.mark.skipif(not _HAS_REAL_TIME, reason="Spark 4.0 has no real-time mode")
def test_real_time_mode_goes_on_from_a_store(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, checkpoint: str
) -> None:
    publish(client, topic, 100)
    copy = Copy(client, f"{topic}-copy")
    with accepting(spark):
        for rows in (100, 200):
            frame = stream(spark, service_url, topic=topic, startingOffsets="earliest").select("value")
            with running(start_live(frame, checkpoint, service_url, f"{topic}-copy")) as query:
                eventually(lambda rows=rows: len(set(copy.rows())) == rows)  # type: ignore[misc]
                wait_for_batches(query, 2)  # the last one is empty, so that the stop repeats nothing
            publish(client, topic, 100, start=rows)
    assert len(copy.rows()) == 200
    assert "0" in names(spark, f"{checkpoint}/commits")
