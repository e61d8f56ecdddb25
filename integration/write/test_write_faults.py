"""Writes under faults: a broker that dies, stops answering, or says no."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest
from py4j.protocol import Py4JJavaError

from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin
from support.servers.freezing import frozen
from support.servers.servers import remove_namespace
from support.spark.blocking_batch import LARGE, held_until
from support.spark.errors import assert_says, failing, no_job, refused
from support.spark.waiting import eventually
from support.topics.writing import Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

WRITE_SECONDS = 300
# Small batches and queues: the write is still going when something happens to it.
SLOW = {"pulsar.producer.maxPendingMessages": "20", "pulsar.producer.batchingMaxMessages": "5"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPulsar]:
    """A server of this module alone, which comes to harm."""
    with LocalPulsar(data_dir=tmp_path_factory.mktemp("pulsar-in-trouble")) as server:
        yield server


@pytest.fixture
def troubled(spark: SparkSession, server: LocalPulsar, tmp_path: Path) -> Iterator[Target]:
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(tmp_path / "client.log"))
    client = pulsar_client.Client(server.service_url, logger=logger, operation_timeout_seconds=180)
    yield Target(spark, client, Admin(server.admin_url), server.service_url)
    client.close()


class Writing:
    """A write that goes on while the test does something to it."""

    def __init__(
        self, target: Target, rows: DataFrame, topic: str, options: dict[str, str], *, interrupts: bool = False
    ) -> None:
        self._failure: Exception | None = None
        arguments = (target, rows, topic, options, interrupts)
        self._thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._thread.start()

    def _run(self, target: Target, rows: DataFrame, topic: str, options: dict[str, str], interrupts: bool) -> None:
        target.spark.sparkContext.setJobGroup(topic, "a write that goes on", interruptOnCancel=interrupts)
        try:
            target.append(rows, topic, options)
        except Exception as failure:
            self._failure = failure

    @property
    def going_on(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        """Wait for the end; raise what the write raised."""
        self._thread.join(WRITE_SECONDS)
        assert not self.going_on, "the write does not end"
        if self._failure is not None:
            raise self._failure


def running_tasks(spark: SparkSession) -> list[str]:
    """The stacks of the tasks that run in the driver's process."""
    jvm: Any = spark.sparkContext._jvm
    stacks = jvm.java.lang.Thread.getAllStackTraces()
    return [
        "\n".join(map(str, stacks.get(thread)))
        for thread in stacks.keySet()
        if str(thread.getName()).startswith("Executor task launch worker for task")
    ]


def wait_for_messages(target: Target, topic: str, count: int) -> None:
    eventually(lambda: target.admin.stats(topic)["msgInCounter"] >= count)


def test_a_killed_broker_costs_no_row(troubled: Target, server: LocalPulsar) -> None:
    topic = "persistent://public/default/killed"
    troubled.admin.create_topic(topic)
    rows = troubled.spark.range(0, 60_000, 1, 2).selectExpr("string(id) as value")
    writing = Writing(troubled, rows, topic, {**SLOW, "sendTimeoutMs": "300000"})
    wait_for_messages(troubled, topic, 2_000)
    server.kill()
    assert writing.going_on, "the write was over before the broker died"
    server.start()
    writing.end()
    times = Counter(int(message.payload) for message in troubled.messages(topic))
    assert set(times) == set(range(60_000))
    print(f"{sum(times.values()) - len(times)} of {len(times)} rows came again")


def test_unloads_under_a_running_write_cost_no_row(troubled: Target) -> None:
    topic = "persistent://public/default/unloaded"
    troubled.admin.create_topic(topic)
    rows = troubled.spark.range(0, 60_000, 1, 2).selectExpr("string(id) as value")
    writing = Writing(troubled, rows, topic, {**SLOW, "sendTimeoutMs": "300000"})
    for _ in range(3):
        wait_for_messages(troubled, topic, 2_000)  # the counter begins again when a topic is loaded
        assert writing.going_on, "the write was over before an unload"
        troubled.admin.unload(topic)
    writing.end()
    assert {int(message.payload) for message in troubled.messages(topic)} == set(range(60_000))


def test_a_broker_that_stops_answering_fails_the_task_in_time(troubled: Target, server: LocalPulsar) -> None:
    topic = "persistent://public/default/frozen"
    troubled.admin.create_topic(topic)
    rows = troubled.spark.range(0, 1_000_000, 1, 1).selectExpr("string(id) as value")
    writing = Writing(troubled, rows, topic, {**SLOW, "sendTimeoutMs": "8000", "operationTimeoutMs": "8000"})
    wait_for_messages(troubled, topic, 100)
    with (
        frozen(server.pid),
        failing("PULSAR_WRITE_TIMEOUT", topic, "within 8000 ms", "messages of this task were acknowledged"),
    ):
        writing.end()


@pytest.mark.parametrize("interrupts", [True, False])
def test_a_killed_task_that_waits_for_a_full_queue_ends_in_time(
    troubled: Target, server: LocalPulsar, interrupts: bool
) -> None:
    topic = f"persistent://public/default/full-{interrupts}"
    troubled.admin.create_topic(topic)
    rows = troubled.spark.range(0, 1_000_000, 1, 1).selectExpr("string(id) as value")
    times = {"sendTimeoutMs": "8000", "operationTimeoutMs": "8000"}
    writing = Writing(troubled, rows, topic, {**SLOW, **times}, interrupts=interrupts)
    wait_for_messages(troubled, topic, 100)
    with frozen(server.pid):
        eventually(lambda: any("Semaphore.acquire" in stack for stack in running_tasks(troubled.spark)))
        troubled.spark.sparkContext.cancelJobGroup(topic)
        with pytest.raises(Py4JJavaError, match="cancelled"):
            writing.end()
        # one time-out frees the queue, another ends the wait for the producer to close
        eventually(lambda: not running_tasks(troubled.spark), seconds=8 + 8 + 60)


