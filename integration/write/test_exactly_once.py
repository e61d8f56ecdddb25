"""Exactly-once writes: what read-committed consumers see, over retries, restarts and second runs."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from write.epochs import ONCE, expected, kinds, log, once, rows_of, values
from write.test_write_streams import into

from pulsar_spark.local import LocalPulsar
from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import counted
from support.spark.errors import failing, refused
from support.spark.waiting import becomes, eventually
from support.topics.reading import java_client, run_available, running

if TYPE_CHECKING:
    from pathlib import Path

    from support.topics.writing import Target


def test_a_stream_writes_each_epoch_once(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic, partitions=3)
    query = run_available(once(target, tmp_path, topic, rows_of(target, tmp_path, 3), sinkId="each"))
    assert values(target, topic) == expected(3)
    steps = [step for epoch in range(3) for step in (("prepared", epoch), ("done", epoch))]
    assert kinds(target, topic, "each") == [("owner", None), *steps]
    assert [one["rows"] for one in log(target, topic, "each") if one["kind"] == "done"] == [20, 20, 20]
    found = {name: value for progress in query.recentProgress for name, value in progress["sink"]["metrics"].items()}
    assert found["pulsarSinkRows"] == "60"
    assert found["pulsarSinkOpen"] == "0"


def test_a_batch_with_a_version_is_written_once(target: Target, topic: str) -> None:
    for version, rows in ((1, "first"), (1, "again"), (2, "second"), (1, "late")):
        options = {**ONCE, "sinkId": "batches", "txnVersion": str(version)}
        target.append_sql(f"select '{rows}' as value from range(3)", topic, options)
    assert values(target, topic) == ["first"] * 3 + ["second"] * 3


def test_a_batch_without_a_version_leaves_nothing(target: Target, topic: str, namespace: str) -> None:
    before = set(target.admin.topics(namespace))
    target.append_sql("select string(id) as value from range(10)", topic, ONCE)
    assert values(target, topic) == [str(number) for number in range(10)]
    left = set(target.admin.topics(namespace)) - before - {topic}
    assert len(left) == 3
    becomes(lambda: [name for one in left for name in target.admin.subscriptions(one)], [])


def test_an_epoch_without_rows_is_done(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 3).where("value not like '1 %'")
    run_available(once(target, tmp_path, topic, rows, sinkId="empty"))
    assert len(values(target, topic)) == 40
    assert [step for step in kinds(target, topic, "empty") if step[1] == 1] == [("done", 1)]


def test_what_a_failed_task_sent_is_never_seen(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 3)
    poisoned = rows.selectExpr("if(value = '1 15', raise_error('poison'), value) as value")
    with pytest.raises(Exception, match="poison"):
        run_available(once(target, tmp_path, topic, poisoned, sinkId="failed"))
    assert values(target, topic) == expected(1)
    run_available(once(target, tmp_path, topic, rows, sinkId="failed"))
    assert values(target, topic) == expected(3)


def test_a_driver_that_was_replaced_fails(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 2)
    with running(once(target, tmp_path, topic, rows, sinkId="two").start()) as query:
        query.processAllAvailable()
        java = java_client(target.spark)
        other = java.PulsarClient.builder().serviceUrl(target.service_url).build()
        log_topic = f"{topic.rpartition('/')[0]}/pulsar-spark-sink-two-log"
        fencing = java.ProducerAccessMode.ExclusiveWithFencing
        other.newProducer().topic(log_topic).accessMode(fencing).create()
        (tmp_path / "in" / "00002.json").write_text(json.dumps({"value": "late"}))
        with failing("PULSAR_SINK_FENCED", log_topic):
            query.processAllAvailable()
        other.close()
    run_available(once(target, tmp_path, topic, rows, sinkId="two"))
    assert values(target, topic) == sorted([*expected(2), "late"])


def test_the_state_of_another_checkpoint_is_refused(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 1)
    run_available(once(target, tmp_path, topic, rows, sinkId="mine"))
    with failing("PULSAR_SINK_STATE", "mine"):
        run_available(into(target, rows, topic, tmp_path / "other").options(**ONCE, sinkId="mine"))
    assert values(target, topic) == expected(1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sinkId": "a"}, "`txnVersion` is not"),
        ({"sinkId": "a/b", "txnVersion": "1"}, "a/b"),
        ({"txnTimeout": "1ms"}, "txnTimeout"),
        ({"pulsar.producer.producerName": "p"}, "producerName"),
        ({"deliveryGuarantee": "at-least-once", "sinkId": "a"}, "without it"),
    ],
)
def test_options_that_cannot_work_are_refused(target: Target, topic: str, options: dict[str, str], words: str) -> None:
    with refused("PULSAR_EXACTLY_ONCE_OPTION", words):
        target.append_sql("select 'x' as value", topic, {**ONCE, **options})


def test_rows_that_name_their_topics_need_a_namespace(target: Target, topic: str, namespace: str) -> None:
    query = f"select string(id) as value, concat('{topic}-', id % 2) as __topic from range(6)"
    with refused("PULSAR_EXACTLY_ONCE_OPTION", "sinkNamespace"):
        target.append_sql(query, more=ONCE)
    target.append_sql(query, more={**ONCE, "sinkNamespace": namespace})
    assert [values(target, f"{topic}-{n}") for n in range(2)] == [["0", "2", "4"], ["1", "3", "5"]]


def _has_written(target: Target, topic: str, run: int) -> bool:
    """Whether an epoch is written by the query's run of this number, from 0."""
    records = [kind for kind, _ in kinds(target, topic, "restarts")]
    return records.count("owner") == run + 1 and "done" in records[len(records) - records[::-1].index("owner") :]


