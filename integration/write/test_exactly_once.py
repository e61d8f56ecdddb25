"""Exactly-once writes: what read-committed consumers see, over retries, restarts and second runs."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from broker_proxy import BrokerProxy
from commands import Command, with_size
from errors import failing, refused
from programs import running_program
from reading import java_client, run_available, running
from relay import listening
from waiting import eventually
from write.test_write_streams import into, lines
from writing import Target

from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    import socket
    import subprocess
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

ONCE = {"deliveryGuarantee": "exactly-once"}


class HoldingProxy(BrokerProxy):
    """Holds every command of a kind, or cuts all connections in place of an acknowledgement.

    Attributes:
        held: The kind of the commands that are held.
        cut_at: The number of the acknowledgement of a message that is dropped with all connections; 0 for none.
    """

    held = ""
    cut_at = 0

    def __init__(self, broker_url: str, listening: socket.socket) -> None:
        super().__init__(broker_url, listening)
        self._kept: list[tuple[Any, bytes]] = []

    def deliver(self) -> None:
        """Pass on what was held, to the server of each connection."""
        for connection, frame in self._kept:
            connection.server.sendall(with_size(frame))

    def passed(self, connection: Any, frame: bytes, is_answer: bool) -> bytes | None:  # noqa: ANN401
        kind = Command.of(frame).kind
        if kind == "SEND_RECEIPT" and self.cut_at:
            self.cut_at -= 1
            if not self.cut_at:
                self.cut()
                return None
        if kind == self.held:
            self._kept.append((connection, frame))
            return None
        return super().passed(connection, frame, is_answer)


@pytest.fixture
def proxy(service_url: str) -> Iterator[HoldingProxy]:
    with listening() as port:
        proxy = HoldingProxy(service_url, port)
        with proxy.running():
            yield proxy


@pytest.fixture(scope="module")
def target(spark: SparkSession, client: pulsar_client.Client, admin: Admin, service_url: str) -> Target:
    return Target(spark, client, admin, service_url)


def epochs(count: int, rows: int = 20) -> list[list[str]]:
    return [[json.dumps({"value": f"{epoch} {row}"}) for row in range(rows)] for epoch in range(count)]


def expected(count: int, rows: int = 20) -> list[str]:
    return sorted(f"{epoch} {row}" for epoch in range(count) for row in range(rows))


def once(target: Target, folder: Path, topic: str, rows: DataFrame, **more: str) -> DataStreamWriter:
    return into(target, rows, topic, folder / "checkpoint").options(**{**ONCE, **more})


def rows_of(target: Target, folder: Path, count: int) -> DataFrame:
    """A stream of so many epochs; a restart finds the same files."""
    return lines(target, folder / "in", epochs(count))


def recorded(target: Target, topic: str, sink: str, kind: str, epoch: int) -> bool:
    return (kind, epoch) in kinds(target, topic, sink)


def values(target: Target, topic: str) -> list[str]:
    return sorted(message.payload.decode() for message in target.messages(topic))


def log(target: Target, topic: str, sink: str) -> list[dict[str, Any]]:
    """The records of a sink's log."""
    namespace = topic.rpartition("/")[0]
    return [json.loads(one.payload) for one in target.messages(f"{namespace}/pulsar-spark-sink-{sink}-log")]


def kinds(target: Target, topic: str, sink: str) -> list[tuple[str, int | None]]:
    return [(one["kind"], one.get("epoch")) for one in log(target, topic, sink)]


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
    eventually(lambda: not any(target.admin.stats(name)["subscriptions"] for name in left))


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
    eventually(lambda: recorded(target, topic, sink, "done", 0), seconds=90)
    proxy.held = "END_TXN"
    (folder / "in" / "00001.json").write_text(json.dumps({"value": "late"}))
    eventually(lambda: recorded(target, topic, sink, "prepared", 1), seconds=90)


@pytest.mark.exhaustive
def test_a_commit_that_arrives_late_is_not_taken_for_an_abort(
    target: Target, topic: str, tmp_path: Path, proxy: HoldingProxy
) -> None:
    rows = rows_of(target, tmp_path, 1)
    more = {"sinkId": "late", "service.url": proxy.service_url, "operationTimeoutMs": "3000"}
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
    more = {"sinkId": "lost", "service.url": proxy.service_url, "operationTimeoutMs": "3000"}
    with running(once(target, tmp_path, topic, rows_of(target, tmp_path, 3), **more).start()) as query:
        eventually(lambda: recorded(target, topic, "lost", "owner", 0) or kinds(target, topic, "lost"))
        proxy.lose("END_TXN_RESPONSE")
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


@pytest.mark.exhaustive
def test_twenty_restarts_leave_no_producer(target: Target, topic: str, tmp_path: Path) -> None:
    rows = lines(target, tmp_path / "in", epochs(20))
    log_topic = f"{topic.rpartition('/')[0]}/pulsar-spark-sink-restarts-log"
    for epoch in range(20):
        with running(once(target, tmp_path, topic, rows, sinkId="restarts").start()):
            eventually(partial(recorded, target, topic, "restarts", "done", epoch))
            assert len(target.admin.stats(log_topic)["publishers"]) == 1
    assert values(target, topic) == expected(20)
    eventually(lambda: not target.admin.stats(log_topic)["publishers"])


@pytest.mark.exhaustive
def test_a_server_without_transactions_is_refused(target: Target, tmp_path: Path) -> None:
    with (
        LocalPulsar(data_dir=tmp_path / "plain") as server,
        failing("PULSAR_TRANSACTIONS_UNAVAILABLE", server.service_url),
    ):
        target.append_sql("select 'x' as value", "plain", {**ONCE, "service.url": server.service_url})


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


@pytest.mark.parametrize("partitions", [0, 3])
def test_rows_that_the_client_sends_one_by_one(target: Target, topic: str, tmp_path: Path, partitions: int) -> None:
    target.admin.create_topic(topic, partitions=partitions)
    rows = rows_of(target, tmp_path, 3)
    single = {"pulsar.producer.batchingEnabled": "false"}  # the producer of an epoch takes another transaction next
    run_available(once(target, tmp_path, topic, rows, sinkId=f"single-{partitions}", **single))
    assert values(target, topic) == expected(3)
    assert [kind for kind, _ in kinds(target, topic, f"single-{partitions}")].count("done") == 3


@pytest.mark.exhaustive
def test_a_task_that_fails_after_sending_is_tried_again(
    target: Target, topic: str, tmp_path: Path, connector_jar: Path
) -> None:
    lines(target, tmp_path / "in", epochs(2, rows=300))  # Python gets a hundred rows at a time
    options = {"sinkId": "retried", "pulsar.producer.batchingMaxMessages": "2"}
    with _driver(target, tmp_path, topic, connector_jar, options, master="local[2, 4]", fails=True) as driver:
        assert driver.wait(120) == 0, (tmp_path / "driver.log").read_text()[-2000:]
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
