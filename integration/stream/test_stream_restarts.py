"""Streams that stop and go on: every message once, wherever they stopped and whatever came meanwhile."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Received, produce, read_all
from support.topics.offsets import first_version, positions
from support.topics.reading import Batches, assert_exactly_once, dice, existing, read_available, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

# LevelParitySuite has batches of all sizes in micro-batches that begin and end anywhere.
_MORE_SIZES = [pytest.param(size, marks=pytest.mark.exhaustive) for size in (1, 2, 1000)]


def _numbers(*numbers: range) -> list[bytes]:
    return [b"%d" % number for some in numbers for number in some]


def test_the_start_is_pinned_before_the_first_message(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _numbers(range(50)), batch_size=7)
    batches = Batches()
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)  # starts at latest
    assert batches.rows == []
    produce(client, topic, _numbers(range(50, 90)), batch_size=7)
    received = read_all(client, topic)
    pinned = positions(next(tmp_path.glob("sources/0/initial-offset.json")).read_text())
    last = received[49].id
    assert pinned == {topic: f"{last.ledger}:{last.entry}"}
    # What the options say of the start counts once.
    read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(received[50:]))


@AT_BOTH_LEVELS
def test_the_start_of_an_empty_topic_is_a_position(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    for word in ("earliest", "latest"):
        batches = Batches()
        frame = stream(spark, service_url, topic=topic, startingOffsets=word)
        read_available(frame, tmp_path / word, batches)
        pinned = positions(next((tmp_path / word).glob("sources/0/initial-offset.json")).read_text())
        assert set(pinned) == {f"{topic}-partition-{number}" for number in (0, 1)}
        assert all(position.endswith(":-1") for position in pinned.values())
    produce(client, topic, _numbers(range(40)), batch_size=7)
    for word in ("earliest", "latest"):
        batches = Batches()
        read_available(stream(spark, service_url, topic=topic), tmp_path / word, batches)
        assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("batch_size", [7, *_MORE_SIZES, pytest.param(None, marks=pytest.mark.exhaustive)])
def test_rounds_of_producing_and_reading(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    batch_size: int | None,
) -> None:
    random = dice()
    admin.create_topic(topic, partitions=2)
    batches = Batches()
    for partition in (0, 1):
        produce(client, f"{topic}-partition-{partition}", _numbers(range(10)), batch_size=batch_size)
    sent = 20
    for turn in range(5):
        count = random.choice([0, 1, 2, 13, 500])
        produce(client, topic, _numbers(range(sent, sent + count)), batch_size=batch_size)
        sent += count
        if random.random() < 0.4:
            admin.unload(f"{topic}-partition-{turn % 2}")
        read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, batches)
        assert len(batches.rows) == sent
    produce(client, topic, _numbers(range(sent, sent + 30)), batch_size=batch_size)
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("batch_size", [None, 7, *_MORE_SIZES])
def test_a_stream_goes_on_from_any_message(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    batch_size: int | None,
) -> None:
    """Every cut is made as a person would make it: by writing a position into the offset log of the checkpoint."""
    random = dice()
    produce(client, topic, _numbers(range(1500)), batch_size=batch_size)
    received = read_all(client, topic)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    read_available(frame, tmp_path, Batches())
    cuts = sorted({0, 1498, *(random.randrange(1499) for _ in range(2))})
    print(f"cuts: {cuts}")
    for cut in cuts:
        _rewrite_last_offset(tmp_path, {topic: received[cut].id.position})
        batches = Batches()
        read_available(frame, tmp_path, batches)
        assert_exactly_once(batches.rows, existing(received[cut + 1 :]))


def _rewrite_last_offset(checkpoint: Path, read: dict[str, str]) -> None:
    """Change what the last batch counts as having read up to, in the form of version 1."""
    last = max(
        (file for file in (checkpoint / "offsets").iterdir() if file.name.isdigit()), key=lambda file: int(file.name)
    )
    *head, offset = last.read_text().splitlines()
    assert set(positions(offset)) == set(read)
    last.write_text("\n".join([*head, first_version(read)]))
    (last.parent / f".{last.name}.crc").unlink()


class _Interrupted(Batches):
    """A sink that fails after it has taken the rows of a batch."""

    def __init__(self, batch_id: int) -> None:
        super().__init__()
        self.failing: int | None = batch_id

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        super().__call__(frame, batch_id)
        if batch_id == self.failing:
            raise RuntimeError("the sink was interrupted")


@AT_BOTH_LEVELS
def test_a_batch_that_failed_is_read_again_as_it_was(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    sink = _Interrupted(1)
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    produce(client, topic, _numbers(range(100)), batch_size=7)
    read_available(frame, tmp_path, sink)
    produce(client, topic, _numbers(range(100, 200)), batch_size=7)
    with pytest.raises(Exception, match="the sink was interrupted"):
        read_available(frame, tmp_path, sink)
    assert len(sink.by_id[1]) == 100
    produce(client, topic, _numbers(range(200, 300)), batch_size=7)
    sink.failing = None
    read_available(frame, tmp_path, sink)  # the sink checks that batch 1 brings what it brought
    assert [len(rows) for rows in sink.by_id.values()] == [100, 100, 100]
    assert_exactly_once(sink.rows, existing(read_all(client, topic)))


@pytest.mark.parametrize("start", ["position", "time"])
def test_a_start_inside_the_topic(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path, start: str
) -> None:
    for turn in range(4):
        produce(client, topic, _numbers(range(20 * turn, 20 * turn + 20)), batch_size=7)
    received = read_all(client, topic)
    options, wanted = _start(start, topic, received)
    batches = Batches()
    read_available(stream(spark, service_url, topic=topic, **options), tmp_path, batches)
    assert_exactly_once(batches.rows, existing(wanted))
    produce(client, topic, _numbers(range(80, 100)), batch_size=7)
    read_available(stream(spark, service_url, topic=topic), tmp_path, batches)
    assert_exactly_once(batches.rows, existing([*wanted, *read_all(client, topic)[80:]]))


def _start(kind: str, topic: str, received: list[Received]) -> tuple[dict[str, str], list[Received]]:
    if kind == "position":
        return {"startingOffsets": json.dumps({topic: received[31].id.position})}, received[31:]
    moment = received[45].publish_time_ms
    return {"startingTime": str(moment)}, [one for one in received if one.publish_time_ms >= moment]
