"""A stream continues from the checkpoint that any Spark line wrote, also from an offset log of version 2."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from restarts.lines import BATCH_ROWS, CHECKPOINTS, NAME, NAMED, TOPIC, fill, lines_stream

from support.spark.settings import session_settings
from support.topics.messages import Received, produce, read_all
from support.topics.reading import Batches, Seen, assert_exactly_once, existing, read_available

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_GATE = ("4.0", "4.3-named")
_CHECKPOINTS = [
    pytest.param(name, marks=() if name in _GATE else pytest.mark.exhaustive)
    for name in sorted(folder.name for folder in CHECKPOINTS.iterdir())
]
_POSITION = re.compile(rf'"{re.escape(TOPIC)}(-partition-\d)":"\d+:')


@pytest.fixture
def named(spark: SparkSession, written: str) -> Iterator[bool]:
    """Whether the checkpoint knows its source by name; the session then has the settings for that."""
    is_named = written.endswith("-named")
    with session_settings(spark, NAMED if is_named else {}):
        yield is_named


def _of_topic(written: Path, target: Path, ledgers: dict[str, int], topic: str) -> None:
    """Copy a checkpoint for a topic with the same messages, whose ledgers have other ids."""
    for file in [one for one in written.rglob("*") if one.is_file()]:
        copy = target / file.relative_to(written)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = _POSITION.sub(lambda found: f'"{topic}{found[1]}":"{ledgers[topic + found[1]]}:', file.read_text())
        assert TOPIC not in text
        copy.write_text(text)


def _read_before(checkpoint: Path, batch: int, received: list[Received]) -> list[Seen]:
    """The messages up to and including the end of a micro-batch in an offset log."""
    ends = dict(re.findall(r'"([^"]+-partition-\d)":"([^"]+)"', (checkpoint / "offsets" / str(batch)).read_text()))
    rows = existing(received)
    last = {(one.topic, one.position) for one in rows} & set(ends.items())
    found: list[Seen] = []
    for partition in {topic for topic, _ in last}:
        there = [one for one in rows if one.topic == partition]
        found += there[: 1 + [one.position for one in there].index(ends[partition])]
    return found


@pytest.mark.parametrize("written", _CHECKPOINTS)
def test_a_stream_continues_from_the_checkpoint_of_a_line(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    written: str,
    named: bool,
) -> None:
    fill(admin, client, topic)
    received = read_all(client, topic)
    _of_topic(CHECKPOINTS / written, tmp_path, {one.topic: one.id.ledger for one in received}, topic)
    read, planned = (_read_before(tmp_path, batch, received) for batch in (1, 2))
    assert (len(read), len(planned)) == (2 * BATCH_ROWS, 3 * BATCH_ROWS)
    batches = Batches()
    frame = lines_stream(spark, service_url, topic, named=named)
    read_available(frame, tmp_path, batches)
    assert_exactly_once(batches.by_id[2], [one for one in planned if one not in read])
    produce(client, topic, [b"later %d" % number for number in range(30)], batch_size=7)
    read_available(frame, tmp_path, batches)
    assert min(batches.by_id) == 2
    assert_exactly_once(batches.rows, [one for one in existing(read_all(client, topic)) if one not in read])
    folder = NAME if named else "0"
    assert [file.parent.name for file in tmp_path.glob("sources/*/initial-offset.json")] == [folder]
