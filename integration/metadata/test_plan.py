"""The plan of a batch read, and that the read then does what the plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from realtime.live import accepting, start_live, wait_for_batches

from pulsar_spark import (
    PulsarCluster,
    PulsarOptionError,
    PulsarReadOptions,
    ReadPlan,
    after,
    plan,
    read_pulsar,
    read_pulsar_stream,
)
from support.servers.offloading import ENTRIES_PER_LEDGER, running_offload
from support.spark.errors import refused
from support.spark.waiting import eventually
from support.topics.messages import Message, produce, read_all
from support.topics.reading import assert_exactly_once, entries_by_level, existing, running, seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.offloading import Offloading
    from support.servers.servers import Addresses


def _messages(count: int) -> list[Message]:
    return [Message(b"%08d" % number + b"x" * 50) for number in range(count)]


def _planned_entries(made: ReadPlan) -> dict[str, int | None]:
    return {tier: made.totals[tier].entries if tier in made.totals else 0 for tier in ("broker", "bookies", "tiered")}


def test_a_plan_at_broker_level(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(300), batch_size=10)
    made = plan(read_pulsar(spark, topic, service_url=service_url, level="broker"))
    (part,) = made.slices
    assert (part.topic, part.tier, part.entries, part.reason) == (topic, "broker", 30, "readLevel is broker")
    assert "admin.url is not set" in str(plan(read_pulsar(spark, topic, service_url=service_url)))


def test_a_direct_read_follows_its_plan(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(3000), batch_size=10)
    frame = read_pulsar(
        spark,
        topic,
        service_url=pulsar.service_url,
        admin_url=pulsar.admin_url,
        level="segment",
        min_partitions=3,
    )
    made = plan(frame)
    produce(client, topic, _messages(100), batch_size=10)
    assert len(made.tasks) == frame.rdd.getNumPartitions() >= 3
    assert _planned_entries(made) == {"broker": 0, "bookies": 300, "tiered": 0}
    assert [part.after for part in made.slices[1:]] == [part.through for part in made.slices[:-1]]
    assert sum(part.bytes or 0 for part in made.slices) > 300 * 500
    assert entries_by_level(frame) == _planned_entries(made), "what came meanwhile is not in the plan, nor in its read"
    part = made.slices[1]
    rows = seen(read_pulsar(spark, topic, service_url=pulsar.service_url, start=after(part.after), end=part.through))
    wanted = existing(read_all(client, topic))
    first = 10 * (made.slices[0].entries or 0)
    assert_exactly_once(rows, wanted[first : first + 10 * (part.entries or 0)])


def test_a_plan_of_a_query_has_all_its_reads_and_nothing_else(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    for name in ("left", "right"):
        produce(client, f"{topic}-{name}", _messages(20))
    left, right = (read_pulsar(spark, f"{topic}-{name}", service_url=service_url) for name in ("left", "right"))
    joined = left.join(right, "value").groupBy("value").count()
    assert {part.topic for part in plan(joined).slices} == {f"{topic}-left", f"{topic}-right"}
    assert [part.topic for part in plan(left.where("value IS NOT NULL")).slices] == [f"{topic}-left"]
    with pytest.raises(PulsarOptionError, match="PULSAR_PLAN_NO_READ"):
        plan(spark.range(5))
    with pytest.raises(PulsarOptionError, match="PULSAR_PLAN_NO_READ"):
        plan(read_pulsar_stream(spark, f"{topic}-left", service_url=service_url))


def test_a_plan_reports_why_direct_reads_are_not_possible(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, _messages(5))
    with refused("PULSAR_SEGMENT_UNAVAILABLE", topic, "admin.url is not set"):
        plan(read_pulsar(spark, topic, service_url=service_url, level="segment"))


def _running_tasks(spark: SparkSession) -> int:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage)


def test_a_plan_of_real_time_mode_is_how_the_query_falls_to_tasks(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=3)
    names = [f"{topic}-partition-{number}" for number in range(3)]
    produce(client, names[1], _messages(50), batch_size=10)
    url, admin_url = pulsar.service_url, pulsar.admin_url

    def stream(limit: int | None = None) -> DataFrame:
        chosen = PulsarReadOptions(admin_url=admin_url, real_time_tasks=2, max_messages_per_trigger=limit)
        return read_pulsar_stream(spark, topic, options=chosen, start="earliest", service_url=url)

    made = plan(stream().where("value IS NOT NULL"), real_time=True)
    assert [[(one.topic, one.entries, one.is_behind) for one in task] for task in made.tasks] == [
        [(names[1], 5, True), (names[2], 0, False)],
        [(names[0], 0, False)],
    ]
    assert made.entries == 5
    assert (made.bytes or 0) > 50 * 50
    facade = PulsarCluster(url, admin_url=admin_url).on(spark)
    two_tasks = PulsarReadOptions(real_time_tasks=2)
    assert facade.real_time_plan(topic, start="earliest", options=two_tasks) == made
    assert facade.real_time_plan(topic, options=two_tasks).entries == 0, "a stream begins with the next message"

    with accepting(spark), running(start_live(stream(), tmp_path, url, f"{topic}-copy")) as query:
        eventually(lambda: _running_tasks(spark) == len(made.tasks))
        wait_for_batches(query, 1)
    produce(client, names[0], _messages(7))
    later = plan(stream(), real_time=True, checkpoint=tmp_path)
    assert later == facade.real_time_plan(topic, checkpoint=tmp_path, options=two_tasks)
    assert [[(one.topic, one.entries) for one in task] for task in later.tasks] == [
        [(names[0], 7), (names[2], 0)],
        [(names[1], 0)],
    ]
    assert later.partitions[2].after == made.partitions[0].last

    with refused("PULSAR_REAL_TIME_OPTION", "maxMessagesPerTrigger"):
        plan(stream(limit=5), real_time=True)
    with pytest.raises(PulsarOptionError, match="PULSAR_PLAN_NO_READ"):
        plan(spark.readStream.format("rate").load(), real_time=True)


@pytest.fixture(scope="module")
def offloaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offloading]:
    with running_offload("mapfile", tmp_path_factory.mktemp("offload")) as running:
        yield running


def test_a_read_of_all_tiers_follows_its_plan(spark: SparkSession, offloaded: Offloading) -> None:
    topic = "persistent://public/default/tiers"
    produce(offloaded.client, topic, _messages(3 * ENTRIES_PER_LEDGER + 20))
    offloaded.offload(topic)
    away = sum(one["entries"] for one in offloaded.ledgers(topic))
    assert away >= ENTRIES_PER_LEDGER
    left = 3 * ENTRIES_PER_LEDGER + 20 - away
    urls = PulsarReadOptions(service_url=offloaded.server.service_url, admin_url=offloaded.server.admin_url)

    known = read_pulsar(spark, topic, options=urls)
    unknown = read_pulsar(spark, topic, options=urls, offload_location="nowhere")
    assert _planned_entries(plan(known)) == {"broker": 0, "bookies": left, "tiered": away}
    by_broker, by_bookies = plan(unknown).slices
    assert (by_broker.tier, by_broker.entries, by_broker.bytes) == ("broker", None, None), "several ledgers"
    assert "nowhere is not a URI" in (by_broker.reason or "")
    assert (by_bookies.tier, by_bookies.entries) == ("bookies", left)
    wanted = existing(read_all(offloaded.client, topic))
    for frame, tiers in (
        (known, {"broker": 0, "bookies": left, "tiered": away}),
        (unknown, {"broker": away, "bookies": left, "tiered": 0}),
    ):
        assert entries_by_level(frame) == tiers
        assert_exactly_once(seen(frame), wanted)
