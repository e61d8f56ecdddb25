"""Filters, limits and sizes: what Spark tells the connector changes how much is read, never the rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from support.spark.waiting import eventually
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Message, produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    description,
    existing,
    metrics,
    read_available,
    seen,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses
    from support.topics.messages import Id, Received

pytestmark = pytest.mark.usefixtures("read_level")

_PARTITIONS = 3
_LEDGERS = 3
_IN_LEDGER = 210

# Producers, broker and the test have one clock here.
_NO_SKEW = {"publishTimeSkewMs": "0"}


class History:
    """A topic with several partitions and ledgers, and what the official client reads from it."""

    def __init__(self, client: pulsar_client.Client, admin: Admin, topic: str) -> None:
        self.topic = topic
        admin.create_topic(topic, partitions=_PARTITIONS)
        for ledger in range(_LEDGERS):
            messages = [
                b"%d " % number + b"x" * 100 for number in range(ledger * _IN_LEDGER, (ledger + 1) * _IN_LEDGER)
            ]
            produce(client, topic, messages, batch_size=7, compression="LZ4")
            if ledger < _LEDGERS - 1:
                admin.unload(topic)
        self.received = read_all(client, topic)
        self.times = sorted(one.publish_time_ms for one in self.received)
        # By partition, when each of its ledgers but the last one was closed.
        self.closed = [
            [ledger["timestamp"] for ledger in admin.internal_info(f"{topic}-partition-{index}")["ledgers"][:-1]]
            for index in range(_PARTITIONS)
        ]

    def at(self, share: float) -> int:
        """The publish time that this share of the messages lies before."""
        return self.times[int(share * (len(self.times) - 1))]

    def first_of_last_ledger(self) -> int:
        last = {one.id.partition: one.id.ledger for one in self.received}
        return min(one.publish_time_ms for one in self.received if one.id.ledger == last[one.id.partition])


@pytest.fixture(scope="module")
def history(client: pulsar_client.Client, admin: Admin, namespace: str) -> History:
    return History(client, admin, f"persistent://{namespace}/history")


def _read(spark: SparkSession, pulsar: Addresses, history: History, condition: str) -> DataFrame:
    frame = batch(spark, pulsar.service_url, topic=history.topic, **_NO_SKEW)
    columns = ("__topic", "__position", "value", "__publishTime", "__partition", "__ledgerId", "__entryId")
    return frame.selectExpr(*columns).where(condition)


@dataclass(frozen=True)
class Candidate:
    """A message and the values that conditions compare it with."""

    time: int
    partition: int
    payload: bytes
    position: str
    ledger: int
    entry: int
    a: int
    b: int
    one: Id


def _candidate(m: Received, a: int, b: int, one: Id) -> Candidate:
    return Candidate(m.publish_time_ms, m.id.partition, m.payload, m.id.position, m.id.ledger, m.id.entry, a, b, one)


_CONDITIONS: dict[str, Callable[[Candidate], bool]] = {
    "__publishTime >= {b}": lambda m: m.time >= m.b,
    "__publishTime > {b}": lambda m: m.time > m.b,
    "__publishTime BETWEEN {a} AND {b}": lambda m: m.a <= m.time <= m.b,
    "NOT (__publishTime < {b} OR __partition = 1)": lambda m: m.time >= m.b and m.partition != 1,
    "__partition = 1": lambda m: m.partition == 1,
    "__partition IS NULL": lambda _: False,
    "__topic = '{topic}-partition-2'": lambda m: m.partition == 2,
    "__topic LIKE '%-partition-2' OR __publishTime < {a}": lambda m: m.partition == 2 or m.time < m.a,
    "value < '3' AND __publishTime >= {a}": lambda m: m.payload < b"3" and m.time >= m.a,
    "value < '3' OR __publishTime >= {b}": lambda m: m.payload < b"3" or m.time >= m.b,
    "__position = '{one}'": lambda m: m.position == m.one.position,
    "__position IN ('{one}', '0:0', 'x')": lambda m: m.position == m.one.position,
    "__position <> '{one}' AND __partition = 1": lambda m: m.position != m.one.position and m.partition == 1,
    "__ledgerId = {ledger}": lambda m: m.ledger == m.one.ledger,
    "__ledgerId < {ledger} AND __entryId >= 10": lambda m: m.ledger < m.one.ledger and m.entry >= 10,
    "NOT (__ledgerId = {ledger})": lambda m: m.ledger != m.one.ledger,
    "date(__publishTime) = date'1999-01-01'": lambda _: False,
}

_MORE_CONDITIONS: dict[str, Callable[[Candidate], bool]] = {
    "__publishTime >= {b} + INTERVAL 1 MICROSECOND": lambda m: m.time > m.b,
    "{a} > __publishTime": lambda m: m.time < m.a,
    "__publishTime IN ({a}, {b})": lambda m: m.time in (m.a, m.b),
    "__publishTime = {b} + INTERVAL 1 MICROSECOND": lambda _: False,
    "__partition IN (0, 2)": lambda m: m.partition != 1,
    "__partition = 7 OR __partition < 1": lambda m: m.partition == 0,
    "__partition = 0 AND __publishTime < {a} OR __partition = 1 AND __publishTime >= {b}": lambda m: (
        (m.partition == 0 and m.time < m.a) or (m.partition == 1 and m.time >= m.b)
    ),
    "__position < '{one}'": lambda m: m.position < m.one.position,
    "__ledgerId = {ledger} AND __entryId BETWEEN 3 AND 5": lambda m: m.ledger == m.one.ledger and 3 <= m.entry <= 5,
    "__ledgerId >= {ledger} OR __publishTime < {a}": lambda m: m.ledger >= m.one.ledger or m.time < m.a,
    "__entryId > 5 AND __publishTime >= {b}": lambda m: m.entry > 5 and m.time >= m.b,
    "__ledgerId = -1 OR __ledgerId = 999999999": lambda _: False,
}


@pytest.mark.parametrize(
    ("condition", "keep"),
    [
        *(pytest.param(*both, id=both[0]) for both in _CONDITIONS.items()),
        *(pytest.param(*both, id=both[0], marks=pytest.mark.exhaustive) for both in _MORE_CONDITIONS.items()),
    ],
)
def test_filters_keep_the_rows_that_they_keep_without_the_connector(
    spark: SparkSession,
    pulsar: Addresses,
    history: History,
    condition: str,
    keep: Callable[[Candidate], bool],
) -> None:
    a, b, one = history.at(0.3), history.at(0.7), history.received[len(history.received) // 2].id
    times = {"a": f"timestamp_millis({a})", "b": f"timestamp_millis({b})"}
    rows = seen(
        _read(
            spark, pulsar, history, condition.format(topic=history.topic, one=one.position, ledger=one.ledger, **times)
        )
    )
    wanted = existing(m for m in history.received if keep(_candidate(m, a, b, one)))
    assert len(rows) == len(wanted)
    if wanted:
        assert_exactly_once(rows, wanted)


@AT_BOTH_LEVELS
def test_partitions_in_which_nothing_can_match_are_not_read(
    spark: SparkSession, pulsar: Addresses, history: History
) -> None:
    entries = _LEDGERS * _IN_LEDGER // 7
    whole = metrics(_read(spark, pulsar, history, "value IS NOT NULL"))
    one = metrics(_read(spark, pulsar, history, "__partition = 1 AND __publishTime IS NOT NULL"))
    assert (whole["PartitionsSkipped"], one["PartitionsSkipped"]) == (0, 2)
    assert whole["Entries"] >= entries
    assert 0 < one["Entries"] < whole["Entries"]
    assert metrics(_read(spark, pulsar, history, "__topic = 'elsewhere'"))["PartitionsSkipped"] == _PARTITIONS
    assert _read(spark, pulsar, history, "__partition = 5").count() == 0


@AT_BOTH_LEVELS
def test_ledgers_that_are_too_old_are_not_read_and_entries_are_dropped_by_their_metadata(
    spark: SparkSession, pulsar: Addresses, history: History
) -> None:
    whole = metrics(_read(spark, pulsar, history, "value IS NOT NULL"))
    assert (whole["LedgersSkipped"], whole["EntriesSkipped"]) == (0, 0)

    since = history.first_of_last_ledger() + 1
    old = sum(closed < since for times in history.closed for closed in times)
    assert old > 0, "there has to be something to skip"
    late = metrics(_read(spark, pulsar, history, f"__publishTime >= timestamp_millis({since})"))
    assert late["LedgersSkipped"] == old
    assert late["Entries"] < whole["Entries"] / 2

    before = history.at(0.5)
    early = metrics(_read(spark, pulsar, history, f"__publishTime < timestamp_millis({before})"))
    assert early["LedgersSkipped"] == 0, "what is old may be stored late"
    assert early["Entries"] == whole["Entries"]
    assert 0 < early["EntriesSkipped"] < whole["Entries"]

    cautious = batch(spark, pulsar.service_url, topic=history.topic, publishTimeSkewMs="3600000")
    kept = metrics(cautious.where(f"__publishTime >= timestamp_millis({since})"))
    assert kept["LedgersSkipped"] == 0, "clocks may be an hour ahead"
    assert (kept["Entries"], kept["Entries"] - kept["EntriesSkipped"]) == (
        whole["Entries"],
        late["Entries"] - late["EntriesSkipped"],
    )


@AT_BOTH_LEVELS
def test_a_message_is_found_by_its_position_and_little_else_is_read(
    spark: SparkSession, pulsar: Addresses, history: History
) -> None:
    for one in (history.received[index] for index in (0, len(history.received) // 2, -1)):
        frame = _read(spark, pulsar, history, f"__partition = {one.id.partition} AND __position = '{one.id.position}'")
        found = metrics(frame)
        others = {m.id.ledger for m in history.received if m.id.partition == one.id.partition} - {one.id.ledger}
        assert (found["Entries"], found["EntriesSkipped"], found["LedgersSkipped"]) == (1, 0, len(others))
        assert_exactly_once(seen(frame), existing([one]))
    ledger = history.received[len(history.received) // 2].id.ledger
    found = metrics(_read(spark, pulsar, history, f"__ledgerId = {ledger}"))
    ledgers = {m.id.ledger for m in history.received}
    assert found["LedgersSkipped"] == len(ledgers) - 1
    assert found["Entries"] == len({m.id.entry for m in history.received if m.id.ledger == ledger})
    nowhere = metrics(_read(spark, pulsar, history, "__ledgerId = 999999999"))
    assert (nowhere["Entries"], nowhere["LedgersSkipped"]) == (0, len(ledgers))


def test_times_in_options_and_in_filters_both_hold(spark: SparkSession, pulsar: Addresses, history: History) -> None:
    early, late = history.at(0.2), history.at(0.8)
    frame = batch(spark, pulsar.service_url, topic=history.topic, startingTime=str(early), **_NO_SKEW)
    rows = seen(frame.where(f"__publishTime < timestamp_millis({late})"))
    assert_exactly_once(rows, existing(m for m in history.received if early <= m.publish_time_ms < late))


def test_a_filter_on_a_partition_leaves_the_checks_of_positions_as_they_are(
    spark: SparkSession, pulsar: Addresses, history: History
) -> None:
    """Positions are given for all partitions, though only one is read."""
    start = {f"{history.topic}-partition-{index}": "earliest" for index in range(_PARTITIONS)}
    start |= {one.topic: one.id.position for one in history.received[:_IN_LEDGER] if one.id.partition == 0}
    frame = batch(spark, pulsar.service_url, topic=history.topic, startingOffsets=json.dumps(start))
    rows = seen(frame.where("__partition = 1"))
    assert_exactly_once(rows, existing(m for m in history.received if m.id.partition == 1))


@AT_BOTH_LEVELS
def test_a_limit_reads_little(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, topic: str, history: History
) -> None:
    produce(client, topic, [b"%d" % number for number in range(2000)])
    limited = batch(spark, pulsar.service_url, topic=topic).limit(10)
    found = metrics(limited)
    assert found["Entries"] == 10
    assert len(limited.collect()) == 10
    assert "limit=10" in description(limited)
    assert batch(spark, pulsar.service_url, topic=topic).limit(10).count() == 10
    assert batch(spark, pulsar.service_url, topic=topic).limit(5000).count() == 2000
    assert batch(spark, pulsar.service_url, topic=history.topic).limit(500).count() == 500
    filtered = batch(spark, pulsar.service_url, topic=topic).where("value = '1999'").limit(1)
    assert len(filtered.collect()) == 1, "a limit counts the rows that pass the filter"
    after = batch(spark, pulsar.service_url, topic=topic).limit(10).where("value = '1999'")
    assert after.collect() == []


@AT_BOTH_LEVELS
def test_the_plan_shows_pushed_filters(spark: SparkSession, pulsar: Addresses, history: History) -> None:
    frame = _read(spark, pulsar, history, "__partition = 1 AND value = 'x' AND __position > '1:2'")
    said = description(frame).replace("__partition IS NOT NULL, ", "").replace("__position IS NOT NULL, ", "")
    assert "filters=[__partition = 1]" in said, "positions are texts, in whose order messages are not"
    assert "limit" not in said
    assert "filters" not in description(_read(spark, pulsar, history, "value = 'x'"))


def _size(frame: DataFrame) -> int:
    jframe: Any = frame._jdf
    return int(str(jframe.queryExecution().optimizedPlan().collectLeaves().head().stats().sizeInBytes()))


@AT_BOTH_LEVELS
def test_spark_learns_the_size_of_segments(
    spark: SparkSession, pulsar: Addresses, history: History, read_level: str
) -> None:
    whole = _size(_read(spark, pulsar, history, "value IS NOT NULL"))
    one = _size(_read(spark, pulsar, history, "__partition = 1"))
    if read_level == "broker":
        assert whole == one > 1 << 40, "what is not known counts as huge"
    else:
        stored = metrics(_read(spark, pulsar, history, "value IS NOT NULL"))["Bytes"]
        assert 0.8 * stored < whole < 1.2 * stored
        assert 0 < one < whole / 2


@AT_BOTH_LEVELS
def test_a_size_that_cannot_be_found_out_hides_no_error(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    produce(client, topic, [b"1"])
    frame = batch(spark, pulsar.service_url, topic=topic, **{"admin.url": pulsar.admin_url})
    admin.delete_topic(topic)
    assert _size(frame) > 1 << 40
    with pytest.raises(Exception, match="PULSAR_TOPIC_NOT_FOUND"):
        frame.collect()


@AT_BOTH_LEVELS
def test_a_stream_with_a_filter_returns_the_matching_rows(
    spark: SparkSession, pulsar: Addresses, history: History, tmp_path: Path
) -> None:
    """Spark does not hand filters to streams."""
    sink = Batches()
    since = history.at(0.5)
    streamed = stream(spark, pulsar.service_url, topic=history.topic, startingOffsets="earliest", **_NO_SKEW)
    read_available(streamed.where(f"__publishTime >= timestamp_millis({since})"), tmp_path, sink)
    assert_exactly_once(sink.rows, existing(m for m in history.received if m.publish_time_ms >= since))


@AT_BOTH_LEVELS
def test_the_compacted_view_is_filtered_like_any_other(
    spark: SparkSession, pulsar: Addresses, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    for part in range(3):
        produce(client, topic, [Message(b"%d" % number, key=f"{number % (30 - 9 * part)}") for number in range(60)])
        admin.unload(topic)
    admin.compact(topic)
    eventually(lambda: admin.is_compacted(topic))
    frame = batch(spark, pulsar.service_url, topic=topic, readCompacted="true", readLevel="auto", **_NO_SKEW)
    frame = frame.selectExpr("__position", "unix_millis(__publishTime) AS at", "__publishTime")
    whole = [(row[0], row[1]) for row in frame.collect()]
    assert len(whole) == 30
    times = sorted(at for _, at in whole)
    for since in (times[0], times[10], times[20], times[-1], times[-1] + 1):
        kept = [(row[0], row[1]) for row in frame.where(f"__publishTime >= timestamp_millis({since})").collect()]
        assert kept == [row for row in whole if row[1] >= since]
