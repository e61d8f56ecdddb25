"""Exactly-once writes whose replies, connections, tasks or drivers are lost."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from write.epochs import ONCE, epochs, expected, kinds, once, recorded, rows_of, values
from write.test_write_streams import lines

from pulsar_spark import PulsarWriteOptions, sinks
from support.proxies.holding_proxy import HoldingProxy
from support.proxies.relay import listening
from support.spark.errors import failing, refused
from support.spark.programs import running_program
from support.spark.waiting import becomes, eventually
from support.topics.reading import run_available, running
from support.topics.sink_records import control_topic

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from support.topics.writing import Target


@pytest.fixture
def proxy(service_url: str) -> Iterator[HoldingProxy]:
    with listening() as port:
        proxy = HoldingProxy(service_url, port)
        with proxy.running():
            yield proxy


def test_an_epoch_that_was_recorded_is_committed_by_the_next_driver(
    target: Target, topic: str, tmp_path: Path, proxy: HoldingProxy
) -> None:
    rows = rows_of(target, tmp_path, 1)
    held = once(target, tmp_path, topic, rows, **{"sinkId": "next", "service.url": proxy.service_url})
    with running(held.start()):
        _record_and_hold(target, topic, "next", tmp_path, proxy)
    assert values(target, topic) == expected(1), "the decision is recorded, nothing of it is committed"
    run_available(once(target, tmp_path, topic, rows, sinkId="next"))
    assert values(target, topic) == sorted([*expected(1), "late"])
    assert [step for step in kinds(target, topic, "next") if step[0] != "owner"] == [
        (kind, epoch) for epoch in range(2) for kind in ("prepared", "done")
    ]


def _record_and_hold(target: Target, topic: str, sink: str, folder: Path, proxy: HoldingProxy) -> None:
    """Waits for epoch 0, and until epoch 1 is recorded, whose commits do not reach the server."""
    eventually(lambda: recorded(target, topic, sink, "done", 0))
    proxy.held = "END_TXN"
    (folder / "in" / "00001.json").write_text(json.dumps({"value": "late"}))
    eventually(lambda: recorded(target, topic, sink, "prepared", 1))


def test_a_batch_whose_driver_cannot_commit_is_finished_by_its_id(
    target: Target, topic: str, proxy: HoldingProxy
) -> None:
    proxy.held = "END_TXN"
    options = {**ONCE, "service.url": proxy.service_url, "operationTimeoutMs": "8000"}
    with failing("PULSAR_SINK_EPOCH_UNDECIDED", "pulsar-spark sink repair"):
        target.append_sql("select 'x' as value", topic, options)
    assert values(target, topic) == []
    namespace = topic.removeprefix("persistent://").rpartition("/")[0]
    found = [one for one in sinks.find(target.spark, topic=topic, service_url=target.service_url) if one.nonce == "job"]
    (left,) = [one for one in found if one.target == topic]
    assert left.prepared == 0
    done = sinks.repair(target.spark, left.sink, namespace=namespace, service_url=target.service_url)
    assert (done.epoch, done.outcome, done.removed) == (0, "committed", True)
    assert values(target, topic) == ["x"]
    for topic in (control_topic(namespace, left.sink, which) for which in ("log", "open", "mark")):
        becomes(lambda: target.admin.subscriptions(topic), [])  # noqa: B023 - not kept


@pytest.mark.exhaustive
def test_a_commit_to_a_topic_that_was_terminated_is_no_success(target: Target, topic: str, proxy: HoldingProxy) -> None:
    proxy.held = "END_TXN"
    options = {**ONCE, "service.url": proxy.service_url, "operationTimeoutMs": "8000"}
    with failing("PULSAR_SINK_EPOCH_UNDECIDED"):
        target.append_sql("select 'x' as value", topic, options)
    target.admin.terminate(topic)
    found = sinks.find(target.spark, topic=topic, service_url=target.service_url)
    (left,) = [one for one in found if one.target == topic]
    namespace = topic.removeprefix("persistent://").rpartition("/")[0]

    quick = PulsarWriteOptions(service_url=target.service_url, operation_timeout_ms="8s")

    def repair(accept_lost: int | None = None) -> sinks.RepairedSink:
        return sinks.repair(target.spark, left.sink, namespace=namespace, options=quick, accept_lost=accept_lost)

    with refused("PULSAR_SINK_TOPIC_TERMINATED", topic, "--accept-lost 0"):
        repair()
    assert values(target, topic) == []
    done = repair(0)
    assert (done.epoch, done.removed) == (0, True)
    target.admin.delete_topic(topic)  # ends the transaction


@pytest.mark.exhaustive
def test_a_commit_that_arrives_late_is_not_taken_for_an_abort(
    target: Target, topic: str, tmp_path: Path, proxy: HoldingProxy
) -> None:
    rows = rows_of(target, tmp_path, 1)
    more = {"sinkId": "late", "service.url": proxy.service_url, "operationTimeoutMs": "8000"}
    with running(once(target, tmp_path, topic, rows, **more).start()) as query:
        _record_and_hold(target, topic, "late", tmp_path, proxy)
        with failing("PULSAR_SINK_EPOCH_UNDECIDED", "late"):
            query.processAllAvailable()
        proxy.deliver()
    eventually(lambda: "late" in values(target, topic))
    run_available(once(target, tmp_path, topic, rows, sinkId="late"))
    assert values(target, topic) == sorted([*expected(1), "late"])


def test_a_commit_whose_answer_is_lost_is_resolved(
    target: Target, topic: str, tmp_path: Path, proxy: HoldingProxy
) -> None:
    more = {"sinkId": "lost", "service.url": proxy.service_url, "operationTimeoutMs": "8000"}
    with running(once(target, tmp_path, topic, rows_of(target, tmp_path, 2), **more).start()) as query:
        eventually(lambda: kinds(target, topic, "lost"))
        proxy.lose("END_TXN_RESPONSE")
        # the epochs before may be done by now
        last = tmp_path / "in" / ".00002.json"
        last.write_text("\n".join(epochs(3)[2]))
        last.rename(last.with_name("00002.json"))
        query.processAllAvailable()
        assert proxy.has_lost
    assert values(target, topic) == expected(3)
    assert [step[0] for step in kinds(target, topic, "lost")].count("prepared") == 3


def test_a_lost_connection_within_a_transaction_aborts_it(target: Target, topic: str, proxy: HoldingProxy) -> None:
    proxy.cut_at = 4  # after the driver's two records and that of the task
    with failing("PULSAR_WRITE_CONNECTION_LOST", topic):
        target.append_sql("select 'x' as value", topic, {**ONCE, "service.url": proxy.service_url})
    target.append_sql("select 'y' as value", topic)
    assert values(target, topic) == ["y"]


def _driver(
    target: Target, folder: Path, topic: str, jar: Path, options: dict[str, str], *, master: str, fails: bool = False
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A driver of its own over the files of the folder."""
    settings = {
        "master": master,
        "fails": fails,
        "jar": str(jar),
        "folder": str(folder),
        "options": {**target.options(topic), **ONCE, **options},
    }
    return running_program(Path(__file__).with_name("once_driver.py"), settings, folder)


