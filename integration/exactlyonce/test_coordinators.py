"""Exactly-once writes while transaction coordinators move, time out transactions, or end with their broker."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import running_broker_proxy
from support.servers.cluster import Cluster, running_cluster
from support.servers.servers import Addresses
from support.spark.waiting import eventually
from support.topics.messages import produce, read_all
from support.topics.reading import run_available
from support.topics.sink_records import control_topic
from support.topics.transactions import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exactlyonce.copies import Copy
    from pyspark.sql import SparkSession

    from support.topics.transactions import Sender

pytestmark = pytest.mark.exhaustive

_COORDINATORS = "persistent://pulsar/system/transaction_coordinator_assign"
_VALUES = [b"%d" % number for number in range(100)]
_SECONDS = 600


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster"), transactions=True) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def pulsar(cluster: Cluster) -> Addresses:
    return Addresses(cluster.service_url, cluster.admin.url)


def test_a_stream_is_written_once_by_several_coordinators(spark: SparkSession, copy: Copy, service_url: str) -> None:
    copy.send(_VALUES)
    assert copy.run(spark, service_url) == []
    copy.check(_VALUES)


def test_coordinators_move_while_a_stream_is_written(
    spark: SparkSession, copy: Copy, service_url: str, cluster: Cluster
) -> None:
    copy.send(_VALUES)
    coordinators = [f"{_COORDINATORS}-partition-{number}" for number in range(cluster.admin.partitions(_COORDINATORS))]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(copy.run, spark, service_url)
        moved = [name for name in coordinators if cluster.admin.unload_if_idle(name)]
        failures = running.result(_SECONDS)
    print(f"{len(moved)} of {len(coordinators)} moved", *(one[:300] for one in failures), sep="\n")
    assert moved
    copy.check(_VALUES)


def test_late_messages_of_aborted_transactions_block_nothing(
    spark: SparkSession, copy: Copy, service_url: str, cluster: Cluster, sender: Sender
) -> None:
    wide = replace(copy, target=f"{copy.target}-wide")
    cluster.admin.create_topic(wide.target, partitions=4)
    wide.send([b"first"])
    assert wide.run(spark, service_url) == []
    opened = control_topic(wide.namespace, wide.sink, "open")
    record = json.loads(read_all(wide.client, opened)[0].payload)
    # Where messages were sent in transactions before, a broker remembers an abort that comes before the late message.
    partitions = copy.client.get_topic_partitions(wide.target)
    late = [name for name in partitions if not read_all(copy.client, name)][:2]
    for name in late:
        transaction = sender.begin()
        sender.register(transaction, name)
        one = named(transaction)
        cluster.admin.call("POST", f"/admin/v3/transactions/abortTransaction/{one['most']}/{one['least']}")
        sender.send(transaction, name, b"late")
        listed = {**record, "transactions": [{**record["transactions"][0], **one}]}
        produce(copy.client, opened, [json.dumps(listed).encode()])
        produce(copy.client, name, [b"behind"])
    assert wide.visible == 1, "nothing is blocked, so the test shows nothing"
    wide.send([b"second"])
    assert wide.run(spark, service_url) == []
    wide.check([b"first", b"second", *(b"behind" for _ in late)])


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        *(pytest.param("END_TXN_RESPONSE", number) for number in range(4)),
        *(pytest.param("SEND_RECEIPT", number) for number in (1, 10, 24, 26)),
    ],
)
def test_the_broker_is_killed_before_a_reply_arrives(
    spark: SparkSession, copy: Copy, service_url: str, cluster: Cluster, kind: str, after: int
) -> None:
    copy.send(_VALUES)
    with running_broker_proxy(service_url) as proxy, ThreadPoolExecutor(1) as pool:
        proxy.lose(kind, after=after)
        running = pool.submit(copy.run, spark, proxy.service_url)
        eventually(lambda: proxy.has_lost or running.done())
        with cluster.broker.killed():
            proxy.cut()
        failures = running.result(_SECONDS)
        assert proxy.has_lost
    print(*(one[:300] for one in failures), sep="\n")
    copy.check(_VALUES)


def test_transactions_time_out_before_their_tasks_end(spark: SparkSession, copy: Copy, service_url: str) -> None:
    copy.send(_VALUES)
    slow = "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', 300000000L)"
    frame = copy.frame(spark).selectExpr(f"if({slow} is null, value, value) as value")
    with pytest.raises(Exception, match=r"\[PULSAR_") as failed:
        run_available(copy.writer_of(frame, service_url, {"txnTimeout": "1s"}))
    print(str(failed.value)[:600])
    assert copy.visible == 0
    assert copy.run(spark, service_url) == []
    copy.check(_VALUES)