@pytest.mark.exhaustive
def test_twenty_restarts_leave_no_producer(target: Target, topic: str, tmp_path: Path) -> None:
    rows = rows_of(target, tmp_path, 100)  # a run writes one at least
    log_topic = f"{topic.rpartition('/')[0]}/pulsar-spark-sink-restarts-log"
    for run in range(20):
        with running(once(target, tmp_path, topic, rows, sinkId="restarts").start()):
            eventually(partial(_has_written, target, topic, run))
            becomes(lambda: len(target.admin.stats(log_topic)["publishers"]), 1)
    run_available(once(target, tmp_path, topic, rows, sinkId="restarts"))
    assert values(target, topic) == expected(100)
    becomes(lambda: target.admin.stats(log_topic)["publishers"], [])


@pytest.mark.exhaustive
def test_a_server_without_transactions_is_refused(target: Target, tmp_path: Path) -> None:
    with (
        LocalPulsar(data_dir=tmp_path / "plain") as server,
        failing("PULSAR_TRANSACTIONS_UNAVAILABLE", server.service_url),
    ):
        target.append_sql("select 'x' as value", "plain", {**ONCE, "service.url": server.service_url})


@pytest.mark.parametrize("partitions", [0, 3])
def test_rows_that_the_client_sends_one_by_one(target: Target, topic: str, tmp_path: Path, partitions: int) -> None:
    target.admin.create_topic(topic, partitions=partitions)
    rows = rows_of(target, tmp_path, 3)
    single = {"pulsar.producer.batchingEnabled": "false"}  # the producer of an epoch takes another transaction next
    run_available(once(target, tmp_path, topic, rows, sinkId=f"single-{partitions}", **single))
    assert values(target, topic) == expected(3)
    assert [kind for kind, _ in kinds(target, topic, f"single-{partitions}")].count("done") == 3


@pytest.mark.parametrize(("rows", "used"), [(10, 1), (20_000, 4)])
def test_a_task_registers_partitions_together(target: Target, topic: str, rows: int, used: int) -> None:
    target.admin.create_topic(topic, partitions=4)
    with running_broker_proxy(target.service_url) as proxy, counted(proxy) as counts:
        slowly = {"pulsar.producer.batchingMaxPublishDelayMicros": "60000000"}  # a slow machine ends no batch
        more = {**ONCE, **slowly, "service.url": proxy.service_url}
        target.append_sql(f"select string(id) as value from range(0, {rows}, 1, 1)", topic, more)
    wanted = 2 + min(used, 2)
    told = f"one partition, all, the topic of the marker, and that again for the driver's proof: {counts}"
    assert counts["ADD_PARTITION_TO_TXN"] == wanted, told
    stored = [target.admin.internal_stats(f"{topic}-partition-{n}")["entriesAddedCounter"] for n in range(4)]
    assert len([entries for entries in stored if entries]) == used, stored
    assert len(values(target, topic)) == rows


def test_nothing_is_sent_before_the_driver_can_know_of_it(target: Target, topic: str) -> None:
    options = {**ONCE, "sinkId": "first"}
    target.append_sql("select 'x' as value", topic, {**options, "txnVersion": "1"})
    before = target.admin.internal_stats(topic)["entriesAddedCounter"]
    target.admin.terminate(f"{topic.rpartition('/')[0]}/pulsar-spark-sink-first-open")
    with failing("PULSAR_SINK_TOPIC", "pulsar-spark-sink-first-open"):
        target.append_sql("select 'y' as value from range(0, 5000, 1, 1)", topic, {**options, "txnVersion": "2"})
    assert values(target, topic) == ["x"]
    sent = target.admin.internal_stats(topic)["entriesAddedCounter"] - before
    assert sent <= 2, f"the marker of the abort and that of the sweep: {sent}"
