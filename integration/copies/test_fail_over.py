"""A query goes on with the other one of two clusters: no message is lost, and those that are repeated are known."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from pulsar_spark import cli
from pulsar_spark.cli import jar
from support.servers.two_clusters import REPLICATED, Side
from support.spark.inspecting import main_class
from support.spark.waiting import becomes, eventually
from support.topics.messages import Received, produce, read_all
from support.topics.reading import run_available, stream

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_TOPIC = f"persistent://{REPLICATED}/rides"
_SECONDS = 180


class Rows:
    """The rows of all runs: value, and what a message is known by."""

    def __init__(self) -> None:
        self.all: list[tuple[int, tuple[str, int]]] = []

    def __call__(self, frame: DataFrame, _: int) -> None:
        rows = frame.select("value", "__producerName", "__sequenceId").collect()
        self.all += [(int(bytes(row[0])), (row[1], row[2])) for row in rows]


def _read(spark: SparkSession, side: Side, folder: Path, rows: Rows, **options: str) -> None:
    columns = {"metadataColumns": "__producerName,__sequenceId"}
    frame = stream(spark, side.service_url, **{"topic": _TOPIC, **columns, **options})
    run_available(frame.writeStream.foreachBatch(rows).option("checkpointLocation", str(folder)))


def _sent(side: Side, numbers: range, batch_size: int | None = None) -> None:
    produce(side.client, _TOPIC, [b"%d" % number for number in numbers], batch_size=batch_size)


def _all_in(side: Side, count: int) -> list[Received]:
    def found() -> list[Received]:
        has = _TOPIC in side.admin.topics(REPLICATED)
        return messages if has and len(messages := read_all(side.client, _TOPIC)) == count else []

    return eventually(found, seconds=_SECONDS)


def _restart(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> str:
    """The output of the command, whose main class runs in the JVM of the session."""

    def answered(question: str, _: float | None) -> subprocess.CompletedProcess[str]:
        text, code = main_class(spark, question)
        return subprocess.CompletedProcess([], code, text, "")

    monkeypatch.setattr(jar, "_run", answered)
    capsys.readouterr()
    assert cli.main(["checkpoint", "restart", *words]) == 0
    return capsys.readouterr().out


def test_ten_thousand_messages_over_a_fail_over(
    spark: SparkSession,
    sides: tuple[Side, Side],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first cluster has 6,000 messages, of which the query has read 4,000; the other one goes on with as many."""
    east, west = sides
    rows, old = Rows(), tmp_path / "old"
    _sent(east, range(2000))
    _read(spark, east, old, rows, startingOffsets="earliest")
    _sent(east, range(2000, 4000), batch_size=7)
    _read(spark, east, old, rows)
    assert len(rows.all) == 4000
    _sent(east, range(4000, 6000))
    _all_in(west, 6000)
    _sent(west, range(6000, 10000), batch_size=7)

    found = json.loads(_restart(spark, monkeypatch, capsys, str(old), "--allowance", "0s", "--json"))
    (start,) = found["starts"]
    assert start["startingTime"] == start["readUntil"]
    earlier = _restart(spark, monkeypatch, capsys, str(old), "--allowance", "1h")
    assert f"read until {start['readUntil']}, less 1h" in earlier

    began = datetime.fromisoformat(start["startingTime"].replace("Z", "+00:00")).timestamp() * 1000
    again = [one for one in _all_in(west, 10000) if one.publish_time_ms >= began]
    expected = len([one for one in again if int(one.payload) < 4000])
    _read(spark, west, tmp_path / "new", rows, startingTime=start["startingTime"])
    repeated = _repeated(rows, 10000)
    assert 0 < repeated == expected < 4000
    assert len(rows.all) - len(dict.fromkeys(rows.all)) == repeated, "each is known by its producer and sequence id"
    assert len({identity for _, identity in rows.all}) == 10000


def _repeated(rows: Rows, sent: int) -> int:
    """How many rows are there again, of messages that are all there."""
    counted = Counter(number for number, _ in rows.all)
    assert set(counted) == set(range(sent)), "none is lost"
    return sum(counted.values()) - len(counted)


@pytest.mark.exhaustive
def test_a_replicated_subscription_shows_where_to_go_on(
    spark: SparkSession, sides: tuple[Side, Side], tmp_path: Path
) -> None:
    """Brokers copy its place while the query keeps up, so that less is repeated than by time."""
    east, west = sides
    topic, name = f"{_TOPIC}-followed", "followed"
    first = pulsar_client.InitialPosition.Earliest
    east.client.subscribe(topic, name, initial_position=first, replicate_subscription_state_enabled=True).close()
    rows, sent = Rows(), 0

    def is_copied() -> bool:
        """Snapshots are taken while messages arrive, and count once the subscription has passed them."""
        nonlocal sent
        produce(east.client, topic, [b"%d" % number for number in range(sent, sent + 5)])
        sent += 5
        _read(spark, east, tmp_path / "old", rows, topic=topic, startingOffsets="earliest", progressSubscription=name)
        return topic in west.admin.topics(REPLICATED) and name in west.admin.subscriptions(topic)

    eventually(is_copied, seconds=_SECONDS)
    assert len(rows.all) == sent
    produce(east.client, topic, [b"%d" % number for number in range(sent, sent + 20)])
    becomes(lambda: len(read_all(west.client, topic)), sent + 20)
    options = {"topic": topic, "startingOffsets": "subscription", "progressSubscription": name}
    _read(spark, west, tmp_path / "new", rows, **options)
    assert 0 <= _repeated(rows, sent + 20) < sent