def test_a_topic_terminated_in_the_middle_fails_the_task(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    rows = target.spark.range(0, 1_000_000, 1, 1).selectExpr("string(id) as value")
    writing = Writing(target, rows, topic, {**SLOW, "sendTimeoutMs": "10000"})
    wait_for_messages(target, topic, 500)
    target.admin.call("POST", f"persistent/{topic.removeprefix('persistent://')}/terminate")
    # In one of ten runs the broker says "temporarily unavailable" for good: writes that failed left the topic fenced.
    with pytest.raises(Py4JJavaError) as failure:
        writing.end()
    if "PULSAR_WRITE_TIMEOUT" in str(failure.value):
        assert_says(failure.value, "PULSAR_WRITE_TIMEOUT", topic, "10000 ms")
        target.admin.unload(topic)  # readers are turned away as well
    else:
        assert_says(failure.value, "PULSAR_WRITE_REFUSED.TERMINATED", topic, "messages of this task were acknowledged")
    assert [int(message.payload) for message in target.messages(topic)][:500] == list(range(500))


def test_a_terminated_topic_is_rejected_before_a_task(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    target.admin.call("POST", f"persistent/{topic.removeprefix('persistent://')}/terminate")
    with no_job(target.spark), refused("PULSAR_WRITE_REFUSED.TERMINATED", topic):
        target.append_sql("select 'x' as value", topic)


def test_a_message_over_the_limit_fails_the_task(target: Target, topic: str) -> None:
    rows = target.spark.range(0, 3, 1, 1).selectExpr("if(id = 2, repeat('x', 6000000), 'small') as value")
    with failing("PULSAR_MESSAGE_TOO_LARGE", topic, "5242880", "chunkingEnabled"):
        target.append(rows, topic)
    assert {message.payload for message in target.messages(topic)} <= {b"small"}


def test_a_topic_with_an_exclusive_producer_is_rejected_before_a_task(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    owner = target.client.create_producer(topic, access_mode=pulsar_client.ProducerAccessMode.Exclusive)
    with no_job(target.spark), refused("PULSAR_WRITE_REFUSED.EXCLUSIVE", topic, "exclusive producer"):
        target.append_sql("select 'x' as value", topic)
    owner.close()
    target.append_sql("select 'x' as value", topic)


def test_a_producer_that_fences_a_write_fails_the_task(target: Target, topic: str, tmp_path: Path) -> None:
    target.admin.create_topic(topic)
    gate = tmp_path / "gate"
    first = f"repeat('x', {len(LARGE)})"
    rows = target.spark.range(0, 400, 1, 1).selectExpr(f"cast(if(id < 200, {first}, 'later') as binary) as value")
    stored = target.client.subscribe(topic, "stored")
    writing = Writing(target, rows.select(held_until(gate, tmp_path, free=LARGE)), topic, {"sendTimeoutMs": "60000"})
    # A broker does not fence a producer for good while messages are on their way, so all have to be stored.
    for _ in range(200):
        stored.receive(timeout_millis=180_000)
    stored.close()
    eventually((tmp_path / "reached-0").exists)
    owner = target.client.create_producer(topic, access_mode=pulsar_client.ProducerAccessMode.ExclusiveWithFencing)
    gate.touch()
    with failing("PULSAR_WRITE_REFUSED.EXCLUSIVE", topic, "exclusive producer", "200 messages of this task"):
        writing.end()
    owner.close()


def test_a_topic_with_all_the_producers_it_may_have_refuses_the_write(target: Target, namespace: str) -> None:
    own = f"{namespace}-few-producers"
    target.admin.create_namespace(own, policies={"max_producers_per_topic": 1})
    topic = f"persistent://{own}/t"
    try:
        target.admin.create_topic(topic)
        # Not with two tasks: a broker lets producers in that come at the same time.
        other = target.client.create_producer(topic)
        with no_job(target.spark), refused("PULSAR_WRITE_REFUSED.PRODUCER_LIMIT", topic, "maxProducersPerTopic"):
            target.append_sql("select 'x' as value", topic)
        other.close()
        target.append_sql("select 'x' as value", topic)
    finally:
        remove_namespace(target.admin, own)


def test_a_full_backlog_quota_refuses_the_write(target: Target, admin: Admin, namespace: str) -> None:
    own = f"{namespace}-quota"
    admin.create_namespace(own)
    topic = f"persistent://{own}/t"
    try:
        admin.create_topic(topic)
        admin.create_subscription(topic, "nobody reads")
        target.append_sql("select repeat('x', 10000) as value", topic)
        quota = {"limitSize": 1000, "limitTime": -1, "policy": "producer_exception"}
        admin.set_policy(own, "backlogQuota?backlogQuotaType=destination_storage", quota)
        eventually(lambda: admin.call("GET", f"namespaces/{own}/backlogQuotaMap"))
        with no_job(target.spark), refused("PULSAR_WRITE_REFUSED.BACKLOG_QUOTA", topic):
            target.append_sql("select 'x' as value", topic, {"operationTimeoutMs": "8000"})
    finally:
        remove_namespace(admin, own)