@pytest.mark.exhaustive
def test_a_task_that_fails_after_sending_is_tried_again(
    target: Target, topic: str, tmp_path: Path, connector_jar: Path
) -> None:
    lines(target, tmp_path / "in", epochs(2, rows=300))  # Python gets a hundred rows at a time
    options = {"sinkId": "retried", "pulsar.producer.batchingMaxMessages": "2"}
    with _driver(target, tmp_path, topic, connector_jar, options, master="local[2, 4]", fails=True) as driver:
        assert driver.wait(600) == 0, (tmp_path / "driver.log").read_text()[-2000:]
    assert values(target, topic) == expected(2, rows=300)
    opened = target.messages(f"{topic.rpartition('/')[0]}/pulsar-spark-sink-retried-open")
    assert len(opened) == 4, "each epoch has two attempts"


@pytest.mark.exhaustive
def test_a_driver_that_is_killed_after_its_decision(
    target: Target, topic: str, tmp_path: Path, connector_jar: Path, proxy: HoldingProxy
) -> None:
    rows = rows_of(target, tmp_path, 1)
    options = {"sinkId": "killed", "service.url": proxy.service_url}
    with _driver(target, tmp_path, topic, connector_jar, options, master="local[2]"):
        _record_and_hold(target, topic, "killed", tmp_path, proxy)
    run_available(once(target, tmp_path, topic, rows, sinkId="killed"))
    assert values(target, topic) == sorted([*expected(1), "late"])
